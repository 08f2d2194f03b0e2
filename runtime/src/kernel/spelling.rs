//! The items that kernels name, with which generated code compares the user's names: the macro recognises them by their
//! spelling, and another item of such a name is an error. Nothing here is called when a kernel runs.

/// The names that `macros/compiler/src/model/name.rs` lists. Orders and scopes are apart from items, because a variant
/// may have the name of a type.
pub mod names {
    /// The memory orders.
    pub mod orders {
        pub use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    }

    /// The memory scopes.
    pub mod scopes {
        pub use crate::scope::Scope::{Block, Cluster, Device, System};
    }

    /// All other names.
    pub mod items {
        pub use std::array::from_fn;
        pub use std::cmp::{PartialEq, PartialOrd};
        pub use std::default::Default;
        pub use std::mem::{replace, swap, take};
        pub use std::option::Option::{self, None, Some};
        pub use std::result::Result::{Err, Ok};
        pub use std::{
            assert, assert_eq, assert_ne, debug_assert, debug_assert_eq, debug_assert_ne, matches, panic, print,
            println, todo, unimplemented, unreachable,
        };

        pub use crate::kernel::barrier::{
            Barriers, ClusterBarrier, ClusterBarriers, RemoteBarrier, shared_barrier, shared_barriers,
            shared_cluster_barrier, shared_cluster_barriers,
        };
        pub use crate::kernel::copy::{bulk_copy_async, bulk_wait_group, bulk_wait_group_read, memcpy_async};
        pub use crate::kernel::group::{
            Cluster, CoalescedGroup, Grid, ThreadBlock, Tile, binary_partition, coalesced_threads, labeled_partition,
            this_cluster, this_grid, this_thread_block, tiled_partition,
        };
        pub use crate::kernel::inline_cuda::cuda;
        pub use crate::kernel::memory::{
            RemoteArray, RemoteSlice, SharedArray, SharedSlice, dynamic_shared, dynamic_shared_slice, fence,
            shared_array,
        };
        pub use crate::kernel::nanosleep::nanosleep;
        pub use crate::kernel::previous::{launch_dependents, wait_previous};
        pub use crate::kernel::tensor::TensorMap;
        pub use crate::kernel::token::ArrivalToken;
    }
}

/// Asks rustc whether a type is the scalar type of its name.
pub const fn is<T: Is<Spelled>, Spelled>() {}

/// A type that is `Spelled`.
#[diagnostic::on_unimplemented(
    message = "this type is spelled `{Spelled}` and means `{Self}`",
    label = "this name means another type here",
    note = "kernels take `{Spelled}` for Rust's own type: rename the alias"
)]
pub trait Is<Spelled> {}

#[diagnostic::do_not_recommend]
impl<T> Is<T> for T {}

/// Asks rustc whether a type holds all numbers of the scalar type of its name.
pub const fn holds<T: Holds<Spelled>, Spelled>() {}

/// A type that holds all numbers of the type `Spelled`, and is unsigned if `Spelled` is.
#[diagnostic::on_unimplemented(
    message = "this type is spelled `{Spelled}` and means `{Self}`, which does not hold the same numbers",
    label = "this name means another type here",
    note = "kernels take `{Spelled}` for Rust's own type: rename the alias"
)]
pub trait Holds<Spelled> {}

macro_rules! holds {
    ($($wide:ident: $($spelled:ident)*;)*) => {
        $($(
            #[diagnostic::do_not_recommend]
            impl Holds<$spelled> for $wide {}
        )*)*
    };
}

holds! {
    u8: u8;
    u16: u8 u16;
    u32: u8 u16 u32;
    u64: u8 u16 u32 u64 usize;
    u128: u8 u16 u32 u64 u128 usize;
    usize: u8 u16 u32 u64 usize;
    i8: i8;
    i16: i8 i16;
    i32: i8 i16 i32;
    i64: i8 i16 i32 i64 isize;
    i128: i8 i16 i32 i64 i128 isize;
    isize: i8 i16 i32 i64 isize;
    f32: f32;
    f64: f32 f64;
    bool: bool;
}
