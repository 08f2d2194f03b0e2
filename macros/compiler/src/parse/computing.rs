//! Device functions of the same file that only compute an integer or a condition of integers, as `fn at(x: usize, y: usize) -> usize { y *
//! WIDTH + x }` does, as closures of the functions that call them: what an index is computed of is known then, so that accesses are tested
//! before loops. That the calls are of these functions, rustc confirms. `computing_values` has those that compute with fields.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    BinOp, Expr, ExprBinary, ExprLit, ExprParen, FnArg, ItemFn, Lit, LitInt, ReturnType, Stmt, Type, UnOp,
    parse_quote_spanned,
};

use super::files::Files;
use super::readable::{Known, declared_everywhere, declared_in, identity_of, name_of};
use super::same_file::Module;
use crate::model::followed::Followed;
use crate::model::ty::scalar;
use crate::model::words::words;
use crate::source;
use crate::span::respanned;

/// A function with closures in place of functions that it calls.
pub(crate) struct Closed {
    pub(crate) item: TokenStream,
    /// The functions that rustc has to confirm.
    pub(crate) followed: Vec<Followed>,
    /// The identity of the function's own text, by which its callers know it.
    pub(crate) text: u64,
}

/// Methods of integers that compute, and cannot fail.
const METHODS: [&str; 8] =
    ["abs_diff", "max", "min", "saturating_add", "saturating_sub", "wrapping_add", "wrapping_mul", "wrapping_sub"];

/// Declares closures for the functions that only compute; `None` if the item calls none. `file` is the text of the file around it.
pub(crate) fn closed(item: &TokenStream, file: &str) -> Option<Closed> {
    let may_compute = |name: &Ident| source::function_body(file, &name.to_string()).is_some_and(is_one_expression);
    if !called(item.clone()).iter().any(may_compute) {
        return None;
    }
    let mut item: ItemFn = syn::parse2(item.clone()).ok()?;
    let names = Names::of(&item);
    let module = Module::around(&item.sig.ident, &Files::alone(file)?)?;
    let declared = [declared_in(&item), declared_everywhere(&item)].concat();
    let (sig, block) = (&item.sig, &item.block);
    let text = identity_of(&quote!(#sig #block));
    let (statements, followed) = (Vec::new(), Vec::new());
    let mut closures = Closures { module: &module, names: &names, declared, statements, followed, open: Vec::new() };
    for name in names.called.values().filter(|name| may_compute(name)) {
        let closure = closures.of_function(name);
        closures.statements.extend(closure.map(|closure| (0, closure)));
    }
    closures.add_of_values(&mut item);
    let Closures { mut statements, followed, .. } = closures;
    if statements.is_empty() {
        return None;
    }
    // From the last place on, so that the others stay where they are.
    statements.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
    for (place, statement) in statements {
        item.block.stmts.insert(place, statement);
    }
    Some(Closed { item: item.into_token_stream(), followed, text })
}

/// Returns the names that stand before parentheses, which is nearly always a call.
fn called(item: TokenStream) -> Vec<Ident> {
    let (mut found, mut name) = (Vec::new(), None);
    for tree in item {
        name = match tree {
            TokenTree::Ident(word) => Some(word),
            TokenTree::Group(group) => {
                let is_call = group.delimiter() == Delimiter::Parenthesis;
                found.extend(name.take().filter(|_| is_call));
                found.extend(called(group.stream()));
                None
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => None,
        };
    }
    found
}

/// Whether the text of a body may be an expression that computes: other things are not read at all.
fn is_one_expression(body: &str) -> bool {
    !body.contains([';', '[', '{', '"'])
}

/// The names in an item.
#[derive(Default)]
pub(super) struct Names {
    /// The functions that it calls by their name alone, each where it does so first.
    called: BTreeMap<String, Ident>,
    /// How often each is called so, and how often each word stands anywhere.
    calls: BTreeMap<String, usize>,
    words: BTreeMap<String, usize>,
}

impl Names {
    fn of(item: &ItemFn) -> Names {
        let mut names = Names::default();
        names.visit_block(&item.block);
        words(&item.to_token_stream()).for_each(|word| *names.words.entry(word.to_string()).or_default() += 1);
        names
    }

    /// Whether a name stands nowhere.
    pub(super) fn is_free(&self, name: &str) -> bool {
        !self.words.contains_key(name)
    }

    /// Whether a name stands nowhere but in calls: in an argument, or in a constant, it is needed as the function's.
    fn is_only_called(&self, name: &str) -> bool {
        self.calls.get(name) == self.words.get(name)
    }
}

impl<'a> Visit<'a> for Names {
    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        if let Expr::Path(path) = &*call.func
            && let Some(name) = path.path.get_ident()
        {
            self.called.entry(name.to_string()).or_insert_with(|| name.clone());
            *self.calls.entry(name.to_string()).or_default() += 1;
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_generic_argument(&mut self, _: &'a syn::GenericArgument) {}

    fn visit_item(&mut self, _: &'a syn::Item) {}
}

/// The closures that an item gets.
pub(super) struct Closures<'m> {
    pub(super) module: &'m Module,
    pub(super) names: &'m Names,
    /// The names that mean something else in the item than in its module, each as often as it is declared.
    pub(super) declared: Vec<String>,
    /// The declarations of closures, each with the number of statements of the body before it.
    pub(super) statements: Vec<(usize, Stmt)>,
    followed: Vec<Followed>,
    /// The functions that are being read, by the identities of their texts.
    open: Vec<u64>,
}

/// The expressions that stand for the parameters of a function.
pub(super) type Bound = BTreeMap<String, Expr>;

impl<'m> Closures<'m> {
    /// Returns the declaration of a function's closure, if it only computes.
    fn of_function(&mut self, name: &Ident) -> Option<Stmt> {
        self.names.is_only_called(&name.to_string()).then_some(())?;
        let (known, at) = (self.known(name)?, name.span());
        let (params, _) = signature_of(known)?;
        let itself = params.iter().map(|(name, _)| parse_quote_spanned!(at=> #name)).collect();
        let result = self.followed_if_some(|closures| closures.result(name, itself))?;
        let params = params.iter().map(|(name, ty)| quote!(#name: #ty));
        let closure = respanned(quote!(|#(#params),*| #result), at);
        Some(parse_quote_spanned!(at=> let #name = #closure;))
    }

    /// Reads functions, which rustc has to confirm only if something comes of it.
    pub(super) fn followed_if_some<R>(&mut self, read: impl FnOnce(&mut Self) -> Option<R>) -> Option<R> {
        let before = self.followed.len();
        let result = read(self);
        if result.is_none() {
            self.followed.truncate(before);
        }
        result
    }

    /// Returns the result of a function for arguments.
    fn result(&mut self, name: &Ident, arguments: Vec<Expr>) -> Option<Expr> {
        let known = self.known(name)?;
        let (params, result) = signature_of(known)?;
        // One that calls itself is no expression that ends.
        (params.len() == arguments.len() && !self.open.contains(&known.identity)).then_some(())?;
        let bound = params.iter().zip(arguments).map(|((name, _), argument)| (name.to_string(), argument)).collect();
        self.open.push(known.identity);
        let result = self.computed(result, &bound, name.span());
        self.open.pop();
        self.follow(Followed { name: name.clone(), elsewhere: None, text: known.identity, method: None });
        result.filter(is_typed)
    }

    pub(super) fn follow(&mut self, function: Followed) {
        if !self.followed.iter().any(|other| other.is_same(&function)) {
            self.followed.push(function);
        }
    }

    /// Returns a function that may be read in place of its calls, as far as its names mean in the item what they do where it stands.
    pub(super) fn known(&self, name: &Ident) -> Option<&'m Known> {
        let known = self.module.functions.get(&name.to_string())?;
        (!self.declared.contains(&name.to_string()) && self.means_the_same(known)).then_some(known)
    }

    /// Whether the names in a function mean the same in the item.
    pub(super) fn means_the_same(&self, known: &Known) -> bool {
        !known.names.iter().any(|name| self.declared.contains(name))
    }

    /// Returns an expression with what stands for the parameters, and with the bodies of the functions that it calls; `None` if it is not
    /// computed of parameters, literals and constants, or fails otherwise than by an overflow.
    pub(super) fn computed(&mut self, expr: &Expr, bound: &Bound, at: Span) -> Option<Expr> {
        let mut computed = |expr: &Expr| self.computed(expr, bound, at);
        Some(match expr {
            Expr::Lit(literal) if matches!(literal.lit, Lit::Int(_) | Lit::Bool(_)) => expr.clone(),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                let inner = computed(&unary.expr)?;
                parse_quote_spanned!(at=> !#inner)
            }
            Expr::Path(path) => {
                let name = path.path.get_ident()?.to_string();
                bound.get(&name).cloned().or_else(|| is_named_as_constant(&name).then(|| expr.clone()))?
            }
            Expr::Field(field) => {
                let (base, member) = (computed(&field.base)?, &field.member);
                parse_quote_spanned!(at=> #base.#member)
            }
            Expr::Paren(ExprParen { expr: inner, .. }) | Expr::Group(syn::ExprGroup { expr: inner, .. }) => {
                let inner = computed(inner)?;
                parse_quote_spanned!(at=> (#inner))
            }
            Expr::Cast(cast) if is_integer(&cast.ty) => {
                let (inner, ty) = (computed(&cast.expr)?, &cast.ty);
                parse_quote_spanned!(at=> (#inner) as #ty)
            }
            Expr::Binary(binary) if is_arithmetic(binary) => {
                let (left, right, op) = (computed(&binary.left)?, computed(&binary.right)?, &binary.op);
                parse_quote_spanned!(at=> #left #op #right)
            }
            Expr::MethodCall(call)
                if METHODS.iter().any(|method| call.method == method) && call.turbofish.is_none() =>
            {
                let (receiver, method) = (computed(&call.receiver)?, &call.method);
                let arguments = call.args.iter().map(computed).collect::<Option<Vec<Expr>>>()?;
                parse_quote_spanned!(at=> #receiver.#method(#(#arguments),*))
            }
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else { return None };
                let arguments = call.args.iter().map(computed).collect::<Option<Vec<Expr>>>()?;
                let name = Ident::new(&path.path.get_ident()?.to_string(), at);
                let (params, _) = signature_of(self.known(&name)?)?;
                let typed = arguments.into_iter().zip(params).map(|(argument, (_, ty))| passed(argument, ty));
                let arguments = typed.collect::<Option<Vec<Expr>>>()?;
                let result = self.result(&name, arguments)?;
                parse_quote_spanned!(at=> (#result))
            }
            _ => return None,
        })
    }
}

/// Returns an argument as an expression that has the parameter's type wherever it stands.
fn passed(argument: Expr, ty: &Type) -> Option<Expr> {
    if let Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) = &argument {
        let text = format!("{}{}", number.base10_digits(), ty.to_token_stream());
        let number = LitInt::new(&text, number.span());
        return Some(parse_quote_spanned!(number.span()=> #number));
    }
    is_typed(&argument).then(|| parse_quote_spanned!(ty.span()=> (#argument)))
}

/// Whether an expression has its type by itself, and not by where it stands: that of a parameter, a constant, a field or a cast.
pub(super) fn is_typed(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(literal) => !matches!(&literal.lit, Lit::Int(number) if number.suffix().is_empty()),
        Expr::Unary(unary) => is_typed(&unary.expr),
        Expr::Paren(inner) => is_typed(&inner.expr),
        Expr::MethodCall(call) => is_typed(&call.receiver),
        Expr::Binary(binary) => match binary.op {
            BinOp::Shl(_) | BinOp::Shr(_) => is_typed(&binary.left),
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => true,
            _ => is_typed(&binary.left) || is_typed(&binary.right),
        },
        _ => true,
    }
}

/// Whether an operation computes, and cannot fail.
fn is_arithmetic(binary: &ExprBinary) -> bool {
    match binary.op {
        BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => true,
        BinOp::And(_) | BinOp::Or(_) => true,
        BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) => true,
        BinOp::BitAnd(_) | BinOp::BitOr(_) | BinOp::BitXor(_) | BinOp::Shl(_) | BinOp::Shr(_) => true,
        // By what may be 0, it fails: by a constant, in each launch or in none.
        BinOp::Div(_) | BinOp::Rem(_) => match &*binary.right {
            Expr::Lit(_) => true,
            Expr::Path(path) => path.path.get_ident().is_some_and(|name| is_named_as_constant(&name.to_string())),
            _ => false,
        },
        _ => false,
    }
}

/// Returns the parameters but `self`, and the result, of a function of integers whose body is one expression.
pub(super) fn signature_of(known: &Known) -> Option<Signature<'_>> {
    signature_with_values(known).filter(|(params, _)| params.iter().all(|(_, ty)| is_integer(ty)))
}

/// Returns the parameters but `self`, of any types, and the result, of a function whose body is one expression.
pub(super) fn signature_with_values(known: &Known) -> Option<Signature<'_>> {
    let (sig, [Stmt::Expr(result, None)]) = (&known.sig, &known.block.stmts[..]) else { return None };
    let ReturnType::Type(_, ty) = &sig.output else { return None };
    let is_generic = !sig.generics.params.is_empty() || sig.generics.where_clause.is_some();
    let params = sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(input) => Some(input),
        FnArg::Receiver(_) => None,
    });
    let params = params.map(|input| {
        let name = name_of(&input.pat).filter(|name| name.mutability.is_none())?;
        Some((&name.ident, &*input.ty))
    });
    let params = params.collect::<Option<Vec<_>>>()?;
    let is_result = is_integer(ty) || matches!(&**ty, Type::Path(path) if path.path.is_ident("bool"));
    (is_result && !is_generic).then_some((params, result))
}

pub(super) type Signature<'k> = (Vec<(&'k Ident, &'k Type)>, &'k Expr);

pub(super) fn is_integer(of: &Type) -> bool {
    let Type::Path(path) = of else { return false };
    let name = path.path.get_ident().and_then(|name| scalar(&name.to_string()));
    name.is_some_and(|name| name.starts_with(['i', 'u']))
}

fn is_named_as_constant(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase()) && !name.contains(|of: char| of.is_ascii_lowercase())
}
