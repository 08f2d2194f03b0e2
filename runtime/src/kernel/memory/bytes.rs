//! The bytes that simulated threads share. OS threads may access a buffer in global memory concurrently and race as the
//! kernel does. Every access is therefore a relaxed atomic: a race of the kernel yields wrong values, but no undefined
//! behaviour of the simulator.

use std::alloc::{Layout, alloc_zeroed};
use std::any::TypeId;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::program::types::DeviceCopy;

/// A buffer in the simulator's global memory. It holds values of one type, that of the first typed use, alone or as arrays and vectors.
pub(crate) struct GlobalMemory {
    lines: Box<[Line]>,
    bytes: usize,
    scalar: OnceLock<TypeId>,
}

/// The unit of allocation, aligned for every scalar.
#[repr(C, align(16))]
struct Line(UnsafeCell<[u8; 16]>);

// SAFETY: the bytes are accessed by atomics only (`load`, `store`, `Atomic`), or through `&mut self`.
unsafe impl Sync for GlobalMemory {}

impl GlobalMemory {
    /// Returns a buffer of this many zero bytes; `None` if the host has no memory for them.
    pub(crate) fn try_zeros(bytes: usize) -> Option<Self> {
        let layout = Layout::array::<Line>(bytes.div_ceil(size_of::<Line>())).ok()?;
        let lines = match layout.size() {
            0 => Box::default(),
            size => {
                // The system gives pages of zeros when they are first touched: a program may have buffers of which it uses a part.
                // SAFETY: the layout has a size.
                let first = NonNull::new(unsafe { alloc_zeroed(layout) })?.cast::<Line>();
                let all = NonNull::slice_from_raw_parts(first, size / size_of::<Line>());
                // SAFETY: it was allocated with the layout of so many lines, of which zeros are values, and nobody else has it.
                unsafe { Box::from_raw(all.as_ptr()) }
            }
        };
        Some(GlobalMemory { lines, bytes, scalar: OnceLock::new() })
    }

    /// Returns a buffer with a copy of the slice; `None` if the host has no memory for it.
    pub(crate) fn try_from_slice<T: DeviceCopy>(values: &[T]) -> Option<Self> {
        let memory = GlobalMemory::try_zeros(size_of_val(values))?;
        memory.write(0, values);
        Some(memory)
    }

    /// Returns a copy of all elements.
    #[cfg(test)]
    pub(crate) fn read<T: DeviceCopy>(&self) -> Vec<T> {
        self.read_part(0, self.count::<T>())
    }

    /// Returns a copy of so many elements from a byte on.
    pub(crate) fn read_part<T: DeviceCopy>(&self, start: usize, length: usize) -> Vec<T> {
        let first = self.part::<T>(start, length);
        // SAFETY: `index` is below the number of elements.
        (0..length).map(|index| unsafe { load(first.add(index)) }).collect()
    }

    /// Returns so many elements from a byte on, which no kernel uses meanwhile.
    pub(crate) fn as_mut_slice<T: DeviceCopy>(&mut self, start: usize, length: usize) -> &mut [T] {
        let first = self.part::<T>(start, length);
        // SAFETY: the elements lie in the buffer, which is borrowed, and are values of `T`.
        unsafe { std::slice::from_raw_parts_mut(first.as_ptr(), length) }
    }

    /// Overwrites the elements from a byte on.
    pub(crate) fn write<T: DeviceCopy>(&self, start: usize, values: &[T]) {
        let first = self.part::<T>(start, values.len());
        for (index, &value) in values.iter().enumerate() {
            // SAFETY: the index is below the number of elements.
            unsafe { store(first.add(index), value) };
        }
    }

    /// Returns the first of so many elements from a byte on. Panics if they do not lie in the buffer as elements of this type, or if it holds
    /// another type, whose bytes may not be valid `T`s.
    fn part<T: DeviceCopy>(&self, start: usize, length: usize) -> NonNull<T> {
        let lies_in_it =
            length.checked_mul(size_of::<T>()).is_some_and(|bytes| bytes <= self.bytes.saturating_sub(start));
        assert!(start <= self.bytes && lies_in_it, "a part of the buffer");
        assert!(start.is_multiple_of(align_of::<T>()), "a part that is aligned");
        // SAFETY: the offset is within the buffer.
        unsafe { self.first::<T>().add(start) }.cast()
    }

    /// Returns the address of the first byte. Panics if the buffer holds another type.
    fn first<T: DeviceCopy>(&self) -> NonNull<u8> {
        let scalar = self.scalar.get_or_init(T::scalar_type);
        assert!(*scalar == T::scalar_type(), "a buffer of another type than {}", std::any::type_name::<T>());
        NonNull::from(&*self.lines).cast()
    }

    /// Returns the address of the first byte of the buffer, after the checks that so many elements from a byte on are a part of it.
    pub(super) fn base_of<T: DeviceCopy>(&self, start: usize, length: usize) -> NonNull<u8> {
        self.part::<T>(start, length);
        self.first::<T>()
    }
}

#[cfg(test)]
impl GlobalMemory {
    /// Returns the number of `T`s.
    pub(super) fn count<T>(&self) -> usize {
        self.bytes.checked_div(size_of::<T>()).unwrap_or(0)
    }

    pub(crate) fn zeros(bytes: usize) -> Self {
        GlobalMemory::try_zeros(bytes).expect("memory for a test")
    }

    pub(crate) fn from_slice<T: DeviceCopy>(values: &[T]) -> Self {
        GlobalMemory::try_from_slice(values).expect("memory for a test")
    }
}

/// Copies `$count` units by relaxed atomics of the unit's size. A scalar of up to 8 bytes is a single unit.
macro_rules! copy {
    (load $unit:ty as $atomic:ty, $from:expr, $to:expr, $count:expr) => {
        for at in 0..$count {
            let unit = <$atomic>::from_ptr($from.cast::<$unit>().add(at)).load(Relaxed);
            $to.cast::<$unit>().add(at).write(unit);
        }
    };
    (store $unit:ty as $atomic:ty, $from:expr, $to:expr, $count:expr) => {
        for at in 0..$count {
            let unit = $from.cast::<$unit>().add(at).read();
            <$atomic>::from_ptr($to.cast::<$unit>().add(at)).store(unit, Relaxed);
        }
    };
}

/// Reads a `T`.
///
/// # Safety
/// `from` is valid and aligned for a `T`, holds the bytes of one, and every access to it is atomic meanwhile.
#[inline]
pub(super) unsafe fn load<T: DeviceCopy>(from: NonNull<T>) -> T {
    const { T::LAYOUT };
    let mut value = MaybeUninit::<T>::uninit();
    let (from, to) = (from.as_ptr(), value.as_mut_ptr());
    // SAFETY: by the caller's promise; the unit is no larger than the alignment, and its count makes up the size.
    unsafe {
        match align_of::<T>() {
            1 => copy!(load u8 as AtomicU8, from, to, size_of::<T>()),
            2 => copy!(load u16 as AtomicU16, from, to, size_of::<T>() / 2),
            4 => copy!(load u32 as AtomicU32, from, to, size_of::<T>() / 4),
            _ => copy!(load u64 as AtomicU64, from, to, size_of::<T>() / 8),
        }
        value.assume_init()
    }
}

/// Writes a `T`.
///
/// # Safety
/// `to` is valid and aligned for a `T`, and every access to it is atomic meanwhile.
#[inline]
pub(super) unsafe fn store<T: DeviceCopy>(to: NonNull<T>, value: T) {
    const { T::LAYOUT };
    let (from, to) = (&raw const value, to.as_ptr());
    // SAFETY: by the caller's promise; a `T` has no padding, the unit is no larger than the alignment, and its count
    // makes up the size.
    unsafe {
        match align_of::<T>() {
            1 => copy!(store u8 as AtomicU8, from, to, size_of::<T>()),
            2 => copy!(store u16 as AtomicU16, from, to, size_of::<T>() / 2),
            4 => copy!(store u32 as AtomicU32, from, to, size_of::<T>() / 4),
            _ => copy!(store u64 as AtomicU64, from, to, size_of::<T>() / 8),
        }
    }
}

/// Returns the bytes of a value, including padding.
pub(crate) fn bytes_of<T: Copy>(value: &T) -> &[MaybeUninit<u8>] {
    // SAFETY: the bytes are those of the value, may be uninitialized, and are borrowed as long as it is.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}

/// Returns the bytes of plain data. A local value of a generic type may be the first of its instance whose bytes are
/// read, so the layout is checked here, too:
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// #[derive(Clone, Copy, DeviceCopy)]
/// #[repr(C)]
/// struct Tagged<T> {
///     tag: u8,
///     value: T, // three bytes of padding come before it
/// }
///
/// #[cluster_kernel(block = 32)]
/// fn matching(out: &mut [u32]) {
///     let warp = tiled_partition::<32>(&this_thread_block());
///     out[warp.thread_rank()] = warp.match_any(Tagged { tag: 1, value: 2u32 });
/// }
///
/// let device = Device::simulator();
/// matching(&mut device.zeros(32).unwrap()).grid(1).launch(&device).unwrap();
/// ```
pub(crate) fn bits<T: DeviceCopy>(value: &T) -> &[u8] {
    const { T::LAYOUT };
    // SAFETY: the bytes are those of the value and borrowed as long as it is; a `T` has no padding, as its layout was checked.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}
