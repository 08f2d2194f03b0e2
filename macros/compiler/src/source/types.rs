//! The types that a file shows: of fields, constants and results. They are read where they are asked for, from the text.

use quote::ToTokens;

use super::is_of_name;
use crate::model::operator::computing_trait;

/// Whether a text defines a structure or an enum of this name.
pub(crate) fn defines_type(text: &str, name: &str) -> bool {
    ["struct", "enum"].iter().any(|word| after(text, word, name).next().is_some())
}

/// Whether a text has a function `default` that may be in another `impl` than that of `Default`.
pub(crate) fn defines_default(text: &str) -> bool {
    after(text, "fn", "default").count() > text.lines().filter(|line| line.contains("Default for ")).count()
}

/// Whether a text implements an operator for a type.
pub(crate) fn implements_operators(text: &str) -> bool {
    let is_operator = |word: &str| computing_trait(word).is_some();
    text.lines().map(|line| line.split("//").next().unwrap_or(line)).any(|line| {
        line.trim_start().starts_with("impl")
            && line.split_once(" for ").is_some_and(|(head, _)| head.split(|of| !is_of_name(of)).any(is_operator))
    })
}

/// Whether a text has a device `impl` of a trait for a type, without arguments of the trait.
pub(crate) fn implements(text: &str, of_trait: &str, ty: &str) -> bool {
    after(text, "for", ty).any(|rest| {
        let head = &text[..text.len() - rest.len() - ty.len()];
        let Some(head) = head.trim_end().strip_suffix("for") else { return false };
        let start = head.rfind(['}', ';', ']']).map_or(0, |end| end + 1);
        let line = head[start..].trim();
        let is_of_trait = line.split(|of: char| !is_of_name(of)).any(|word| word == of_trait);
        let is_device = ["#[device]", "#[phalanx::device]"].iter().any(|attribute| head[..start].ends_with(attribute));
        is_of_trait && line.starts_with("impl") && is_device
    })
}

/// Returns the device `impl`s of `Index` and `IndexMut` for a type, if the text defines one type of this name, and has one `Index` for it.
pub(crate) fn index_functions(text: &str, ty: &str) -> Option<Vec<syn::ItemImpl>> {
    only(after(text, "struct", ty))?;
    let mut all = Vec::new();
    for rest in after(text, "for", ty) {
        let head = &text[..text.len() - rest.len()];
        let Some(start) = head.rfind("impl") else { continue };
        let line = &head[start..];
        let names: Vec<&str> = line.split(|of: char| !is_of_name(of)).collect();
        let is_device = ["#[device]", "#[phalanx::device]"].iter().any(|of| head[..start].trim_end().ends_with(of));
        if line.contains('}') || !is_device || !names.iter().any(|name| ["Index", "IndexMut"].contains(name)) {
            continue;
        }
        all.push(syn::parse_str(&format!("{line}{}", through_block(rest)?)).ok()?);
    }
    let is_read = |item: &syn::ItemImpl| {
        item.trait_.as_ref().and_then(|(path, _)| path.segments.last()).is_some_and(|last| last.ident == "Index")
    };
    (all.iter().filter(|item| is_read(item)).count() == 1).then_some(all)
}

/// Returns the device trait of a name, if the text declares one.
pub(crate) fn trait_of(text: &str, name: &str) -> Option<syn::ItemTrait> {
    let is_device = |rest: &&str| {
        let head = &text[..text.len() - rest.len()];
        let start = head.rfind(['}', ';']).map_or(0, |end| end + 1);
        ["#[device]", "#[phalanx::device]"].iter().any(|attribute| head[start..].contains(attribute))
    };
    let rest = only(after(text, "trait", name).filter(is_device))?;
    syn::parse_str(&format!("trait {name}{}", through_block(rest)?)).ok()
}

/// Returns the text to the end of the first block in it.
fn through_block(text: &str) -> Option<&str> {
    let mut depth = 0_u32;
    let end = text.find(|of: char| {
        match of {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        of == '}' && depth == 0
    })?;
    Some(&text[..=end])
}

/// Returns the type that `type name = ..;` makes another name of, if the text has one.
pub(crate) fn alias_of(text: &str, name: &str) -> Option<syn::Type> {
    let rest = only(after(text, "type", name))?.trim_start().strip_prefix('=')?;
    let (ty, _) = rest.split_once(';')?;
    syn::parse_str(ty).ok()
}

/// Returns the name of the type, without its arguments, that `type name = ..;` makes another name of, which may have parameters.
pub(crate) fn alias_name(text: &str, name: &str) -> Option<String> {
    let (_, rest) = only(after(text, "type", name))?.split_once('=')?;
    let (ty, _) = rest.split_once(';')?;
    match syn::parse_str(ty).ok()? {
        syn::Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    }
}

/// Returns the type of the constants of this name, if the text has any, and they have one type.
pub(crate) fn constant_type(text: &str, name: &str) -> Option<syn::Type> {
    let of = |rest: &'_ str| Some(rest.trim_start().strip_prefix(':')?.split_once('=')?.0.trim().to_string());
    let mut types = after(text, "const", name).chain(after(text, "static", name)).map(of);
    let ty = types.next()??;
    types.all(|other| other.as_ref() == Some(&ty)).then(|| syn::parse_str(&ty).ok())?
}

/// Returns the type that all functions of this name return, if the text has any.
pub(crate) fn result_of(text: &str, name: &str) -> Option<syn::Type> {
    let mut known: Option<&str> = None;
    for rest in after(text, "fn", name) {
        let header = header(rest);
        let (_, result) = header.rsplit_once("->")?;
        let result = result.split("where").next().unwrap_or(result).trim();
        if known.replace(result).is_some_and(|known| known != result) {
            return None;
        }
    }
    syn::parse_str(known?).ok()
}

/// Whether a text has an `impl From<from> for to`.
pub(crate) fn converts(text: &str, from: &syn::Type, to: &syn::Type) -> bool {
    let written = |ty: &syn::Type| ty.to_token_stream().to_string().replace(' ', "");
    let wanted = format!("From<{}>for{}{{", written(from), written(to));
    text.split_whitespace().collect::<String>().contains(&wanted)
}

/// Returns the body of the only function of this name, without its braces, as far as its first block ends.
pub(crate) fn function_body<'t>(text: &'t str, name: &'t str) -> Option<&'t str> {
    let rest = only(after(text, "fn", name))?;
    let (_, body) = rest[header(rest).len()..].split_at_checked(1)?;
    body.split_once('}').map(|(body, _)| body)
}

/// Whether a text has a method of this name.
pub(crate) fn has_method(text: &str, name: &str) -> bool {
    after(text, "fn", name).any(|rest| header(rest).split(|of| !is_of_name(of)).any(|word| word == "self"))
}

/// Returns the number of values that all functions of this name take, if the text has any and they take nothing but values.
pub(crate) fn values_taken(text: &str, name: &str) -> Option<usize> {
    let mut known = None;
    for rest in after(text, "fn", name) {
        let signature = syn::parse_str::<syn::Signature>(&format!("fn {name}{}", header(rest))).ok()?;
        let is_value = |input: &syn::FnArg| match input {
            syn::FnArg::Receiver(receiver) => !receiver.to_token_stream().to_string().contains('&'),
            syn::FnArg::Typed(typed) => !matches!(*typed.ty, syn::Type::Reference(_) | syn::Type::ImplTrait(_)),
        };
        let count = signature.inputs.len();
        if !signature.inputs.iter().all(is_value) || known.replace(count).is_some_and(|known| known != count) {
            return None;
        }
    }
    known
}

/// Whether a text has functions of this name, and all of them take a `&[T]`, or a `&mut [T]`, as the value at this position, that of a
/// method's `self` not counted.
pub(crate) fn takes_slice(text: &str, name: &str, position: usize, mutable: bool) -> bool {
    let takes = |rest: &str| {
        let signature = syn::parse_str::<syn::Signature>(&format!("fn {name}{}", header(rest))).ok()?;
        let mut values = signature.inputs.into_iter().filter_map(|input| match input {
            syn::FnArg::Receiver(_) => None,
            syn::FnArg::Typed(typed) => Some(typed.ty),
        });
        match *values.nth(position)? {
            syn::Type::Reference(reference) if reference.mutability.is_some() == mutable => {
                Some(matches!(*reference.elem, syn::Type::Slice(_)))
            }
            _ => Some(false),
        }
    };
    let mut functions = after(text, "fn", name).peekable();
    functions.peek().is_some() && functions.all(|rest| takes(rest) == Some(true))
}

/// Returns the type of what the closure takes that all functions of this name are given at a position, `impl Fn(T) -> U`, if they agree.
pub(crate) fn closure_takes(text: &str, name: &str, position: usize) -> Option<syn::Type> {
    let takes = |rest: &str| {
        let signature = syn::parse_str::<syn::Signature>(&format!("fn {name}{}", header(rest))).ok()?;
        let syn::FnArg::Typed(typed) = signature.inputs.iter().nth(position)? else { return None };
        let syn::Type::ImplTrait(closure) = &*typed.ty else { return None };
        let syn::TypeParamBound::Trait(bound) = closure.bounds.first()? else { return None };
        match &bound.path.segments.last()?.arguments {
            syn::PathArguments::Parenthesized(taken) => Some(taken.inputs.first()?.ty.to_token_stream().to_string()),
            syn::PathArguments::None | syn::PathArguments::AngleBracketed(_) => None,
        }
    };
    let mut all = after(text, "fn", name).map(takes);
    let first = all.next()??;
    all.all(|other| other.as_ref() == Some(&first)).then(|| syn::parse_str(&first).ok())?
}

/// Returns the part of a function before its body. A `;` in brackets belongs to a type.
fn header(text: &str) -> &str {
    let mut depth = 0_u32;
    let end = text.find(|of: char| {
        match of {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        of == '{' || of == ';' && depth == 0
    });
    &text[..end.unwrap_or(text.len())]
}

/// Returns the type of a field, by its name or its position, of the only structure of this name.
pub(crate) fn field_of(text: &str, name: &str, field: &str) -> Option<syn::Type> {
    // One with parameters says less.
    let definition = definition_of(text, "struct", name)?;
    let fields = syn::parse_str::<syn::ItemStruct>(&definition).ok()?.fields;
    field_among(fields, field)
}

/// Returns a variant of the only enum of this name.
pub(crate) fn variant_of(text: &str, name: &str, variant: &str) -> Option<syn::Variant> {
    let definition = definition_of(text, "enum", name)?;
    syn::parse_str::<syn::ItemEnum>(&definition).ok()?.variants.into_iter().find(|of| of.ident == variant)
}

/// Whether one of the enums of this name has a variant.
pub(crate) fn has_variant(text: &str, name: &str, variant: &str) -> bool {
    let definitions = after(text, "enum", name).filter_map(|rest| definition_in(rest, "enum", name));
    let mut enums = definitions.filter_map(|definition| syn::parse_str::<syn::ItemEnum>(&definition).ok());
    enums.any(|of| of.variants.iter().any(|of| of.ident == variant))
}

/// Whether the only enum of this name in a text has variants with fields.
pub(crate) fn has_fields(text: &str, name: &str) -> bool {
    let definition = definition_of(text, "enum", name).and_then(|of| syn::parse_str::<syn::ItemEnum>(&of).ok());
    definition.is_some_and(|item| item.variants.iter().any(|variant| !variant.fields.is_empty()))
}

/// Whether the only enum of this name in a text has variants with fields, and above it no derive that makes it a type of kernels, nor
/// another macro that may do so.
pub(crate) fn is_without_derive(text: &str, name: &str) -> bool {
    if !has_fields(text, name) {
        return false;
    }
    let Some(at) = after(text, "enum", name).next().map(|rest| text.len() - rest.len()) else { return false };
    let mut above = text[..at].lines().rev().skip(1).map(str::trim);
    let is_attribute = |line: &&str| line.starts_with("#[") || line.starts_with("//") || line.is_empty();
    let attributes: Vec<&str> = above.by_ref().take_while(is_attribute).filter(|line| line.starts_with("#[")).collect();
    let known = ["#[derive(", "#[repr(", "#[allow(", "#[expect(", "#[must_use", "#[doc", "#[non_exhaustive"];
    attributes.iter().all(|line| line.ends_with(']') && known.iter().any(|known| line.starts_with(known)))
        && !attributes.iter().any(|line| line.contains("DeviceType") || line.contains("DeviceCopy"))
        && definition_begins_line(text, at)
        // In another module, the name may be one of another enum.
        && !text.lines().map(str::trim_start).any(|line| {
            (line.starts_with("use ") || line.starts_with("pub")) && line.contains("use ")
                && line.split(|of: char| !is_of_name(of)).any(|word| word == name)
                && !line.contains(&format!("{name}::"))
        })
}

/// Whether the line of a definition has nothing before it but its visibility, and the one above does not end an attribute.
fn definition_begins_line(text: &str, at: usize) -> bool {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let (line, above) = (text[start..at].trim_start(), text[..start].trim_end());
    let begins = ["enum", "pub"].iter().any(|word| line.starts_with(word));
    begins
        && (!above.ends_with(']') || above.lines().next_back().is_some_and(|line| line.trim_start().starts_with("#[")))
}

/// Returns the field of this name or position.
pub(crate) fn field_among(fields: syn::Fields, field: &str) -> Option<syn::Type> {
    fields.into_iter().enumerate().find_map(|(index, of)| {
        let is_it = of.ident.as_ref().map_or_else(|| index.to_string() == field, |ident| ident == field);
        is_it.then_some(of.ty)
    })
}

/// Returns the text of the only structure or enum of this name.
fn definition_of(text: &str, word: &str, name: &str) -> Option<String> {
    definition_in(only(after(text, word, name))?, word, name)
}

/// Returns the text of a structure or an enum from what is behind its name.
fn definition_in(rest: &str, word: &str, name: &str) -> Option<String> {
    let rest = rest.trim_start();
    let (open, close) = match rest.chars().next()? {
        '{' => ('{', '}'),
        '(' => ('(', ')'),
        _ => return None,
    };
    let mut depth = 0_u32;
    let end = rest.char_indices().find(|(_, of)| {
        depth = if *of == open {
            depth + 1
        } else if *of == close {
            depth - 1
        } else {
            depth
        };
        depth == 0
    })?;
    let definition = format!("{word} {name} {}", rest.get(..=end.0)?);
    Some(if open == '(' { definition + ";" } else { definition })
}

/// Returns what is behind each `word name` of a text.
fn after<'t>(text: &'t str, word: &'t str, name: &'t str) -> impl Iterator<Item = &'t str> {
    text.match_indices(name).filter_map(move |(at, _)| {
        let (before, rest) = (&text[..at], &text[at + name.len()..]);
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        let keyword = before.trim_end().strip_suffix(word)?;
        let is_word = before.ends_with(char::is_whitespace)
            && keyword.chars().next_back().is_none_or(|before| !is_of_name(before))
            && rest.chars().next().is_none_or(|after| !is_of_name(after));
        (is_word && !text[line..at].contains("//")).then_some(rest)
    })
}

/// Returns the only element.
fn only<'t>(mut all: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    all.next().filter(|_| all.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
        pub struct Body { pub at: Vec2, // where
            mass: f32 }
        struct Pair(u32, [Vec2; 2]);
        // struct Gone { x: f32 }
        enum Kind { A }
        type Real = f32;
        const ORIGIN: Vec2 = Vec2::ZERO;
        fn force(a: Body) -> Vec2 { a.at }
        fn new() -> Self {}
        fn twice(x: f32) -> f32 {}
        fn twice(x: u32) -> u32 {}
        fn wide<T>(x: T) -> [T; 2] where T: Number {}
    ";

    fn text(ty: Option<syn::Type>) -> String {
        ty.map_or_else(|| "?".into(), |ty| ty.to_token_stream().to_string())
    }

    #[test]
    fn types_of_a_file() {
        assert!(defines_type(TEXT, "Body") && defines_type(TEXT, "Kind") && !defines_type(TEXT, "Gone"));
        assert!(!implements_operators(TEXT));
        assert!(
            implements_operators("impl std::ops::Mul<f32> for Vec2 {")
                && implements_operators("  impl<T> SubAssign for V<T>")
        );
        assert!(!implements_operators("impl Adder for Vec2 {") && !implements_operators("impl Vec2 { // Add for all"));
        assert_eq!(text(field_of(TEXT, "Body", "at")), "Vec2");
        assert_eq!(text(field_of(TEXT, "Body", "mass")), "f32");
        assert_eq!(text(field_of(TEXT, "Pair", "1")), "[Vec2 ; 2]");
        assert_eq!(text(field_of(TEXT, "Body", "x")), "?");
        assert_eq!(text(alias_of(TEXT, "Real")), "f32");
        assert_eq!(alias_name(TEXT, "Real").as_deref(), Some("f32"));
        assert_eq!(
            alias_name("type Of<const N: usize> = phalanx::Accumulator<f32, 64, N>;", "Of").as_deref(),
            Some("Accumulator")
        );
        assert_eq!(alias_name("type Rows = [f32; 4];", "Rows"), None);
        assert_eq!(text(constant_type(TEXT, "ORIGIN")), "Vec2");
        assert_eq!(text(result_of(TEXT, "force")), "Vec2");
        assert_eq!(text(result_of(TEXT, "new")), "Self");
        assert_eq!(text(result_of(TEXT, "twice")), "?");
        assert_eq!(text(result_of(TEXT, "wide")), "[T ; 2]");
        assert_eq!(
            ["force", "new", "twice", "wide", "none"].map(|name| values_taken(TEXT, name)),
            [Some(1), Some(0), Some(1), Some(1), None]
        );
        assert!(!defines_default("impl Default for A { fn default() -> A { A } }") && !defines_default(TEXT));
        assert!(defines_default("#[device] impl A { fn default() -> A { A } }"));
        let slices = "fn f(&self, x: &[u32], y: u32) {} fn g(x: &[u32]) {} fn g(x: &mut [u32]) {}";
        assert_eq!(
            [("f", 0), ("f", 1), ("f", 2), ("g", 0)].map(|(name, at)| takes_slice(slices, name, at, false)),
            [true, false, false, false]
        );
        let methods = "fn a(self, x: u32) {} fn b(&self) {} fn c(x: &u32) {} fn d(&mut self) {}";
        assert_eq!(["a", "b", "c"].map(|name| values_taken(methods, name)), [Some(2), None, None]);
        assert_eq!(["a", "b", "c", "d"].map(|name| has_method(methods, name)), [true, true, false, true]);
    }
}
