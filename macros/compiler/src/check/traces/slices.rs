//! Slices of the dynamic shared memory that have bytes in common: their elements are told apart in units of the smallest one, as parts of one
//! memory.

use std::collections::BTreeMap;

use crate::check::cfg::{Cfg, NodeId, Shared, Source};
use crate::model::expr::BinaryOp;

/// The longest chain of operands that is followed.
const DEPTH: u32 = 8;

/// The largest number of units that an element has.
const MOST_UNITS: u64 = 8;

/// Where a slice lies in the memory that several slices have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lies {
    /// The slice that stands for the memory.
    pub(super) shared: Shared,
    /// The number of the slice's first unit.
    first: u64,
    /// The number of units of an element.
    pub(super) each: u64,
}

impl Lies {
    /// The units of a range of elements.
    pub(super) fn units(self, (start, end): (u64, u64)) -> Option<(u64, u64)> {
        let unit = |element: u64| self.first.checked_add(element.checked_mul(self.each)?);
        Some((unit(start)?, unit(end)?))
    }
}

/// The slices that have bytes in common with others, of those of which the text shows where they lie.
pub(super) fn of(cfg: &Cfg<'_>) -> BTreeMap<Shared, Lies> {
    let all = cfg.slices.iter().enumerate().filter_map(|(index, slice)| {
        let (size, start) = (slice.size?, number(cfg, slice.start, DEPTH)?);
        let end = start.checked_add(number(cfg, slice.length, DEPTH)?.checked_mul(size)?)?;
        Some((index, size, start..end))
    });
    let all: Vec<_> = all.collect();
    let mut lies = BTreeMap::new();
    for (index, size, bytes) in &all {
        let meets =
            |(_, _, other): &&(usize, u64, std::ops::Range<u64>)| bytes.start < other.end && other.start < bytes.end;
        let group: Vec<_> = all.iter().filter(meets).collect();
        let unit = all.iter().map(|(_, size, _)| *size).min().unwrap_or(1);
        let fits = |(_, size, bytes): &&(usize, u64, std::ops::Range<u64>)| {
            size.is_multiple_of(unit) && bytes.start.is_multiple_of(unit) && size / unit <= MOST_UNITS
        };
        if group.len() > 1 && all.iter().all(|slice| fits(&slice)) {
            // All that have bytes in common with another are parts of the first of all.
            let (shared, first, each) = (Shared::Slice(all[0].0), bytes.start / unit, size / unit);
            lies.insert(Shared::Slice(*index), Lies { shared, first, each });
        }
    }
    lies
}

/// A number that the text shows.
fn number(cfg: &Cfg<'_>, node: NodeId, depth: u32) -> Option<u64> {
    let depth = depth.checked_sub(1)?;
    let of = &cfg.nodes[cfg.origin(node).0];
    match (&of.source, &of.operands[..]) {
        (Source::Integer(number), _) => Some(*number),
        (Source::Binary(op), [a, b]) => {
            let (a, b) = (number(cfg, *a, depth)?, number(cfg, *b, depth)?);
            match op {
                BinaryOp::Add => a.checked_add(b),
                BinaryOp::Sub => a.checked_sub(b),
                BinaryOp::Mul => a.checked_mul(b),
                BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::BitAnd
                | BinaryOp::BitOr
                | BinaryOp::BitXor
                | BinaryOp::Shl
                | BinaryOp::Shr
                | BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge
                | BinaryOp::And
                | BinaryOp::Or => None,
            }
        }
        _ => None,
    }
}
