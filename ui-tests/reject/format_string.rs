//! Messages of `assert!` and `panic!`.

use phalanx::prelude::*;

#[cluster_kernel]
fn messages(n: u32) {
    assert!();
    assert!(n > 0, "{} {}", n);
    assert!(n > 0, "{}", n, n);
    assert!(n > 0, "{missing}");
    assert!(n > 0, "{n:>8}");
    assert!(n > 0, "a } brace");
    assert!(n > 0, n);
    panic!("{} {} {} {} {}", n, n, n, n, n);
    panic!("{}", this_cluster());
}

fn main() {}
