//! Names memory as reports do: buffers by the kernel's parameters, shared memory by where it is declared, and bytes by the
//! elements that hold them.

use std::ops::Range;
use std::ptr::NonNull;

use super::memory::MemoryId;
use super::site::location;
use super::state::Cluster;
use crate::report::race::{RaceMemory, region};

/// A buffer that is an argument of the launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedBuffer {
    /// The name of the kernel's parameter.
    pub(crate) name: String,
    /// The address of the first byte.
    pub(crate) address: usize,
    /// The size of an element in bytes.
    pub(crate) element_bytes: usize,
    /// Whether it may be read before `wait_previous()`.
    pub(crate) is_early: bool,
}

impl Cluster<'_> {
    /// Returns the memory as reports name it.
    pub(super) fn name(&self, memory: MemoryId) -> RaceMemory {
        match memory {
            MemoryId::Own(base) | MemoryId::Constant(base) | MemoryId::Global(base) => {
                RaceMemory::Global { name: self.buffer(base).map(|buffer| buffer.name.clone()) }
            }
            MemoryId::Shared(id) => RaceMemory::Shared {
                declared: self.shared.declared(id).map(location),
                block: self.blocks[id.rank as usize].index,
            },
        }
    }

    /// Returns the elements that hold the bytes, if the size of an element is known.
    pub(super) fn elements(&self, memory: MemoryId, bytes: &Range<usize>) -> Option<Range<usize>> {
        let size = match memory {
            MemoryId::Own(base) | MemoryId::Constant(base) | MemoryId::Global(base) => self.buffer(base)?.element_bytes,
            MemoryId::Shared(id) => self.shared.element_bytes(id)?,
        };
        (size > 0).then(|| bytes.start / size..bytes.end.div_ceil(size))
    }

    /// Returns the bytes as reports name them.
    pub(super) fn region(&self, memory: MemoryId, bytes: Range<usize>) -> String {
        region(&self.name(memory), &bytes, self.elements(memory, &bytes).as_ref())
    }

    /// Returns the buffer at this address.
    pub(super) fn buffer(&self, base: NonNull<u8>) -> Option<&NamedBuffer> {
        self.launch.simulator.buffers.iter().find(|buffer| buffer.address == base.addr().get())
    }
}
