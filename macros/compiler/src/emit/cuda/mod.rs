//! The CUDA C++ of a function: lowered to a small syntax tree (`lower`), then printed as fragments of text with holes
//! (`print`). The runtime fills the holes and assembles programs (`phalanx::program`).

mod ast;
mod at_launch;
mod continued;
mod lower;
mod name;
mod print;
mod signature;

pub(crate) use ast::Fragment;
pub(crate) use at_launch::launch_terms;
pub(crate) use lower::has_collectives;

use std::collections::BTreeSet;

use proc_macro2::TokenStream;

use crate::check::Checked;
use crate::model::LocalId;
use crate::model::fused_barriers::fused_tokens;

/// A function's text.
pub(crate) struct Text {
    pub(crate) signature: Vec<Fragment>,
    pub(crate) body: Vec<Fragment>,
    /// The identifiers that the text declares, without its constants.
    pub(crate) locals: Vec<String>,
    /// The names of the function's values in the text; a length has none.
    pub(crate) constants: Vec<String>,
    /// Whether the function takes what its caller does with the `Option` that it returns.
    pub(crate) continued: bool,
    /// Whether it has accesses to elements that are next to each other in unrolled loops.
    pub(crate) has_adjacent: bool,
    /// Numbers behind the function's values that the runtime is to know.
    pub(crate) numbers: Vec<TokenStream>,
    /// The checks of accesses that the host may make before a launch.
    pub(crate) at_launch: at_launch::AtLaunch,
    /// Tokens whose arrival and wait are fused, and which the text does not have.
    pub(crate) fused: BTreeSet<LocalId>,
}

pub(crate) fn text(checked: &Checked<'_>) -> Text {
    let function = checked.function();
    let names = name::Names::of(function);
    let fused = fused_tokens(function);
    let lower::Lowered { mut body, mut names, has_adjacent, numbers, at_launch } = lower::body(checked, names, &fused);
    let then = names.free("then");
    let continued = continued::continued(function, &body, &then).map(|continued| {
        body = continued;
        names.fresh(&then)
    });
    let signature = signature::signature(function, &names, continued.as_deref());
    let body = print::body(&body, function, &names);
    let (locals, constants) = names.declared(function);
    Text { signature, body, locals, constants, continued: continued.is_some(), has_adjacent, numbers, at_launch, fused }
}
