//! The shared memory of a cluster's blocks, as arenas of bytes, with a bit for each byte that tells whether a thread
//! has written it. An allocation belongs to a call of `shared_array` in the source. As on a GPU, all blocks have it
//! from the start, whether or not their threads have reached the call.
//!
//! Two instances of a generic device function share an array unless its type differs between them.

use std::any::TypeId;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::ops::Range;
use std::ptr::NonNull;

use crate::sim::memory::SharedId;
use crate::sim::race::Shadow;
use crate::sim::site::Site;

/// Identifies a static allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AllocationKey {
    pub(crate) site: Site,
    /// What tells an array from another of its type at the same place.
    pub(crate) number: u16,
    /// The type of the array, or the brand of a barrier.
    pub(crate) array: TypeId,
    /// The size of one of its elements in bytes.
    pub(crate) element_bytes: usize,
}

/// The type of the elements of a view. Two types may have the same name, and views are compared by the id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ElementType {
    pub(crate) id: TypeId,
    /// The name in reports.
    pub(crate) name: &'static str,
    /// Returns whether every pattern of bytes is a value of the type.
    pub(crate) any_bits: fn() -> bool,
}

/// The shared memory of all blocks of a cluster.
pub(crate) struct SharedMemory {
    blocks: u32,
    /// The allocations; the first is the dynamic one.
    allocations: RefCell<Vec<Allocation>>,
    /// The views of the dynamic memory that have been taken so far.
    pub(in crate::sim) views: RefCell<Vec<View>>,
}

/// A range of the dynamic memory that is viewed as elements of a type.
#[derive(Debug, Clone)]
pub(in crate::sim) struct View {
    pub(in crate::sim) element: ElementType,
    pub(in crate::sim) bytes: Range<usize>,
    /// The site at which the view was first taken.
    pub(in crate::sim) site: Site,
}

struct Allocation {
    /// The key; `None` for dynamic memory.
    key: Option<AllocationKey>,
    /// The arenas by the block's rank.
    arenas: Vec<Arena>,
}

/// The bytes of an allocation in one block.
struct Arena {
    lines: Box<[Line]>,
    /// A bit for each byte, which tells whether a thread has written it.
    written: Box<[Cell<u64>]>,
    shadow: RefCell<Shadow>,
}

/// The unit of allocation, aligned for every scalar.
#[repr(C, align(16))]
struct Line(UnsafeCell<[u8; 16]>);

impl SharedMemory {
    /// Creates the shared memory of this many blocks, with this many bytes of dynamic shared memory each.
    pub(in crate::sim) fn new(blocks: u32, dynamic_bytes: usize) -> Self {
        let dynamic = Allocation::new(None, blocks, dynamic_bytes);
        SharedMemory { blocks, allocations: RefCell::new(vec![dynamic]), views: RefCell::new(Vec::new()) }
    }

    /// Returns the allocation of this key, which is created on first use.
    pub(crate) fn allocation(&self, key: AllocationKey, bytes: usize) -> u32 {
        let mut allocations = self.allocations.borrow_mut();
        let known = allocations.iter().position(|allocation| allocation.key == Some(key));
        known.unwrap_or_else(|| {
            allocations.push(Allocation::new(Some(key), self.blocks, bytes));
            allocations.len() - 1
        }) as u32
    }

    /// Returns a pointer to the byte at `start` of a block's arena.
    pub(in crate::sim) fn pointer(&self, id: SharedId, start: usize, len: usize) -> NonNull<u8> {
        self.arena(id, |arena| {
            assert!(start + len <= size_of_val(&*arena.lines), "a range outside of its shared allocation");
            // SAFETY: inside the allocation, as just checked.
            unsafe { NonNull::from(&*arena.lines).cast().add(start) }
        })
    }

    /// Returns the first byte of the range that no thread has written.
    pub(in crate::sim) fn first_unwritten(&self, id: SharedId, start: usize, len: usize) -> Option<usize> {
        self.arena(id, |arena| {
            words(start, len).find_map(|(word, mask)| {
                let missing = mask & !arena.written[word].get();
                (missing != 0).then(|| word * 64 + missing.trailing_zeros() as usize)
            })
        })
    }

    /// Marks the range as written.
    pub(in crate::sim) fn mark_written(&self, id: SharedId, start: usize, len: usize) {
        self.arena(id, |arena| {
            words(start, len).for_each(|(word, mask)| arena.written[word].set(arena.written[word].get() | mask));
        });
    }

    /// Runs `f` on the shadow of the allocation in one block.
    #[inline]
    pub(in crate::sim) fn with_shadow<R>(&self, id: SharedId, f: impl FnOnce(&mut Shadow) -> R) -> R {
        self.arena(id, |arena| f(&mut arena.shadow.borrow_mut()))
    }

    /// Returns the site of the allocation's `shared_array`; `None` for dynamic memory.
    pub(in crate::sim) fn declared(&self, id: SharedId) -> Option<Site> {
        self.allocations.borrow()[id.allocation as usize].key.map(|key| key.site)
    }

    /// Returns the size of the allocation's elements in bytes; `None` for dynamic memory.
    pub(in crate::sim) fn element_bytes(&self, id: SharedId) -> Option<usize> {
        self.allocations.borrow()[id.allocation as usize].key.map(|key| key.element_bytes)
    }

    #[inline]
    fn arena<R>(&self, id: SharedId, f: impl FnOnce(&Arena) -> R) -> R {
        f(&self.allocations.borrow()[id.allocation as usize].arenas[id.rank as usize])
    }
}

impl Allocation {
    fn new(key: Option<AllocationKey>, blocks: u32, bytes: usize) -> Self {
        let arena = || Arena {
            lines: (0..bytes.div_ceil(16)).map(|_| Line(UnsafeCell::new([0; 16]))).collect(),
            written: (0..bytes.div_ceil(64)).map(|_| Cell::new(0)).collect(),
            shadow: RefCell::default(),
        };
        Allocation { key, arenas: (0..blocks).map(|_| arena()).collect() }
    }
}

/// Returns the words of a bitmap that hold the bits of a range, each with the mask of those bits.
#[inline]
fn words(start: usize, len: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = start + len;
    let mut at = start;
    std::iter::from_fn(move || {
        let bits = (64 - at % 64).min(end - at);
        (bits > 0).then(|| {
            let word = (at / 64, (!0 >> (64 - bits)) << (at % 64));
            at += bits;
            word
        })
    })
}
