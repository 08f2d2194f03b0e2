//! An independent verdict on the rules about phase barriers: kernels of the generator's own language are run by three threads
//! with every value of their parameters, and what each does to a barrier between two meetings of the block is compared
//! with what the others do (`lives`); the phases that a token has outlived are counted on every way (`tokens`). Every fault
//! is to be refused, and every report explained by a run. Not compared: columns, notes and help; device functions.

mod lives;
mod tokens;

use std::collections::BTreeSet;

use crate::check;
use crate::diag::Diags;
use crate::model::{Function, Role};
use crate::parse;

use super::faults;

/// Rules and lines.
fn reports(text: &str) -> BTreeSet<(String, usize)> {
    let item = syn::parse_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut diags = Diags::default();
    let options = "block = 64".parse().expect("tokens");
    let options = parse::attribute::kernel_options(options, &mut diags);
    let function = Function { options, ..parse::function(&item, Role::Kernel, &mut diags) };
    assert!(diags.is_empty(), "{:?}\n{text}", diags.rules());
    let _ = check::run(&function, &mut diags);
    faults(&diags.into_tokens()).iter().map(|fault| (fault.rule().to_string(), fault.line)).collect()
}
