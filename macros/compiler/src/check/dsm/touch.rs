//! Something that touches memory: the function itself, or one that it calls.

use super::conflict::Conflict;
use super::path::Path;
use super::phases::Record;
use super::protocol::{Case, Has, Row, Side, When, does, uses};
use crate::check::cfg::Shared;
use crate::span::SpanRange;

#[derive(Clone, Copy)]
pub(super) struct Touch {
    pub(super) side: Side,
    pub(super) shared: Shared,
    pub(super) at: SpanRange,
    pub(super) by: By,
}

impl Touch {
    pub(super) fn part<'p>(&self, path: &'p Path) -> Part<'p> {
        Part { side: self.side, shared: self.shared, path }
    }
}

/// Memory, as the thread that touches it names it.
#[derive(Clone, Copy)]
pub(super) struct Part<'p> {
    pub(super) side: Side,
    pub(super) shared: Shared,
    pub(super) path: &'p Path,
}

#[derive(Clone, Copy)]
pub(super) enum By {
    /// By the function itself: what it does.
    Itself(u32),
    /// By one that it calls: the argument, and when.
    Call(u16, usize, When),
}

/// Those that a call may touch alone.
pub(super) fn rows(touch: &Touch, path: &Path) -> Vec<(Row, Path)> {
    match touch.by {
        By::Itself(_) => Vec::new(),
        By::Call(slot, param, _) => path.rows().map(|(by, row)| (Row { slot, param, by }, row)).collect(),
    }
}

/// When the two do what must not be at once; `None` if they do other things.
pub(super) fn case_of(first: &Touch, second: &Touch, pair: &Conflict, record: &Record) -> Option<Case> {
    let mut case = Case::unless(&record.passed, does::NOT_ORDER);
    for (touch, mask) in [(first, pair.first), (second, pair.second)] {
        match touch.by {
            By::Itself(kind) if kind & mask == 0 => return None,
            By::Itself(_) => {}
            By::Call(slot, argument, when) => {
                case = case.when(Has::Uses(slot, argument, when, uses::of(touch.side, mask)));
            }
        }
    }
    Some(case)
}
