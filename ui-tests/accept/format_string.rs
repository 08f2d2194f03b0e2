//! Messages with values.

use phalanx::prelude::*;

#[cluster_kernel]
fn messages(n: u32, x: f32) {
    assert!(n > 0);
    assert!(n > 0 && x > 1.0);
    assert!(n > 0, "n is {n}, {{x}} is {}", x);
    if n == 3 {
        panic!("three: {n:?} {:?}", x * 2.0);
    }
    if n == 4 {
        panic!();
    }
    assert_eq!(n, 5, "{:.*} {2:>3$} {big:#x} {big}", 2, x, n, 9, big = u128::MAX);
    debug_assert_ne!(n, 7);
    println!();
    println!("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n);
    print!("{:?}", [[x; 2]; 4]);
    todo!("{n}");
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[phalanx::Program::of::<messages>];
