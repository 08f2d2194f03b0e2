//! Shared memory and barriers across functions: what callers must know of a device function's accesses to distributed
//! shared memory and of its phase barriers, and what they ask of it. The analysis inside of one function is the compiler's
//! (`check/dsm`, `check/barriers`).
//!
//! A function's summary is a list of [`Effect`]s, each with a [`Guard`] about the functions that it calls itself. A fault
//! that depends on a call has such a guard too: [`refuse`] makes it a compile error.

#![warn(clippy::wildcard_enum_match_arm)]

mod executions;
mod uses;

pub use executions::{Executions, executions, identity, identity_elsewhere};
pub use uses::{CONFLICTING, Clashes, CopyUses, DYNAMIC, ParameterUses, Party, When};

use bitflags::bitflags;

bitflags! {
    /// What a function does at the barriers of the cluster, its waits for copies, and what it may learn. All flags are may-facts: a flag that is not set
    /// is a promise.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Behavior: u32 {
        /// The function accesses a peer's memory before it has waited at a barrier of the cluster.
        const NEEDS_ENTRY = 1;
        /// The function may return without having waited at one.
        const MAY_NOT_ENTER = 1 << 1;
        /// The function may return without having arrived at one.
        const MAY_NOT_ARRIVE = 1 << 2;
        /// The function may have accessed a peer's memory after its last arrival.
        const LEAVES_REMOTE_OPEN = 1 << 3;
        /// The function may write to the dynamic shared memory, which it names itself.
        const WRITES_DYNAMIC = 1 << 4;
        /// The function may return without a barrier that orders what came before it: only relaxed ones, or none.
        const MAY_NOT_ORDER = 1 << 5;
        /// The function may call a closure that it is given before it has waited at a barrier of the cluster.
        const CALLS_CLOSURE_FIRST = 1 << 6;
        /// The function may call a closure that it is given after its last barrier of the cluster.
        const CALLS_CLOSURE_LAST = 1 << 7;
        /// The function may wait for copies of a group.
        const WAITS_FOR_GROUP_COPIES = 1 << 8;
        /// The function may wait until bulk copies of the thread have read their sources.
        const WAITS_FOR_BULK_READS = 1 << 9;
        /// The function may wait until bulk copies of the thread have written their destinations.
        const WAITS_FOR_BULK_WRITES = 1 << 10;
        /// The function may return while a product of a warpgroup that it began is in flight.
        const LEAVES_PRODUCTS = 1 << 11;
        /// The function may return while such a product is in flight whose left operand is in registers.
        const LEAVES_REGISTERS = 1 << 12;
        /// The function may return without having waited for the products that were in flight when it was called.
        const KEEPS_PRODUCTS = 1 << 13;
        /// The function may return without having begun a product.
        const BEGINS_NO_PRODUCT = 1 << 14;
        /// The function may wait for products of a warpgroup.
        const WAITS_FOR_PRODUCTS = 1 << 15;
        /// The function may wait for the product that was the last one when it was called, too, rather than for those before it alone.
        const WAITS_FOR_LAST_PRODUCT = 1 << 16;
        /// A thread may learn in the function what others have done: it has a barrier, a wait or test at a phase barrier, an atomic.
        const MAY_LEARN = 1 << 17;
        /// The flags of all waits for copies and products.
        const WAITS = Self::WAITS_FOR_GROUP_COPIES.bits()
            | Self::WAITS_FOR_BULK_READS.bits()
            | Self::WAITS_FOR_BULK_WRITES.bits()
            | Self::WAITS_FOR_PRODUCTS.bits();
    }

    /// The accesses to memory.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Uses: u8 {
        /// A plain read.
        const READ = 1;
        /// A plain write.
        const WRITE = 1 << 1;
        /// An atomic read.
        const ATOMIC_READ = 1 << 2;
        /// Any other atomic operation.
        const ATOMIC = 1 << 3;
        /// A write by an asynchronous copy, which no barrier of the cluster orders.
        const ASYNC_WRITE = 1 << 4;
    }

    /// The uses of a phase barrier.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct BarrierUses: u32 {
        /// The function uses the barrier as the caller left it.
        const NEEDS = 1;
        /// The function may initialize the barrier as the caller left it.
        const BEGINS = 1 << 1;
        /// The function does not initialize the barrier.
        const KEEPS = 1 << 2;
        /// Several threads that call the function may initialize the barrier.
        const ALONE = 1 << 3;
        /// One thread of each warp that calls the function may initialize the barrier.
        const ONE_OF_EACH_WARP = 1 << 4;
        /// Of a parameter that is no barrier: the function initializes a barrier in the threads for which it is true.
        const WHERE_TRUE = 1 << 5;
        /// Of a parameter that is no barrier: the function initializes a barrier in the threads for which it has one value.
        const AT_ONE_VALUE = 1 << 6;
        /// The function initializes the barrier and leaves it in use, on all paths.
        const LEAVES_IN_USE = 1 << 7;
        /// The function may end before the threads have synchronized with the one that initializes the barrier.
        const LEAVES_UNPUBLISHED = 1 << 8;
        /// The function arrives at the barrier as the caller left it, on all paths.
        const ARRIVES = 1 << 9;
        /// The function drops out of the barrier, on all paths, and does not initialize it afterwards.
        const DROPS = 1 << 10;
        /// The function may wait at the barrier, or test it.
        const MAY_OBSERVE = 1 << 11;
        /// The function waits at the barrier, on all paths.
        const WAITS = 1 << 12;
        /// The number of a thread's arrivals in one phase may be more than the further flags say, or other uses of the function
        /// change how many the phase expects.
        const UNCOUNTED = 1 << 13;
        /// The function may return after an arrival for whose phase it has not waited.
        const LEAVES_ARRIVED = 1 << 14;
        /// A thread in the function may arrive in a phase.
        const MAY_ARRIVE = 1 << 15;
        /// A thread in the function may arrive twice in one phase.
        const MAY_ARRIVE_TWICE = 1 << 16;
        /// A thread in the function may arrive three times in one phase.
        const MAY_ARRIVE_THREE_TIMES = 1 << 17;
        /// A thread in the function may arrive four times in one phase.
        const MAY_ARRIVE_FOUR_TIMES = 1 << 18;
        /// Of the threads of a block that call the function, only some arrive at the barrier.
        const ARRIVES_IN_SOME = 1 << 19;
    }
}

/// What callers must know of a function's effects on shared memory and barriers.
#[derive(Debug, Clone, Copy)]
pub struct ProtocolSummary {
    /// What the function does at the barriers of the cluster.
    pub behavior: Behavior,
    /// The uses of each parameter, by position.
    pub parameters: &'static [ParameterUses],
    /// The uses of the dynamic shared memory, by the function and those that it calls.
    pub dynamic: ParameterUses,
    /// The functions that are executed, and that declare shared memory which a second execution accesses in conflict with the first.
    pub executions: Executions,
    /// The pairs of parameters that must not be given the same memory.
    pub clashes: Clashes,
    /// For each parameter that is accessed in a single row, the position of the parameter that is the row's number.
    pub rows: &'static [Option<usize>],
}

impl ProtocolSummary {
    /// Whether the function names shared memory itself, or a function that it calls does.
    pub const fn names_memory(&self) -> bool {
        !self.dynamic.is_none() || !self.executions.is_none()
    }
}

/// A row of memory that is passed to a call. The compiler names the call by its slot, the summary by its position in the
/// table of callees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row<Call = usize> {
    /// The call.
    pub call: Call,
    /// The position of the parameter that is the memory.
    pub parameter: usize,
    /// The position of the parameter that is the number of the row.
    pub by: usize,
}

/// A question about a called function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Predicate<Call = usize> {
    /// The function does one of these things.
    Does(Call, Behavior),
    /// The function does none of these things.
    Never(Call, Behavior),
    /// The first call, at its time, accesses shared memory that both name without being given it, in conflict with the second call
    /// at its own time: dynamic memory, or an array that a function declares which both execute.
    Meet((Call, When), (Call, When)),
    /// The function uses its parameter of this position in one of these ways.
    Uses(Call, usize, ParameterUses),
    /// The function uses its parameter of this position in none of these ways.
    NeverUses(Call, usize, ParameterUses),
    /// The function has accesses to these two parameters that would conflict if they were the same memory.
    Clashes(Call, usize, usize),
    /// The function accesses more than this row, or, with a second row, one of the two calls accesses more than its row.
    Beyond(Row<Call>, Option<Row<Call>>),
}

/// A condition on called functions: all of `when` hold, and each call of `unless` does what is stated for it.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    /// The questions that must be answered with yes.
    pub when: &'static [Predicate],
    /// The calls in between, each with the behavior that would keep it from making a difference.
    pub unless: &'static [(usize, Behavior)],
}

/// An effect of a function, if its guard holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect<Call = usize> {
    /// The function does this.
    Does(Behavior),
    /// The function uses its parameter of this position in this way.
    Uses(usize, ParameterUses),
    /// The function has accesses to these two parameters that would conflict if they were the same memory.
    Clashes(usize, usize),
    /// The function passes its parameter `own` to a call as `parameter`, which uses it as the callee does at this time.
    Passes {
        /// The position of the function's own parameter.
        own: usize,
        /// The call.
        call: Call,
        /// The position of the callee's parameter.
        parameter: usize,
        /// The time of the callee's uses.
        when: When,
        /// The same time as the callers of the function see it.
        seen: When,
    },
    /// The function uses the memory that a call names without being given it, as the callee does at this time.
    Executes {
        /// The call.
        call: Call,
        /// The time of the callee's uses.
        when: When,
        /// The same time as the callers of the function see it.
        seen: When,
    },
    /// A second execution of the function conflicts with what this one does at this time to the arrays that it declares, or, at any
    /// time, with how it leaves the barriers that it declares. [`When::Waited`] is the time of the second one, after the wait for
    /// the arrival of the first.
    Again(When),
}

impl<Call> Row<Call> {
    /// Renames the call of the row.
    pub fn rename<To>(self, name: impl Fn(Call) -> To) -> Row<To> {
        Row { call: name(self.call), parameter: self.parameter, by: self.by }
    }
}

impl<Call> Predicate<Call> {
    /// Renames the calls of the question.
    pub fn rename<To>(self, name: impl Fn(Call) -> To) -> Predicate<To> {
        match self {
            Predicate::Does(call, behavior) => Predicate::Does(name(call), behavior),
            Predicate::Never(call, behavior) => Predicate::Never(name(call), behavior),
            Predicate::Meet((first, when), (second, at)) => Predicate::Meet((name(first), when), (name(second), at)),
            Predicate::Uses(call, parameter, uses) => Predicate::Uses(name(call), parameter, uses),
            Predicate::NeverUses(call, parameter, uses) => Predicate::NeverUses(name(call), parameter, uses),
            Predicate::Clashes(call, first, second) => Predicate::Clashes(name(call), first, second),
            Predicate::Beyond(row, other) => Predicate::Beyond(row.rename(&name), other.map(|row| row.rename(&name))),
        }
    }
}

impl<Call> Effect<Call> {
    /// Renames the call of the effect.
    pub fn rename<To>(self, name: impl Fn(Call) -> To) -> Effect<To> {
        match self {
            Effect::Does(behavior) => Effect::Does(behavior),
            Effect::Uses(parameter, uses) => Effect::Uses(parameter, uses),
            Effect::Clashes(first, second) => Effect::Clashes(first, second),
            Effect::Passes { own, call, parameter, when, seen } => {
                Effect::Passes { own, call: name(call), parameter, when, seen }
            }
            Effect::Executes { call, when, seen } => Effect::Executes { call: name(call), when, seen },
            Effect::Again(when) => Effect::Again(when),
        }
    }
}

impl ProtocolSummary {
    /// The summary of a function that has faults: it has no effects, and asks for nothing.
    pub const UNKNOWN: ProtocolSummary = ProtocolSummary {
        behavior: Behavior::empty(),
        parameters: &[],
        dynamic: ParameterUses::NONE,
        executions: Executions::NONE,
        clashes: Clashes::NONE,
        rows: &[],
    };

    const fn uses(&self, parameter: usize) -> ParameterUses {
        if parameter == DYNAMIC {
            return self.dynamic;
        }
        if parameter < self.parameters.len() { self.parameters[parameter] } else { ParameterUses::NONE }
    }
}

impl Row {
    const fn has_all(self, callees: &[ProtocolSummary]) -> bool {
        let rows = callees[self.call].rows;
        self.parameter < rows.len() && matches!(rows[self.parameter], Some(by) if by == self.by)
    }
}

impl Predicate {
    const fn holds(self, callees: &[ProtocolSummary]) -> bool {
        match self {
            Predicate::Does(call, behavior) => callees[call].behavior.intersects(behavior),
            Predicate::Never(call, behavior) => !callees[call].behavior.intersects(behavior),
            Predicate::Meet((first, when), (second, at)) => {
                let (first, second) = (&callees[first], &callees[second]);
                first.dynamic.conflicts(when, second.dynamic, at) || first.executions.meet(when, &second.executions, at)
            }
            Predicate::Uses(call, parameter, uses) => callees[call].uses(parameter).intersects(uses),
            Predicate::NeverUses(call, parameter, uses) => !callees[call].uses(parameter).intersects(uses),
            Predicate::Clashes(call, first, second) => callees[call].clashes.intersects(Clashes::of(first, second)),
            Predicate::Beyond(row, None) => !row.has_all(callees),
            Predicate::Beyond(row, Some(other)) => !(row.has_all(callees) && other.has_all(callees)),
        }
    }
}

impl Guard {
    /// Whether the guard holds of these callees.
    pub const fn holds(self, callees: &[ProtocolSummary]) -> bool {
        let mut at = 0;
        while at < self.when.len() {
            if !self.when[at].holds(callees) {
                return false;
            }
            at += 1;
        }
        let mut at = 0;
        while at < self.unless.len() {
            let (call, behavior) = self.unless[at];
            if !callees[call].behavior.intersects(behavior) {
                return false;
            }
            at += 1;
        }
        true
    }
}

/// Collects the behavior of a function: [`ProtocolSummary::behavior`].
pub const fn behavior(effects: &[(Effect, Guard)], callees: &[ProtocolSummary]) -> Behavior {
    let mut all = Behavior::empty();
    let mut at = 0;
    while at < effects.len() {
        if let (Effect::Does(behavior), guard) = effects[at]
            && guard.holds(callees)
        {
            all = all.union(behavior);
        }
        at += 1;
    }
    all
}

/// Collects the uses of each parameter: [`ProtocolSummary::parameters`].
pub const fn parameter_uses<const N: usize>(
    effects: &[(Effect, Guard)],
    callees: &[ProtocolSummary],
) -> [ParameterUses; N] {
    let mut all = [ParameterUses::NONE; N];
    let mut at = 0;
    while at < N {
        all[at] = uses_of(at, effects, callees);
        at += 1;
    }
    all
}

/// Collects the uses of the dynamic shared memory: [`ProtocolSummary::dynamic`].
pub const fn dynamic_uses(effects: &[(Effect, Guard)], callees: &[ProtocolSummary]) -> ParameterUses {
    uses_of(DYNAMIC, effects, callees)
}

const fn uses_of(position: usize, effects: &[(Effect, Guard)], callees: &[ProtocolSummary]) -> ParameterUses {
    let mut all = ParameterUses::NONE;
    let mut at = 0;
    while at < effects.len() {
        let (effect, guard) = effects[at];
        let uses = match effect {
            Effect::Uses(parameter, uses) if parameter == position => uses,
            Effect::Passes { own, call, parameter, when, seen } if own == position => {
                callees[call].uses(parameter).moved(when, seen)
            }
            Effect::Executes { call, when, seen } if position == DYNAMIC => callees[call].dynamic.moved(when, seen),
            Effect::Uses(..)
            | Effect::Passes { .. }
            | Effect::Executes { .. }
            | Effect::Does(_)
            | Effect::Clashes(..)
            | Effect::Again(_) => ParameterUses::NONE,
        };
        if !uses.is_empty() && guard.holds(callees) {
            all = all.union(uses);
        }
        at += 1;
    }
    all
}

/// Collects the parameters that must not be the same memory: [`ProtocolSummary::clashes`].
pub const fn clashes(effects: &[(Effect, Guard)], callees: &[ProtocolSummary]) -> Clashes {
    let mut all = Clashes::NONE;
    let mut at = 0;
    while at < effects.len() {
        if let (Effect::Clashes(first, second), guard) = effects[at]
            && guard.holds(callees)
        {
            all = all.union(Clashes::of(first, second));
        }
        at += 1;
    }
    all
}

/// Refuses, at compile time, a fault whose guard holds.
#[track_caller]
pub const fn refuse(guard: Guard, callees: &[ProtocolSummary], message: &str) {
    if guard.holds(callees) {
        panic!("{}", message);
    }
}

#[cfg(test)]
mod tests;
