//! Uniformity across functions: how far the threads of a group agree on what decides about collectives. What holds inside of
//! one function is the compiler's analysis (`check/uniform`).
//!
//! A function's summary says who must agree on what is passed to it, and how far threads agree on its result. A caller
//! leaves its calls as a table ([`Called`]), what it asks for as [`Obligation`]s, and rustc solves the rest: [`results`] is a
//! greatest fixed point, because calls in a loop may depend on each other.

#![warn(clippy::wildcard_enum_match_arm)]

mod lattice;

pub use lattice::Uniformity;

use crate::groups::Groups;
use crate::index_set::IndexSet;

/// How many groups of a warp one function can tell apart. Of more, a need asks for the warp, and nothing is known.
pub const MAX_GROUPS: usize = IndexSet::CAPACITY;

/// The threads that must agree on something.
#[derive(Debug, Clone, Copy)]
pub struct Need {
    /// All threads of a group of at least this size.
    pub at_least: Uniformity,
    /// The threads of each of these groups of a warp: inside of a function by the group's number, to callers by the
    /// position of the parameter that is the group.
    pub groups: IndexSet,
}

/// How far threads agree on a value, as far as the function itself decides it.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    /// At most so far,
    pub at_most: Uniformity,
    /// and no further than on the arguments for these parameters.
    pub parameters: IndexSet,
}

/// What callers must know of a function's uniformity.
#[derive(Debug, Clone, Copy)]
pub struct UniformitySummary {
    /// The groups of which the function, or one that it calls, executes a collective.
    pub collectives: Groups,
    /// Who must reach a call together: the groups whose collectives are in the function.
    pub control: Need,
    /// Who must agree on each argument.
    pub parameters: &'static [Need],
    /// How far threads agree on the result, and on what the function leaves behind references.
    pub result: Bound,
}

/// A call of a device function.
#[derive(Debug, Clone, Copy)]
pub struct Called {
    /// What is known of the function.
    pub callee: UniformitySummary,
    /// The uniformity at which each argument that is a group asks, `Divergent` for the others.
    pub groups: &'static [Uniformity],
    /// How far threads agree on each argument.
    pub arguments: &'static [Term],
}

/// A bound, as far as it is known without the results of calls.
#[derive(Debug, Clone, Copy)]
pub struct Term {
    /// What is known.
    pub bound: Bound,
    /// The calls on whose results it depends too, by their positions in the table.
    pub calls: &'static [usize],
}

/// A demand that threads agree on something.
#[derive(Debug, Clone, Copy)]
pub struct Obligation {
    /// Who must agree.
    pub need: Need,
    /// What they must agree on.
    pub on: Term,
}

impl Need {
    /// The need of nobody.
    pub const NONE: Need = Need { at_least: Uniformity::Divergent, groups: IndexSet::EMPTY };

    /// The need of all threads of a group of this uniformity.
    pub const fn of(group: Uniformity) -> Need {
        match group {
            Uniformity::Group(group) if (group as usize) < MAX_GROUPS => {
                Need { groups: IndexSet::EMPTY.with(group as usize), ..Need::NONE }
            }
            Uniformity::Group(_) | Uniformity::Rank | Uniformity::Parameter(_) => {
                Need { at_least: Uniformity::Warp, ..Need::NONE }
            }
            Uniformity::Divergent
            | Uniformity::Tile(_)
            | Uniformity::Warp
            | Uniformity::Block
            | Uniformity::Cluster
            | Uniformity::Grid => Need { at_least: group, ..Need::NONE },
        }
    }

    /// The need of both.
    #[must_use]
    pub const fn and(self, other: Need) -> Need {
        let at_least = if self.at_least.covers(other.at_least) { self.at_least } else { other.at_least };
        Need { at_least, groups: self.groups.union(other.groups) }
    }

    /// A uniformity that is enough, in the chain from `Divergent` to `Grid`.
    pub const fn strictest(self) -> Uniformity {
        match self.at_least.height() {
            Some(_) if self.groups.is_empty() || self.at_least.covers_warp() => self.at_least,
            _ => Uniformity::Warp,
        }
    }

    /// The height of [`strictest`](Self::strictest): a number can be a constant argument on stable Rust.
    pub const fn strictest_height(self) -> u8 {
        match self.strictest().height() {
            Some(height) => height,
            None => unreachable!(),
        }
    }

    /// A callee's need in terms of its caller: `groups` are the uniformities of the arguments.
    #[must_use]
    pub const fn at_call(self, groups: &[Uniformity]) -> Need {
        let mut need = Need { at_least: self.at_least, groups: IndexSet::EMPTY };
        let mut parameter = 0;
        while parameter < groups.len() {
            if self.groups.contains(parameter) {
                need = need.and(Need::of(groups[parameter]));
            }
            parameter += 1;
        }
        need
    }

    /// A function's own need in terms of its callers: `parameters` are the numbers of its groups that are parameters, with
    /// their positions. For `others`, groups that no caller can name, the warp must do.
    #[must_use]
    pub const fn to_callers(self, parameters: &[(u16, usize)], others: IndexSet) -> Need {
        let mut need = Need { at_least: self.at_least, groups: IndexSet::EMPTY };
        if self.groups.intersects(others) {
            need = need.and(Need { at_least: Uniformity::Warp, ..Need::NONE });
        }
        let mut at = 0;
        while at < parameters.len() {
            let (group, position) = parameters[at];
            if self.groups.contains(group as usize) {
                need.groups = need.groups.with(position);
            }
            at += 1;
        }
        need
    }
}

impl UniformitySummary {
    /// The summary of a function that nobody calls, or that has faults: it asks for nothing, so that its callers are not
    /// blamed for them.
    pub const UNKNOWN: UniformitySummary =
        UniformitySummary { collectives: Groups::empty(), control: Need::NONE, parameters: &[], result: Bound::TOP };

    /// Who must agree on the argument for this parameter. Nothing is known of a function that has faults.
    pub const fn parameter(self, position: usize) -> Need {
        if position < self.parameters.len() { self.parameters[position] } else { Need::NONE }
    }
}

impl Bound {
    /// The bound of what is the same for all threads.
    pub const TOP: Bound = Bound { at_most: Uniformity::Grid, parameters: IndexSet::EMPTY };

    /// The bound of a value of this uniformity.
    pub const fn of(uniformity: Uniformity) -> Bound {
        Bound { at_most: uniformity.nameable(), parameters: IndexSet::EMPTY }
    }

    /// The bound, and no further than on the argument for this parameter.
    #[must_use]
    pub const fn and_parameter(self, position: usize) -> Bound {
        Bound { at_most: self.at_most, parameters: self.parameters.with(position) }
    }

    const fn meet(self, other: Bound) -> Bound {
        Bound { at_most: self.at_most.meet(other.at_most), parameters: self.parameters.union(other.parameters) }
    }

    const fn equals(self, other: Bound) -> bool {
        self.at_most.equals(other.at_most) && self.parameters.equals(other.parameters)
    }

    /// Whether that is enough for those who must agree.
    pub const fn meets(self, need: Need) -> bool {
        if !self.at_most.covers(need.at_least) {
            return false;
        }
        // A warp holds all threads of each of these groups.
        need.groups.is_empty()
            || self.at_most.covers_warp()
            || matches!(self.at_most, Uniformity::Group(group) if need.groups.is_just(group as usize))
    }

    /// The bound in terms of the function's callers, who know its groups by the positions of parameters.
    #[must_use]
    pub const fn to_callers(self, parameters: &[(u16, usize)]) -> Bound {
        let Uniformity::Group(own) = self.at_most else { return self };
        let mut at = 0;
        while at < parameters.len() {
            let (group, position) = parameters[at];
            if own == group {
                return Bound { at_most: Uniformity::Parameter(position), parameters: self.parameters };
            }
            at += 1;
        }
        // No caller knows a group that the function made.
        Bound { at_most: Uniformity::Divergent, parameters: self.parameters }
    }
}

impl Term {
    /// The bound, with the results of calls.
    pub const fn bound(self, results: &[Bound]) -> Bound {
        let mut bound = self.bound;
        let mut at = 0;
        while at < self.calls.len() {
            bound = bound.meet(results[self.calls[at]]);
            at += 1;
        }
        bound
    }
}

/// Solves how far threads agree on the result of each call: the greatest solution, since a loop's calls may depend on each
/// other. Bounds only go down, in a lattice of finite height.
pub const fn results<const N: usize>(calls: &[Called; N]) -> [Bound; N] {
    let mut results = [Bound::TOP; N];
    loop {
        let mut changed = false;
        let mut at = 0;
        while at < N {
            let Called { callee, groups, arguments } = calls[at];
            let at_most = callee.result.at_most;
            let at_caller = if let Uniformity::Parameter(position) = at_most { groups[position] } else { at_most };
            let mut result = Bound::of(at_caller);
            let mut argument = 0;
            while argument < arguments.len() {
                if callee.result.parameters.contains(argument) {
                    result = result.meet(arguments[argument].bound(&results));
                }
                argument += 1;
            }
            changed |= !result.equals(results[at]);
            results[at] = result;
            at += 1;
        }
        if !changed {
            return results;
        }
    }
}

/// Collects who must agree on each of a function's `N` parameters.
pub const fn parameter_needs<const N: usize>(
    obligations: &[Obligation],
    results: &[Bound],
    groups: &[(u16, usize)],
    others: IndexSet,
) -> [Need; N] {
    let mut needs = [Need::NONE; N];
    let mut at = 0;
    while at < obligations.len() {
        let Obligation { need, on } = obligations[at];
        let parameters = on.bound(results).parameters;
        let mut position = 0;
        while position < N {
            if parameters.contains(position) {
                needs[position] = needs[position].and(need.to_callers(groups, others));
            }
            position += 1;
        }
        at += 1;
    }
    needs
}

/// Refuses, at compile time, what those who must agree do not agree on.
#[track_caller]
pub const fn agree(obligation: Obligation, results: &[Bound], message: &str) {
    if !obligation.on.bound(results).meets(obligation.need) {
        panic!("{}", message);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::boxed::Box;

    use super::*;

    const BLOCK: Need = Need::of(Uniformity::Block);

    /// `fn f(x, y) { x }`
    const FIRST: UniformitySummary = UniformitySummary {
        collectives: Groups::empty(),
        control: Need::NONE,
        parameters: &[Need::NONE; 2],
        result: Bound::TOP.and_parameter(0),
    };

    const NO_GROUPS: &[Uniformity] = &[Uniformity::Divergent; 2];

    const fn known(uniformity: Uniformity) -> Term {
        Term { bound: Bound::of(uniformity), calls: &[] }
    }

    #[test]
    fn a_result_is_as_good_as_its_arguments() {
        let call = |first, second| {
            let arguments: &'static [Term] = Box::leak(Box::new([known(first), known(second)]));
            results(&[Called { callee: FIRST, groups: NO_GROUPS, arguments }])[0].at_most
        };
        assert_eq!(call(Uniformity::Block, Uniformity::Divergent), Uniformity::Block);
        assert_eq!(call(Uniformity::Divergent, Uniformity::Block), Uniformity::Divergent);
        assert_eq!(call(Uniformity::Rank, Uniformity::Block), Uniformity::Divergent);
    }

    /// `loop { a = f(b); b = f(a); }`, from values of a block and of the grid.
    #[test]
    fn calls_that_depend_on_each_other() {
        const fn term(uniformity: Uniformity, calls: &'static [usize]) -> Term {
            Term { bound: Bound::of(uniformity), calls }
        }
        const LAST: Term = known(Uniformity::Divergent);
        const A: Called = Called { callee: FIRST, groups: NO_GROUPS, arguments: &[term(Uniformity::Grid, &[1]), LAST] };
        const B: Called =
            Called { callee: FIRST, groups: NO_GROUPS, arguments: &[term(Uniformity::Block, &[0]), LAST] };
        assert_eq!(results(&[A, B]).map(|bound| bound.at_most), [Uniformity::Block; 2]);
    }

    #[test]
    fn a_group_that_is_a_parameter() {
        // `fn f(tile: &Tile<N>) -> bool { tile.any(..) }`, called with the caller's group 2.
        let callee = UniformitySummary {
            collectives: Groups::TILE,
            control: Need { groups: IndexSet::EMPTY.with(0), ..Need::NONE },
            parameters: &[Need::NONE],
            result: Bound { at_most: Uniformity::Parameter(0), parameters: IndexSet::EMPTY },
        };
        const ARGUMENTS: &[Term] = &[known(Uniformity::Grid)];
        let called = Called { callee, groups: &[Uniformity::Group(2)], arguments: ARGUMENTS };
        assert_eq!(results(&[called])[0].at_most, Uniformity::Group(2));
        let need = callee.control.at_call(called.groups);
        for enough in [Uniformity::Group(2), Uniformity::Warp, Uniformity::Grid] {
            assert!(Bound::of(enough).meets(need), "{enough:?}");
        }
        for too_little in [Uniformity::Group(1), Uniformity::Tile(4), Uniformity::Rank, Uniformity::Divergent] {
            assert!(!Bound::of(too_little).meets(need), "{too_little:?}");
        }
        // And on to the caller's callers, for whom it is the parameter 3.
        assert!(need.to_callers(&[(2, 3)], IndexSet::EMPTY).groups.is_just(3));
        assert_eq!(need.to_callers(&[], IndexSet::EMPTY.with(2)).at_least, Uniformity::Warp);
        let bound = Bound::of(Uniformity::Group(2));
        assert_eq!(bound.to_callers(&[(1, 0), (2, 3)]).at_most, Uniformity::Parameter(3));
        assert_eq!(bound.to_callers(&[(1, 0)]).at_most, Uniformity::Divergent);
    }

    /// More groups than a function can tell apart ask for their warp, and are known to nobody.
    #[test]
    fn a_group_without_a_number() {
        let (last, beyond) = (Uniformity::Group(127), Uniformity::Group(128));
        assert!(Need::of(last).groups.is_just(127) && Bound::of(last).meets(Need::of(last)));
        assert_eq!((Need::of(beyond).at_least, Bound::of(beyond).at_most), (Uniformity::Warp, Uniformity::Divergent));
        let need = Need { groups: IndexSet::EMPTY.with(0), ..Need::NONE }.at_call(&[beyond]);
        assert!(need.at_least == Uniformity::Warp && need.groups.is_empty());
        let result = Bound { at_most: Uniformity::Parameter(0), parameters: IndexSet::EMPTY };
        let callee = UniformitySummary { control: need, result, ..UniformitySummary::UNKNOWN };
        let called = Called { callee, groups: &[Uniformity::Group(128)], arguments: &[] };
        assert_eq!(results(&[called])[0].at_most, Uniformity::Divergent);
    }

    #[test]
    fn what_is_enough() {
        assert_eq!(BLOCK.strictest(), Uniformity::Block);
        assert_eq!(Need::of(Uniformity::Group(1)).strictest(), Uniformity::Warp);
        assert_eq!(BLOCK.and(Need::of(Uniformity::Group(1))).strictest(), Uniformity::Block);
        assert_eq!(Need::of(Uniformity::Tile(2)).and(BLOCK).at_least, Uniformity::Block);
    }

    #[test]
    fn needs_of_parameters() {
        let obligations = [Obligation { need: BLOCK, on: Term { bound: Bound::TOP.and_parameter(1), calls: &[] } }];
        let needs = parameter_needs::<2>(&obligations, &[], &[], IndexSet::EMPTY);
        assert_eq!(needs.map(|need| need.at_least), [Uniformity::Divergent, Uniformity::Block]);
    }

    #[test]
    #[should_panic(expected = "not all")]
    fn disagreement_is_refused() {
        agree(Obligation { need: BLOCK, on: known(Uniformity::Warp) }, &[], "not all");
    }
}
