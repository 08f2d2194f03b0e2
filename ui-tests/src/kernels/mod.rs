//! The corpus, one file an area of the language.

mod atomics;
mod casts;
mod control;
mod edges;
mod failures;
mod generics;
mod groups;
mod guide;
mod literals;
mod operators;
mod tokens;

use crate::Module;

/// All of it.
pub fn modules() -> Vec<Module> {
    let modules = [
        guide::modules(),
        groups::modules(),
        tokens::modules(),
        atomics::modules(),
        control::modules(),
        generics::modules(),
        literals::modules(),
        operators::modules(),
        casts::modules(),
        failures::modules(),
    ];
    modules.into_iter().flatten().collect()
}
