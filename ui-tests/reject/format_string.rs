//! Messages that cannot be made: what the macro refuses.

use phalanx::prelude::*;

#[cluster_kernel]
fn messages(n: u32) {
    assert!();
    assert_eq!(n);
    debug_assert_ne!();
    print!();
    assert!(n > 0, n);
    println!(concat!("{}", "\n"), n);
    println!(format = "{}", n);
    panic!(if n);
    panic!("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n);
    assert_eq!(n, 1, "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", n, n, n, n, n, n, n, n, n, n, n, n, n, n, n);
    panic!("{}", this_cluster());
    let array = shared_array::<u32, 4>();
    println!("{array:?}");
}

#[cluster_kernel]
fn macros(n: u32) {
    dbg!(n);
    eprintln!("{n}");
    format!("{n}");
    assert_matches!(n, 3);
}

fn main() {}
