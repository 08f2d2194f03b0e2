//! What analyses ask of steps and of sources of values, each answered once and without a wildcard: a new kind of step does not
//! compile until it says whether it sets a place, a new source until it says what it hands on.

#![warn(clippy::wildcard_enum_match_arm)]

use super::cfg::{Extent, NodeId, Piece, Place, Source, StepKind};

impl StepKind {
    /// The place that the step sets, the value, and how much of the place. Places of tokens are not set but moved to.
    pub(crate) fn set(&self) -> Option<(Place, NodeId, Extent)> {
        match *self {
            StepKind::Set { place, value, extent } => Some((place, value, extent)),
            StepKind::Evaluate(_)
            | StepKind::Access(_)
            | StepKind::Copy(_)
            | StepKind::Collective { .. }
            | StepKind::Aligned { .. }
            | StepKind::Fence
            | StepKind::Renew(_)
            | StepKind::Together { .. }
            | StepKind::Arrive { .. }
            | StepKind::Wait { .. }
            | StepKind::Phase(_)
            | StepKind::Call { .. }
            | StepKind::Move { .. }
            | StepKind::Return(_)
            | StepKind::HandOver { .. }
            | StepKind::Clear { .. }
            | StepKind::Drop { .. } => None,
        }
    }
}

impl Source<'_> {
    /// The place of which this is the value.
    pub(crate) fn read(&self) -> Option<Place> {
        match *self {
            Source::Read(place) => Some(place),
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Param(_)
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => None,
        }
    }

    /// The number that it is.
    pub(crate) fn integer(&self) -> Option<u64> {
        match *self {
            Source::Integer(number) => Some(number),
            Source::Operands
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Read(_)
            | Source::Param(_)
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => None,
        }
    }

    /// The barriers that others are handed for it, with their positions.
    pub(crate) fn barriers(&self) -> &[(usize, Piece)] {
        match self {
            Source::Call { barriers, .. } => barriers,
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Read(_)
            | Source::Param(_)
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. } => &[],
        }
    }
}
