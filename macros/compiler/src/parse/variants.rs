//! Variants of enums with fields, by their paths: `Event::Hit`, or `Hit` where the file imports it. A path of a single name is one of a
//! struct otherwise; rustc then says that the struct's name is none.

use proc_macro2::Ident;
use syn::{ItemUse, Path, UseTree, parse_str};

use super::Parser;
use super::operand_types::TypeHint;
use crate::messages;
use crate::model::expr::Member;
use crate::source;
use crate::span::SpanRange;

impl Parser<'_> {
    /// Returns the variant that a path names, if it names one. By Rust's convention, modules do not begin with a capital letter.
    pub(super) fn variant_of_enum(&mut self, path: &Path) -> Option<Ident> {
        let mut names = path.segments.iter().rev().map(|segment| &segment.ident);
        let last = names.next()?;
        match names.next() {
            Some(owner) => {
                let name = owner.to_string();
                let is_variant = name.starts_with(char::is_uppercase);
                if is_variant
                    && self.file().is_some_and(|file| source::is_without_derive(file, &name))
                    && self.reported_types.insert(name.clone())
                {
                    self.diags.push(messages::enum_without_derive(SpanRange::of(path), &name));
                }
                is_variant.then(|| last.clone())
            }
            None => self.file().and_then(|file| imported(file, &last.to_string())).map(|name| {
                let mut variant = parse_str::<Ident>(&name).unwrap_or_else(|_| last.clone());
                variant.set_span(last.span());
                variant
            }),
        }
    }

    /// Whether a path names a variant without fields of an enum of the file that has others with fields.
    pub(super) fn is_variant_alone(&self, path: &Path) -> bool {
        let mut names = path.segments.iter().rev().map(|segment| segment.ident.to_string());
        let (Some(last), Some(owner), Some(file)) = (names.next(), names.next(), self.file()) else { return false };
        source::has_fields(file, &owner) && source::variant_of(file, &owner, &last).is_some()
    }

    /// Returns the name of the enum of a variant, as far as its path shows.
    pub(super) fn owner_of_variant(&self, path: &str) -> Option<String> {
        let path = parse_str::<Path>(path).ok()?;
        let owner = path.segments.iter().rev().nth(1)?;
        Some(owner.ident.to_string())
    }

    /// Returns what the text shows of a field of a struct, or of a variant of an enum.
    pub(super) fn hint_of_field(&self, name: &str, variant: Option<&Ident>, member: &Member) -> TypeHint {
        let member = match member {
            Member::Named(name) => name.to_string(),
            Member::Unnamed(index) => index.to_string(),
        };
        let shown = self.file().and_then(|file| match variant {
            Some(variant) => {
                let variant = source::variant_of(file, name, &variant.to_string())?;
                source::field_among(variant.fields, &member)
            }
            None => source::field_of(file, name, &member),
        });
        match shown {
            Some(ty) => self.hint_of_type(&ty, 0),
            None => TypeHint::Unknown,
        }
    }
}

/// Returns the variant that a file imports by this name.
fn imported(file: &str, name: &str) -> Option<String> {
    let declarations = file.match_indices("use ").filter_map(|(at, _)| {
        let line = file[..at].rfind('\n').map_or(0, |end| end + 1);
        let begins =
            file[line..at].chars().all(|before| before.is_whitespace()) || file[line..at].trim().starts_with("pub");
        let declaration = file[at..].split_inclusive(';').next()?;
        begins.then(|| parse_str::<ItemUse>(declaration).ok())?
    });
    declarations.into_iter().find_map(|declaration| variant_in(&declaration.tree, None, file, name))
}

/// Returns the variant that a `use` declaration imports by this name, behind a path that ends with `owner`.
fn variant_in(tree: &UseTree, owner: Option<&str>, file: &str, name: &str) -> Option<String> {
    let owner = owner.filter(|owner| owner.starts_with(char::is_uppercase));
    match tree {
        UseTree::Path(path) => variant_in(&path.tree, Some(&path.ident.to_string()), file, name),
        UseTree::Group(group) => group.items.iter().find_map(|tree| variant_in(tree, owner, file, name)),
        UseTree::Name(item) => (owner.is_some() && item.ident == name).then(|| name.to_string()),
        UseTree::Rename(item) => (owner.is_some() && item.rename == name).then(|| item.ident.to_string()),
        UseTree::Glob(_) => source::has_variant(file, owner?, name).then(|| name.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::imported;

    #[test]
    fn variants_that_a_file_imports() {
        let file = "use self::Event::{Hit, Lost as Gone};\nuse events::Other;\n// use Event::Never;\nenum Sign { Plus(u32), None }\n\
                    pub use Sign::*;\nuse math::*;";
        let is = |name: &str| imported(file, name);
        assert_eq!(is("Hit").as_deref(), Some("Hit"));
        assert_eq!(is("Gone").as_deref(), Some("Lost"));
        assert_eq!(is("Plus").as_deref(), Some("Plus"));
        // Which of two enums is meant, only rustc knows.
        assert_eq!(
            imported("mod a { enum E { A } use E::*; }\nmod b { enum E { B(u8) }\nuse E::*; }", "B").as_deref(),
            Some("B")
        );
        for name in ["Lost", "Other", "Never", "Minus", "Event"] {
            assert_eq!(is(name), None, "{name}");
        }
    }
}
