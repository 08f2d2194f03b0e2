//! Numbers of threads and blocks in expressions: literals and constants that are the same in all instances, and ranks that are
//! divided by them.

use phalanx_contract::uniformity::Uniformity;

use super::Builder;
use super::value::keeps_value;
use crate::check::cfg::{Granule, NodeId};
use crate::model::expr::{Expr, ExprKind};
use crate::model::group::Group;
use crate::model::query::Answer;

impl<'f> Builder<'f> {
    /// The group in which a rank in the grid, divided by this number, is uniform: ranks of blocks by the size of clusters, and ranks of
    /// threads by the size of blocks, where the attribute fixes that in one dimension. The blocks of such a cluster follow each other.
    pub(super) fn uniform_quotient(&self, rank: NodeId, by: &'f Expr) -> Option<Uniformity> {
        let (Group::Grid, query) = self.queries.get(&rank)? else { return None };
        let (extents, uniformity) = match query.answer {
            Answer::BlockRank => (self.function.options.cluster.as_ref()?, Uniformity::Cluster),
            Answer::ThreadRank => (self.function.options.block.as_ref()?, Uniformity::Block),
            Answer::ThreadIndex
            | Answer::ThreadCount
            | Answer::BlockCount
            | Answer::GroupRank
            | Answer::Number
            | Answer::Extent => return None,
        };
        let is_whole = match self.granule(by)? {
            Granule::Number(number) => number > 0 && number % extents.count().filter(|count| *count > 0)? == 0,
            Granule::Constant(value) => self.function.is_extent(value, extents),
        };
        (is_whole && extents.each.len() == 1).then_some(uniformity)
    }

    /// A number that is the same in all instances: a literal, or a constant that is not generic.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other expression is the same number in all instances")]
    pub(super) fn granule(&self, expr: &Expr) -> Option<Granule> {
        match &expr.kind {
            ExprKind::Int { .. } => expr.integer().map(Granule::Number),
            ExprKind::Constant(value) => {
                let constant = &self.function.values[usize::from(value.0)];
                let generic = self.function.generics.names_one_of(&constant.tokens);
                (!generic).then_some(Granule::Constant(*value))
            }
            ExprKind::Cast(inner, ty) if keeps_value(inner, ty) => self.granule(inner),
            _ => None,
        }
    }
}
