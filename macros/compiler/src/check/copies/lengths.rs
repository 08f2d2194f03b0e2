//! `copy_length`: both ends of a copy have the same number of elements, and those of a bulk copy are a multiple of 16 bytes, where
//! literals say how many they are. At run time, every copy is checked; where it starts in global memory only the launch knows.

use proc_macro2::{TokenStream, TokenTree};

use crate::check::cfg::{Cfg, CopyBy, CopyStep, NodeId, Region, Root, Select, Shared, Source};
use crate::check::rings::array;
use crate::diag::Diags;
use crate::messages;
use crate::model::Function;
use crate::model::expr::BinaryOp;
use crate::model::ty::ParamType;

/// The number of bytes that the size of a bulk copy is a multiple of.
const BULK: u64 = 16;

/// The number of operands through which two values are compared.
const DEPTH: u8 = 8;

/// `copy_length`: the two ends of a copy fit.
///
/// ```text
/// let tile = shared_array::<f32, 64>(); memcpy_async(&block, &tile, &input[..63]);
/// ```
pub(super) fn check(function: &Function, cfg: &Cfg<'_>, diags: &mut Diags) {
    let lengths = Lengths { function, cfg };
    for copy in &cfg.copies {
        let CopyStep::Begin { reads, writes, by: by @ (CopyBy::Group | CopyBy::Thread), at, .. } = copy else {
            continue;
        };
        let regions = [reads.first(), writes.as_ref()];
        let ends = regions.map(|end| end.and_then(|end| lengths.of(end)));
        if let [Some(from), Some(to)] = ends
            && from != to
        {
            diags.push(messages::copy_length(*at, from, to));
            continue;
        }
        let elements = ends.into_iter().flatten().next();
        let size = regions.into_iter().flatten().find_map(|end| lengths.size(end));
        if let (CopyBy::Thread, Some(elements), Some(size)) = (by, elements, size)
            && elements.checked_mul(size).is_some_and(|bytes| !bytes.is_multiple_of(BULK))
        {
            diags.push(messages::copy_bytes(*at, elements * size, BULK));
        }
    }
}

struct Lengths<'a, 'f> {
    function: &'f Function,
    cfg: &'a Cfg<'f>,
}

impl Lengths<'_, '_> {
    /// The number of elements of a region, if literals say so.
    fn of(&self, region: &Region) -> Option<u64> {
        match region.path.last() {
            _ if region.part => None,
            Some(Select::Range { start, end }) => self.distance(*start, *end),
            Some(Select::At(_)) | None => self.whole(region),
            Some(Select::Chunk { .. } | Select::Half { .. } | Select::Unknown) => None,
        }
    }

    /// The length of a shared array, or of a row of it.
    fn whole(&self, region: &Region) -> Option<u64> {
        let (Root::Shared(Shared::Array(index)), None) = (region.root, region.via) else { return None };
        let (element, length) = self.function.shared.get(index)?;
        match &region.path[..] {
            [] => self.function.values[usize::from(length.0)].literal,
            [Select::At(_)] => row(element),
            _ => None,
        }
    }

    /// The size in bytes of an element of global memory.
    fn size(&self, region: &Region) -> Option<u64> {
        match &self.function.params.get(region.param?)?.ty {
            ParamType::Slice { element, .. } => element.shape.bytes(),
            ParamType::Value(_)
            | ParamType::Reference { .. }
            | ParamType::OptionalSlice { .. }
            | ParamType::Group(_)
            | ParamType::Tile { .. }
            | ParamType::Memory { .. }
            | ParamType::TensorMap { .. }
            | ParamType::Barrier { .. }
            | ParamType::Closure { .. } => None,
        }
    }

    /// How far the end of a range is from its start.
    fn distance(&self, start: NodeId, end: NodeId) -> Option<u64> {
        let of_end = &self.cfg.nodes[end.0];
        match (self.literal(start), self.literal(end)) {
            (Some(start), Some(end)) => end.checked_sub(start),
            (None, _) if matches!(of_end.source, Source::Binary(BinaryOp::Add)) => match of_end.operands[..] {
                [a, b] if self.are_equal(start, a, DEPTH) => self.literal(b),
                [a, b] if self.are_equal(start, b, DEPTH) => self.literal(a),
                _ => None,
            },
            (Some(_) | None, _) => None,
        }
    }

    fn literal(&self, node: NodeId) -> Option<u64> {
        self.cfg.nodes[node.0].source.integer()
    }

    /// Whether two values of one expression are made alike of literals and variables.
    fn are_equal(&self, a: NodeId, b: NodeId, depth: u8) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let (of_a, of_b) = (&self.cfg.nodes[a.0], &self.cfg.nodes[b.0]);
        let alike = match (&of_a.source, &of_b.source) {
            (Source::Integer(a), Source::Integer(b)) => a == b,
            (Source::Constant(a), Source::Constant(b)) => a == b,
            (Source::Read(a), Source::Read(b)) => a == b,
            (Source::Param(a), Source::Param(b)) => a == b,
            (Source::Binary(a), Source::Binary(b)) => a == b,
            (Source::ThreadRank, Source::ThreadRank) => true,
            (
                Source::Integer(_)
                | Source::Constant(_)
                | Source::Read(_)
                | Source::Param(_)
                | Source::Binary(_)
                | Source::ThreadRank
                | Source::Operands
                | Source::Not
                | Source::Counter { .. }
                | Source::Known { .. }
                | Source::Round(..)
                | Source::Load(_)
                | Source::Agreed { .. }
                | Source::Shuffled { .. }
                | Source::Call { .. },
                _,
            ) => a == b,
        };
        let operands = of_a.operands.iter().zip(&of_b.operands);
        alike
            && of_a.operands.len() == of_b.operands.len()
            && operands.into_iter().all(|(a, b)| self.are_equal(*a, *b, depth))
    }
}

/// The length of an array type, if it is a literal.
fn row(element: &TokenStream) -> Option<u64> {
    let mut trees = element.clone().into_iter();
    let (Some(TokenTree::Group(group)), None) = (trees.next(), trees.next()) else { return None };
    let (_, length) = array(&group.stream())?;
    let mut length = length.into_iter();
    match (length.next(), length.next()) {
        (Some(TokenTree::Literal(literal)), None) => literal.to_string().trim_end_matches("usize").parse().ok(),
        _ => None,
    }
}
