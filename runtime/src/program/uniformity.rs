//! What only rustc can put together about uniformity: the macro sees one function at a time, and leaves each a
//! [`Uniformity`] for its callers, and its own calls as a table. Everything here runs at compile time. What the scopes
//! mean, and the analysis itself, are the macro's (`check/scope.rs`, `check/uniform`).

/// How many threads agree: 0 none; 1 to 4 tiles of that binary logarithm of threads; 5 a warp; 6 a block; 7 a cluster;
/// 8 the grid; from 16 on a group of a warp that the function has, by its number; from 128 on, to a caller, the group
/// that is the parameter of that position.
pub type Scope = u8;

const WARP: Scope = 5;
const GRID: Scope = 8;
const GROUPS: Scope = 16;
const PARAMS: Scope = 128;
/// An argument that is one of more groups of a warp than have a number: it asks for the warp, and knows nothing.
const BEYOND: Scope = 255;

/// The threads of which groups must agree on something.
#[derive(Debug, Clone, Copy)]
pub struct Need {
    /// At least those.
    pub scope: Scope,
    /// And those of these groups, one bit each: in a function by the group's number, to a caller by the parameter's
    /// position.
    pub groups: u128,
}

/// How many threads agree on a value, as far as the function itself decides it.
#[derive(Debug, Clone, Copy)]
pub struct Level {
    /// At most those.
    pub scope: Scope,
    /// And no more than on these parameters, one bit each.
    pub params: u128,
}

/// What a caller must know of a function.
#[derive(Debug, Clone, Copy)]
pub struct Uniformity {
    /// The groups of which it, or a function that it calls, executes a collective, one bit each: 1 the thread block,
    /// 2 the cluster, 4 the grid, 8 tiles, 16 coalesced groups.
    pub collectives: u8,
    /// Who must come to a call together: the groups whose collectives are in it.
    pub control: Need,
    /// Who must agree on each parameter.
    pub params: &'static [Need],
    /// On what it gives back, and leaves behind references.
    pub result: Level,
}

/// A call of a device function.
#[derive(Debug, Clone, Copy)]
pub struct Called {
    /// What is known of it.
    pub callee: Uniformity,
    /// Of each argument that is a group, its scope.
    pub groups: &'static [Scope],
    /// How many threads agree on each argument.
    pub arguments: &'static [Term],
}

/// A level, as far as it is known without the results of calls.
#[derive(Debug, Clone, Copy)]
pub struct Term {
    /// What is known.
    pub level: Level,
    /// The calls on whose results it depends, by their place in the table.
    pub calls: &'static [usize],
}

/// Something that threads must agree on.
#[derive(Debug, Clone, Copy)]
pub struct Obligation {
    /// Who.
    pub need: Need,
    /// On what.
    pub on: Term,
}

impl Need {
    /// Nobody.
    pub const NONE: Need = Need { scope: 0, groups: 0 };

    /// Both.
    pub const fn and(self, other: Need) -> Need {
        let scope = if self.scope > other.scope { self.scope } else { other.scope };
        Need { scope, groups: self.groups | other.groups }
    }

    /// A scope that is enough.
    pub const fn strictest(self) -> Scope {
        if self.groups != 0 && self.scope < WARP { WARP } else { self.scope }
    }

    /// A callee's need, for its caller: `groups` are the scopes of the arguments.
    pub const fn at_call(self, groups: &[Scope]) -> Need {
        let mut need = Need { scope: self.scope, groups: 0 };
        let mut param = 0;
        while param < groups.len() {
            if self.groups >> param & 1 == 1 {
                let scope = groups[param];
                need = need.and(match scope {
                    BEYOND => Need { scope: WARP, groups: 0 },
                    GROUPS..PARAMS => Need { scope: 0, groups: 1 << (scope - GROUPS) },
                    _ => Need { scope, groups: 0 },
                });
            }
            param += 1;
        }
        need
    }

    /// A function's own need, for its callers: those of its groups that are parameters, and `others`, whose warp must
    /// do.
    pub const fn to_callers(self, params: &[(Scope, usize)], others: u128) -> Need {
        let mut need = Need { scope: self.scope, groups: 0 };
        if self.groups & others != 0 {
            need = need.and(Need { scope: WARP, groups: 0 });
        }
        let mut at = 0;
        while at < params.len() {
            let (group, param) = params[at];
            if self.groups >> (group - GROUPS) & 1 == 1 {
                need.groups |= 1 << param;
            }
            at += 1;
        }
        need
    }
}

/// The most that both say.
pub const fn meet(a: Scope, b: Scope) -> Scope {
    let a_is_group = a >= GROUPS;
    let b_is_group = b >= GROUPS;
    match (a_is_group, b_is_group) {
        _ if a == b => a,
        (true, true) => 0,
        (true, false) => {
            if b >= WARP {
                a
            } else {
                0
            }
        }
        (false, true) => {
            if a >= WARP {
                b
            } else {
                0
            }
        }
        (false, false) => {
            if a < b {
                a
            } else {
                b
            }
        }
    }
}

impl Uniformity {
    /// Of what nobody calls, and of a function that has faults: asks for nothing.
    pub const UNKNOWN: Uniformity = Uniformity { collectives: 0, control: Need::NONE, params: &[], result: Level::TOP };

    /// Who must agree on the parameter of this position. Of a function that has faults, nothing is known.
    pub const fn param(self, index: usize) -> Need {
        if index < self.params.len() { self.params[index] } else { Need::NONE }
    }
}

impl Level {
    /// All agree.
    pub const TOP: Level = Level { scope: GRID, params: 0 };

    const fn meet(self, other: Level) -> Level {
        Level { scope: meet(self.scope, other.scope), params: self.params | other.params }
    }

    const fn same(self, other: Level) -> bool {
        self.scope == other.scope && self.params == other.params
    }

    /// Whether that is enough.
    pub const fn meets(self, need: Need) -> bool {
        if meet(self.scope, need.scope) != need.scope {
            return false;
        }
        // The warp has all threads of each of these groups.
        let warp = self.scope >= WARP && self.scope < GROUPS;
        let own = if self.scope >= GROUPS { 1 << (self.scope - GROUPS) } else { 0 };
        need.groups == 0 || warp || need.groups == own
    }

    /// To callers: the function's group that is a parameter goes by its position.
    pub const fn to_callers(self, params: &[(Scope, usize)]) -> Level {
        let mut at = 0;
        while at < params.len() {
            let (group, param) = params[at];
            if self.scope == group {
                return Level { scope: PARAMS + param as Scope, params: self.params };
            }
            at += 1;
        }
        // Of a group that the function made, no caller has heard.
        Level { scope: if self.scope >= GROUPS { 0 } else { self.scope }, params: self.params }
    }
}

impl Term {
    /// With the results of calls.
    pub const fn level(self, results: &[Level]) -> Level {
        let mut level = self.level;
        let mut at = 0;
        while at < self.calls.len() {
            level = level.meet(results[self.calls[at]]);
            at += 1;
        }
        level
    }
}

/// How many threads agree on the result of each call: the greatest solution, since a loop's call may depend on itself.
pub const fn results<const N: usize>(calls: &[Called; N]) -> [Level; N] {
    let mut results = [Level::TOP; N];
    loop {
        let mut changed = false;
        let mut at = 0;
        while at < N {
            let Called { callee, groups, arguments } = calls[at];
            let scope = match callee.result.scope {
                PARAMS.. => groups[(callee.result.scope - PARAMS) as usize],
                scope => scope,
            };
            let scope = if scope == BEYOND { 0 } else { scope };
            let mut level = Level { scope, params: 0 };
            let mut argument = 0;
            while argument < arguments.len() {
                if callee.result.params >> argument & 1 == 1 {
                    level = level.meet(arguments[argument].level(&results));
                }
                argument += 1;
            }
            changed |= !level.same(results[at]);
            results[at] = level;
            at += 1;
        }
        if !changed {
            return results;
        }
    }
}

/// Who must agree on each of `N` parameters.
pub const fn params<const N: usize>(
    obligations: &[Obligation],
    results: &[Level],
    groups: &[(Scope, usize)],
    others: u128,
) -> [Need; N] {
    let mut params = [Need::NONE; N];
    let mut at = 0;
    while at < obligations.len() {
        let Obligation { need, on } = obligations[at];
        let on = on.level(results).params;
        let mut param = 0;
        while param < N {
            if on >> param & 1 == 1 {
                params[param] = params[param].and(need.to_callers(groups, others));
            }
            param += 1;
        }
        at += 1;
    }
    params
}

/// As many threads agree on a rank that is divided by this.
pub const fn scope_of_threads(number: u128) -> Scope {
    match number.trailing_zeros() {
        128 => 0,
        log2 if log2 < WARP as u32 => log2 as Scope,
        _ => WARP,
    }
}

/// Refuses, at compile time, what not all agree on.
#[track_caller]
pub const fn agree(obligation: Obligation, results: &[Level], message: &str) {
    if !obligation.on.level(results).meets(obligation.need) {
        panic!("{}", message);
    }
}

/// The same of a method's result: which function that is, rustc finds out with the kernel's instances.
#[inline(always)]
pub fn agreed_result<const SCOPE: Scope, F: super::template::Summary>(_slot: &super::template::Callee<F>) {
    const MESSAGE: &str = concat!(
        "whether a collective is reached depends on the result of this method, which may differ between threads of the \
         group [divergent_collective]\n\
         help: if all threads of the group get the same result, say so: `group.uniform(result)`",
        see_page!("divergent_collective")
    );
    const {
        if !F::UNIFORMITY.result.meets(Need { scope: SCOPE, groups: 0 }) {
            panic!("{}", MESSAGE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: Need = Need { scope: 6, groups: 0 };

    /// `fn f(x, y) { x }`
    const FIRST: Uniformity = Uniformity {
        collectives: 0,
        control: Need::NONE,
        params: &[Need::NONE; 2],
        result: Level { scope: GRID, params: 1 },
    };

    const fn known(scope: Scope) -> Term {
        Term { level: Level { scope, params: 0 }, calls: &[] }
    }

    #[test]
    fn a_result_is_as_good_as_its_arguments() {
        let call = |first, second| {
            let arguments: &'static [Term] = Box::leak(Box::new([known(first), known(second)]));
            results(&[Called { callee: FIRST, groups: &[0, 0], arguments }])[0].scope
        };
        assert_eq!(call(6, 0), 6);
        assert_eq!(call(0, 6), 0);
    }

    /// `loop { a = f(b); b = f(a); }`, from values of a block and of the grid.
    #[test]
    fn calls_that_depend_on_each_other() {
        const fn term(scope: Scope, calls: &'static [usize]) -> Term {
            Term { level: Level { scope, params: 0 }, calls }
        }
        const A: Called = Called { callee: FIRST, groups: &[0, 0], arguments: &[term(8, &[1]), known(0)] };
        const B: Called = Called { callee: FIRST, groups: &[0, 0], arguments: &[term(6, &[0]), known(0)] };
        assert_eq!(results(&[A, B]).map(|level| level.scope), [6, 6]);
    }

    #[test]
    fn a_group_that_is_a_parameter() {
        // `fn f(tile: &Tile<N>) -> bool { tile.any(..) }`, called with the caller's group 18.
        let callee = Uniformity {
            collectives: 0,
            control: Need { scope: 0, groups: 1 },
            params: &[Need::NONE],
            result: Level { scope: 128, params: 0 },
        };
        const ARGUMENTS: &[Term] = &[known(8)];
        let called = Called { callee, groups: &[18], arguments: ARGUMENTS };
        assert_eq!(results(&[called])[0].scope, 18);
        let need = callee.control.at_call(called.groups);
        assert!(Level { scope: 18, params: 0 }.meets(need) && Level { scope: 5, params: 0 }.meets(need));
        assert!(!Level { scope: 17, params: 0 }.meets(need) && !Level { scope: 4, params: 0 }.meets(need));
        // And on to the caller's callers, for whom it is the parameter 3.
        assert_eq!(need.to_callers(&[(18, 3)], 0).groups, 1 << 3);
        assert_eq!(need.to_callers(&[], 1 << 2).scope, WARP);
    }

    #[test]
    fn a_group_without_a_number() {
        let need = Need { scope: 0, groups: 1 }.at_call(&[BEYOND]);
        assert_eq!((need.scope, need.groups), (WARP, 0));
        let callee =
            Uniformity { collectives: 0, control: need, params: &[], result: Level { scope: PARAMS, params: 0 } };
        assert_eq!(results(&[Called { callee, groups: &[BEYOND], arguments: &[] }])[0].scope, 0);
    }

    #[test]
    fn needs_of_parameters() {
        let obligations =
            [Obligation { need: BLOCK, on: Term { level: Level { scope: GRID, params: 0b10 }, calls: &[] } }];
        let params = params::<2>(&obligations, &[], &[], 0);
        assert_eq!(params.map(|need| need.scope), [0, 6]);
    }

    #[test]
    #[should_panic(expected = "not all")]
    fn who_does_not_agree_is_refused() {
        agree(Obligation { need: BLOCK, on: known(5) }, &[], "not all");
    }
}
