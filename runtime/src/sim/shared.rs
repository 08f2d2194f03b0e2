//! Gives the running thread its block's allocations of shared memory, and checks the views of the dynamic one.

use super::context::Context;
use super::memory::SharedId;
use super::site::Site;
use super::state::{AllocationKey, ElementType, View};
use crate::report::failure::Cause;

impl Context<'_> {
    /// Returns the running block's static allocation of this key.
    pub(crate) fn static_shared(&self, key: AllocationKey, bytes: usize) -> SharedId {
        SharedId { allocation: self.cluster.shared.allocation(key, bytes), rank: self.thread.block_rank }
    }

    /// Returns the running block's dynamic shared memory, of which the bytes `start..end` are viewed as this type.
    pub(crate) fn dynamic_shared(&self, element: ElementType, start: usize, end: usize, site: Site) -> SharedId {
        let mut views = self.cluster.shared.views.borrow_mut();
        // Bytes written as one type may be read as another, which is sound only if every bit pattern is a value of it.
        let other = views.iter().find(|view| {
            let overlap = view.bytes.start < end && start < view.bytes.end;
            overlap && view.element.id != element.id && !((view.element.any_bits)() && (element.any_bits)())
        });
        if let Some(View { element: known, bytes, site: at }) = other.cloned() {
            let sentence = format!(
                "bytes {start}..{end} of dynamic shared memory cannot be viewed as `{}`: bytes {}..{} were viewed as `{}` at {at}",
                element.name, bytes.start, bytes.end, known.name
            );
            drop(views);
            self.fail(Cause::Protocol(sentence), site);
        }
        // Adjacent ranges of one type are merged, so that there are few even if every thread views a part of its own.
        let same =
            |view: &&mut View| view.element.id == element.id && start <= view.bytes.end && view.bytes.start <= end;
        match views.iter_mut().find(same) {
            Some(view) => view.bytes = view.bytes.start.min(start)..view.bytes.end.max(end),
            None => views.push(View { element, bytes: start..end, site }),
        }
        SharedId { allocation: 0, rank: self.thread.block_rank }
    }

    /// Returns the size in bytes of a block's dynamic shared memory.
    pub(crate) fn dynamic_shared_bytes(&self) -> usize {
        self.cluster.launch.shape.dynamic_shared_bytes
    }
}
