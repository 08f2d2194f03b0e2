//! Faults that one barrier mends: `inbox` and `count` are written, and then both read. The first of them is reported, which says enough.

use std::collections::BTreeMap;

use super::{Fault, FaultId, SourcePos};
use crate::model::Function;

/// The faults of a rule that the barrier mends, too, which mends another one of it: one before both of the later accesses, and after both of
/// the earlier ones.
pub(super) fn mended_by_others(function: &Function, faults: &BTreeMap<FaultId, Fault>) -> Vec<FaultId> {
    let mut kept: Vec<(FaultId, SourcePos)> = Vec::new();
    let mut mended = Vec::new();
    for (id, fault) in faults {
        let [other] = fault.others.iter().copied().collect::<Vec<_>>()[..] else { continue };
        // Around a loop, the text does not show where one barrier would be enough.
        if fault.on_other_arm || other >= id.1 || function.waives_at(id.0, fault.diag.at) {
            continue;
        }
        let is_mended = |(reported, earlier): &(FaultId, SourcePos)| {
            reported.0 == id.0 && (*earlier).max(other) < reported.1.min(id.1)
        };
        match kept.iter().any(is_mended) {
            true => mended.push(*id),
            false => kept.push((*id, other)),
        }
    }
    mended
}
