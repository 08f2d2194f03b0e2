//! One arm an operation. Matched without a wildcard, so that a new operation does not compile until it is printed.

use super::Lower;
use crate::emit::cuda::ast::CuExpr;
use crate::emit::cuda::signature::shape;
use crate::model::expr::Expr;
use crate::model::op::Op;
use crate::model::ty::{Group, ValueType};
use crate::model::{SiteId, ValueId};

impl Lower<'_> {
    pub(super) fn op(
        &mut self,
        op: Op,
        operands: &[Expr],
        site: Option<SiteId>,
        types: Option<&(ValueType, Option<ValueId>)>,
    ) -> CuExpr {
        let mut values = self.operands(&operands.iter().collect::<Vec<_>>()).into_iter();
        let mut method = |name: &'static str, site: Option<SiteId>| {
            let base = Box::new(values.next().unwrap_or_else(|| CuExpr::name("0")));
            CuExpr::Method { base, name, arguments: values.by_ref().collect(), site }
        };
        match op {
            Op::This(group) => CuExpr::call(
                match group {
                    Group::ThreadBlock => "this_thread_block",
                    Group::Cluster => "this_cluster",
                    Group::Grid => "this_grid",
                },
                Vec::new(),
            ),
            Op::Query(_, query) => method(query.name, None),
            Op::Sync(_) => method("sync", None),
            Op::Arrive(_) => method("barrier_arrive", None),
            Op::Wait(_) => method("barrier_wait", None),
            Op::MapSharedRank(_) => method("map_shared_rank", site),
            Op::QuerySharedRank => method("query_shared_rank", None),
            Op::Length => method("len", None),
            Op::LoadUnchecked => method("get_unchecked", None),
            Op::Is(variant) => method(variant.test(), None),
            Op::Take => method("take", None),
            Op::Unwrap => method("unwrap", site),
            Op::UnwrapOr => method("unwrap_or", None),
            Op::DynamicShared => {
                let mut callee = vec!["dynamic_shared<".into()];
                callee.extend(types.iter().flat_map(|(element, _)| shape(&element.shape)));
                callee.push(">".into());
                CuExpr::Call { callee, arguments: Vec::new(), site: None }
            }
            // Declared by its `let`: an array without a name cannot be used.
            Op::SharedArray(_) => CuExpr::name("0"),
            Op::Atomic(atomic) => {
                let base = Box::new(values.next().unwrap_or_else(|| CuExpr::name("0")));
                let index = values.by_ref().take(1).collect();
                let place = CuExpr::Method { base, name: "atomic", arguments: index, site };
                let orderings = std::iter::repeat_n(CuExpr::name("relaxed"), atomic.orderings);
                let arguments = values.chain(orderings).collect();
                CuExpr::Method { base: Box::new(place), name: atomic.name, arguments, site: None }
            }
        }
    }

    pub(super) fn unchecked(&mut self, base: &Expr, index: &Expr) -> CuExpr {
        let mut values = self.operands(&[base, index]).into_iter();
        let base = Box::new(values.next().unwrap_or_else(|| CuExpr::name("0")));
        CuExpr::Method { base, name: "get_unchecked", arguments: values.collect(), site: None }
    }
}
