//! Accesses whose places have nothing in common, as the corners of a cell that is found by its coordinates: `volume[(z * n + y) * n + x]`, where
//! `x` is a float's integer, or at most `n - 1`. The address of each is computed anew, so that its index is to be a word.
//!
//! Elsewhere it is better to have 64 bits: the compiler of CUDA C++ finds what the addresses of neighbours have in common, `row * width + x`
//! and `row * width + x + 1` or those of the iterations of a loop, only where a sum cannot wrap.

use std::collections::{BTreeMap, BTreeSet};

use crate::emit::cuda::at_launch::{AtLaunch, LaunchCheck, NumberKind, Operation, Term, Terms, number_kind};
use crate::model::{Function, SiteId};

/// Returns the accesses among the checks of a function of which the host knows no neighbours.
pub(super) fn scattered(found: &AtLaunch, function: &Function) -> BTreeSet<SiteId> {
    let mut parts = Parts { found, function, passed: BTreeMap::new() };
    let mut of_check = |check: &LaunchCheck| match (check.is_end, &check.vector, &check.sites[..]) {
        (_, _, []) => None,
        (false, None, _) => Some(parts.of(&check.index)),
        _ => Some(Part { has_neighbours: true, ..Part::default() }),
    };
    let checks: Vec<(&LaunchCheck, Part)> =
        found.checks.iter().filter_map(|check| Some((check, of_check(check)?))).collect();
    // One access of a memory with neighbours may be a neighbour of the others.
    let is_scattered = |(check, part): &&(&LaunchCheck, Part)| {
        part.jumps
            && part.is_product
            && checks.iter().all(|(other, part)| other.length != check.length || !part.has_neighbours)
    };
    checks.iter().filter(is_scattered).flat_map(|(check, _)| check.sites.iter().copied()).collect()
}

/// The properties of a part of an index that decide whether accesses are next to each other.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    /// Where its terms begin.
    start: usize,
    is_literal: bool,
    /// Whether a literal or the variable of a loop is added to it.
    has_neighbours: bool,
    /// Whether the variable of a loop is in it.
    counts: bool,
    /// Whether it is a minimum, a remainder or the like, or comes from memory or a float, so that it need not grow with what it is computed of.
    jumps: bool,
    /// Whether a product of two values that are no literals is in it.
    is_product: bool,
}

impl Part {
    fn with(self, other: Part) -> Part {
        Part {
            start: self.start,
            is_literal: self.is_literal && other.is_literal,
            has_neighbours: self.has_neighbours || other.has_neighbours,
            counts: self.counts || other.counts,
            jumps: self.jumps || other.jumps,
            is_product: self.is_product || other.is_product,
        }
    }

    /// The sum or difference of both.
    fn plus(self, other: Part) -> Part {
        let both = self.with(other);
        let moves = self.is_literal != other.is_literal || both.counts;
        Part { has_neighbours: both.has_neighbours || moves, ..both }
    }

    fn times(self, other: Part) -> Part {
        let both = self.with(other);
        if self.is_literal || other.is_literal {
            return both;
        }
        Part { has_neighbours: both.counts, is_product: true, ..both }
    }

    /// A value that need not grow with both.
    fn jumping(self, start: usize) -> Part {
        Part { start, jumps: true, is_product: self.is_product, ..Part::default() }
    }
}

struct Parts<'a> {
    found: &'a AtLaunch,
    function: &'a Function,
    /// What calls of closures pass to their parameters.
    passed: BTreeMap<(u8, u8), Part>,
}

impl Parts<'_> {
    fn of(&mut self, terms: &Terms) -> Part {
        let mut stack: Vec<Part> = Vec::new();
        for (at, term) in terms.iter().enumerate() {
            let mut pop = || stack.pop().unwrap_or_default();
            let leaf = Part { start: at, ..Part::default() };
            let part = match term {
                Term::Literal(_) | Term::Typed(..) | Term::Suffixed(..) | Term::Constant(_) => {
                    Part { is_literal: true, ..leaf }
                }
                Term::AnyOf(..) | Term::AnyIn(_) => Part { jumps: true, ..leaf },
                Term::OfClosure(closure, param) => Part { start: at, ..self.passed(*closure, *param) },
                Term::Result(..) | Term::OfPassedClosure(..) | Term::Unknown => Part { has_neighbours: true, ..leaf },
                Term::Parameter(_)
                | Term::Field(..)
                | Term::Length(_)
                | Term::Start(_)
                | Term::Lanes(_)
                | Term::Float(_)
                | Term::SuffixedFloat(..)
                | Term::TypedFloat(..)
                | Term::Launch(..)
                | Term::RankInTile(_)
                | Term::TileRank(_)
                | Term::Conditioned => leaf,
                Term::Operation(operation) => {
                    let (second, first) = (pop(), pop());
                    match operation {
                        Operation::Add | Operation::Sub => first.plus(second),
                        Operation::Mul | Operation::Shl => first.times(second),
                        Operation::Range | Operation::RangeInclusive | Operation::Stepped => {
                            Part { counts: true, has_neighbours: true, ..first.with(second) }
                        }
                        Operation::Either | Operation::End => first.with(second),
                        Operation::Div
                        | Operation::Rem
                        | Operation::RemEuclid
                        | Operation::Shr
                        | Operation::And
                        | Operation::Or
                        | Operation::Xor
                        | Operation::Min
                        | Operation::Max
                        | Operation::SaturatingSub
                        | Operation::AbsDiff => first.with(second).jumping(first.start),
                    }
                }
                Term::Cast(_, to) => {
                    let of = pop();
                    let from = number_kind(&terms[of.start..at], self.function);
                    match (from, to) {
                        (NumberKind::Float, NumberKind::Narrow | NumberKind::Wide) => of.jumping(of.start),
                        _ => of,
                    }
                }
                Term::Clamp => {
                    let (_, _, of) = (pop(), pop(), pop());
                    of.jumping(of.start)
                }
                Term::Rounded(_) => pop(),
                Term::Limit(_) => {
                    pop();
                    pop()
                }
                Term::LimitOfSum(_) | Term::LimitByCondition(_) => {
                    pop();
                    pop();
                    pop()
                }
                Term::Condition => continue,
            };
            stack.push(part);
        }
        stack.pop().unwrap_or_default()
    }

    /// What is known of all that calls of a closure pass to a parameter.
    fn passed(&mut self, closure: u8, param: u8) -> Part {
        if let Some(known) = self.passed.get(&(closure, param)) {
            return *known;
        }
        // So it stays where it is passed on to itself.
        let unknown = Part { has_neighbours: true, ..Part::default() };
        self.passed.insert((closure, param), unknown);
        let calls = self.found.closure_calls.iter().filter(|call| call.closure == closure);
        let passed = calls.map(|call| call.arguments.get(usize::from(param)).map_or(unknown, |terms| self.of(terms)));
        let passed: Vec<Part> = passed.collect();
        let jumps = passed.iter().all(|part| part.jumps);
        let all = passed.into_iter().reduce(Part::with).unwrap_or(unknown);
        let part = Part { jumps, is_literal: false, has_neighbours: all.has_neighbours || !jumps, ..all };
        self.passed.insert((closure, param), part);
        part
    }
}
