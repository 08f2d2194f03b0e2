//! Kernels that are generic over constants: what their threads do to each other is followed in instances with certain values. A
//! fault is reported if there is none without it among those that can run. Otherwise rustc reports it where a program has an instance
//! with exactly the values of one that has it: which instances a program has, only rustc knows.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{GenericArgument, Lit, Token};

use super::Judged;
use super::variants::{WithBodies, read_again, with_values};
use crate::check;
use crate::diag::{Diag, Diags, Reported};
use crate::emit;
use crate::messages;
use crate::model::options::Extents;
use crate::model::{Function, GenericParam, instances_of};
use crate::parse;
use crate::rules::Rule;
use crate::session::Session;
use crate::values::{Conditional, WithValues, with_literals};

/// The most truth values among the constants of a kernel that is followed: each is tried either way.
const MOST_TRUTH_VALUES: usize = 3;

/// The numbers that are tried, from the most usual on: of a block's threads in one dimension, of a cluster's blocks, and others. A
/// single thread has none to meet.
const TRIED: [(i64, i64, i64); 16] = [
    (64, 2, 64),
    (128, 4, 4),
    (32, 2, 2),
    (256, 8, 16),
    (16, 2, 16),
    (128, 2, 128),
    (64, 4, 1),
    (8, 2, 8),
    (256, 2, 1024),
    (32, 4, 32),
    (64, 2, 0),
    (128, 2, 3),
    (64, 8, 256),
    (4, 2, 4),
    (96, 3, 5),
    (64, 2, 7),
];

/// The fewest instances with a fault of which one is reported.
const FEWEST: usize = 2;

/// The most instances that are followed if one is right: the most usual ones.
const MOST_IF_SOME: usize = 6;

/// A name with a value and its type.
type Valued = (Ident, i64, String);

/// A function with its text.
pub(super) type Text<'t> = (&'t Function, &'t TokenStream, &'t TokenStream);

/// Adds to the verdict on a kernel what is wrong with all of its instances.
pub(super) fn judge<'f>(
    judged: Judged<'f>,
    (function, options, item): Text<'_>,
    bodies: Option<&WithBodies>,
    session: Session,
    diags: &mut Diags,
) -> Judged<'f> {
    let is_known =
        judged.conditional.iter().any(|fault| fault.if_right && Rule::OF_INSTANCES.contains(&fault.fault.rule));
    if judged.checked.is_err() || is_known || !function.is_traced() || !function.is_generic_over_constants() {
        return judged;
    }
    let (item, followed) = bodies.map_or((item, &[][..]), |bodies| (&bodies.item, &bodies.followed));
    let selections = |judged: TokenStream| match followed.is_empty() {
        true => judged,
        false => emit::followed::selections(function, followed),
    };
    let are_followed = (!followed.is_empty()).then(|| emit::followed::condition(followed));
    let (fault, values) = match faults_of(function, options, item, session) {
        Verdict::Right => return judged,
        Verdict::OfAll(found) => *found,
        Verdict::OfSome(faults) => {
            let faulty_if = faults.into_iter().map(|faulty| faulty.condition(are_followed.as_ref())).collect();
            let checked = judged.checked.map(|checked| checked.with_faulty_if(faulty_if));
            return Judged { checked, selections: selections(judged.selections), ..judged };
        }
    };
    if values.is_none() && followed.is_empty() {
        diags.push(fault);
        let checked = diags.gate().and(judged.checked);
        return Judged { checked, ..judged };
    }
    let mut conditional = judged.conditional;
    let fault = Conditional::when(fault, |span| match &values {
        Some(values) => values.are_right(span),
        None => quote_spanned!(span=> true),
    });
    conditional.push(match are_followed {
        Some(are_followed) => fault.and(|_| are_followed),
        None => fault,
    });
    Judged { conditional, selections: selections(judged.selections), ..judged }
}

/// The verdict on the instances that are tried.
enum Verdict {
    /// No fault is known.
    Right,
    /// The fault of the first instance, if all that can run have one; with the constants of the file that it rests on.
    OfAll(Box<(Diag, Option<WithValues>)>),
    /// The instances with a fault, if others are right.
    OfSome(Vec<Faulty>),
}

/// An instance with a fault: the values of the kernel's constants, and the constants of the file that the fault rests on.
struct Faulty {
    fault: Diag,
    values: Vec<Valued>,
    known: Option<WithValues>,
}

impl Faulty {
    /// The fault with the condition that a program's instance has it.
    fn condition(self, are_followed: Option<&TokenStream>) -> (Diag, TokenStream) {
        let span = self.fault.at.lo;
        let fault = messages::of_one_instance(self.fault, &named(&self.values));
        let each = self.values.iter().map(|(name, value, _)| {
            let value = i128::from(*value);
            quote_spanned!(span=> (#name) as i128 == #value)
        });
        let known = self.known.map(|known| known.are_right(span)).into_iter();
        let each = each.chain(known.map(|known| quote_spanned!(span=> (#known)))).chain(are_followed.cloned());
        (fault, quote_spanned!(span=> #(#each)&&*))
    }
}

fn named(values: &[Valued]) -> Vec<(&Ident, i64, &str)> {
    values.iter().map(|(name, value, ty)| (name, *value, &**ty)).collect()
}

fn faults_of(function: &Function, options: &TokenStream, item: &TokenStream, session: Session) -> Verdict {
    let without_constants = parse::instance::without_constants(item).zip(instances(function));
    let Some((item, instances)) = without_constants else { return Verdict::Right };
    let (mut faulty, mut right) = (Vec::new(), 0);
    let most = MOST_IF_SOME + named_instances(function).len();
    for values in instances {
        if right + faulty.len() >= most && right > 0 {
            break;
        }
        let with = |tokens: &TokenStream| with_literals(tokens.clone(), &values);
        let (options, item) = (with(options), with(&item));
        // A constant may not have the value, such as that of a tile's size.
        let Some(instance) = read_again(function, options.clone(), item.clone(), session) else { continue };
        let (known, instance) = match with_values(&instance, &options, &item, session) {
            Some((known, instance)) => (Some(known), instance),
            None => (None, instance),
        };
        let mut faults = Diags::new(session);
        let works = check::follow_threads(&instance, &mut faults);
        if faults.is_empty() {
            right += usize::from(works);
            continue;
        }
        let mut faults = Diags::new(session);
        match check::run(&instance, &mut faults) {
            Ok(_) => right += 1,
            Err(Reported) => {
                let mut faults = faults.take();
                if faults.iter().all(|fault| Rule::OF_INSTANCES.contains(&fault.rule)) && !faults.is_empty() {
                    faulty.push(Faulty { fault: faults.remove(0), values, known });
                }
            }
        }
    }
    let number = faulty.len();
    let each: Vec<_> = faulty.iter().take(FEWEST).map(|of| of.values.clone()).collect();
    let first = match (right, number) {
        (_, 0) => return Verdict::Right,
        (0, FEWEST..) => faulty.remove(0),
        (_, _) => return Verdict::OfSome(faulty),
    };
    let each: Vec<Vec<_>> = each.iter().map(|values| named(values)).collect();
    Verdict::OfAll(Box::new((messages::of_instances(first.fault, &each, number), first.known)))
}

/// The values of the constants in each instance that is tried; `None` if a constant is of another type.
fn instances(function: &Function) -> Option<Vec<Vec<Valued>>> {
    let constants: Vec<(&Ident, String)> = function.generics.params.iter().filter_map(constant).collect();
    let names: BTreeSet<String> = constants.iter().map(|(name, _)| name.to_string()).collect();
    let is_hidden = function.locals.iter().any(|local| names.contains(&local.name.to_string()));
    if is_hidden || function.declares(&|declared| names.contains(&declared.to_string())) {
        return None;
    }
    let truth_values = constants.iter().filter(|(_, ty)| ty == "bool").count();
    if truth_values > MOST_TRUTH_VALUES {
        return None;
    }
    let options = &function.options;
    let is_of = |extents: &Option<Extents>, name: &Ident| {
        extents.iter().flat_map(|extents| &extents.each).any(|extent| mentions(&extent.tokens, name))
    };
    let mut all = named_instances(function);
    for (threads, blocks, other) in TRIED {
        for truth in 0..1_u32 << truth_values {
            let mut bits = (0..).map(|bit| i64::from(truth >> bit & 1));
            let value = |(name, ty): &(&Ident, String)| {
                let value = match () {
                    () if ty == "bool" => bits.next()?,
                    () if is_of(&options.block, name) => threads,
                    () if is_of(&options.cluster, name) => blocks,
                    // A number of elements or rounds is seldom so small that nothing meets.
                    () if ty == "usize" && other < 2 => return None,
                    () => other,
                };
                (value <= most(ty)?).then(|| ((*name).clone(), value, ty.clone()))
            };
            let values: Option<Vec<Valued>> = constants.iter().map(value).collect();
            all.extend(values.filter(|values| !all.contains(values)));
        }
    }
    Some(all)
}

/// The values of the constants in the instances that the file names. Which of a program's these are, rustc knows: what is wrong in one is
/// reported where a program has it.
fn named_instances(function: &Function) -> Vec<Vec<Valued>> {
    let params = &function.generics.params;
    let named = function.definitions.get(&instances_of(&function.name.to_string()));
    let valued = |arguments: &TokenStream| {
        let arguments = Punctuated::<GenericArgument, Token![,]>::parse_terminated.parse2(arguments.clone()).ok()?;
        let same = arguments.len() == params.len();
        let constants = params.iter().zip(same.then_some(arguments)?).filter_map(|(param, argument)| {
            let (name, ty) = constant(param)?;
            Some(number(function, &argument).map(|value| (name.clone(), value, ty)))
        });
        constants.collect::<Option<Vec<Valued>>>()
    };
    named.into_iter().flatten().filter_map(|instance| valued(&instance.value)).collect()
}

/// The number or the truth value that an argument is, as a literal or as the name of a constant.
fn number(function: &Function, argument: &GenericArgument) -> Option<i64> {
    let expr = match argument {
        GenericArgument::Const(expr) => expr.to_token_stream(),
        GenericArgument::Type(ty) => {
            let name = ty.to_token_stream().to_string();
            let [definition] = &function.definitions.get(&name)?[..] else { return None };
            definition.value.clone()
        }
        _ => return None,
    };
    match syn::parse2::<Lit>(expr).ok()? {
        Lit::Int(number) => number.base10_parse().ok(),
        Lit::Bool(holds) => Some(i64::from(holds.value)),
        _ => None,
    }
}

fn constant(param: &GenericParam) -> Option<(&Ident, String)> {
    match param {
        GenericParam::Const(name, ty) => Some((name, ty.to_string())),
        GenericParam::Type(_) => None,
    }
}

/// The largest number of a type that is tried; `None` for a type that is not known.
fn most(ty: &str) -> Option<i64> {
    match ty {
        "bool" => Some(1),
        "i8" => Some(i64::from(i8::MAX)),
        "u8" => Some(i64::from(u8::MAX)),
        "i16" | "u16" | "i32" | "u32" | "i64" | "u64" | "isize" | "usize" => Some(i64::from(i16::MAX)),
        _ => None,
    }
}

fn mentions(tokens: &TokenStream, name: &Ident) -> bool {
    tokens.clone().into_iter().any(|tree| match tree {
        TokenTree::Ident(word) => word == *name,
        TokenTree::Group(group) => mentions(&group.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
