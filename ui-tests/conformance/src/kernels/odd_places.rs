//! Kernels where no prelude is implicit, in functions and `impl`s, under every lint that could see what the macros make.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list};

mod bare {
    #![no_implicit_prelude]
    #![deny(
        warnings,
        unsafe_code,
        missing_docs,
        clippy::all,
        clippy::pedantic,
        unused_qualifications,
        elided_lifetimes_in_paths,
        single_use_lifetimes,
        missing_debug_implementations,
        missing_copy_implementations,
        unused_results,
        trivial_casts,
        trivial_numeric_casts,
        rust_2018_idioms,
        let_underscore_drop,
        unused_lifetimes,
        explicit_outlives_requirements,
        redundant_lifetimes,
        keyword_idents,
        meta_variable_misuse
    )]
    #![allow(unreachable_pub, reason = "nobody else uses them")]

    use ::phalanx::prelude::*;

    /// Doc.
    #[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
    #[repr(C)]
    pub struct P {
        /// x
        pub x: u32,
        /// y
        pub y: u32,
    }
    /// Doc.
    #[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
    #[repr(u8)]
    pub enum E {
        /// a
        A,
        /// b
        B,
    }

    pub(super) mod a {
        use ::phalanx::prelude::*;
        /// Same name.
        #[cluster_kernel(block = 1)]
        #[must_use]
        pub(crate) fn same(out: &mut [u32]) {
            out[0] = 1;
        }
    }
    pub(super) mod b {
        use ::phalanx::prelude::*;
        #[cluster_kernel(block = 1)]
        #[allow(clippy::needless_pass_by_value, reason = "x")]
        #[inline]
        pub(crate) fn same(out: &mut [u32]) {
            out[0] = 2;
        }
        #[cfg(any())]
        #[cluster_kernel(block = 1)]
        pub(super) fn kernel(out: &mut [u32]) {
            out[0] = nothing;
        }
    }
    /// A trait.
    #[device]
    pub trait Area {
        /// K
        const K: u32;
        /// Area.
        fn area(&self) -> u32;
    }
    #[device]
    impl Area for P {
        const K: u32 = 3;
        fn area(&self) -> u32 {
            self.x * self.y
        }
    }
    /// F.
    #[device]
    #[must_use]
    pub fn f<T>(x: T) -> u32
    where
        T: Area + DeviceCopy,
    {
        x.area() + T::K
    }
    /// K
    #[cluster_kernel(cluster = 2, block = 32)]
    pub fn bare(inp: &[P], out: &mut [u32], e: E) {
        let cluster = this_cluster();
        let shared = shared_array::<P, 32>();
        let i = this_grid().thread_rank();
        let t = this_thread_block().thread_rank();
        shared[t] = inp[i];
        let token = cluster.barrier_arrive();
        let z = match e {
            E::A => 1,
            E::B => 2,
        };
        let peer = cluster.map_shared_rank(&shared, 1 - cluster.block_rank());
        cluster.barrier_wait(token);
        let mut best = None;
        for k in 0..4 {
            if peer[k].x > 3 {
                best = Some(peer[k].x);
            }
        }
        if i > 64 {
            println!("{} {i:?}", best.unwrap_or(0));
        }
        assert!(i < 64, "no {i}");
        let warp = tiled_partition::<32>(&this_thread_block());
        let s = warp.reduce(f(inp[i]), op::Plus);
        let sum = |a: u32| a + s;
        out[i] = sum(z) + peer[t].y;
        cluster.sync();
    }
    /// G
    pub mod g {
        use ::phalanx::prelude::*;
        /// T
        #[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
        #[repr(C)]
        pub struct T<A> {
            /// a
            pub a: A,
        }
        #[device]
        impl<A: Number> T<A> {
            /// twice
            #[must_use]
            pub fn twice(self) -> A {
                self.a + self.a
            }
            /// sum
            #[must_use]
            pub fn sum(s: &SharedSlice<A>, k: &[A]) -> A {
                s[0] + k[0]
            }
        }
        /// call
        #[device]
        pub fn call(f: impl Fn(u32) -> u32, s: &SharedSlice<u32>, c: &Cluster) -> u32 {
            let t = c.barrier_arrive();
            c.barrier_wait(t);
            f(s[0])
        }
    }
}

struct Owner;

impl Owner {
    fn launched(device: &Device) -> Outcome<u32> {
        #[cluster_kernel(block = 1)]
        fn kernel(out: &mut [u32]) {
            out[0] += 9;
        }
        let mut out = device.zeros(1)?;
        kernel(&mut out).grid(1).launch(device)?;
        Ok(out.read()?[0])
    }
}

fn places(device: &Device) -> Outcome {
    #[cluster_kernel(block = 1)]
    fn kernel(out: &mut [u32], x: u32) {
        out[0] += x;
    }
    let mut out = device.zeros(64)?;
    bare::a::same(&mut out).grid(1).launch(device)?;
    kernel(&mut out, 5).grid(1).launch(device)?;
    equal(&[out.read()?[0], Owner::launched(device)?], &[6, 9])?;
    bare::b::same(&mut out).grid(1).launch(device)?;
    equal(&[out.read()?[0]], &[2])?;
    let input = device.upload(&[bare::P { x: 2, y: 5 }; 64])?;
    bare::bare(&input, &mut out, bare::E::B).grid(2).launch(device)?;
    equal(&out.read()?, &[13 * 32 + 2 + 5; 64])
}

/// Returns this file's part of the table. The check compiles the kernels in functions, on a GPU.
pub(super) fn modules() -> Vec<Module> {
    let kernels = kernel_list![bare::bare, bare::a::same, bare::b::same];
    vec![Module { name: "odd_places", checks: check_list![places], kernels }]
}
