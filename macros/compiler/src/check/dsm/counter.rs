//! What is known of a counter, which goes through the numbers of a range, and of the numbers of a cluster's threads from which ranges
//! begin and by which they step.

use super::affine::Base;
use super::index_analysis::{IndexAnalysis, KnownValues};
use super::index_value::{Form, IndexValue, Size};
use crate::check::cfg::{NodeId, Variable};
use crate::model::query::Answer;

impl IndexAnalysis<'_, '_> {
    /// The next value of a range's variable: the last one plus `by`, if that is known and all threads count alike. It is not less than
    /// the start, and less than the range's end.
    pub(super) fn counter(
        &self,
        state: &KnownValues,
        node: NodeId,
        of: Variable,
        by: Option<i64>,
        range: Option<(NodeId, NodeId)>,
    ) -> IndexValue {
        let start = self.cfg.nodes[node.0].operands.first().map_or(IndexValue::UNKNOWN, |start| state.node(*start));
        let end = range.map(|(_, end)| state.node(end));
        let before = state.variable(of).and_then(|before| before.lower);
        let grown = before.zip(by.and_then(|by| u64::try_from(by).ok())).and_then(|(lower, by)| lower.checked_add(by));
        let lower = start.lower.max(grown);
        let upper = lower.and(end).and_then(|end| end.as_upper_bound());
        let advanced = by.map_or(Form::Unknown, |by| self.advanced(node, of, by));
        let form = match advanced {
            Form::Unknown if self.in_detail => {
                let stepped = || start.in_steps_of(self.width(state, node)?);
                end.and_then(|end| start.until(&end)).or_else(stepped).unwrap_or_default()
            }
            Form::Unknown | Form::Affine(_) | Form::InChunk { .. } | Form::InHalf { .. } | Form::ByRank(_) => advanced,
        };
        IndexValue { form, lower, upper }
    }

    /// The value of a counter in terms of what it was before.
    fn advanced(&self, node: NodeId, variable: Variable, by: i64) -> Form {
        if !self.is_uniform(node) {
            return Form::Unknown;
        }
        let before = IndexValue::of(Base::Variable(variable));
        let by_number = IndexValue::literal(by.unsigned_abs());
        if by < 0 { before.minus(&by_number).form } else { before.plus(&by_number).form }
    }

    /// The width of the steps that a counter takes from the start of its range on.
    fn width(&self, state: &KnownValues, counter: NodeId) -> Option<u64> {
        let start = *self.cfg.nodes[counter.0].operands.first()?;
        let counted = self.cfg.counted.values().find(|counted| counted.start == start)?;
        u64::try_from(state.node(counted.step?).number()?).ok()
    }

    /// The thread's rank in the cluster, and the number of its threads, if the text says how many threads a block has.
    pub(super) fn of_cluster(&self, answer: Answer) -> IndexValue {
        let Some(Size::Number(threads)) = self.block_size() else { return IndexValue::UNKNOWN };
        let threads = IndexValue::literal(threads);
        match answer {
            Answer::ThreadRank => {
                IndexValue::rank(self.blocks).times(&threads).plus(&IndexValue::between(0, self.block_size()))
            }
            Answer::ThreadCount => IndexValue::blocks(self.blocks).times(&threads),
            Answer::ThreadIndex
            | Answer::BlockRank
            | Answer::BlockCount
            | Answer::GroupRank
            | Answer::GroupCount
            | Answer::Number
            | Answer::Extent => IndexValue::UNKNOWN,
        }
    }
}
