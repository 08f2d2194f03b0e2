//! The faults of kernels and functions as data, for those who do not want the items.

use phalanx_contract::fence::{ChosenFence, MemoryEffects};
use proc_macro2::TokenStream;
use quote::quote;

use super::variants::{with_bodies, with_values};
use super::{
    Judged, Parsed, check_methods, define, instances, judge, judge_with_bodies, parse_as, parse_device, parse_kernel,
    prepared,
};
use crate::check::{self, Asks, Program};
use crate::diag::{Diag, Diags, Fault};
use crate::model::Role;
use crate::parse;
use crate::parse::nested_functions;
use crate::parse::same_file::Attributed;
use crate::rules::Rule;
use crate::session::Session;

/// Returns the faults that `kernel` reports.
pub(crate) fn check_kernel(session: Session, options: TokenStream, item: TokenStream) -> Vec<Fault> {
    if let Some((item, nested)) = nested_functions::separated(&item) {
        return with_nested(session, &nested, check_kernel(session, options, item));
    }
    // Of two items, rustc keeps one, which is then checked.
    let Ok(item) = prepared::prepared(Role::Kernel, &options, item, None) else { return Vec::new() };
    let mut diags = Diags::new(session);
    match parse_kernel(options.clone(), item.clone(), &mut diags) {
        Parsed::Function { function, .. } => {
            let judged = judge(&function, || None, &mut diags);
            instances::judge(judged, (&function, &options, &item), None, session, &mut diags);
            let numbers = || check_kernel(Session { numbers: true, ..session }, options, item);
            of_numbers(diags.into_faults(), function.has_open_operators && !session.numbers, numbers)
        }
        parsed => faults(parsed, diags),
    }
}

/// Returns the faults that `device` reports.
pub(crate) fn check_device(session: Session, options: TokenStream, item: TokenStream) -> Vec<Fault> {
    if let Some((item, nested)) = nested_functions::separated(&item) {
        return with_nested(session, &nested, check_device(session, options, item));
    }
    let Ok(item) = prepared::prepared(Role::Device, &options, item, None) else { return Vec::new() };
    let mut diags = Diags::new(session);
    let parsed = parse_device(options.clone(), item.clone(), &mut diags);
    let is_open = parsed.has_open_operators() && !session.numbers;
    of_numbers(faults(parsed, diags), is_open, || check_device(Session { numbers: true, ..session }, options, item))
}

/// Adds the faults of the functions inside of one to its own, in the order of the source.
fn with_nested(session: Session, nested: &[syn::ItemFn], mut faults: Vec<Fault>) -> Vec<Fault> {
    faults.extend(nested.iter().flat_map(|function| check_device(session, TokenStream::new(), quote!(#function))));
    faults.sort_by_key(|fault| (fault.line(), fault.column()));
    faults
}

/// Returns the faults, or those with numbers for the operands whose types the text does not show, if there are none.
fn of_numbers(faults: Vec<Fault>, is_open: bool, numbers: impl FnOnce() -> Vec<Fault>) -> Vec<Fault> {
    match faults.is_empty() || !is_open {
        true => faults,
        false => Some(numbers()).filter(Vec::is_empty).unwrap_or(faults),
    }
}

/// Returns the faults of a kernel that stands in a file of this text, if its constants have the values that the text shows.
pub(crate) fn check_kernel_in(session: Session, file: &str, options: TokenStream, item: TokenStream) -> Vec<Fault> {
    let mut diags = Diags::new(session);
    let mut parsed = parse_kernel(options.clone(), item.clone(), &mut diags);
    let Parsed::Function { function, .. } = &mut parsed else { return faults(parsed, diags) };
    define(function, Some(file));
    let known = diags.is_empty().then(|| with_values(function, &options, &item, session)).flatten();
    let judged = judge(function, || known.as_ref(), &mut diags);
    let Judged { conditional, .. } = instances::judge(judged, (function, &options, &item), None, session, &mut diags);
    conditional.into_iter().filter(|fault| fault.if_right).for_each(|conditional| diags.push(conditional.fault));
    diags.into_faults()
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

/// Returns the faults of all functions and kernels of a file, with those that rustc reports when it joins the functions' protocols.
pub(crate) fn check_file(session: Session, file: &str) -> Vec<Fault> {
    let Ok(items) = parse::same_file::attributed(file) else { return Vec::new() };
    let (mut program, mut all) = (Program::default(), Vec::new());
    for Attributed { is_kernel, options, item } in items {
        let role = if is_kernel { Role::Kernel } else { Role::Device };
        let Ok(item) = prepared::prepared(role, &options, item, Some(file)) else { continue };
        let mut diags = Diags::new(session);
        let mut parsed = parse_as(role, options.clone(), item.clone(), &mut diags);
        let Parsed::Function { function, .. } = &mut parsed else {
            all.extend(faults(parsed, diags));
            continue;
        };
        define(function, Some(file));
        let understood = diags.is_empty();
        let known = understood.then(|| with_values(function, &options, &item, session)).flatten();
        let mut judged = judge(function, || known.as_ref(), &mut diags);
        let bodies = if understood && judged.needs_bodies(file) {
            with_bodies(function, (file, None), &options, &item, session)
        } else {
            None
        };
        if let Some(bodies) = &bodies {
            judged = judge_with_bodies(judged, bodies, &mut diags);
        }
        judged = instances::judge(judged, (function, &options, &item), bodies.as_ref(), session, &mut diags);
        let held = judged.conditional.into_iter().filter(|fault| fault.if_right);
        held.for_each(|conditional| diags.push(conditional.fault));
        if let Ok(checked) = &judged.checked {
            all.extend(checked.rings_if().into_iter().flat_map(|(rings, _)| rings.faults().map(Diag::to_fault)));
            let known = |fault: &Fault| {
                checked.is_answered_if(Asks::MEMORY).is_some() && Rule::OF_PAIRS.contains(&fault.rule())
            };
            all.extend(
                program.add(checked).into_iter().filter(|fault| !known(fault) && session.without != Some(fault.rule())),
            );
        }
        all.extend(diags.into_faults());
    }
    all
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
