//! A kernel whose warpgroups change the number of their registers says how large its blocks are, from which the number at the start
//! follows, and each of them does so at most once. After a change, its warps must synchronize explicitly before the next
//! one (PTX ISA, setmaxnreg), and whether a number is more or fewer than before is known of the first change alone.
//!
//! Not checked here: that registers are free for all warpgroups that want more, which otherwise wait forever.

use super::cfg::Cfg;
use super::uniform::control::following;
use crate::diag::Diags;
use crate::messages;
use crate::model::Function;

/// Refuses changes in blocks of any size, and one that may come after another one, or after itself in a loop.
///
/// ```text
/// for k in 0..n { warpgroup.decrease_registers::<40>(); .. }
/// ```
pub(super) fn check(function: &Function, cfg: &Cfg<'_>, diags: &mut Diags) {
    let changes = &cfg.register_changes;
    for (number, (block, change, at)) in changes.iter().enumerate() {
        if function.options.block.is_none() {
            diags.push(messages::registers_without_block(*at, change.name()));
        }
        let before = changes.iter().enumerate().find(|(other, (earlier, ..))| {
            let in_one_block = *other < number && earlier == block;
            in_one_block || following(cfg, *earlier).contains(*block)
        });
        if let Some((other, (.., earlier))) = before {
            let earlier = (other != number).then_some(*earlier);
            diags.push(messages::registers_twice(*at, change.name(), earlier));
        }
    }
}
