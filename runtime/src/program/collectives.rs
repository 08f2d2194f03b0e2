//! What rustc evaluates of the collectives in functions that a body calls: each function here rejects a call at compile time.

use phalanx_contract::Groups;
use phalanx_contract::protocol::{Behavior, ProtocolSummary};
use phalanx_contract::uniformity::{Need, Uniformity};

use super::template::{Callee, Summary};

/// Rejects, at compile time, a call of a function that executes a collective of a group with a pending arrival.
pub const fn no_collective(collectives: Groups, pending: Groups) {
    const MESSAGE: &str = concat!(
        "this function executes a collective of a group that has an arrival pending here [collective_while_pending]\n\
         help: wait for the arrival before the call",
        see_page!("collective_while_pending")
    );
    if collectives.intersects(pending) {
        panic!("{}", MESSAGE);
    }
}

/// Rejects, at compile time, a call of a function that executes a collective of a group whose token may have been forgotten.
pub const fn no_collective_after_forget(collectives: Groups, forgotten: Groups, message: &str) {
    if collectives.intersects(forgotten) {
        panic!("{}", message);
    }
}

/// Rejects, at compile time, an `unchecked(collective_while_pending)` that none of the calls needs.
#[track_caller]
pub const fn one_collective(broken_by: &[Groups]) {
    let mut at = 0;
    while at < broken_by.len() && broken_by[at].is_empty() {
        at += 1;
    }
    assert!(
        at < broken_by.len(),
        "`collective_while_pending` is not broken here [unchecked]\nhelp: remove it from `unchecked`, so that the rule stays checked"
    );
}

/// Rejects, at compile time, a call of a function with a collective in a method or a closure.
pub const fn no_collective_at_all(collectives: Groups) {
    assert!(
        collectives.is_empty(),
        "this function executes a collective, and must not be called in a method or a closure: their callers may not be the whole group [collective_in_method]"
    );
}

/// Rejects, at compile time, a call of a function that waits for asynchronous copies in a method.
pub const fn no_wait_for_copies(behavior: Behavior) {
    const MESSAGE: &str = "this function waits for copies, and must not be called in a method: the checks of the method's \
        callers do not see it [wait_in_method]\nhelp: make the method a device function";
    if behavior.intersects(Behavior::WAITS) {
        panic!("{}", MESSAGE);
    }
}

/// Rejects, at compile time, a method whose result decides whether a collective is executed, unless it is uniform at
/// this level of `Uniformity`. rustc resolves the method together with the kernel's instances.
#[inline(always)]
pub fn agreed_result<const HEIGHT: u8, F: Summary>(_slot: &Callee<F>) {
    const MESSAGE: &str = concat!(
        "whether a collective is reached depends on the result of this method, which may differ between threads of the \
         group [divergent_collective]\n\
         help: if all threads of the group get the same result, say so: `group.uniform(result)`",
        see_page!("divergent_collective")
    );
    const {
        if !F::UNIFORMITY.result.meets(Need::of(Uniformity::from_height(HEIGHT))) {
            panic!("{}", MESSAGE);
        }
    }
}

const MEMORY_IN_OPERATOR: &str = "this function names shared memory, and must not be called in an operator: the checks of \
    the operator's callers do not see it [unsupported_signature]\nhelp: make the operator a device function";

/// Rejects, at compile time, a call of a function that names shared memory in an operator.
pub const fn no_memory_in_operator(protocol: &ProtocolSummary) {
    if protocol.names_memory() {
        panic!("{}", MEMORY_IN_OPERATOR);
    }
}

/// Rejects, at compile time, a call of a method that names shared memory in an operator.
#[inline(always)]
pub fn no_memory_in_method<F: Summary>(_slot: &Callee<F>) {
    const {
        if F::NAMES_MEMORY {
            panic!("{}", MEMORY_IN_OPERATOR);
        }
    }
}
