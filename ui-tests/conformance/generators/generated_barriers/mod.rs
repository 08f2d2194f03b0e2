//! An independent verdict on the rules about phase barriers: three threads run kernels of the generator's own language
//! with every value of their parameters, and the operations of each on a barrier between two barriers of the block are
//! compared with those of the others (`lives`); the phases that a token has outlived are counted on every path
//! (`tokens`); what calls of functions leave for the next call is compared by whole programs (`functions`). Every fault must be
//! refused, and every report explained by a run. Not compared: columns, notes and help.

mod elections;
mod functions;
mod lives;
mod tokens;

use std::collections::BTreeSet;

use phalanx_compiler::Rule;

use super::kernel_faults;

/// Returns the reported rules and lines.
fn reports(text: &str) -> BTreeSet<(Rule, usize)> {
    kernel_faults("block = 64", text).iter().map(|fault| (fault.rule(), fault.line())).collect()
}
