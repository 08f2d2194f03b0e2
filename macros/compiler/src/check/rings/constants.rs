//! Constants whose values are known before rustc evaluates them: literals, names whose definition the file shows, and
//! arithmetic on both. What a name stands for only rustc knows, so that every value that was asked for is an assumption.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, TokenStream, TokenTree};

use super::reader::{Asked, Name, Names, Reader};
use crate::model;
use crate::model::expr::FunctionPath;
use crate::model::options::{Extents, Setting};
use crate::model::ty::{bytes_of, scalar};
use crate::model::{Definition, Function, GenericParam, ValueId};

/// The largest number of definitions that lead from a name to its value.
const DEPTH: u32 = 8;

/// The values that are tried for a constant that has no definition, or several: numbers of stages.
const TRIED: [i64; 8] = [2, 3, 4, 1, 5, 6, 8, 7];

/// The sizes in bytes that are tried for a type that a kernel is generic over.
const SIZES: [i64; 2] = [4, 2];

/// The numbers of threads that are tried for a constant in the size of a block.
const THREADS: [i64; 4] = [64, 128, 32, 256];

/// The values of names.
#[derive(Debug)]
pub(crate) struct Constants<'f> {
    function: &'f Function,
    /// The values that are tried for some names.
    tried: BTreeMap<String, i64>,
    /// The names that were asked for, in order, with their values.
    asked: RefCell<Vec<(Name, Option<i64>)>>,
    /// The values of the constants that a body names, as far as they were read since all names in them count as asked for.
    read: RefCell<BTreeMap<ValueId, Option<i64>>>,
}

/// What is taken for granted, and only rustc knows.
#[derive(Debug, Clone)]
pub(crate) enum Assumed {
    /// The constant has this value.
    Constant(TokenStream, i64),
    /// The type is ours.
    Pipeline(TokenStream),
    /// The function keeps no thread waiting for another, and names no shared memory; where it is given memory, it has no atomics.
    Quiet { function: FunctionPath, has_memory: bool },
}

impl Assumed {
    /// Whether two assumptions about functions are the same one.
    pub(super) fn is_same(&self, other: &Assumed) -> bool {
        let key = |of: &Assumed| match of {
            Assumed::Quiet { function, has_memory } => {
                Some((function.path.to_string(), function.turbofish.to_string(), *has_memory))
            }
            Assumed::Constant(..) | Assumed::Pipeline(_) => None,
        };
        key(self).is_some() && key(self) == key(other)
    }
}

impl<'f> Constants<'f> {
    /// The values that definitions show, and others that are tried.
    pub(crate) fn new(function: &'f Function, tried: BTreeMap<String, i64>) -> Constants<'f> {
        Constants { function, tried, asked: RefCell::default(), read: RefCell::default() }
    }

    /// Returns the assumptions so far.
    pub(super) fn assumed(&self) -> Vec<Assumed> {
        let known = self.asked.borrow();
        let known = known.iter().filter_map(|(name, value)| Some((name, (*value)?)));
        known.map(|(name, value)| Assumed::Constant(name.path.clone(), value)).collect()
    }

    /// The number of names that were asked for so far.
    pub(super) fn asked(&self) -> usize {
        self.asked.borrow().len()
    }

    /// Forgets all names that were asked for after the first ones.
    pub(super) fn forget(&self, asked: usize) {
        self.asked.borrow_mut().truncate(asked);
        self.read.borrow_mut().clear();
    }

    /// Returns further values to try, where no value was known for a name.
    pub(super) fn alternatives(&self) -> Vec<BTreeMap<String, i64>> {
        self.alternatives_of(|_| true)
    }

    /// Returns further values to try as [`Constants::alternatives`] does, but none for the sizes of types.
    pub(super) fn alternatives_but_sizes(&self) -> Vec<BTreeMap<String, i64>> {
        self.alternatives_of(|name| !self.is_type(&name.last))
    }

    fn alternatives_of(&self, is_tried: impl Fn(&Name) -> bool) -> Vec<BTreeMap<String, i64>> {
        let asked = self.asked.borrow();
        let unknown = asked.iter().filter(|(name, _)| is_tried(name)).find_map(|(name, value)| {
            let defined = self.defined_by(name, DEPTH);
            let values = match () {
                () if self.is_type(&name.last) => SIZES.to_vec(),
                () if self.is_flag(&name.last) => vec![0, 1],
                () if defined.is_empty() && name.is_integer && self.counts_threads(&name.last) => THREADS.to_vec(),
                () if defined.is_empty() && name.is_integer => TRIED.to_vec(),
                () => defined,
            };
            (value.is_none() && !values.is_empty()).then_some((name, values))
        });
        let Some((name, values)) = unknown else { return Vec::new() };
        let with = |value| self.tried.iter().map(|(name, value)| (name.clone(), *value)).chain([(name.key(), value)]);
        values.into_iter().map(|value| with(value).collect()).collect()
    }

    /// Whether a name is that of a type that the function is generic over.
    fn is_type(&self, name: &Ident) -> bool {
        self.function.generics.params.iter().any(|param| match param {
            GenericParam::Type(param) => param == name,
            GenericParam::Const(..) => false,
        })
    }

    /// Whether a name stands in the size of a block that has one dimension.
    fn counts_threads(&self, name: &Ident) -> bool {
        let each = self.function.options.block.as_ref().map_or(&[][..], |block| &block.each);
        matches!(each, [extent] if names(&extent.tokens).iter().any(|other| other == name))
    }

    /// Whether a name is that of a const parameter that is a truth value.
    fn is_flag(&self, name: &Ident) -> bool {
        self.function.generics.params.iter().any(|param| match param {
            GenericParam::Const(param, ty) => param == name && ty.to_string() == "bool",
            GenericParam::Type(_) => false,
        })
    }

    /// Returns the value of a constant that a body names.
    pub(crate) fn of(&self, value: ValueId) -> Option<i64> {
        let constant = &self.function.values[usize::from(value.0)];
        let literal = constant.literal.and_then(|literal| i64::try_from(literal).ok());
        literal.or_else(|| {
            let known = self.read.borrow().get(&value).copied();
            known.unwrap_or_else(|| {
                let read = self.read(&constant.tokens, Asked { is_integer: constant.ty.is_some(), depth: DEPTH });
                self.read.borrow_mut().insert(value, read);
                read
            })
        })
    }

    /// Returns the number of threads or blocks that an option states.
    pub(super) fn count(&self, extents: &Extents) -> Option<u32> {
        let each = extents.each.iter().map(|extent| u32::try_from(self.setting(extent)?).ok());
        each.into_iter().try_fold(1_u32, |all, extent| all.checked_mul(extent?))
    }

    /// Returns the value of an option.
    pub(super) fn setting(&self, setting: &Setting) -> Option<i64> {
        let literal = setting.literal.and_then(|literal| i64::try_from(literal).ok());
        // The body may have another item of the name.
        let names = names(&setting.tokens);
        let value = || match self.function.declares(&|declared| names.iter().any(|name| name == declared)) {
            true => None,
            false => self.read(&setting.tokens, Asked { is_integer: true, depth: DEPTH }),
        };
        literal.or_else(value)
    }

    /// Returns the length of an array type.
    pub(super) fn length(&self, tokens: &TokenStream) -> Option<i64> {
        self.read(tokens, Asked { is_integer: true, depth: DEPTH })
    }

    /// Returns the number of bytes of a type: of a scalar, or of an array of such. One that has another name may be an array, whose rows
    /// would be what matters: a kernel with the type itself in its place is checked then.
    pub(super) fn bytes(&self, ty: &TokenStream) -> Option<u64> {
        let is_alias = |tree: TokenTree| matches!(tree, TokenTree::Ident(name) if self.alias(&name).is_some());
        if ty.clone().into_iter().next().is_some_and(is_alias) { None } else { self.bytes_at(ty, DEPTH) }
    }

    /// Whether the file defines a structure of this name, or gives the name to another type.
    fn is_defined_type(&self, name: &Ident) -> bool {
        self.function.definitions.contains_key(&model::size_of(&name.to_string())) || self.alias(name).is_some()
    }

    /// The type to which the file gives another name.
    pub(crate) fn alias(&self, name: &Ident) -> Option<&TokenStream> {
        let [Definition { ty: Definition::ALIAS, value }] = &self.function.definitions.get(&name.to_string())?[..]
        else {
            return None;
        };
        (!self.is_type(name)).then_some(value)
    }

    /// Returns a type of literals that is a scalar or an array, if the file shows what each name in it stands for.
    pub(crate) fn literal_type(&self, ty: &TokenStream) -> Option<TokenStream> {
        self.literal_type_at(ty, DEPTH)
    }

    fn literal_type_at(&self, ty: &TokenStream, depth: u32) -> Option<TokenStream> {
        let depth = depth.checked_sub(1)?;
        let mut trees = ty.clone().into_iter();
        let (tree, None) = (trees.next()?, trees.next()) else { return None };
        match tree {
            TokenTree::Ident(name) => match self.alias(&name) {
                Some(other) => self.literal_type_at(other, depth),
                None => bytes_of(scalar(&name.to_string())?).map(|_| TokenTree::from(name).into()),
            },
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                let (element, length) = array(&group.stream())?;
                let length = u64::try_from(self.read(&length, Asked { is_integer: true, depth })?).ok()?;
                let (element, length) = (self.literal_type_at(&element, depth)?, Literal::u64_unsuffixed(length));
                let inside = element.into_iter().chain([Punct::new(';', Spacing::Alone).into(), length.into()]);
                Some(TokenTree::from(Group::new(Delimiter::Bracket, inside.collect())).into())
            }
            TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
        }
    }

    /// The value of a constant, if the file shows one.
    pub(crate) fn named_in_file(&self, name: &Ident) -> Option<i64> {
        if let [value] = self.defined(name, DEPTH)[..] { Some(value) } else { None }
    }

    /// The values that definitions show for a path: for its last name, or for an enum and its variant.
    fn defined_by(&self, name: &Name, depth: u32) -> Vec<i64> {
        if let Some(ty) = self.alias(&name.last) {
            let bytes = depth.checked_sub(1).and_then(|depth| i64::try_from(self.bytes_at(ty, depth)?).ok());
            return bytes.into_iter().collect();
        }
        let of_last = self.defined(&name.last, depth);
        let path: String = name.key().split_whitespace().collect();
        if !of_last.is_empty() || !path.contains("::") {
            return of_last;
        }
        let variants = self.function.definitions.get(&path).into_iter().flatten();
        variants.filter_map(|variant| variant.value.to_string().parse().ok()).collect()
    }

    /// The values that definitions show for a name.
    fn defined(&self, name: &Ident, depth: u32) -> Vec<i64> {
        let is_param = self.function.generics.params.iter().any(|param| match param {
            GenericParam::Type(param) | GenericParam::Const(param, _) => param == name,
        });
        let definitions = self.function.definitions.get(&name.to_string()).filter(|_| !is_param);
        let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
        let value = |of: &Definition| self.read(&of.value, Asked { is_integer: true, depth });
        let mut values: Vec<i64> = definitions.into_iter().flatten().filter_map(value).collect();
        values.dedup();
        values
    }
}

impl Names for Constants<'_> {
    /// Returns the value of a name, and notes that it was asked for.
    fn named(&self, name: Name, depth: u32) -> Option<i64> {
        let tried = self.tried.get(&name.key()).copied();
        let value = tried.or_else(|| if let [value] = self.defined_by(&name, depth)[..] { Some(value) } else { None });
        self.note(name, value, depth);
        value
    }

    fn read(&self, tokens: &TokenStream, asked: Asked) -> Option<i64> {
        Reader::of(self, tokens, asked).all()
    }

    fn bytes_at(&self, ty: &TokenStream, depth: u32) -> Option<u64> {
        let length = |tokens: &TokenStream| u64::try_from(self.read(tokens, Asked { is_integer: true, depth })?).ok();
        let trees: Vec<TokenTree> = ty.clone().into_iter().collect();
        match &trees[..] {
            [TokenTree::Ident(name)] if self.is_type(name) => {
                let name = Name { path: size_of(name), last: name.clone(), is_integer: true };
                let bytes = self.named(name, depth)?;
                u64::try_from(bytes).ok()
            }
            [TokenTree::Ident(name)] if name == "bf16" || name == "f16" => Some(2),
            [TokenTree::Ident(name)] => match scalar(&name.to_string()) {
                Some(name) => bytes_of(name),
                None if self.is_defined_type(name) => {
                    let name = Name { path: size_of(name), last: name.clone(), is_integer: true };
                    self.named(name, depth).and_then(|bytes| u64::try_from(bytes).ok())
                }
                None => None,
            },
            [TokenTree::Group(group)] => match group.delimiter() {
                Delimiter::None => self.bytes_at(&group.stream(), depth),
                Delimiter::Bracket => {
                    let (element, number) = array(&group.stream())?;
                    self.bytes_at(&element, depth)?.checked_mul(length(&number)?)
                }
                Delimiter::Parenthesis | Delimiter::Brace => None,
            },
            _ => {
                let (element, number) = swizzled(ty)?;
                self.bytes_at(&element, depth)?.checked_mul(length(&number)?)
            }
        }
    }

    /// Whether a type is one that the function is generic over.
    fn names_type(&self, ty: &TokenStream) -> bool {
        names(ty).iter().any(|name| self.is_type(name))
    }

    /// Notes that a value was asked for. What a definition names need not be in scope here.
    fn note(&self, name: Name, value: Option<i64>, depth: u32) {
        if depth == DEPTH {
            let mut asked = self.asked.borrow_mut();
            match asked.iter_mut().find(|(known, _)| known.key() == name.key()) {
                Some((known, _)) => known.is_integer |= name.is_integer,
                None => asked.push((name, value)),
            }
        }
    }
}

/// The number of threads or blocks that an option states in literals.
pub(in crate::check) fn count_of_literals(function: &Function, extents: &Extents) -> Option<u64> {
    let constants = Constants::new(function, BTreeMap::new());
    let count = constants.count(extents)?;
    (constants.asked() == 0).then_some(u64::from(count))
}

/// The size of a type in bytes, for rustc.
fn size_of(ty: &Ident) -> TokenStream {
    let size: TokenStream = "::core::mem::size_of::<T>()".parse().unwrap_or_default();
    let is_type = |tree: &TokenTree| matches!(tree, TokenTree::Ident(word) if word == "T");
    size.into_iter().map(|tree| if is_type(&tree) { TokenTree::Ident(ty.clone()) } else { tree }).collect()
}

/// The words in an expression.
fn names(tokens: &TokenStream) -> Vec<Ident> {
    let each = tokens.clone().into_iter().flat_map(|tree| match tree {
        TokenTree::Ident(name) => vec![name],
        TokenTree::Group(group) => names(&group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => Vec::new(),
    });
    each.collect()
}

/// Returns the element type and the length in the brackets of an array type.
pub(in crate::check) fn array(inside: &TokenStream) -> Option<(TokenStream, TokenStream)> {
    let trees: Vec<TokenTree> = inside.clone().into_iter().collect();
    let is_semicolon = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ';');
    let at = trees.iter().rposition(is_semicolon)?;
    Some((trees[..at].iter().cloned().collect(), trees[at + 1..].iter().cloned().collect()))
}

/// Returns the element type and the length of a swizzled row, `Swizzled<bf16, 64>`.
pub(super) fn swizzled(ty: &TokenStream) -> Option<(TokenStream, TokenStream)> {
    let trees: Vec<TokenTree> = ty.clone().into_iter().collect();
    let [TokenTree::Ident(name), TokenTree::Punct(open), row @ .., TokenTree::Punct(close)] = &trees[..] else {
        return None;
    };
    if name != "Swizzled" || open.as_char() != '<' || close.as_char() != '>' {
        return None;
    }
    let is_comma = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ',');
    let at = row.iter().position(is_comma)?;
    Some((row[..at].iter().cloned().collect(), row[at + 1..].iter().cloned().collect()))
}

/// The element type and the length of an array type, or of a swizzled row.
pub(in crate::check) fn inner(ty: &TokenStream) -> Option<(TokenStream, TokenStream)> {
    let brackets = |tree| if let TokenTree::Group(group) = tree { array(&group.stream()) } else { None };
    swizzled(ty).or_else(|| ty.clone().into_iter().find_map(brackets))
}
