//! The corpus, one file an area of the language.

#![allow(
    clippy::excessive_precision,
    clippy::manual_range_contains,
    clippy::neg_cmp_op_on_partial_ord,
    clippy::precedence,
    clippy::upper_case_acronyms,
    reason = "kernels write what is to be tested"
)]

mod atomics;
mod calls;
mod casts;
mod control;
mod edges;
mod failures;
mod generics;
mod groups;
mod guide;
mod literals;
mod names;
mod operators;
mod order;
mod patterns;
mod tokens;
mod twins;

use crate::Module;

/// All of it.
pub fn modules() -> Vec<Module> {
    let modules = [
        guide::modules(),
        groups::modules(),
        tokens::modules(),
        atomics::modules(),
        control::modules(),
        order::modules(),
        patterns::modules(),
        calls::modules(),
        names::modules(),
        generics::modules(),
        literals::modules(),
        operators::modules(),
        casts::modules(),
        failures::modules(),
    ];
    modules.into_iter().flatten().collect()
}
