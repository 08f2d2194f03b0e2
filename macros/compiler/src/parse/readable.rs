//! A function that may be read in place of its calls, as syntax: what it declares and names, and the identity of its text. Where such functions
//! are looked for, `same_file` and `elsewhere` say.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Block, Expr, FnArg, Item, ItemFn, Macro, Member, Pat, Path, ReturnType, Signature, Token, Type,
    parse_quote,
};

use super::local_types::NamedType;
use crate::model::followed::joined_words;
use crate::model::words::words;

/// A function that can be read in place of its calls.
pub(super) struct Known {
    pub(super) sig: Signature,
    pub(super) block: Block,
    pub(super) identity: u64,
    /// The names that its body declares.
    pub(super) declares: BTreeSet<String>,
    /// Its const parameters, in order, each with whether the body or the type of a value that it takes names it.
    pub(super) constants: Vec<(String, bool)>,
    /// Its type parameters.
    pub(super) types: BTreeSet<String>,
    /// Whether its body has a `return`.
    pub(super) returns: bool,
    /// The first names of the paths in it that are neither of these nor its parameters'.
    pub(super) names: BTreeSet<String>,
    /// Of a method: the constants of its type, in the order of the type's arguments.
    pub(super) of_type: Vec<String>,
    /// Of a method: the words of its type, and of the trait.
    pub(super) of: String,
}

/// Which functions are read in place of their calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Those that return at their end alone, and take no closure and nothing of a generic type.
    Plain,
    All,
}

/// What a method's `impl` says of its type.
#[derive(Default)]
pub(super) struct OfType {
    /// The constants that are the type's arguments.
    constants: Vec<String>,
    /// The words of the type, and of the trait.
    words: String,
}

impl OfType {
    /// Reads the head of an `impl` whose type has no parameters but constants, and whose methods hold for all of them.
    pub(super) fn of(item: &syn::ItemImpl) -> Option<OfType> {
        let (own, of_trait) = (&item.self_ty, item.trait_.as_ref().map(|(path, _)| path));
        // A type has as many conversions as there are types that it converts from.
        if of_trait.and_then(|path| path.segments.last()).is_some_and(|last| last.ident == "From") {
            return None;
        }
        let ty = NamedType::of(own)?;
        let declared = item.generics.params.iter().map(|param| match param {
            syn::GenericParam::Const(param) => Some(param.ident.to_string()),
            syn::GenericParam::Lifetime(_) | syn::GenericParam::Type(_) => None,
        });
        let mut declared = declared.collect::<Option<Vec<String>>>()?;
        let constants: Vec<String> = ty.arguments().iter().map(ToString::to_string).collect();
        declared.sort();
        let mut sorted = constants.clone();
        sorted.sort();
        (declared == sorted).then(|| OfType { constants, words: joined_words(&quote!(#own #of_trait)) })
    }
}

/// Whether `#[device]` is among the attributes, without options, and nothing that may leave the item out.
pub(super) fn is_device(attrs: &[Attribute]) -> bool {
    let device = |attr: &Attribute| attr.path().segments.last().is_some_and(|last| last.ident == "device");
    let is_plain = |attr: &Attribute| matches!(attr.meta, syn::Meta::Path(_));
    let conditional = |attr: &Attribute| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr");
    attrs.iter().any(|attr| device(attr) && is_plain(attr)) && !attrs.iter().any(conditional)
}

impl Known {
    /// Reads a function; `None` if its body cannot stand in another function.
    pub(super) fn of(sig: &Signature, block: &Block, identity: u64, of: OfType) -> Option<Known> {
        let plain = sig.asyncness.is_none() && matches!(sig.safety, syn::Safety::Default);
        if !plain {
            return None;
        }
        let block = &with_failures(block);
        let types: BTreeSet<String> = sig.generics.type_params().map(|param| param.ident.to_string()).collect();
        let none = || Names {
            declared: BTreeSet::new(),
            named: BTreeSet::new(),
            stays: true,
            returns: false,
            is_in_closure: false,
        };
        let (mut of_params, mut of_body) = (none(), none());
        sig.inputs.iter().for_each(|input| of_params.visit_fn_arg(input));
        of_body.visit_block(block);
        let stays = of_params.stays && of_body.stays;
        let params = sig.generics.params.iter().filter_map(|param| match param {
            syn::GenericParam::Const(param) => Some(param.ident.to_string()),
            syn::GenericParam::Lifetime(_) | syn::GenericParam::Type(_) => None,
        });
        // A reference is bound without its type.
        let values = sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(input) if !matches!(*input.ty, Type::Reference(_)) => Some(input.ty.to_token_stream()),
            FnArg::Typed(_) | FnArg::Receiver(_) => None,
        });
        let used: BTreeSet<String> = values
            .chain([block.to_token_stream(), sig.output.to_token_stream()])
            .flat_map(|tokens| words(&tokens).map(|word| word.to_string()).collect::<Vec<_>>())
            .collect();
        let constants: Vec<(String, bool)> = params.map(|name| (name.clone(), used.contains(&name))).collect();
        let mut declares = of_body.declared;
        let mut patterns = none();
        for input in &sig.inputs {
            if let FnArg::Typed(input) = input
                && name_of(&input.pat).is_none()
            {
                patterns.visit_pat(&input.pat);
            }
        }
        declares.extend(patterns.declared);
        let mut names = of_body.named;
        names.extend(of_params.named);
        let is_constant =
            |name: &String| constants.iter().any(|(constant, _)| constant == name) || of.constants.contains(name);
        let is_own = |name: &String| is_constant(name) || types.contains(name);
        names.retain(|name| !declares.contains(name) && !of_params.declared.contains(name) && !is_own(name));
        let (sig, block, returns) = (sig.clone(), block.clone(), of_body.returns);
        let OfType { constants: of_type, words: of } = of;
        stays.then_some(Known { sig, block, identity, declares, constants, types, returns, names, of_type, of })
    }

    /// Whether its body can stand in another function as it is, with the types that it states.
    pub(super) fn is_plain(&self) -> bool {
        let is_closure =
            |input: &FnArg| matches!(input, FnArg::Typed(input) if matches!(*input.ty, Type::ImplTrait(_)));
        self.types.is_empty() && !self.returns && !self.sig.inputs.iter().any(is_closure)
    }

    /// Whether a type is one of its type parameters, or is made of one.
    pub(super) fn is_generic(&self, ty: &Type) -> bool {
        words(&ty.to_token_stream()).any(|word| self.types.contains(&word.to_string()))
    }

    /// Returns the type of the result, if there is one.
    pub(super) fn result(&self) -> Option<&Type> {
        match &self.sig.output {
            ReturnType::Type(_, ty) => Some(ty),
            ReturnType::Default => None,
        }
    }

    /// Whether a method returns its own type.
    pub(super) fn returns_own(&self, own: &Ident) -> bool {
        let name = self.result().and_then(NamedType::of);
        name.is_some_and(|ty| ty.name() == "Self" || ty.name() == own)
    }

    /// Returns the receiver.
    pub(super) fn receiver(&self) -> Option<&syn::Receiver> {
        match self.sig.inputs.first()? {
            FnArg::Receiver(receiver) => Some(receiver),
            FnArg::Typed(_) => None,
        }
    }
}

/// What a function declares and names, and whether its body means the same in another function.
struct Names {
    declared: BTreeSet<String>,
    named: BTreeSet<String>,
    stays: bool,
    returns: bool,
    is_in_closure: bool,
}

impl<'a> Visit<'a> for Names {
    fn visit_pat_ident(&mut self, pat: &'a syn::PatIdent) {
        let name = pat.ident.to_string();
        // A pattern that names a constant.
        let declares = !name.starts_with(char::is_uppercase);
        if declares { &mut self.declared } else { &mut self.named }.insert(name);
        visit::visit_pat_ident(self, pat);
    }

    fn visit_path(&mut self, path: &'a Path) {
        if let Some(first) = path.segments.first() {
            self.named.insert(first.ident.to_string());
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        if let Expr::Path(path) = &*call.func
            && let Some(last) = path.path.segments.last()
        {
            // One array or barrier belongs to all calls of the function that declares it. The dynamic memory is one in all functions.
            self.stays &= !last.ident.to_string().starts_with("shared_");
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        let returns = matches!(expr, Expr::Return(_));
        self.returns |= returns;
        self.stays &= !(returns && self.is_in_closure);
        self.stays &= match expr {
            Expr::Macro(of) => is_failure(&of.mac),
            Expr::Try(_) | Expr::Unsafe(_) | Expr::Async(_) | Expr::Await(_) => false,
            _ => true,
        };
        let around = self.is_in_closure;
        self.is_in_closure |= matches!(expr, Expr::Closure(_));
        visit::visit_expr(self, expr);
        self.is_in_closure = around;
    }

    fn visit_stmt(&mut self, stmt: &'a syn::Stmt) {
        self.stays &= match stmt {
            syn::Stmt::Macro(of) => is_failure(&of.mac),
            syn::Stmt::Item(_) => false,
            syn::Stmt::Local(_) | syn::Stmt::Expr(..) => true,
        };
        visit::visit_stmt(self, stmt);
    }

    fn visit_attribute(&mut self, attr: &'a Attribute) {
        self.stays &= attr.path().is_ident("unroll");
    }
}

/// Whether a macro does nothing but end the launch.
fn is_failure(of: &Macro) -> bool {
    of.path.is_ident("panic") && of.tokens.to_string() == "\"\""
}

/// Whether there may be an element of memory in tokens, or a call.
fn reads_memory(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|tree| matches!(tree, TokenTree::Group(_)))
}

/// Returns a block with `if !condition { panic!("") }` in place of assertions, and without the messages of panics: no name of a local is hidden
/// in a macro then. What reads memory for a message stays as it is.
pub(super) fn with_failures(block: &Block) -> Block {
    struct Failures;
    impl Failures {
        /// What a macro is in a text for checks.
        fn of(of: &Macro) -> Option<Expr> {
            let name = of.path.get_ident()?.to_string();
            let given = of.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated).ok()?;
            let given: Vec<&Expr> = given.iter().collect();
            let fails: Expr = parse_quote!(panic!(""));
            let (failure, message) = match (&*name, &given[..]) {
                ("panic" | "todo" | "unimplemented" | "unreachable", message) => (fails, message),
                ("assert", [condition, message @ ..]) => (parse_quote!(if !(#condition) { #fails; }), message),
                ("assert_eq", [one, other, message @ ..]) => (parse_quote!(if (#one) != (#other) { #fails; }), message),
                ("assert_ne", [one, other, message @ ..]) => (parse_quote!(if (#one) == (#other) { #fails; }), message),
                // Only a debug build has it. What memory it reads there is left to the call.
                ("debug_assert" | "debug_assert_eq" | "debug_assert_ne", _) if !reads_memory(&of.tokens) => {
                    (parse_quote!({}), &given[..0])
                }
                _ => return None,
            };
            message.iter().all(|value| matches!(value, Expr::Lit(_)) || is_place(value)).then_some(failure)
        }
    }
    impl VisitMut for Failures {
        fn visit_expr_mut(&mut self, expr: &mut Expr) {
            if let Expr::Macro(of) = expr
                && let Some(failure) = Failures::of(&of.mac)
            {
                *expr = failure;
            }
            visit_mut::visit_expr_mut(self, expr);
        }

        fn visit_stmt_mut(&mut self, stmt: &mut syn::Stmt) {
            if let syn::Stmt::Macro(of) = stmt
                && let Some(failure) = Failures::of(&of.mac)
            {
                *stmt = syn::Stmt::Expr(failure, of.semi_token);
            }
            visit_mut::visit_stmt_mut(self, stmt);
        }
    }
    let mut block = block.clone();
    Failures.visit_block_mut(&mut block);
    block
}

/// The names of locals that a block and parameters declare, each as often as it is declared.
pub(super) fn declared_in(item: &ItemFn) -> Vec<String> {
    struct Declared(Vec<String>);
    impl<'a> Visit<'a> for Declared {
        fn visit_pat_ident(&mut self, pat: &'a syn::PatIdent) {
            self.0.push(pat.ident.to_string());
            visit::visit_pat_ident(self, pat);
        }

        fn visit_item(&mut self, _: &'a Item) {}
    }
    let mut declared = Declared(Vec::new());
    declared.visit_item_fn(item);
    declared.0
}

/// The words of the items in a function's body, and its generics.
pub(super) fn declared_everywhere(item: &ItemFn) -> Vec<String> {
    struct Items(Vec<String>);
    impl<'a> Visit<'a> for Items {
        fn visit_item(&mut self, item: &'a Item) {
            let words = item.to_token_stream().into_iter();
            self.0.extend(words.filter_map(|tree| match tree {
                TokenTree::Ident(word) => Some(word.to_string()),
                TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
            }));
        }
    }
    let mut declared = Items(Vec::new());
    declared.visit_block(&item.block);
    let generics = item.sig.generics.params.iter().map(|param| match param {
        syn::GenericParam::Lifetime(param) => param.lifetime.to_string(),
        syn::GenericParam::Type(param) => param.ident.to_string(),
        syn::GenericParam::Const(param) => param.ident.to_string(),
    });
    declared.0.extend(generics);
    declared.0
}

/// Whether an expression is a local or a field of one.
pub(super) fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Path(path) => path.path.get_ident().is_some(),
        Expr::Field(field) => matches!(field.member, Member::Named(_) | Member::Unnamed(_)) && is_place(&field.base),
        Expr::Paren(paren) => is_place(&paren.expr),
        _ => false,
    }
}

/// Whether an expression is a place, or a borrow of one, that is no part of another place.
pub(super) fn are_apart(place: &Expr, other: &Expr) -> bool {
    fn fields(expr: &Expr) -> Option<Vec<String>> {
        match expr {
            Expr::Path(path) => Some(vec![path.path.get_ident()?.to_string()]),
            Expr::Field(field) => {
                let mut all = fields(&field.base)?;
                all.push(field.member.to_token_stream().to_string());
                Some(all)
            }
            Expr::Paren(paren) => fields(&paren.expr),
            Expr::Reference(reference) => fields(&reference.expr),
            _ => None,
        }
    }
    let both = fields(place).zip(fields(other));
    both.is_some_and(|(one, other)| one.iter().zip(&other).any(|(one, other)| one != other))
}

/// Returns the name of a pattern that is a name.
pub(super) fn name_of(pat: &Pat) -> Option<&syn::PatIdent> {
    match pat {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Some(name),
        _ => None,
    }
}

/// Returns a hash of a text, as FNV-1a has it. Spaces and the groups of `macro_rules!` do not count.
pub(super) fn identity_of(tokens: &TokenStream) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    add(tokens, &mut |byte| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    hash
}

fn add(tokens: &TokenStream, byte: &mut dyn FnMut(u8)) {
    for tree in tokens.clone() {
        let word = match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => (b'(', b')'),
                    Delimiter::Brace => (b'{', b'}'),
                    Delimiter::Bracket => (b'[', b']'),
                    Delimiter::None => {
                        add(&group.stream(), byte);
                        continue;
                    }
                };
                byte(open);
                add(&group.stream(), byte);
                byte(close);
                continue;
            }
            TokenTree::Ident(word) => word.to_string(),
            TokenTree::Punct(punct) => punct.as_char().to_string(),
            TokenTree::Literal(literal) => literal.to_string(),
        };
        word.bytes().for_each(&mut *byte);
        byte(0xff);
    }
}
