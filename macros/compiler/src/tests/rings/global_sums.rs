//! Rings beside sums in global memory, to which threads add by atomics in a loop: it waits for no other thread, unless what it reads of them decides
//! when it ends.

use super::super::faults;
use super::sums;

const FILL: &str = "for k in 0..n { empty[k % 2].wait_parity(k / 2 % 2 == 0); full[k % 2].expect_tx(128);
    bulk_copy_async(&stages[k % 2], &x[..32], &full[k % 2]); let _ = full[k % 2].arrive(); }";

/// Readers that never release a stage, which deadlocks after two rounds unless another thread may help.
fn broken(loops: &str) -> Vec<String> {
    let read = format!("for k in 0..n {{ full[k % 2].wait_parity(k / 2 % 2 == 1); sum += stages[k % 2][i]; {loops} }}");
    faults(&sums(2, "", FILL, &read)).iter().map(|fault| fault.rule().to_string()).collect()
}

#[test]
fn loops_that_only_add() {
    for loops in [
        "",
        "for j in 0..4 { out.atomic(j * 32 + i).fetch_add(sum, Relaxed); }",
        "for j in 0..n { out.atomic(j).fetch_max(sum, AcqRel); }",
        "let mut j = i; while j < n { if j > m { out.atomic(j).fetch_add(sum, Relaxed); } j += 32; }",
    ] {
        assert_eq!(broken(loops), ["ring_deadlock"], "{loops}");
    }
}

#[test]
fn loops_that_may_wait() {
    for loops in [
        "while out.atomic(0).load(Acquire) < k {}",
        "loop { let old = out.atomic(0).fetch_add(0, Acquire); if old > k { break; } }",
        "for j in 0..n { if out.atomic(j).swap(1, AcqRel) == 1 { break; } }",
    ] {
        assert_eq!(broken(loops), [""; 0], "{loops}");
    }
}
