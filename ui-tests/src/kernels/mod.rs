//! The corpus, one file an area of the language.

mod casts;
mod control;
mod edges;
mod failures;
mod guide;
mod operators;

use crate::Module;

/// All of it.
pub fn modules() -> Vec<Module> {
    let modules = [guide::modules(), operators::modules(), casts::modules(), control::modules(), failures::modules()];
    modules.into_iter().flatten().collect()
}
