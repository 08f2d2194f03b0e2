//! Several slices of the dynamic shared memory: whether two have bytes in common, and whether one is always the same bytes.

use std::collections::BTreeMap;

use phalanx_contract::uniformity::Uniformity;

use super::conflict::overlap;
use crate::check::cfg::{Cfg, NodeId, Shared, Slice, Source};
use crate::model::expr::BinaryOp;
use crate::model::{Role, ValueId};

/// A number that is the same whenever it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Leaf {
    Constant(ValueId),
    Node(NodeId),
}

/// No more products are followed: where a layout has more, nobody reads it.
const MOST: usize = 64;

/// A sum of products, each some number of times.
type Sum = BTreeMap<Vec<Leaf>, i64>;

/// From the first byte up to the end; the end if the type's size is known.
struct Bytes {
    start: Sum,
    end: Option<Sum>,
}

/// By the slices' indexes; `None` if it may be another part in each round of a loop.
pub(super) struct Slices(Vec<Option<Bytes>>);

impl Slices {
    pub(super) fn of(cfg: &Cfg<'_>, role: Role) -> Slices {
        let mut sums = Sums { cfg, role, known: BTreeMap::new() };
        Slices(cfg.slices.iter().map(|slice| sums.bytes(slice)).collect())
    }

    /// Whether elements of both are counted from one place.
    pub(super) fn are_one(&self, a: Shared, b: Shared) -> bool {
        match (a, b) {
            (Shared::Any, _) | (_, Shared::Any) => false,
            (Shared::Slice(a), Shared::Slice(b)) => a == b && self.0[a].is_some(),
            (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Param(_), _) => a == b,
        }
    }

    /// Whether they may have memory in common.
    pub(super) fn overlap(&self, a: Shared, b: Shared) -> bool {
        match (a, b) {
            (Shared::Slice(a), Shared::Slice(b)) => match (&self.0[a], &self.0[b]) {
                (Some(first), Some(second)) => a == b || !first.is_before(second) && !second.is_before(first),
                _ => true,
            },
            _ => overlap(a, b),
        }
    }
}

impl Bytes {
    /// Nothing is below zero.
    fn is_before(&self, other: &Bytes) -> bool {
        let Some(end) = &self.end else { return false };
        let least = |product: &Vec<Leaf>| other.start.get(product).copied().unwrap_or(0);
        end.iter().all(|(product, times)| *times <= least(product))
            && other.start.iter().all(|(product, times)| *times >= 0 || end.contains_key(product))
    }
}

struct Sums<'a, 'f> {
    cfg: &'a Cfg<'f>,
    role: Role,
    known: BTreeMap<NodeId, Option<Sum>>,
}

impl Sums<'_, '_> {
    fn bytes(&mut self, slice: &Slice) -> Option<Bytes> {
        let (start, length) = (self.sum(slice.start)?, self.sum(slice.length)?);
        let end = slice.size.and_then(|size| i64::try_from(size).ok()).and_then(|size| {
            let bytes = product(&length, &Sum::from([(Vec::new(), size)]))?;
            plus(start.clone(), &bytes, 1)
        });
        Some(Bytes { start, end })
    }

    /// `None` if it may be another one at another time, or in another block.
    fn sum(&mut self, id: NodeId) -> Option<Sum> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        self.known.insert(id, None);
        let sum = self.evaluate(id);
        self.known.insert(id, sum.clone());
        sum
    }

    fn evaluate(&mut self, id: NodeId) -> Option<Sum> {
        let (cfg, node) = (self.cfg, &self.cfg.nodes[id.0]);
        let leaf = |leaf| Some(Sum::from([(vec![leaf], 1)]));
        match &node.source {
            Source::Integer(number) => Some(Sum::from([(Vec::new(), i64::try_from(*number).ok()?)])),
            Source::Constant(value) => leaf(Leaf::Constant(*value)),
            // A device function's may be another one in each block.
            Source::Param(_) if self.role == Role::Kernel => leaf(Leaf::Node(id)),
            Source::Known { uniformity, .. }
                if uniformity.covers(Uniformity::Cluster) && cfg.queries.contains_key(&id) =>
            {
                leaf(Leaf::Node(id))
            }
            Source::Read(place) => self.sum(cfg.only_value(*place)?),
            Source::Binary(_) | Source::Operands | Source::Round(..) | Source::Not => {
                let operands: Vec<Sum> =
                    node.operands.iter().map(|operand| self.sum(*operand)).collect::<Option<_>>()?;
                match (&node.source, &operands[..]) {
                    (Source::Binary(BinaryOp::Add), [a, b]) => plus(a.clone(), b, 1),
                    (Source::Binary(BinaryOp::Sub), [a, b]) => plus(a.clone(), b, -1),
                    (Source::Binary(BinaryOp::Mul), [a, b]) => product(a, b),
                    _ => leaf(Leaf::Node(id)),
                }
            }
            Source::Counter { .. }
            | Source::Param(_)
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => None,
        }
    }
}

fn plus(mut sum: Sum, other: &Sum, times: i64) -> Option<Sum> {
    for (product, count) in other {
        let known = sum.entry(product.clone()).or_default();
        *known = known.checked_add(count.checked_mul(times)?)?;
    }
    Some(sum)
}

fn product(a: &Sum, b: &Sum) -> Option<Sum> {
    let mut all = Sum::new();
    for ((a, times), (b, count)) in a.iter().flat_map(|a| b.iter().map(move |b| (a, b))) {
        let mut leaves = [a.as_slice(), b].concat();
        leaves.sort_unstable();
        all = plus(all, &Sum::from([(leaves, times.checked_mul(*count)?)]), 1)?;
    }
    (all.len() <= MOST).then_some(all)
}
