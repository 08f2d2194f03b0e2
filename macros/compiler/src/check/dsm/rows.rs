//! Memory that a device function is given and sites in one row alone, which another parameter names: its callers can
//! tell such rows apart.

use crate::check::cfg::{Cfg, NodeId, Region, Select, Shared, Source};
use crate::model::Function;

/// Finds for each parameter the position of the one that names its row.
///
/// ```text
/// fn fill(buffers: &SharedArray<[f32; 64], 2>, stage: u32, i: u32, x: f32) {
///     buffers[stage][i] = x;
/// }
/// ```
pub(super) fn of(function: &Function, cfg: &Cfg<'_>) -> Vec<Option<usize>> {
    let of_call = cfg.nodes.iter().filter_map(|node| match &node.source {
        Source::Call { regions, .. } => Some(regions.iter().flatten()),
        _ => None,
    });
    let regions: Vec<(Shared, &Region)> = cfg
        .accesses
        .iter()
        .map(|access| &access.region)
        .chain(of_call.flatten())
        .filter_map(|region| Some((region.root.party()?.1, region)))
        .collect();
    // PhaseAction may be any of them is not followed.
    let is_hidden = regions.iter().any(|(shared, _)| *shared == Shared::Any);
    let row = |param: usize| {
        let mut of = regions.iter().filter(|(shared, _)| *shared == Shared::Param(param));
        let row = row_of(cfg, of.next()?.1)?;
        of.all(|(_, region)| row_of(cfg, region) == Some(row)).then_some(row)
    };
    (0..function.params.len()).map(|param| if is_hidden { None } else { row(param) }).collect()
}

/// The parameter that chooses first.
fn row_of(cfg: &Cfg<'_>, region: &Region) -> Option<usize> {
    match region.path.first()? {
        Select::At(node) => param(cfg, *node),
        Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown => None,
    }
}

fn param(cfg: &Cfg<'_>, node: NodeId) -> Option<usize> {
    match cfg.nodes[cfg.origin(node).0].source {
        Source::Param(param) => Some(param),
        _ => None,
    }
}
