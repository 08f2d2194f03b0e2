//! Parameters of a device function that all threads of the cluster must give one value: which of two buffers is meant. The function is
//! right if its callers do, which rustc asks of them as it does for parameters that decide about collectives.

use std::collections::BTreeSet;

use phalanx_contract::uniformity::Uniformity;

use super::cfg::{Cfg, Variable};
use super::uniform::level::{Required, Unknown};
use crate::model::ty::{ParamType, TypeShape};
use crate::model::{Function, Param};
use crate::span::SpanRange;

/// A parameter, by its position and its place.
pub(super) type Alike = (usize, SpanRange);

/// Finds as few parameters as possible with which a check succeeds, and what it finds. What selects an element of a row is left to the
/// threads.
pub(super) fn params<T>(
    function: &Function,
    cfg: &Cfg<'_>,
    required: &Required,
    check: impl Fn(&Required) -> Option<T>,
) -> Option<(Vec<Alike>, T)> {
    let with = |params: &[Alike]| {
        let mut required = required.clone();
        params.iter().for_each(|(param, _)| required.require(Unknown::Param(*param), Uniformity::Cluster));
        check(&required)
    };
    let is_scalar =
        |param: &Param| matches!(&param.ty, ParamType::Value(value) if matches!(value.shape, TypeShape::Scalar(..)));
    let values = function.params.iter().enumerate().filter(|(_, param)| is_scalar(param));
    let of_elements = selects_elements(function, cfg);
    let values = values.filter(|(position, _)| !of_elements.contains(position));
    let mut params: Vec<Alike> =
        values.map(|(position, param)| (position, SpanRange::of(&function.local(param.local).name))).collect();
    if params.is_empty() {
        return None;
    }
    let mut right = with(&params)?;
    for (left_out, _) in params.clone().into_iter().rev() {
        let fewer: Vec<Alike> = params.iter().copied().filter(|(param, _)| *param != left_out).collect();
        if let Some(found) = (!fewer.is_empty()).then(|| with(&fewer)).flatten() {
            (params, right) = (fewer, found);
        }
    }
    Some((params, right))
}

/// The parameters from which the innermost indexes of shared memory with several dimensions are computed.
fn selects_elements(function: &Function, cfg: &Cfg<'_>) -> BTreeSet<usize> {
    let inner = cfg.accesses.iter().filter(|access| access.region.root.party().is_some());
    let inner = inner.filter_map(|access| match &access.region.path[..] {
        [_, .., last] => Some(last),
        _ => None,
    });
    let (mut work, mut seen) = (Vec::from_iter(inner.flat_map(|select| select.nodes())), BTreeSet::new());
    let mut found = BTreeSet::new();
    while let Some(node) = work.pop() {
        if seen.insert(node) {
            work.extend(&cfg.nodes[node.0].operands);
            work.extend(Some(cfg.origin(node)).filter(|origin| *origin != node));
            let read = cfg.nodes[node.0].source.read();
            let is_read = |param: &Param| read == Some(Variable::Local(param.local));
            found.extend(function.params.iter().position(is_read));
        }
    }
    found
}
