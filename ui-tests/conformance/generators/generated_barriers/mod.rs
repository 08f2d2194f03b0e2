//! An independent verdict on the rules about phase barriers: kernels of the generator's own language are run by three threads
//! with every value of their parameters, and what each does to a barrier between two meetings of the block is compared
//! with what the others do (`lives`); the phases that a token has outlived are counted on every way (`tokens`). Every fault
//! is to be refused, and every report explained by a run. Not compared: columns, notes and help; device functions.

mod lives;
mod tokens;

use std::collections::BTreeSet;

use phalanx_compiler::Rule;

use super::kernel_faults;

/// Rules and lines.
fn reports(text: &str) -> BTreeSet<(Rule, usize)> {
    kernel_faults("block = 64", text).iter().map(|fault| (fault.rule(), fault.line())).collect()
}
