//! Errors of rustc in format strings, in the kernel's own source.

use phalanx::prelude::*;

#[cluster_kernel]
fn strings(n: u32, x: f32) {
    println!("{} {}", n);
    println!("{}", n, n);
    println!("{2}", n);
    println!("{missing}");
    println!("{missing:>width$}", missing = 1);
    println!("{n");
    println!("a } brace");
    println!("{n:?x}");
    println!("{n:y}");
    println!("{n:}", n = n, n = n);
    println!("{}", m = 1, n);
    assert!(n > 0, "{}", n, k = 3);
    panic!("{:1$}", n);
    todo!("{n.0}");
}

#[cluster_kernel]
fn types(n: u32, x: f32) {
    println!("{x:x} {n:e} {x:#b}");
    println!("{n:x$}", x = n);
    assert_eq!(n, x);
}

fn main() {}
