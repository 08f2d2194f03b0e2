//! What the holes of one function's text are filled with.

use super::Names;
use crate::program::order::Resolved;
use crate::program::template::{Fragment, Slot};
use crate::program::type_info::TypeInfo;
use phalanx_contract::fence::ChosenFence;

/// The contents for the holes of one function.
pub(super) struct Filling<'p> {
    pub(super) functions: &'p [Resolved],
    pub(super) function: &'p Resolved,
    /// The function's index in [`Order::functions`](crate::program::order::Order::functions).
    pub(super) index: usize,
    pub(super) names: &'p Names,
    /// The fences of the function's barriers.
    pub(super) fences: &'p [ChosenFence],
    /// The numbers in the program of the function's checks that the host can make.
    pub(super) launch_checks: &'p [Option<usize>],
    /// The offsets of the function's shared arrays, if they are placed.
    pub(super) offsets: Option<&'p [usize]>,
    pub(super) has_block_barrier: bool,
    pub(super) needs_alignment: bool,
}

impl Filling<'_> {
    pub(super) fn slot(&self, slot: u16) -> &TypeInfo {
        match &self.function.definition.slots[usize::from(slot)] {
            Slot::Type(info) => info,
            Slot::Callee(_) | Slot::BuiltIn | Slot::Message(_) => {
                unreachable!("the macro numbered slot {slot} for a type")
            }
        }
    }

    /// The device function of a slot, which an operator of C++ is not.
    pub(super) fn called(&self, slot: u16) -> Option<&Resolved> {
        self.function.callee(slot).map(|index| &self.functions[index])
    }

    /// Whether the host makes all of these checks before a launch.
    pub(super) fn checks_at_launch(&self, checks: &[u16]) -> bool {
        checks.iter().all(|check| self.launch_checks[usize::from(*check)].is_some())
    }

    /// Returns the number of a check that the host makes, as the text has it.
    pub(super) fn number_at_launch(&self, check: u16) -> String {
        self.launch_checks[usize::from(check)].map_or_else(String::new, |number| number.to_string())
    }

    /// Whether threads do something together in what is called at one of these slots.
    pub(super) fn any_collective(&self, slots: &[u16]) -> bool {
        slots.iter().filter_map(|slot| self.called(*slot)).any(|callee| callee.collective)
    }

    /// Whether anything in a part of the function's text can fail.
    pub(super) fn may_fail(&self, text: &[Fragment]) -> bool {
        text.iter().any(|fragment| match *fragment {
            Fragment::Site(_) => true,
            Fragment::Callee(slot) | Fragment::Then { callee: slot, .. } => {
                self.called(slot).is_some_and(|callee| callee.may_fail)
            }
            Fragment::Operation { callee, symbol: (_, site), operands } => {
                let own = self.called(callee).map_or(site.is_some(), |callee| callee.may_fail);
                own || operands.iter().any(|operand| self.may_fail(operand))
            }
            Fragment::Alone { text, .. }
            | Fragment::Within { text, .. }
            | Fragment::Operator { text }
            | Fragment::AtLaunch(_, text) => self.may_fail(text),
            Fragment::Struct { fields, base, .. } => {
                let mut parts = fields.iter().map(|(_, value)| *value).chain(base);
                parts.any(|part| self.may_fail(part))
            }
            Fragment::Text(_)
            | Fragment::Line(_)
            | Fragment::Type(_)
            | Fragment::Literal { .. }
            | Fragment::Named(_)
            | Fragment::Declare(_)
            | Fragment::Constant(_)
            | Fragment::Digits(_)
            | Fragment::Shared { .. }
            | Fragment::Name
            | Fragment::Bounds
            | Fragment::Prologue { .. }
            | Fragment::LaunchCheck(_)
            | Fragment::Fence(_) => false,
        })
    }
}
