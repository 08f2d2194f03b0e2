//! Atomic access to one element, in the shape of `std::sync::atomic`. Relaxed only: other orderings are the checks'
//! to refuse.

use std::marker::PhantomData;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicIsize, AtomicU32, AtomicU64, AtomicUsize};

use super::index::position;
use super::{Index, MemoryMut};
use crate::sim::{self, Access, Kind, MemoryId, cost};
use crate::types::DeviceScalar;

/// An element of global, shared or remote memory for atomic access: `memory.atomic(index)`.
#[derive(Debug)]
#[must_use = "names an element, and does nothing to it"]
pub struct Atomic<'m, T> {
    memory: MemoryId,
    /// The element of the whole memory.
    index: usize,
    element: PhantomData<&'m T>,
}

/// A type with atomic operations.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic operations",
    note = "i32, u32, i64, u64, isize and usize have"
)]
pub trait AtomicValue: DeviceScalar + sealed::Sealed {
    /// Applies `update` and returns the value before.
    ///
    /// # Safety
    /// `address` is valid and aligned, holds a value unless `update` is a store, and every access to it is atomic.
    #[doc(hidden)]
    unsafe fn apply(address: NonNull<Self>, update: Update<Self>) -> Self;

    /// Stores `new` if the value is `current`; returns the value before.
    ///
    /// # Safety
    /// `address` is valid and aligned, holds a value, and every access to it is atomic.
    #[doc(hidden)]
    unsafe fn exchange_if(address: NonNull<Self>, current: Self, new: Self) -> Result<Self, Self>;
}

/// An atomic operation.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum Update<T> {
    Load,
    Store(T),
    Swap(T),
    Add(T),
    Sub(T),
    Min(T),
    Max(T),
    And(T),
    Or(T),
    Xor(T),
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! atomic_values {
    ($($t:ident $atomic:ident)*) => {$(
        impl sealed::Sealed for $t {}
        impl AtomicValue for $t {
            #[inline]
            unsafe fn apply(address: NonNull<$t>, update: Update<$t>) -> $t {
                // SAFETY: by the caller's promise.
                let atomic = unsafe { $atomic::from_ptr(address.as_ptr()) };
                match update {
                    Update::Load => atomic.load(Ordering::Relaxed),
                    Update::Store(value) => {
                        atomic.store(value, Ordering::Relaxed);
                        value
                    }
                    Update::Swap(value) => atomic.swap(value, Ordering::Relaxed),
                    Update::Add(value) => atomic.fetch_add(value, Ordering::Relaxed),
                    Update::Sub(value) => atomic.fetch_sub(value, Ordering::Relaxed),
                    Update::Min(value) => atomic.fetch_min(value, Ordering::Relaxed),
                    Update::Max(value) => atomic.fetch_max(value, Ordering::Relaxed),
                    Update::And(value) => atomic.fetch_and(value, Ordering::Relaxed),
                    Update::Or(value) => atomic.fetch_or(value, Ordering::Relaxed),
                    Update::Xor(value) => atomic.fetch_xor(value, Ordering::Relaxed),
                }
            }

            #[inline]
            unsafe fn exchange_if(address: NonNull<$t>, current: $t, new: $t) -> Result<$t, $t> {
                // SAFETY: by the caller's promise.
                let atomic = unsafe { $atomic::from_ptr(address.as_ptr()) };
                atomic.compare_exchange(current, new, Ordering::Relaxed, Ordering::Relaxed)
            }
        }
    )*};
}

atomic_values!(i32 AtomicI32 u32 AtomicU32 i64 AtomicI64 u64 AtomicU64 isize AtomicIsize usize AtomicUsize);

/// `memory.atomic(index)`.
#[inline]
#[track_caller]
pub fn atomic<M: MemoryMut<Element: AtomicValue> + ?Sized, I: Index>(memory: &M, index: I) -> Atomic<'_, M::Element> {
    let index = memory.first() + position(index, memory.length());
    Atomic { memory: memory.id(), index, element: PhantomData }
}

/// The operations that return the value before.
macro_rules! fetch {
    ($($(#[$doc:meta])* $name:ident $update:ident;)*) => {$(
        $(#[$doc])*
        #[inline]
        #[track_caller]
        pub fn $name(&self, value: T, order: Ordering) -> T {
            self.apply(Kind::Atomic, Update::$update(value), order)
        }
    )*};
}

impl<T: AtomicValue> Atomic<'_, T> {
    /// The value.
    #[inline]
    #[track_caller]
    pub fn load(&self, order: Ordering) -> T {
        self.apply(Kind::Atomic, Update::Load, order)
    }

    /// Overwrites the value.
    #[inline]
    #[track_caller]
    pub fn store(&self, value: T, order: Ordering) {
        self.apply(Kind::AtomicStore, Update::Store(value), order);
    }

    fetch! {
        /// Overwrites the value and returns the one before.
        swap Swap;
        /// Adds, wrapping, and returns the value before.
        fetch_add Add;
        /// Subtracts, wrapping, and returns the value before.
        fetch_sub Sub;
        /// Takes the smaller and returns the value before.
        fetch_min Min;
        /// Takes the larger and returns the value before.
        fetch_max Max;
        /// Takes the bits that both have and returns the value before.
        fetch_and And;
        /// Takes the bits that either has and returns the value before.
        fetch_or Or;
        /// Takes the bits that one of them has and returns the value before.
        fetch_xor Xor;
    }

    /// Stores `new` if the value is `current`. Returns the value before: `Ok` if it was `current`.
    #[inline]
    #[track_caller]
    pub fn compare_exchange(&self, current: T, new: T, success: Ordering, failure: Ordering) -> Result<T, T> {
        assert_relaxed(success);
        assert_relaxed(failure);
        let (result, cost) = self.access(Kind::Atomic, |address| {
            // SAFETY: `access` gives the address of an element; a simulated thread's accesses are all atomic.
            let result = unsafe { T::exchange_if(address, current, new) };
            (result, if result.is_ok() { cost::ATOMIC } else { cost::ATOMIC_LOAD })
        });
        sim::with("an atomic", |context| context.point(cost));
        result
    }

    #[inline]
    #[track_caller]
    fn apply(&self, kind: Kind, update: Update<T>, order: Ordering) -> T {
        assert_relaxed(order);
        let cost = if let Update::Load = update { cost::ATOMIC_LOAD } else { cost::ATOMIC };
        // SAFETY: `access` gives the address of an element; a simulated thread's accesses are all atomic.
        let value = self.access(kind, |address| unsafe { T::apply(address, update) });
        sim::with("an atomic", |context| context.point(cost));
        value
    }

    #[inline]
    #[track_caller]
    fn access<R>(&self, kind: Kind, f: impl FnOnce(NonNull<T>) -> R) -> R {
        let site = Location::caller();
        let (start, len) = (self.index * size_of::<T>(), size_of::<T>());
        sim::with("an atomic", |context| {
            f(context.access(Access { memory: self.memory, start, len, kind, site }).cast())
        })
    }
}

/// The checks let nothing else through.
#[inline]
fn assert_relaxed(order: Ordering) {
    assert!(matches!(order, Ordering::Relaxed), "atomics of kernels are relaxed, not {order:?}");
}
