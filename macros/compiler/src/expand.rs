//! The pipeline, on one screen: parse -> model -> check -> emit. Parser and checks both report before the one gate, so
//! that one compile shows all errors.

use std::cell::OnceCell;

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::quote;
use syn::{Attribute, Item, ItemFn};

use crate::check::rings::Rings;
use crate::check::{self, Asks, Checked};
use crate::diag::{Diag, Diags, Reported};
use crate::emit;
use crate::fragment;
use crate::messages;
use crate::model::options::Options;
use crate::model::{Function, Implementation, Method, Role, instances_of};
use crate::parse;
use crate::parse::computing::Closed;
use crate::rules::Rule;
use crate::session::Session;
use crate::source;
use crate::span::SpanRange;
use crate::values::Conditional;
use variants::{Valued, WithBodies, with_bodies, with_values};

mod faults;
mod instances;
mod prepared;
mod rings;
mod traces;
mod variants;

pub(crate) use faults::{check_device, check_file, check_kernel, check_kernel_in, check_program, fences};
pub(crate) use rings::rings;
pub use rings::{RingCase, RingReport};

/// Expands `#[cluster_kernel(options)] item`.
pub(crate) fn kernel(session: Session, options: TokenStream, item: TokenStream) -> TokenStream {
    expand(session, Role::Kernel, options, item)
}

/// Expands a kernel that stands in a file of this text.
#[cfg(test)]
pub(crate) fn kernel_in(session: Session, file: &str, options: TokenStream, item: TokenStream) -> TokenStream {
    expand_once(session, Role::Kernel, options, item, Some(file), None).items
}

/// Expands `#[device(options)] item`.
pub(crate) fn device(session: Session, options: TokenStream, item: TokenStream) -> TokenStream {
    expand(session, Role::Device, options, item)
}

/// Expands an item, with closures in place of functions that only compute, unless it is refused with them. An operator of operands whose
/// types the text does not show is a function, of which the checks know less than of one of numbers: what they refuse is read once more with
/// numbers for such operands, as rustc then has to confirm.
fn expand(session: Session, role: Role, options: TokenStream, item: TokenStream) -> TokenStream {
    if let Some((item, nested)) = parse::nested_functions::separated(&item) {
        let nested = nested.iter().map(|function| device(session, TokenStream::new(), quote!(#function)));
        let nested: TokenStream = nested.collect();
        let item = expand(session, role, options, item);
        return quote!(#nested #item);
    }
    let file = prepared::file_of(&item);
    let file = file.as_deref();
    let mut diags = Diags::new(session);
    let provided = file
        .and_then(|file| parse::provided_methods::added(&item, file, prepared::path_of(&item).as_deref(), &mut diags));
    let (errors, items) =
        (diags.into_tokens(), expand_provided(session, role, options, provided.unwrap_or(item), file));
    quote!(#errors #items)
}

/// Expands an item that has the methods which a trait provides.
fn expand_provided(
    session: Session,
    role: Role,
    options: TokenStream,
    item: TokenStream,
    file: Option<&str>,
) -> TokenStream {
    if let Some(expanded) = expand_closed(session, role, &options, &item, file) {
        return expanded;
    }
    let first = expand_once(session, role, options.clone(), item.clone(), file, None);
    match first.is_refused && first.has_open_operators {
        true => {
            let second = expand_once(Session { numbers: true, ..session }, role, options, item, file, None);
            if second.is_refused { first.items } else { second.items }
        }
        false => first.items,
    }
}

/// Expands an item with closures in place of functions that only compute; `None` if it calls none, or is refused.
fn expand_closed(
    session: Session,
    role: Role,
    options: &TokenStream,
    item: &TokenStream,
    file: Option<&str>,
) -> Option<TokenStream> {
    let closed = parse::computing::closed(item, file?)?;
    let expanded = expand_once(session, role, options.clone(), closed.item.clone(), file, Some(&closed));
    (!expanded.is_refused).then_some(expanded.items)
}

/// The condition that the closures of an item are of the functions that it names.
fn unless_closed(Closed { followed, .. }: &Closed) -> impl Iterator<Item = Conditional> {
    followed.iter().map(|function| {
        let is_right = |_| emit::followed::condition(std::slice::from_ref(function));
        Conditional::unless(messages::another_function(&function.name), is_right)
    })
}

/// The items that an item expands to.
struct Expanded {
    items: TokenStream,
    is_refused: bool,
    has_open_operators: bool,
}

/// Expands an item as it is, or one with closures. `file` is the text of the file around it.
fn expand_once(
    session: Session,
    role: Role,
    options: TokenStream,
    item: TokenStream,
    file: Option<&str>,
    closed: Option<&Closed>,
) -> Expanded {
    let item = match prepared::prepared(role, &options, item, file) {
        Ok(item) => item,
        // Each of the two gets closures of its own, which rustc then confirms with it.
        Err(either) => return Expanded { items: either, is_refused: closed.is_some(), has_open_operators: false },
    };
    let mut diags = Diags::new(session);
    let mut parsed = parse_as(role, options.clone(), item.clone(), &mut diags);
    let Parsed::Function { function, conditions } = &mut parsed else { return generate(&parsed, diags) };
    let has_open_operators = function.has_open_operators;
    function.text = closed.map_or(function.text, |closed| closed.text);
    define(function, file);
    let (function, understood, known) = (&**function, diags.is_empty(), OnceCell::new());
    let with_values = || understood.then(|| with_values(function, &options, &item, session)).flatten();
    let judged = judge(function, || known.get_or_init(with_values).as_ref(), &mut diags);
    let file = file.filter(|file| understood && judged.needs_bodies(file));
    let path = file.and_then(|_| prepared::path_of(&item));
    let bodies = file.and_then(|file| with_bodies(function, (file, path.as_deref()), &options, &item, session));
    let judged = match &bodies {
        Some(bodies) => judge_with_bodies(judged, bodies, &mut diags),
        None => judged,
    };
    let text = (function, &options, &item);
    let Judged { checked, conditional, selections } =
        instances::judge(judged, text, bodies.as_ref(), session, &mut diags);
    let is_refused = checked.is_err();
    let items = match checked {
        Ok(checked) => {
            let (items, of_closures) = (emit::items(&checked), closed.into_iter().flat_map(unless_closed));
            let refused = conditional.into_iter().chain(of_closures).map(|fault| fault.refuse());
            let selected = closed.map(|closed| emit::followed::selections(function, &closed.followed));
            quote!(#items #(#refused)* #selections #selected)
        }
        Err(Reported) => {
            let (errors, stub) = (diags.joined(check::one_barrier::join).into_tokens(), emit::stub(function));
            quote!(#errors #stub)
        }
    };
    Expanded { items: under_conditions(conditions, items), is_refused, has_open_operators }
}

/// The verdict on a function.
struct Judged<'f> {
    checked: Result<Checked<'f>, Reported>,
    /// What rustc reports if what the file shows is what the function names, or if it is not.
    conditional: Vec<Conditional>,
    /// What rustc selects the methods in that were read in the file.
    selections: TokenStream,
}

impl Judged<'_> {
    /// Whether the verdict depends on what called functions do.
    fn needs_bodies(&self, file: &str) -> bool {
        let Ok(checked) = &self.checked else { return true };
        let function = checked.function();
        // A kernel has the dynamic memory in common with each function that names it.
        let may_name_memory =
            || function.role == Role::Kernel && !function.slots.is_empty() && file.contains("dynamic_shared");
        !checked.asks().is_empty() || checked.rings().are_open() || function.is_traced() || may_name_memory()
    }
}

/// Checks a function, and again with the values of its constants where they may change the verdict: what is refused may be right with
/// them, and a phase barrier's use may be wrong. `known` reads the function with the values, which takes as long as reading it.
fn judge<'f>(function: &'f Function, known: impl FnOnce() -> Option<&'f Valued>, diags: &mut Diags) -> Judged<'f> {
    let (selections, checked) = (TokenStream::new(), check::run(function, diags));
    let may_differ = checked.is_err() || function.uses_phase_barriers() || function.is_traced();
    let Some((values, known)) = may_differ.then(known).flatten() else {
        return Judged { checked, conditional: Vec::new(), selections };
    };
    let mut faults = diags.nested();
    // The rings of a function that is right were checked with the same values, unless one is a table, a type, or the length of a local
    // array that matters.
    let is_valued = |rings: &Rings| rings.asks_lengths || values.have_tables() || values.have_types();
    let asks_again = checked.as_ref().is_ok_and(|checked| checked.rings().are_open() && is_valued(checked.rings()));
    let with_values = match checked {
        Ok(_) if !asks_again => check::run_without_rings(known, &mut faults),
        Ok(_) | Err(_) => check::run(known, &mut faults),
    };
    match (checked, with_values) {
        (Err(Reported), Ok(with_values)) => {
            let unless = |fault| Conditional::unless(fault, |span| values.are_right(span));
            let conditional = diags.take().into_iter().map(unless).collect();
            Judged { checked: Ok(with_values), conditional, selections }
        }
        (Ok(checked), Err(Reported)) => {
            let is_of_rings = |fault: &Diag| asks_again && Rule::OF_RINGS.contains(&fault.rule);
            let is_found = |fault: &Diag| is_of_rings(fault) || traces::is_of_values(&checked, known, fault);
            let found = faults.take().into_iter().filter(is_found);
            let conditional = found.map(|fault| Conditional::when(fault, |span| values.are_right(span))).collect();
            Judged { checked: Ok(checked), conditional, selections }
        }
        (Ok(checked), Ok(mut with_values)) if asks_again => {
            let checked = checked.with_rings_if(with_values.take_rings(), values.are_right(Span::call_site()));
            Judged { checked: Ok(checked), conditional: Vec::new(), selections }
        }
        (checked, _) => Judged { checked, conditional: Vec::new(), selections },
    }
}

/// Checks a function with the bodies of what it calls: what is refused may be right with them, and what is asked of the called
/// functions may have its answer in them.
fn judge_with_bodies<'f>(first: Judged<'f>, bodies: &'f WithBodies, diags: &mut Diags) -> Judged<'f> {
    let WithBodies { function, known, followed, .. } = bodies;
    let known = known.as_ref();
    let selections = emit::followed::selections(function, followed);
    let are_followed = |_| emit::followed::condition(followed);
    let mut found = diags.nested();
    let mut second = judge(function, || known, &mut found);
    let (of_rings, others): (Vec<_>, Vec<_>) =
        found.take().into_iter().partition(|fault| Rule::OF_RINGS.contains(&fault.rule));
    let rings = rings_with_bodies(&first, &mut second, of_rings);
    let of_values = rings_of_values(&first, &mut second, are_followed);
    let asked = first.checked.as_ref().map_or(Asks::empty(), Checked::asks);
    let of_traces = traces::faults(&first, (&mut second, function), &others, are_followed);
    let judged = match (first.checked, second.checked) {
        (Err(Reported), Ok(right)) if !diags.any(|rule, _| !Rule::OF_VALUES.contains(&rule)) => {
            let mut conditional = second.conditional;
            conditional.extend(diags.take().into_iter().map(|fault| Conditional::unless(fault, are_followed)));
            Judged { checked: Ok(right), conditional, selections }
        }
        (Ok(checked), Ok(right)) => {
            let of_text = if second.conditional.is_empty() { asked - right.asks() } else { Asks::empty() };
            let (is_followed, valued) = (are_followed(Span::call_site()), known.filter(|_| of_text != asked));
            let valued = valued.and_then(|(values, valued)| {
                // Some arrays are ordered by nothing but a proof of the rings.
                let without_rings = check::run_without_rings(valued, &mut diags.nested());
                let valued = without_rings.or_else(|_| check::run(valued, &mut diags.nested())).ok()?;
                Some((asked - valued.asks(), values.are_right(Span::call_site())))
            });
            let (answers, condition) = match valued {
                Some((answers, are_right)) if answers != of_text => (answers, quote!(#is_followed && #are_right)),
                _ => (of_text, is_followed),
            };
            match answers.is_empty() {
                true => Judged { checked: Ok(checked), ..first },
                false => Judged { checked: Ok(checked.answered_if(answers, condition)), selections, ..first },
            }
        }
        // rustc asks the methods only where it builds the kernel.
        (Ok(checked), Err(Reported)) if asked.contains(Asks::METHODS) => {
            let of_methods = others.into_iter().filter(|fault| fault.rule == Rule::DivergentCollective);
            let mut conditional = first.conditional;
            conditional.extend(of_methods.map(|fault| Conditional::when(fault, are_followed)));
            Judged { checked: Ok(checked), conditional, selections }
        }
        (checked, Ok(_) | Err(Reported)) => Judged { checked, ..first },
    };
    let judged = traces::add(judged, of_traces, followed);
    let judged = traces::add(judged, of_values, followed);
    match (judged.checked, rings) {
        (Ok(checked), Some((rings, is_right))) => {
            let (is_followed, is_right) = (are_followed(Span::call_site()), is_right.into_iter());
            let checked = checked.with_rings_if(rings, quote!(#is_followed #(&& (#is_right))*));
            Judged { checked: Ok(checked), selections: emit::followed::selections(function, followed), ..judged }
        }
        (checked, _) => Judged { checked, ..judged },
    }
}

/// What is known of rings with the bodies of what the function calls, if it is open without them, and what has to hold of constants.
fn rings_with_bodies(
    first: &Judged<'_>,
    second: &mut Judged<'_>,
    faults: Vec<Diag>,
) -> Option<(Rings, Option<TokenStream>)> {
    first.checked.as_ref().ok().filter(|checked| checked.rings().are_open())?;
    Some(match &mut second.checked {
        Ok(checked) => match checked.take_rings_if() {
            Some((rings, is_right)) => (rings, Some(is_right)),
            None => (checked.take_rings(), None),
        },
        Err(Reported) => (Rings::faulty(faults.into_iter()), None),
    })
}

/// Returns the faults of rings that a function has with the bodies and the values of constants, if they are open without them.
fn rings_of_values(
    first: &Judged<'_>,
    second: &mut Judged<'_>,
    are_followed: impl Fn(Span) -> TokenStream,
) -> Vec<Conditional> {
    if !first.checked.as_ref().is_ok_and(|checked| checked.rings().are_open()) {
        return Vec::new();
    }
    let is_of_rings = |fault: &Conditional| fault.if_right && Rule::OF_RINGS.contains(&fault.fault.rule);
    let (of_rings, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut second.conditional).into_iter().partition(is_of_rings);
    second.conditional = rest;
    of_rings.into_iter().map(|fault| fault.and(&are_followed)).collect()
}

/// The parsed item under an attribute.
enum Parsed {
    /// A function. A `#[cfg]` below the attribute applies to all items that replace it.
    Function { function: Box<Function>, conditions: Vec<Attribute> },
    /// `#[device] impl`
    Implementation(Implementation),
    /// `#[device] trait`
    Declaration(Implementation),
    /// An item that the attribute does not accept: it stays as it is.
    Refused(TokenStream),
    /// An item that is not valid Rust. rustc has reported it before it called the macro, and must report nothing more
    /// about its callers.
    Unread { fault: Diag, signature: Option<Box<Function>>, item: TokenStream },
}

impl Parsed {
    fn has_open_operators(&self) -> bool {
        match self {
            Parsed::Function { function, .. } => function.has_open_operators,
            Parsed::Implementation(of) => of.methods.iter().any(|method| method.function.has_open_operators),
            Parsed::Declaration(_) | Parsed::Refused(_) | Parsed::Unread { .. } => false,
        }
    }
}

fn parse_as(role: Role, options: TokenStream, item: TokenStream, diags: &mut Diags) -> Parsed {
    match role {
        Role::Kernel => parse_kernel(options, item, diags),
        Role::Device | Role::Method => parse_device(options, item, diags),
    }
}

fn parse_kernel(options: TokenStream, item: TokenStream, diags: &mut Diags) -> Parsed {
    let options = parse::options::kernel_options(options, diags);
    parse(item, Role::Kernel, options, "cluster_kernel", diags)
}

fn parse_device(options: TokenStream, item: TokenStream, diags: &mut Diags) -> Parsed {
    let options = parse::options::device_options(options, diags);
    parse(item, Role::Device, options, "device", diags)
}

fn parse(item: TokenStream, role: Role, options: Options, attribute: &str, diags: &mut Diags) -> Parsed {
    let item = fragment::opened(item);
    let parsed = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Fn(parsed)) => parsed,
        Ok(Item::Impl(parsed)) if role == Role::Device => {
            parse::options::refuse_options(&options, diags);
            // Nothing of it is left, of which rustc would miss members.
            return match parse::implementation::implementation(&parsed, diags) {
                Some(implementation) => Parsed::Implementation(implementation),
                None => Parsed::Refused(TokenStream::new()),
            };
        }
        Ok(Item::Trait(parsed)) if role == Role::Device => {
            parse::options::refuse_options(&options, diags);
            return Parsed::Declaration(parse::implementation::declaration(&parsed, diags));
        }
        Ok(_) => {
            diags.push(messages::not_a_function(SpanRange::of(&item), attribute));
            return Parsed::Refused(item);
        }
        Err(error) => return unread(item, role, &error, diags),
    };
    if parsed.sig.receiver().is_some() {
        // A method inside an `impl`, where the items that replace a function cannot stand.
        diags.push(messages::receiver(SpanRange::of(&parsed.sig.ident)));
        let stub = parse::refused_method::called_in_bodies(&parsed);
        return Parsed::Refused(quote!(#item #stub));
    }
    let mut function = Box::new(parse::function(&parsed, role, options, diags));
    define(&mut function, None);
    let conditions = parsed.attrs.into_iter().filter(|attr| attr.path().is_ident("cfg")).collect();
    Parsed::Function { function, conditions }
}

/// Adds the definitions of a file, and the instances of the function that it names; definitions of the body hide them.
fn define(function: &mut Function, file: Option<&str>) {
    let mut definitions = file.map(source::definitions).unwrap_or_default();
    if let Some(file) = file.filter(|_| function.is_generic_over_constants()) {
        let name = function.name.to_string();
        definitions.insert(instances_of(&name), source::instances(file, &name));
    }
    definitions.extend(function.items().flat_map(|item| source::definitions(&item.to_string())));
    function.definitions = definitions;
}

fn unread(item: TokenStream, role: Role, error: &syn::Error, diags: &mut Diags) -> Parsed {
    let fault = messages::not_parsed(SpanRange::at(error.span()), &error.to_string());
    let mut trees: Vec<TokenTree> = item.clone().into_iter().collect();
    trees.pop();
    trees.push(Group::new(Delimiter::Brace, TokenStream::new()).into());
    let signature = match syn::parse2::<ItemFn>(trees.into_iter().collect()) {
        Ok(signature) if signature.sig.receiver().is_none() => {
            Some(Box::new(parse::function(&signature, role, Options::default(), diags)))
        }
        _ => None,
    };
    Parsed::Unread { fault, signature, item }
}

/// Checks each method by itself.
fn check_methods<'i>(implementation: &'i Implementation, diags: &mut Diags) -> Vec<(&'i Method, Option<Checked<'i>>)> {
    let checked = implementation.methods.iter().map(|method| {
        let mut faults = diags.nested();
        let checked = check::run(&method.function, &mut faults).ok();
        diags.append(faults);
        (method, checked)
    });
    checked.collect()
}

/// Makes the items that replace an item that is no function; after an error, signatures without their bodies.
fn generate(parsed: &Parsed, mut diags: Diags) -> Expanded {
    let (mut is_refused, has_open_operators) = (false, parsed.has_open_operators());
    let items = match parsed {
        Parsed::Function { .. } => TokenStream::new(),
        Parsed::Implementation(implementation) => {
            let checked = check_methods(implementation, &mut diags);
            is_refused = !diags.is_empty();
            let items = match diags.gate() {
                Ok(()) => emit::implementation(implementation, &checked),
                // Only its span says in which method a parse error is.
                Err(Reported) => {
                    let stubs: Vec<_> = implementation.methods.iter().map(|method| (method, None)).collect();
                    emit::implementation(implementation, &stubs)
                }
            };
            let errors = diags.into_tokens();
            quote!(#errors #items)
        }
        Parsed::Declaration(declaration) => {
            let (errors, items) = (diags.into_tokens(), emit::declaration(declaration));
            quote!(#errors #items)
        }
        Parsed::Refused(item) => {
            let errors = diags.into_tokens();
            quote!(#errors #item)
        }
        Parsed::Unread { fault, signature, item } => {
            let (errors, fault) = (diags.into_tokens(), fault.unless_rustc_says_more());
            let stub = signature.as_ref().map_or_else(|| item.clone(), |signature| emit::stub(signature));
            quote!(#errors #fault #stub)
        }
    };
    Expanded { items, is_refused, has_open_operators }
}

fn under_conditions(conditions: &[Attribute], items: TokenStream) -> TokenStream {
    // Most functions have none, and a parser takes longer to read the items than it takes to make them.
    if conditions.is_empty() {
        return items;
    }
    match syn::parse2::<syn::File>(items.clone()) {
        Ok(syn::File { items, .. }) => items.iter().map(|item| quote!(#(#conditions)* #item)).collect(),
        Err(_) => items,
    }
}
