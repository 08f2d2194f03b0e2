//! Loads by which all threads of a block get the same number, which the text does not show: the tile that a scheduler gives out, say. A
//! launch may take all of them to give a certain number.

use std::collections::BTreeSet;

use phalanx_contract::uniformity::Uniformity;

use super::Runs;
use crate::check::cfg::{NodeId, Root, Source};
use crate::check::uniform::values::Values;

impl Runs<'_, '_> {
    /// Returns the runs of threads that may agree on what they load.
    pub(in crate::check) fn with_agreed(self, values: &Values<'_, '_>) -> Self {
        let is_agreed = |node: &NodeId| {
            let source = &self.cfg.nodes[node.0].source;
            let is_load = matches!(source, Source::Load(Root::Global | Root::Shared(_) | Root::Remote(_)));
            is_load && values.level(*node).is_uniform(Uniformity::Block)
        };
        let agreed: BTreeSet<NodeId> = (0..self.cfg.nodes.len()).map(NodeId).filter(is_agreed).collect();
        Runs { agreed, ..self }
    }

    /// Whether there are such loads.
    pub(in crate::check) fn may_agree(&self) -> bool {
        !self.agreed.is_empty()
    }
}
