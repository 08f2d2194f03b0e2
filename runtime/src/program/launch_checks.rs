//! Bounds checks that the host makes once, before a launch. The numbers that an index can be in any thread follow from the arguments, the
//! shape of the launch, and the conditions around the access: with `if x < width && y < height`, `y * width + x` is at most `(height - 1) *
//! width + width - 1`. If that is less than the memory's length, the code of the launch (`gpu::variant`) has no check there. If it is not,
//! the kernel makes the check itself, as the access may still be within bounds.
//!
//! So the host knows of numbers that they are words, too, by which operations on them are faster.
//!
//! The macro writes what an index is computed of (`launch_terms`). This file puts the checks of a kernel and of the device functions that it calls together.
//! `graph` evaluates them in the launch, by the arithmetic of `numbers`: of `values`, which are integers, and of `floats`.

use std::collections::{BTreeMap, BTreeSet};

use super::launch_terms::{LaunchCheck, Term, VectorCheck};
use super::order::Resolved;
use crate::shape::Shape;
use arguments::{Arguments, Id};
use graph::{Graph, call_at};

mod arguments;
mod floats;
mod graph;
mod numbers;
mod values;

/// The most checks of a program: a variant of its code has a bit for each.
const MOST_CHECKS: usize = 64;

/// The most calls, through other functions, by which a kernel calls a device function whose checks are made.
const MOST_CALLS: usize = 32;

/// An access that is checked, at one of the calls by which the kernel gets there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Check {
    index: Id,
    length: Id,
    is_end: bool,
    vector: Option<Vector>,
}

/// What else is to hold of a vector's access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Vector {
    element: Id,
    lanes: Id,
    bytes: u64,
    start: Option<Id>,
}

/// A place in a Rust file: its name, the line and the column.
type Place<'a> = (&'a str, u32, u32);

/// The checks of a program that the host can make.
#[derive(Debug, Default)]
pub(crate) struct LaunchChecks {
    graph: Graph,
    /// For each check of the program, those of the calls by which the kernel gets there.
    checks: Vec<Vec<Check>>,
    /// For each check of the program, the accesses that it is about, by their functions and numbers there.
    sites: Vec<BTreeSet<(usize, u16)>>,
    /// The accesses and other sites of the functions, by place.
    places: BTreeMap<Place<'static>, BTreeSet<(usize, u16)>>,
}

/// The number of each check in the program, by function and by its number there; `None` for one that cannot be made.
pub(super) type Numbers = Vec<Vec<Option<usize>>>;

impl LaunchChecks {
    /// Collects the checks of functions, of which the last is the kernel, callees before their callers.
    pub(super) fn of(functions: &[Resolved]) -> (LaunchChecks, Numbers) {
        let mut all = LaunchChecks::default();
        let arguments = arguments(functions, &mut all.graph);
        let mut numbers: Numbers =
            functions.iter().map(|of| vec![None; of.definition.template.launch.checks.len()]).collect();
        for (index, function) in functions.iter().enumerate() {
            let template = function.definition.template;
            for (site, at) in (0..).zip(template.sites) {
                all.places.entry((template.file, at.line, at.column)).or_default().insert((index, site));
            }
        }
        // A check that vanishes is worth more than an operation on words.
        for of_words in [false, true] {
            for (index, (function, calls)) in functions.iter().zip(&arguments).enumerate() {
                let checks = function.definition.template.launch.checks.iter().zip(&mut numbers[index]);
                for (check, number) in checks.filter(|(check, _)| check.sites.is_empty() == of_words) {
                    *number = calls.as_ref().and_then(|calls| all.number(check, (functions, index), calls));
                    if let Some(number) = *number {
                        all.sites[number].extend(check.sites.iter().map(|site| (index, *site)));
                    }
                }
            }
        }
        (all, numbers)
    }

    /// Returns the number of a check, which is that of an equal one.
    fn number(&mut self, check: &LaunchCheck, function: (&[Resolved], usize), calls: &[Arguments]) -> Option<usize> {
        let of_call = |arguments: &Arguments| self.check(check, function, arguments);
        let checks: Vec<Check> = calls.iter().map(of_call).collect::<Option<_>>()?;
        // That a number is a word is known of one that has at most 32 bits.
        let is_word = check.sites.is_empty() && matches!(check.length, [Term::Literal(_)]);
        let is_needed =
            |check: &Check| self.graph.may_be_integer(check.index) && !(is_word && self.graph.is_narrow(check.index));
        if !checks.iter().all(is_needed) {
            return None;
        }
        let known = self.checks.iter().position(|other| *other == checks);
        known.or_else(|| {
            (!checks.is_empty() && self.checks.len() < MOST_CHECKS).then(|| {
                self.checks.push(checks);
                self.sites.push(BTreeSet::new());
                self.checks.len() - 1
            })
        })
    }

    /// Returns a check of a function that is called with these arguments.
    fn check(&mut self, check: &LaunchCheck, function: (&[Resolved], usize), arguments: &Arguments) -> Option<Check> {
        let mut id = |terms: &[Term]| self.graph.add(terms, function, arguments);
        let vector = match check.vector {
            None => None,
            Some(VectorCheck { element, lanes, of, start }) => {
                let start = if start.is_empty() { None } else { Some(id(start)?) };
                let bytes = function.0[function.1].definition.types[usize::from(of)].size as u64;
                Some(Vector { element: id(element)?, lanes: id(lanes)?, bytes, start })
            }
        };
        Some(Check { index: id(check.index)?, length: id(check.length)?, is_end: check.is_end, vector })
    }

    /// Returns the checks that hold in a launch with these arguments, each as its bit. `bytes` returns those of a parameter.
    pub(crate) fn holding<'a>(&self, shape: &Shape, bytes: impl Fn(usize) -> Option<&'a [u8]>) -> u64 {
        let Some(values) = self.graph.values(shape, bytes) else { return 0 };
        let is_aligned = |Vector { element, lanes, bytes, start }: Vector| {
            let Some(lanes) = values[lanes].literal() else { return false };
            values[element].is_multiple(lanes) && start.is_none_or(|start| values[start].is_multiple(lanes * bytes))
        };
        let holds = |check: &Check| {
            values[check.index].is_below(values[check.length], check.is_end) && check.vector.is_none_or(is_aligned)
        };
        let of_all = self.checks.iter().enumerate().filter(|(_, checks)| checks.iter().all(holds));
        of_all.fold(0, |bits, (number, _)| bits | 1 << number)
    }

    /// Returns the bits of all checks.
    pub(crate) fn all(&self) -> u64 {
        self.checks.iter().fold(0, |bits, _| bits << 1 | 1)
    }

    /// Whether all accesses at a place are such that these checks have shown to be within bounds. `rows[i][k]` are two at one place.
    pub(crate) fn hold_at(&self, held: u64, place: Place<'_>) -> bool {
        let is_held = |site: &(usize, u16)| {
            self.sites.iter().enumerate().any(|(number, sites)| held >> number & 1 == 1 && sites.contains(site))
        };
        self.places.get(&place).is_some_and(|sites| sites.iter().all(is_held))
    }
}

/// Returns for each function the arguments of all calls by which the kernel gets there; `None` if they are too many, or not all are known.
fn arguments(functions: &[Resolved], graph: &mut Graph) -> Vec<Option<Vec<Arguments>>> {
    let mut all: Vec<Option<Vec<Arguments>>> = vec![Some(Vec::new()); functions.len()];
    if let Some((kernel, last)) = functions.last().zip(all.last_mut()) {
        let kernel = &kernel.definition;
        let parameters = kernel.template.launch.parameters.iter().enumerate();
        *last = Some(vec![parameters.map(|(index, of)| graph.parameter(index, *of, kernel)).collect()]);
    }
    for (index, caller) in functions.iter().enumerate().rev() {
        let outer = all[index].clone();
        for (&slot, &callee) in &caller.callees {
            let call = u16::try_from(slot).ok().and_then(|slot| call_at(caller, slot));
            let inner = call.zip(outer.as_ref()).map(|(call, outer)| {
                let of_call = |outer: &Arguments| graph.arguments((functions, index), call, outer);
                outer.iter().map(of_call).collect::<Vec<Arguments>>()
            });
            let calls = all[callee].take().zip(inner).map(|(known, inner)| [known, inner].concat());
            all[callee] = calls.filter(|calls| calls.len() <= MOST_CALLS);
        }
    }
    all
}
