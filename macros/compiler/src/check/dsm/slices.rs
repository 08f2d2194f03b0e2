//! Slices of the dynamic shared memory: whether two may overlap, and whether one has the same bytes whenever it is made. The first
//! byte and the end of a slice are polynomials in values that are uniform for the cluster and do not change.

use std::collections::BTreeMap;

use phalanx_contract::uniformity::Uniformity;

use super::conflict::may_overlap;
use crate::check::cfg::{Cfg, NodeId, Shared, Slice, Source};
use crate::model::expr::BinaryOp;
use crate::model::{Role, ValueId};

/// An unknown of a polynomial: a number that does not change and is uniform for the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unknown {
    Constant(ValueId),
    Node(NodeId),
}

/// The most terms that a polynomial has. Beyond that, it is taken to be unknown.
const MAX_TERMS: usize = 64;

/// A polynomial: the coefficients of its monomials.
type Polynomial = BTreeMap<Vec<Unknown>, i64>;

/// The bytes of a slice: the first one, and the end if the element's size is known.
struct Bytes {
    start: Polynomial,
    end: Option<Polynomial>,
}

/// The bytes of each slice, by its index; `None` if they may change between iterations of a loop or differ between blocks.
pub(super) struct Slices(Vec<Option<Bytes>>);

impl Slices {
    pub(super) fn of(cfg: &Cfg<'_>, role: Role) -> Slices {
        let mut polynomials = Polynomials { cfg, role, known: BTreeMap::new() };
        Slices(cfg.slices.iter().map(|slice| polynomials.bytes(slice)).collect())
    }

    /// Whether equal indexes into the two select the same element.
    pub(super) fn have_same_base(&self, a: Shared, b: Shared) -> bool {
        match (a, b) {
            (Shared::Any, _) | (_, Shared::Any) => false,
            (Shared::Slice(a), Shared::Slice(b)) => a == b && self.0[a].is_some(),
            (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Param(_), _) => a == b,
        }
    }

    /// Whether the two may overlap.
    pub(super) fn may_overlap(&self, a: Shared, b: Shared) -> bool {
        match (a, b) {
            (Shared::Slice(a), Shared::Slice(b)) => match (&self.0[a], &self.0[b]) {
                (Some(first), Some(second)) => a == b || !first.is_before(second) && !second.is_before(first),
                (Some(_) | None, _) => true,
            },
            (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Param(_) | Shared::Any, _) => {
                may_overlap(a, b)
            }
        }
    }
}

impl Bytes {
    /// Whether these bytes end where the others begin, or before: compares coefficients, since no unknown is negative.
    fn is_before(&self, other: &Bytes) -> bool {
        let Some(end) = &self.end else { return false };
        let start = |product: &Vec<Unknown>| other.start.get(product).copied().unwrap_or(0);
        end.iter().all(|(product, times)| *times <= start(product))
            && other.start.iter().all(|(product, times)| *times >= 0 || end.contains_key(product))
    }
}

/// Computes the polynomials of nodes, each once.
struct Polynomials<'a, 'f> {
    cfg: &'a Cfg<'f>,
    role: Role,
    known: BTreeMap<NodeId, Option<Polynomial>>,
}

impl Polynomials<'_, '_> {
    fn bytes(&mut self, slice: &Slice) -> Option<Bytes> {
        let (start, length) = (self.polynomial(slice.start)?, self.polynomial(slice.length)?);
        let end = slice.size.and_then(|size| i64::try_from(size).ok()).and_then(|size| {
            let bytes = product(&length, &Polynomial::from([(Vec::new(), size)]))?;
            plus(start.clone(), &bytes, 1)
        });
        Some(Bytes { start, end })
    }

    /// The value of a node; `None` if it may change or differ between blocks.
    fn polynomial(&mut self, id: NodeId) -> Option<Polynomial> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        self.known.insert(id, None);
        let value = self.evaluate(id);
        self.known.insert(id, value.clone());
        value
    }

    fn evaluate(&mut self, id: NodeId) -> Option<Polynomial> {
        let (cfg, node) = (self.cfg, &self.cfg.nodes[id.0]);
        let unknown = |unknown| Some(Polynomial::from([(vec![unknown], 1)]));
        match &node.source {
            Source::Integer(number) => Some(Polynomial::from([(Vec::new(), i64::try_from(*number).ok()?)])),
            Source::Constant(value) => unknown(Unknown::Constant(*value)),
            // An argument of a device function may differ between blocks.
            Source::Param(_) if self.role == Role::Kernel => unknown(Unknown::Node(id)),
            Source::Known { uniformity, .. }
                if uniformity.covers(Uniformity::Cluster) && cfg.queries.contains_key(&id) =>
            {
                unknown(Unknown::Node(id))
            }
            Source::Read(variable) => self.polynomial(cfg.only_value(*variable)?),
            Source::Binary(_) | Source::Operands | Source::Round(..) | Source::Not => {
                let operands: Vec<Polynomial> =
                    node.operands.iter().map(|operand| self.polynomial(*operand)).collect::<Option<_>>()?;
                match (&node.source, &operands[..]) {
                    (Source::Binary(BinaryOp::Add), [a, b]) => plus(a.clone(), b, 1),
                    (Source::Binary(BinaryOp::Sub), [a, b]) => plus(a.clone(), b, -1),
                    (Source::Binary(BinaryOp::Mul), [a, b]) => product(a, b),
                    // The result of any other operator is an unknown itself.
                    _ => unknown(Unknown::Node(id)),
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

/// `sum + times * other`; `None` if a coefficient overflows.
fn plus(mut sum: Polynomial, other: &Polynomial, times: i64) -> Option<Polynomial> {
    for (monomial, coefficient) in other {
        let known = sum.entry(monomial.clone()).or_default();
        *known = known.checked_add(coefficient.checked_mul(times)?)?;
    }
    Some(sum)
}

fn product(a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
    let mut all = Polynomial::new();
    for ((a, times), (b, others)) in a.iter().flat_map(|a| b.iter().map(move |b| (a, b))) {
        let mut monomial = [a.as_slice(), b].concat();
        monomial.sort_unstable();
        all = plus(all, &Polynomial::from([(monomial, times.checked_mul(*others)?)]), 1)?;
    }
    (all.len() <= MAX_TERMS).then_some(all)
}
