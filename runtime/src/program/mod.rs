//! From what the macros emitted to one CUDA C++ file: the contract between the two crates (`template`), and the
//! assembler that fills the holes with the types rustc inferred and joins a kernel with the functions it calls
//! (`assemble`, with `literal`, `constant`, `definition`, `shared`, `name` and `site` for its parts), and what makes text
//! of a message's values (`message`). What a kernel's attribute fixed is `options`. It knows no GPU and compiles nothing.

/// The note that ends a message about a rule: where the rule is explained.
macro_rules! see_page {
    ($rule:literal) => {
        concat!("\nnote: see ", phalanx_contract::rules_page!(), "#", $rule)
    };
}

mod assemble;
pub(crate) mod constant;
mod constants;
pub(crate) mod cuda;
mod definition;
pub(crate) mod layout;
mod literal;
pub(crate) mod message;
mod name;
pub(crate) mod options;
pub(crate) mod refusal;
mod shared;
mod site;
pub(crate) mod template;
pub(crate) mod type_info;
pub(crate) mod types;

pub use assemble::Program;
