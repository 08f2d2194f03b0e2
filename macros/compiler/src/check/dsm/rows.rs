//! Shared memory that a device function is given and accesses in one row alone, which another parameter selects. Its callers can
//! then compare rows.

use crate::check::cfg::{AccessKind, Cfg, NodeId, Region, Select, Shared, Source};
use crate::model::Function;

/// Finds, for each parameter that is accessed in one row alone, the position of the parameter that selects the row.
///
/// ```text
/// fn fill(buffers: &SharedArray<[f32; 64], 2>, stage: u32, i: u32, x: f32) {
///     buffers[stage][i] = x;
/// }
/// ```
pub(super) fn of(function: &Function, cfg: &Cfg<'_>) -> Vec<Option<usize>> {
    let regions: Vec<(Shared, &Region)> = cfg
        .accesses
        .iter()
        .filter(|access| access.kind != AccessKind::ByClosure)
        .map(|access| &access.region)
        .chain(cfg.calls.iter().flat_map(|call| call.regions.iter().flatten()))
        .filter_map(|region| Some((region.root.party()?.1, region)))
        .collect();
    // An access to one of several objects may be to any parameter, in any row.
    let may_be_any = regions.iter().any(|(shared, _)| *shared == Shared::Any);
    let row = |param: usize| {
        let mut accessed = regions.iter().filter(|(shared, _)| *shared == Shared::Param(param));
        let row = row_of(cfg, accessed.next()?.1)?;
        accessed.all(|(_, region)| row_of(cfg, region) == Some(row)).then_some(row)
    };
    (0..function.params.len()).map(|param| if may_be_any { None } else { row(param) }).collect()
}

/// The position of the parameter that is the index of the region's first dimension.
fn row_of(cfg: &Cfg<'_>, region: &Region) -> Option<usize> {
    match region.path.first()? {
        Select::At(node) => param(cfg, *node),
        Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown => None,
    }
}

fn param(cfg: &Cfg<'_>, node: NodeId) -> Option<usize> {
    let Source::Param(param) = cfg.nodes[cfg.origin(node).0].source else { return None };
    Some(param)
}
