//! Rust that is not part of the kernel language.

use phalanx::prelude::*;

#[cluster_kernel]
fn syntax(output: &mut [u32], n: u32) {
    let closure = |x: u32| x + 1;
    let range = 0..n;
    let slice = output[0..2];
    let text = "text";
    let ch = 'x';
    #[allow(unused)]
    let y = 3;
    fn inner() {}
    {
        use std::cmp::max;
    }
    output[0]?;
    let test = n > 1 && (let 3 = n);
    let closure = |x: u32| x.checked_add(1)?;
    Ok::<u32, u32>(3)?;
    std::mem::swap::<u32>;
    0..n;
    _ = n;
}

#[cluster_kernel]
fn expressions(output: &mut [u32], n: u32) {
    let inferred = _;
    let later = async { n };
    let awaited = n.await;
    let constant = const || 3;
    let address = &raw const n;
    let asynchronous = async |x: u32| x;
    let dereferenced = **output;
    let chained = output[0].max(|x| x);
    let called = (|x: u32| x)(3);
    let part = dynamic_shared_slice::<u32>(0);
    let method = n.max::<u32>(3);
}

#[cluster_kernel]
fn items() {
    struct Inner;
    enum Choice {}
    union Both {
        x: u32,
    }
    static mut COUNT: u32 = 0;
    type Nothing = u32;
    trait Area {}
    impl Area for u32 {}
    mod inner {}
    extern crate std;
    extern "C" {}
    macro_rules! twice {
        ($x:expr) => {
            2 * $x
        };
    }
    thread_local!(static LOCAL: u32 = 3);
}

#[cluster_kernel]
fn option_of_an_option() {
    let cluster = this_cluster();
    let pending = Some(cluster.barrier_arrive());
    let nested = Some(pending);
}

#[device]
fn type_of_an_option(token: Option<Option<ArrivalToken<Cluster>>>) {}

fn main() {}
