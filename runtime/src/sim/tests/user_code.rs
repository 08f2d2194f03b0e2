//! What the types of the user's program must not break: two types of one name, and formatting that is code of its own.

use std::any::type_name;
use std::fmt;

use super::{failure, protocol, shape, simulate};
use crate::DeviceCopy;
use crate::kernel::group::this_thread_block;
use crate::kernel::intrinsics::{fail_assertion, print};
use crate::kernel::memory::{SharedArray, dynamic_shared, load, shared_array, store};
use crate::program::message::MessageSlot;
use crate::report::failure::Cause;
use crate::shape::Shape;

/// Returns the array of a generic function, of which every instance has the same site.
fn cell<T: DeviceCopy>() -> SharedArray<T, 1> {
    shared_array::<T, 1>()
}

/// Calls `f` with two types that have the same name and the same size.
macro_rules! with_namesakes {
    ($f:ident, $g:ident) => {{
        {
            #[derive(Clone, Copy, PartialEq, DeviceCopy)]
            #[repr(C)]
            struct Namesake(u8);
            $f(type_name::<Namesake>(), Namesake(7));
        }
        {
            #[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
            #[repr(u8)]
            enum Namesake {
                Only,
            }
            $g(type_name::<Namesake>(), Namesake::Only);
        }
    }};
}

#[test]
fn arrays_of_two_types_of_one_name_are_two_arrays() {
    let (failure, _) = failure(shape(1, 1, 1), || {
        let first = std::cell::Cell::new("");
        let write = |name, value| {
            first.set(name);
            store(&cell(), 0, value);
        };
        fn read<T: DeviceCopy>(name: &str, _: T, first: &str) {
            assert_eq!(name, first);
            load(&cell::<T>(), 0);
        }
        let read = |name, value| read(name, value, first.get());
        with_namesakes!(write, read);
    });
    assert!(matches!(failure.cause, Cause::UninitializedShared { .. }), "{failure}");
}

#[test]
fn views_of_two_types_of_one_name_are_two_views() {
    let sentence = protocol(Shape { dynamic_shared_bytes: 1, ..shape(1, 1, 1) }, || {
        fn view<T: DeviceCopy>(_: &str, _: T) {
            dynamic_shared::<T>();
        }
        with_namesakes!(view, view);
    });
    assert!(sentence.contains("cannot be viewed as"), "{sentence}");
}

#[test]
fn numbers_and_structs_of_numbers_may_share_bytes() {
    #[derive(Clone, Copy, DeviceCopy)]
    #[repr(C)]
    struct Pair(half::f16, u16);
    let body = || {
        store(&dynamic_shared::<u32>(), 0, 5);
        assert_eq!(load(&dynamic_shared::<Pair>(), 0).0.to_bits(), 5);
    };
    simulate(Shape { dynamic_shared_bytes: 4, ..shape(1, 1, 1) }, body).unwrap();
}

/// A value whose formatting calls what only a kernel may call.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Nosy(u32);

impl fmt::Display for Nosy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => drop(shared_array::<u32, 1>()),
            _ => this_thread_block().sync(),
        }
        f.write_str("nosy")
    }
}

#[test]
fn formatting_takes_no_shared_memory_and_calls_no_collective() {
    let calls =
        ["`shared_array()` is only available in a kernel", "`this_thread_block()` is only available in a kernel"];
    for (kind, expected) in (0..).zip(calls) {
        let (asserted, _) = failure(shape(1, 1, 2), || {
            fail_assertion(&MessageSlot::default(), (Nosy(kind),), |(nosy,): (Nosy,)| nosy.to_string());
        });
        assert_eq!(asserted.cause, Cause::Panic(expected.into()));
        let (printed, _) = failure(shape(1, 1, 2), || {
            print(&MessageSlot::default(), (Nosy(kind),), |(nosy,): (Nosy,)| nosy.to_string());
        });
        assert_eq!(printed.cause, Cause::Panic(expected.into()));
    }
}
