//! Atomic access to one element, with the interface of `std::sync::atomic` and CUDA's scopes, and fences. The simulator
//! executes them by the standard library's atomics, which have no scopes, and passes the scope to `sim`.

use std::any::type_name;
use std::marker::PhantomData;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicIsize, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use half::{bf16, f16};

use super::index::position;
use super::vector::vectors::{bf16x2, f16x2};
use super::{Index, MemoryMut};
use crate::kernel::numeric;
use crate::program::types::{DeviceCopy, DeviceScalar};
use crate::scope::Scope;
use crate::sim::{self, Access, AtomicEffect, MemoryId, MemoryOp, Synchronization, cost};

/// An element of global, shared or remote memory for atomic access; `memory.atomic(index)` returns it in a kernel.
///
/// ```
/// use phalanx::prelude::*;
///
/// /// Counts, and finds the largest value; the last thread to come publishes it.
/// #[cluster_kernel(block = 32)]
/// fn statistics(values: &[u32], state: &mut [u32], flag: &mut [u32]) {
///     let value = values[this_grid().thread_rank()];
///     state.atomic(0).fetch_max(value, Relaxed);
///     state.atomic(1).scope(Scope::Device).fetch_or(1 << (value % 32), Relaxed);
///     let before = state.atomic(2).fetch_add(1, AcqRel);
///     if before + 1 == this_grid().num_threads() as u32 {
///         state.atomic(3).store(state.atomic(0).load(Relaxed), Release);
///         let _ = flag.atomic(0).compare_exchange(0, 1, AcqRel, Relaxed);
///     }
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let values = device.upload(&Vec::from_iter(0..64))?;
/// let (mut state, mut flag) = (device.zeros(4)?, device.zeros(1)?);
/// statistics(&values, &mut state, &mut flag).grid(2).launch(&device)?;
/// assert_eq!((state.read()?, flag.read()?), (vec![63, u32::MAX, 64, 63], vec![1]));
/// # Ok(())
/// # }
/// ```
///
/// # On a GPU
///
/// All operations exist for every memory (PTX ISA, atom):
/// - `fetch_min` and `fetch_max` of floats are loops of compare-exchanges, and so is `fetch_add` of floats in shared
///   memory, a peer's too.
/// - `fetch_nand` is such a loop; so are `fetch_min`, `fetch_max`, `fetch_and`, `fetch_or` and `fetch_xor` of 64 bits in a
///   peer's shared memory.
/// - `f16` and `bf16` are exchanged by such loops, on the 32 bits around them. `fetch_add` of `f16x2` and `bf16x2` is one
///   instruction in global memory. Each lane of a pair is an atomic of its own: another thread may see one lane before
///   the other, and so pairs have `load`, `store`, `fetch_add` and `fetch_sub` only.
/// - `fetch_add` of `f32` in global memory flushes subnormal operands and results to zero.
/// - The order of additions is unspecified, and with it the rounding of a sum of floats.
#[derive(Debug)]
#[must_use = "names an element, and does nothing to it"]
pub struct Atomic<'m, T> {
    memory: MemoryId,
    /// The offset of the element's first byte in the allocation.
    start: usize,
    scope: Scope,
    element: PhantomData<&'m T>,
}

/// A type with atomic operations.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic operations",
    note = "the types with atomic operations are i32, u32, i64, u64, isize, usize, f32, f64, f16, bf16, f16x2 and bf16x2"
)]
pub trait AtomicValue: DeviceCopy + sealed::Sealed {
    /// # Safety
    /// `address` is valid and aligned, holds a value, and every access to it is atomic.
    #[doc(hidden)]
    unsafe fn load(address: NonNull<Self>, order: Ordering) -> Self;

    /// # Safety
    /// `address` is valid and aligned, and every access to it is atomic.
    #[doc(hidden)]
    unsafe fn store(address: NonNull<Self>, value: Self, order: Ordering);

    /// Stores `new` if the value's bits are those of `current`, and returns the previous value.
    ///
    /// # Safety
    /// The conditions are those of `load`.
    #[doc(hidden)]
    unsafe fn exchange_if(
        address: NonNull<Self>,
        current: Self,
        new: Self,
        success: Ordering,
        failure: Ordering,
    ) -> Result<Self, Self>;

    #[doc(hidden)]
    fn sum(self, other: Self) -> Self;
    #[doc(hidden)]
    fn difference(self, other: Self) -> Self;
}

/// A scalar with atomic operations, as opposed to a pair of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic operations on the whole pair",
    note = "each lane is an atomic of its own, and a pair only has `load`, `store`, `fetch_add` and `fetch_sub`"
)]
pub trait AtomicScalar: AtomicValue + DeviceScalar {
    #[doc(hidden)]
    fn smaller(self, other: Self) -> Self;
    #[doc(hidden)]
    fn larger(self, other: Self) -> Self;
}

/// An integer with atomic operations.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic operations on its bits",
    note = "only integers have them"
)]
pub trait AtomicInteger: AtomicScalar {
    #[doc(hidden)]
    fn both(self, other: Self) -> Self;
    #[doc(hidden)]
    fn either(self, other: Self) -> Self;
    #[doc(hidden)]
    fn differing(self, other: Self) -> Self;
    #[doc(hidden)]
    fn not_both(self, other: Self) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! atomic_value {
    ($t:ident as $atomic:ident: $to_bits:expr, $from_bits:expr, $sum:expr, $difference:expr) => {
        impl sealed::Sealed for $t {}
        #[diagnostic::do_not_recommend]
        impl AtomicValue for $t {
            #[inline]
            unsafe fn load(address: NonNull<$t>, order: Ordering) -> $t {
                // SAFETY: by the caller's promise.
                let atomic = unsafe { $atomic::from_ptr(address.as_ptr().cast()) };
                $from_bits(atomic.load(order))
            }

            #[inline]
            unsafe fn store(address: NonNull<$t>, value: $t, order: Ordering) {
                // SAFETY: by the caller's promise.
                let atomic = unsafe { $atomic::from_ptr(address.as_ptr().cast()) };
                atomic.store($to_bits(value), order);
            }

            #[inline]
            unsafe fn exchange_if(
                address: NonNull<$t>,
                current: $t,
                new: $t,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$t, $t> {
                // SAFETY: by the caller's promise.
                let atomic = unsafe { $atomic::from_ptr(address.as_ptr().cast()) };
                let result = atomic.compare_exchange($to_bits(current), $to_bits(new), success, failure);
                result.map($from_bits).map_err($from_bits)
            }

            #[inline]
            fn sum(self, other: $t) -> $t {
                $sum(self, other)
            }
            #[inline]
            fn difference(self, other: $t) -> $t {
                $difference(self, other)
            }
        }
    };
}

macro_rules! atomic_scalar {
    ($t:ident as $atomic:ident: $to_bits:expr, $from_bits:expr) => {
        atomic_value!($t as $atomic: $to_bits, $from_bits, numeric::add, numeric::sub);
        #[diagnostic::do_not_recommend]
        impl AtomicScalar for $t {
            #[inline]
            fn smaller(self, other: $t) -> $t {
                numeric::min(self, other)
            }
            #[inline]
            fn larger(self, other: $t) -> $t {
                numeric::max(self, other)
            }
        }
    };
}

macro_rules! atomic_integers {
    ($($t:ident $atomic:ident)*) => {$(
        atomic_scalar!($t as $atomic: std::convert::identity, std::convert::identity);
        #[diagnostic::do_not_recommend]
        impl AtomicInteger for $t {
            #[inline]
            fn both(self, other: $t) -> $t {
                self & other
            }
            #[inline]
            fn either(self, other: $t) -> $t {
                self | other
            }
            #[inline]
            fn differing(self, other: $t) -> $t {
                self ^ other
            }
            #[inline]
            fn not_both(self, other: $t) -> $t {
                !(self & other)
            }
        }
    )*};
}

atomic_integers!(i32 AtomicI32 u32 AtomicU32 i64 AtomicI64 u64 AtomicU64 isize AtomicIsize usize AtomicUsize);
atomic_scalar!(f32 as AtomicU32: f32::to_bits, f32::from_bits);
atomic_scalar!(f64 as AtomicU64: f64::to_bits, f64::from_bits);
atomic_scalar!(f16 as AtomicU16: f16::to_bits, f16::from_bits);
atomic_scalar!(bf16 as AtomicU16: bf16::to_bits, bf16::from_bits);

/// Implements atomic pairs. Both lanes are updated at once, which is one of the orders in which a GPU may update them.
macro_rules! atomic_pairs {
    ($($pair:ident of $t:ident;)*) => {$(
        atomic_value!(
            $pair as AtomicU32:
            |pair: $pair| pair.lanes().iter().rev().fold(0, |bits, lane| bits << 16 | u32::from(lane.to_bits())),
            |bits: u32| $pair::new([$t::from_bits(bits as u16), $t::from_bits((bits >> 16) as u16)]),
            |a: $pair, b: $pair| $pair::new([a.lanes()[0] + b.lanes()[0], a.lanes()[1] + b.lanes()[1]]),
            |a: $pair, b: $pair| $pair::new([a.lanes()[0] - b.lanes()[0], a.lanes()[1] - b.lanes()[1]])
        );
    )*};
}

atomic_pairs! {
    f16x2 of f16;
    bf16x2 of bf16;
}

/// Evaluates `memory.atomic(index)`.
#[inline]
#[track_caller]
pub fn atomic<M: MemoryMut<Element: AtomicValue> + ?Sized, I: Index>(memory: &M, index: I) -> Atomic<'_, M::Element> {
    let start = memory.start() + position(index, memory.length()) * size_of::<M::Element>();
    let scope = match memory.id() {
        MemoryId::Own(_) | MemoryId::Constant(_) | MemoryId::Global(_) => Scope::Device,
        MemoryId::Shared(_) => Scope::Cluster,
    };
    Atomic { memory: memory.id(), start, scope, element: PhantomData }
}

/// Declares operations that return the previous value.
macro_rules! fetch {
    ($($(#[$doc:meta])* $name:ident $update:expr;)*) => {$(
        $(#[$doc])*
        #[inline]
        #[track_caller]
        pub fn $name(&self, value: T, order: Ordering) -> T {
            self.update(order, |old| $update(old, value))
        }
    )*};
}

impl<T: AtomicValue> Atomic<'_, T> {
    /// Sets the scope of the operation. The default is the device for global memory, and the cluster for shared memory.
    #[inline]
    pub fn scope(self, scope: Scope) -> Self {
        Atomic { scope, ..self }
    }

    /// Returns the value. The order is `Relaxed`, `Acquire` or `SeqCst`.
    #[inline]
    #[track_caller]
    pub fn load(&self, order: Ordering) -> T {
        let op = if order == Ordering::SeqCst { MemoryOp::AtomicLoad } else { MemoryOp::StaleLoad };
        // SAFETY: `access` passes the address of an element, or of a value that it had. All accesses of simulated
        // threads are atomic.
        let value = self.access(op, |address| (unsafe { T::load(address, order) }, order, false));
        sim::with("an atomic", |context| context.point(cost::ATOMIC_LOAD));
        value
    }

    /// Overwrites the value. The order is `Relaxed`, `Release` or `SeqCst`.
    #[inline]
    #[track_caller]
    pub fn store(&self, value: T, order: Ordering) {
        // SAFETY: as for `load`.
        self.access(MemoryOp::AtomicStore, |address| (unsafe { T::store(address, value, order) }, order, true));
        sim::with("an atomic", |context| context.point(cost::ATOMIC));
    }

    fetch! {
        /// Adds to the value and returns the previous one. Integers wrap.
        fetch_add T::sum;
        /// Subtracts from the value and returns the previous one. Integers wrap.
        fetch_sub T::difference;
    }

    /// Replaces the value by a function of it, and retries if another thread changes it in between.
    #[inline]
    #[track_caller]
    fn update(&self, order: Ordering, new: impl Fn(T) -> T) -> T {
        let value = self.access(MemoryOp::Atomic, |address| {
            // SAFETY: as for `load`.
            let mut old = unsafe { T::load(address, Ordering::Relaxed) };
            loop {
                // SAFETY: as for `load`.
                match unsafe { T::exchange_if(address, old, new(old), order, Ordering::Relaxed) } {
                    Ok(old) => break (old, order, true),
                    Err(found) => old = found,
                }
            }
        });
        sim::with("an atomic", |context| context.point(cost::ATOMIC));
        value
    }

    /// Makes the access by calling `f`, which returns its order and whether it wrote.
    #[inline]
    #[track_caller]
    fn access<R>(&self, op: MemoryOp<'_>, f: impl FnOnce(NonNull<T>) -> (R, Ordering, bool)) -> R {
        let (start, len, site) = (self.start, size_of::<T>(), Location::caller());
        let access = Access { memory: self.memory, start, len, op, site, type_name: type_name::<T>() };
        sim::with("an atomic", |context| {
            context.access_atomic(access, |address| {
                let (result, order, writes) = f(address.cast());
                let synchronization = Synchronization { order, scope: self.scope };
                (result, AtomicEffect { synchronization, reads: op != MemoryOp::AtomicStore, writes })
            })
        })
    }
}

impl<T: AtomicScalar> Atomic<'_, T> {
    fetch! {
        /// Overwrites the value and returns the previous one.
        swap |_, new| new;
        /// Stores the smaller of both values and returns the previous one. For a float and a NaN, it stores the float.
        fetch_min T::smaller;
        /// Stores the larger of both values and returns the previous one. For a float and a NaN, it stores the float.
        fetch_max T::larger;
    }

    /// Stores `new` if the value equals `current` bit by bit. Returns the previous value, as `Ok` if it was `current`.
    #[inline]
    #[track_caller]
    pub fn compare_exchange(&self, current: T, new: T, success: Ordering, failure: Ordering) -> Result<T, T> {
        let result = self.access(MemoryOp::Atomic, |address| {
            // SAFETY: as for `load`.
            let result = unsafe { T::exchange_if(address, current, new, success, failure) };
            let order = if result.is_ok() { success } else { failure };
            (result, order, result.is_ok())
        });
        let cost = if result.is_ok() { cost::ATOMIC } else { cost::ATOMIC_LOAD };
        sim::with("an atomic", |context| context.point(cost));
        result
    }

    /// Does what `compare_exchange` does. On a GPU, too, it fails only if the value differs.
    #[inline]
    #[track_caller]
    pub fn compare_exchange_weak(&self, current: T, new: T, success: Ordering, failure: Ordering) -> Result<T, T> {
        self.compare_exchange(current, new, success, failure)
    }
}

impl<T: AtomicInteger> Atomic<'_, T> {
    fetch! {
        /// Stores the bitwise and of both values and returns the previous one.
        fetch_and T::both;
        /// Stores the bitwise or of both values and returns the previous one.
        fetch_or T::either;
        /// Stores the bitwise exclusive or of both values and returns the previous one.
        fetch_xor T::differing;
        /// Stores the negated bitwise and of both values and returns the previous one.
        fetch_nand T::not_both;
    }
}

/// Orders the thread's memory operations before the fence with those after it, for the threads of a scope:
/// `fence.acq_rel` or, for `SeqCst`, `fence.sc` (PTX ISA, fence). It is [`std::sync::atomic::fence`] with a scope, and
/// takes no `Relaxed`.
#[inline]
#[track_caller]
pub fn fence(order: Ordering, scope: Scope) {
    std::sync::atomic::fence(order);
    let site = Location::caller();
    sim::with("`fence()`", |context| context.fence(Synchronization { order, scope }, site));
}
