//! What the host may know before a launch: which accesses stay within bounds, and which operations have operands that fit into words, where
//! these follow from the function's parameters, the ranks of a thread, and the conditions around them. `checks` walks over a body, `terms`
//! has what an expression is computed of, and the other files have one source of knowledge each. The runtime makes the checks
//! (`phalanx::program::launch_checks`); `at_launch` prints them.

mod assigned;
mod checks;
mod closures;
mod lengths;
mod limited;
mod limits;
mod methods;
mod parts;
mod patterns;
mod scattered;
mod scope;
mod terms;
mod vectors;
mod words;

pub(super) use checks::launch_checks;
