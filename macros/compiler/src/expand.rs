//! The pipeline, on one screen: parse -> model -> check -> emit. Parser and checks both report before the one gate, so
//! that one compile shows all errors.

use phalanx_contract::fence::{ChosenFence, MemoryEffects};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::{Attribute, Item, ItemFn};

use crate::check::rings::{Case, Known};
use crate::check::{self, Checked, Program};
use crate::diag::{Diag, Diags, Fault, Reported};
use crate::emit;
use crate::fragment;
use crate::messages;
use crate::model::kind::Kind;
use crate::model::options::Options;
use crate::model::{Definitions, Function, Implementation, Method, Role};
use crate::parse;
use crate::session::Session;
use crate::source;
use crate::span::SpanRange;

/// Expands `#[cluster_kernel(options)] item`.
pub(crate) fn kernel(session: Session, options: TokenStream, item: TokenStream) -> TokenStream {
    let mut diags = Diags::new(session);
    let parsed = parse_kernel(options, item, &mut diags);
    generate(&parsed, diags)
}

/// Expands `#[device(options)] item`.
pub(crate) fn device(session: Session, options: TokenStream, item: TokenStream) -> TokenStream {
    let mut diags = Diags::new(session);
    let parsed = parse_device(options, item, &mut diags);
    generate(&parsed, diags)
}

/// Returns the faults that `kernel` reports.
pub(crate) fn check_kernel(session: Session, options: TokenStream, item: TokenStream) -> Vec<Fault> {
    let mut diags = Diags::new(session);
    let parsed = parse_kernel(options, item, &mut diags);
    faults(parsed, diags)
}

/// Returns the faults that `device` reports.
pub(crate) fn check_device(session: Session, options: TokenStream, item: TokenStream) -> Vec<Fault> {
    let mut diags = Diags::new(session);
    let parsed = parse_device(options, item, &mut diags);
    faults(parsed, diags)
}

/// Returns the fences of a kernel's operations at the cluster's barrier, in the order of its text, if it has no fault. The device
/// functions that it calls are taken to access nothing but what they are lent.
pub(crate) fn fences(
    session: Session,
    options: TokenStream,
    item: TokenStream,
) -> Result<Vec<ChosenFence>, Vec<Fault>> {
    let mut diags = Diags::new(session);
    if let Parsed::Function { function, .. } = parse_kernel(options, item, &mut diags)
        && let Ok(checked) = check::run(&function, &mut diags)
    {
        return Ok(checked.fences().chosen(MemoryEffects::empty()));
    }
    Err(diags.into_faults())
}

/// Returns what is known of a kernel's rings of phase barriers, or its faults. The text is that of the file around it.
pub(crate) fn rings(
    session: Session,
    file: &str,
    options: TokenStream,
    item: TokenStream,
) -> Result<Vec<RingCase>, Vec<Fault>> {
    let mut diags = Diags::new(session);
    if let Parsed::Function { mut function, .. } = parse_kernel(options, item, &mut diags) {
        define(&mut function, source::definitions(file));
        if let Ok(checked) = check::run(&function, &mut diags) {
            return Ok(checked.rings().cases.iter().map(RingCase::of).collect());
        }
    }
    Err(diags.into_faults())
}

/// Returns the faults of device functions, each of which calls earlier ones, and of a kernel that calls them, with those that rustc
/// reports when it joins the functions' protocols.
pub(crate) fn check_program(
    session: Session,
    functions: Vec<TokenStream>,
    (options, kernel): (TokenStream, TokenStream),
) -> Vec<Fault> {
    let mut program = Program::default();
    let mut all = Vec::new();
    let mut add = |parsed: Parsed, mut diags: Diags| {
        if let Parsed::Function { function, .. } = &parsed
            && let Ok(checked) = check::run(function, &mut diags)
        {
            all.extend(program.add(&checked).into_iter().filter(|fault| session.without != Some(fault.rule())));
        }
        all.extend(diags.into_faults());
    };
    for function in functions {
        let mut diags = Diags::new(session);
        add(parse_device(TokenStream::new(), function, &mut diags), diags);
    }
    let mut diags = Diags::new(session);
    add(parse_kernel(options, kernel, &mut diags), diags);
    all
}

/// What is known of a kernel's rings of phase barriers if constants have certain values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingCase {
    /// The constants that rustc has to confirm, with the values that are taken for them.
    pub values: Vec<(String, i64)>,
    /// What is known.
    pub report: RingReport,
}

/// What is known of a kernel's rings of phase barriers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RingReport {
    /// No run of the kernel has a fault at these barriers, or in the accesses of these arrays.
    Proved {
        /// The names of the barriers.
        barriers: Vec<String>,
        /// The names of the shared arrays.
        arrays: Vec<String>,
        /// The number of states that were visited.
        states: usize,
    },
    /// rustc reports this fault if the constants have the values.
    Refused(Fault),
    /// The kernel switches the rule off that it breaks.
    Waived,
    /// There is neither a proof nor a fault.
    Open {
        /// The line of what is not followed, from 1.
        line: u32,
        /// The reason.
        why: String,
    },
}

impl RingCase {
    fn of(case: &Case) -> RingCase {
        let report = match &case.known {
            Known::Proved { barriers, arrays, states } => {
                RingReport::Proved { barriers: barriers.clone(), arrays: arrays.clone(), states: *states }
            }
            Known::Faulty(Some(fault)) => RingReport::Refused(fault.to_fault()),
            Known::Faulty(None) => RingReport::Waived,
            Known::Open(refusal) => RingReport::Open { line: refusal.at.line(), why: refusal.why.clone() },
        };
        RingCase { values: case.values(), report }
    }
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
            return Parsed::Implementation(parse::implementation::implementation(&parsed, diags));
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
        return Parsed::Refused(item);
    }
    let mut function = Box::new(Function { options, ..parse::function(&parsed, role, diags) });
    if role == Role::Kernel && function.locals.iter().any(|local| matches!(local.kind, Kind::Barrier(_))) {
        let definitions = source::around(function.name.span());
        define(&mut function, definitions);
    }
    let conditions = parsed.attrs.into_iter().filter(|attr| attr.path().is_ident("cfg")).collect();
    Parsed::Function { function, conditions }
}

/// Adds the definitions of a file; those of the body hide them.
fn define(function: &mut Function, mut definitions: Definitions) {
    definitions.extend(function.items().flat_map(|item| source::definitions(&item.to_string())));
    function.definitions = definitions;
}

fn unread(item: TokenStream, role: Role, error: &syn::Error, diags: &mut Diags) -> Parsed {
    let fault = messages::not_parsed(SpanRange::at(error.span()), &error.to_string());
    let mut trees: Vec<TokenTree> = item.clone().into_iter().collect();
    trees.pop();
    trees.push(Group::new(Delimiter::Brace, TokenStream::new()).into());
    let signature = match syn::parse2::<ItemFn>(trees.into_iter().collect()) {
        Ok(signature) if signature.sig.receiver().is_none() => Some(Box::new(parse::function(&signature, role, diags))),
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

fn faults(parsed: Parsed, mut diags: Diags) -> Vec<Fault> {
    match parsed {
        Parsed::Function { function, .. } => drop(check::run(&function, &mut diags)),
        Parsed::Implementation(implementation) => drop(check_methods(&implementation, &mut diags)),
        Parsed::Declaration(_) | Parsed::Refused(_) => {}
        Parsed::Unread { fault, .. } => diags.push(fault),
    }
    diags.into_faults()
}

/// Makes the items that replace the attribute's item; after an error, signatures without their bodies.
fn generate(parsed: &Parsed, mut diags: Diags) -> TokenStream {
    match parsed {
        Parsed::Function { function, conditions } => {
            let items = match check::run(function, &mut diags) {
                Ok(checked) => emit::items(&checked),
                Err(Reported) => {
                    let (errors, stub) = (diags.into_tokens(), emit::stub(function));
                    quote!(#errors #stub)
                }
            };
            under_conditions(conditions, items)
        }
        Parsed::Implementation(implementation) => {
            let checked = check_methods(implementation, &mut diags);
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
    }
}

fn under_conditions(conditions: &[Attribute], items: TokenStream) -> TokenStream {
    match (conditions.is_empty(), syn::parse2::<syn::File>(items.clone())) {
        (false, Ok(syn::File { items, .. })) => items.iter().map(|item| quote!(#(#conditions)* #item)).collect(),
        _ => items,
    }
}
