//! Whether two threads compute the same value, though the text does not show which: from equal numbers, and from the same elements of
//! memory, if nothing changes them in between.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::Thread;
use crate::check::cfg::{NodeId, Source};

/// The longest chain of operands that is followed.
const DEPTH: u32 = 16;

impl Thread<'_, '_, '_> {
    /// A hash that is equal for two threads only if they compute equal values in these nodes; `None` if nothing shows that. It is asked for
    /// where the node has just been computed.
    pub(in crate::check) fn signature(&self, node: NodeId) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        self.add(node, DEPTH, &mut hasher)?;
        Some(hasher.finish())
    }

    fn add(&self, node: NodeId, depth: u32, hasher: &mut DefaultHasher) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        if let Some(number) = self.known(node) {
            (0, number.value).hash(hasher);
            return Some(());
        }
        let of = &self.runs.cfg.nodes[node.0];
        match &of.source {
            Source::Read(variable) => return self.add(self.runs.cfg.only_value(*variable)?, depth, hasher),
            Source::Integer(number) => (1, number).hash(hasher),
            Source::Param(position) => (2, position).hash(hasher),
            Source::Load(root) => (3, root).hash(hasher),
            Source::Binary(op) => (4, op).hash(hasher),
            Source::Operands => (5, of.operands.len()).hash(hasher),
            Source::Constant(_)
            | Source::Not
            | Source::Round(..)
            | Source::Counter { .. }
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => return None,
        }
        of.operands.iter().try_for_each(|operand| self.add(*operand, depth, hasher))
    }
}
