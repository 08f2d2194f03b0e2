//! Uniformity across functions: the values that decide which threads reach a collective must be uniform in its group. The
//! analysis inside of one function is the compiler's (`check/uniform`).
//!
//! A function's summary states in which groups its arguments must be uniform, and how far its result is. A caller leaves
//! its calls as a table ([`Called`]) and its requirements as [`Obligation`]s, and rustc solves the rest: [`results`] is a
//! greatest fixed point, because calls in a loop may depend on each other.

#![warn(clippy::wildcard_enum_match_arm)]

mod lattice;

pub use lattice::Uniformity;

use crate::groups::Groups;
use crate::index_set::IndexSet;

/// The number of groups of a warp that a function can distinguish. A need of a further group asks for the warp, and a value
/// that is uniform only in a further group counts as divergent.
pub const MAX_GROUPS: usize = IndexSet::CAPACITY;

/// The groups in which a value must be uniform.
#[derive(Debug, Clone, Copy)]
pub struct Need {
    /// All groups of this size, and with them all smaller ones.
    pub at_least: Uniformity,
    /// Each of these groups of a warp: inside of a function by the group's number, for callers by the position of the
    /// parameter that is the group.
    pub groups: IndexSet,
}

/// The uniformity of a value, as far as the function itself decides it: the meet of both fields.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    /// The uniformity without the arguments.
    pub at_most: Uniformity,
    /// The parameters whose arguments limit it further.
    pub parameters: IndexSet,
}

/// What callers must know of a function's uniformity.
#[derive(Debug, Clone, Copy)]
pub struct UniformitySummary {
    /// The groups of which the function, or one that it calls, executes a collective.
    pub collectives: Groups,
    /// The groups whose threads must reach a call together, because the function executes their collectives.
    pub control: Need,
    /// For each parameter, the groups in which its argument must be uniform.
    pub parameters: &'static [Need],
    /// The uniformity of the result, and of what the function leaves behind `&mut` parameters.
    pub result: Bound,
}

/// A call of a device function.
#[derive(Debug, Clone, Copy)]
pub struct Called {
    /// The summary of the called function.
    pub callee: UniformitySummary,
    /// The uniformity of each argument that is a group, `Divergent` for the others.
    pub groups: &'static [Uniformity],
    /// The uniformity of each argument.
    pub arguments: &'static [Term],
}

/// A bound that may also depend on the results of calls.
#[derive(Debug, Clone, Copy)]
pub struct Term {
    /// The bound without the calls.
    pub bound: Bound,
    /// The calls whose results limit it further, by their positions in the table.
    pub calls: &'static [usize],
}

/// A requirement that a value is uniform.
#[derive(Debug, Clone, Copy)]
pub struct Obligation {
    /// The groups in which the value must be uniform.
    pub need: Need,
    /// The uniformity of the value.
    pub on: Term,
}

impl Need {
    /// The need of no group.
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
            | Uniformity::Warpgroup
            | Uniformity::Block
            | Uniformity::Cluster
            | Uniformity::Grid => Need { at_least: group, ..Need::NONE },
        }
    }

    /// The union of two needs.
    #[must_use]
    pub const fn and(self, other: Need) -> Need {
        let at_least = if self.at_least.covers(other.at_least) { self.at_least } else { other.at_least };
        Need { at_least, groups: self.groups.union(other.groups) }
    }

    /// A uniformity in the chain from `Divergent` to `Grid` that satisfies the need.
    pub const fn strictest(self) -> Uniformity {
        match self.at_least.height() {
            Some(_) if self.groups.is_empty() || self.at_least.covers_warp() => self.at_least,
            _ => Uniformity::Warp,
        }
    }

    /// The height of [`strictest`](Self::strictest), because const generic arguments on stable Rust are numbers.
    pub const fn strictest_height(self) -> u8 {
        match self.strictest().height() {
            Some(height) => height,
            None => unreachable!(),
        }
    }

    /// Translates a callee's need to its caller: `groups` are the uniformities of the arguments.
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

    /// Translates a function's own need to its callers: `parameters` are the numbers of its groups that are parameters,
    /// with their positions. For `others`, groups that no caller can name, the need is that of the warp.
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
    /// The summary of a function that nobody calls, or that has faults: it requires nothing, so that no fault is reported
    /// at its callers.
    pub const UNKNOWN: UniformitySummary =
        UniformitySummary { collectives: Groups::empty(), control: Need::NONE, parameters: &[], result: Bound::TOP };

    /// The need for the argument of this parameter. A function that has faults needs nothing.
    pub const fn parameter(self, position: usize) -> Need {
        if position < self.parameters.len() { self.parameters[position] } else { Need::NONE }
    }
}

impl Bound {
    /// The bound of a value that is uniform in the grid.
    pub const TOP: Bound = Bound { at_most: Uniformity::Grid, parameters: IndexSet::EMPTY };

    /// The bound of a value of this uniformity.
    pub const fn of(uniformity: Uniformity) -> Bound {
        Bound { at_most: uniformity.nameable(), parameters: IndexSet::EMPTY }
    }

    /// The bound, limited further by the argument for this parameter.
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

    /// Whether a value of this bound satisfies a need.
    pub const fn meets(self, need: Need) -> bool {
        if !self.at_most.covers(need.at_least) {
            return false;
        }
        // A warp contains all threads of each of these groups.
        need.groups.is_empty()
            || self.at_most.covers_warp()
            || matches!(self.at_most, Uniformity::Group(group) if need.groups.is_just(group as usize))
    }

    /// Translates the bound to the function's callers, who know its groups by the positions of parameters.
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
        // No caller knows a group that the function formed.
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

/// Solves the uniformity of each call's result: the greatest solution, because calls in a loop may depend on each other.
/// Bounds only descend, in a lattice of finite height.
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

/// Collects the need for each of a function's `N` parameters.
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

/// Refuses, at compile time, a value that does not satisfy its need.
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
        // And on to the caller's callers, for which it is parameter 3.
        assert!(need.to_callers(&[(2, 3)], IndexSet::EMPTY).groups.is_just(3));
        assert_eq!(need.to_callers(&[], IndexSet::EMPTY.with(2)).at_least, Uniformity::Warp);
        let bound = Bound::of(Uniformity::Group(2));
        assert_eq!(bound.to_callers(&[(1, 0), (2, 3)]).at_most, Uniformity::Parameter(3));
        assert_eq!(bound.to_callers(&[(1, 0)]).at_most, Uniformity::Divergent);
    }

    /// Groups beyond the number that a function can distinguish ask for their warp, and results in them are divergent.
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
