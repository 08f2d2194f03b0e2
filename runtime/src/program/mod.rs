//! Turns the templates that the macros emitted into one CUDA C++ file. The module has the interface to the macros
//! (`template`), the assembler that fills the holes with the types rustc inferred and joins a kernel with the functions
//! it calls (`assemble`, with `literal`, `constant`, `definition`, `shared`, `name`, `site` and `fences` for its parts), the
//! formatting of a message's values (`message`), what bytes are values (`validity`), tensors and their tiles as data (`tensor`), the size of local arrays (`local`), and the options that a kernel's attribute fixes (`options`). It knows
//! no GPU and compiles nothing.

/// Expands to the note that ends a message about a rule and points to its explanation.
macro_rules! see_page {
    ($rule:literal) => {
        concat!("\nnote: see ", phalanx_contract::rules_page!(), "#", $rule)
    };
}

pub(crate) mod alias;
mod assemble;
pub(crate) mod cases;
pub(crate) mod collectives;
pub(crate) mod constant;
mod constants;
pub(crate) mod cuda;
mod definition;
mod fences;
pub(crate) mod launch_checks;
pub(crate) mod launch_terms;
pub(crate) mod layout;
mod literal;
pub(crate) mod local;
pub(crate) mod message;
mod name;
pub(crate) mod options;
mod order;
pub(crate) mod parameters;
pub(crate) mod refusal;
pub(crate) mod refused;
mod shared;
mod site;
pub(crate) mod template;
pub(crate) mod tensor;
pub(crate) mod type_info;
pub(crate) mod types;
pub(crate) mod validity;
pub(crate) mod visitor;
mod warpgroup;

pub use assemble::Program;
