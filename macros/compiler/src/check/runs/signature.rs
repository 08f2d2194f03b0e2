//! Whether two threads compute the same value, though the text does not show which: from equal numbers, and from the same elements of
//! memory, if nothing changes them in between.

use std::hash::{Hash, Hasher};

use super::Thread;
use crate::check::cfg::{NodeId, Source};

/// The longest chain of operands that is followed.
const DEPTH: u32 = 16;

/// A hash of a few numbers: what differs in one of them differs in the hash, and other sets of numbers meet there by chance alone.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = (self.0 ^ self.0 >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        self.0 ^= self.0 >> 29;
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }
}

impl Thread<'_, '_, '_> {
    /// A hash that is equal for two threads only if they compute equal values in these nodes; `None` if nothing shows that. It is asked for
    /// where the node has just been computed.
    pub(in crate::check) fn signature(&self, node: NodeId) -> Option<u64> {
        let mut hasher = Mixer::default();
        self.add(node, DEPTH, &mut hasher)?;
        Some(hasher.finish())
    }

    fn add(&self, node: NodeId, depth: u32, hasher: &mut Mixer) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        if let Some(number) = self.known(node) {
            (0_u64, number.value).hash(hasher);
            return Some(());
        }
        let of = &self.runs.cfg.nodes[node.0];
        match &of.source {
            Source::Read(variable) => return self.add(self.runs.cfg.only_value(*variable)?, depth, hasher),
            Source::Integer(number) => (1_u64, number).hash(hasher),
            Source::Param(position) => (2_u64, position).hash(hasher),
            Source::Load(root) => (3_u64, root).hash(hasher),
            Source::Binary(op) => (4_u64, op).hash(hasher),
            Source::Operands => (5_u64, of.operands.len()).hash(hasher),
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
