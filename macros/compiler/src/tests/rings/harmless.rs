//! What looks like a fault and need not harm anybody: waits that are overtaken twice, and arrivals that go on in the next phase. What goes
//! wrong behind it is refused.

use super::super::faults;
use super::extraction::{faulty, is_proved};

/// Nothing is said of a kernel, and it is not proved.
#[track_caller]
fn open(source: &str) {
    let found: Vec<String> = faults(source).iter().map(|fault| fault.text().to_string()).collect();
    assert!(found.is_empty() && !is_proved(source), "{found:?} of\n{source}");
}

/// A thread waits for the first phase of a barrier of one arrival, of which another one completes as many as it likes.
fn phases(number: &str, then: &str) -> String {
    format!(
        "#[cluster_kernel(block = 64)] fn kernel(out: &mut [u32], n: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let row = shared_array::<[u32; 1], 1>();
            let bar = shared_barrier();
            bar.init_collective(&block, 1);
            if i == 32 {{
                row[0][0] = n;
                for _ in 0..{number} {{ let _ = bar.arrive(); }}
                {then}
            }} else if i == 0 {{
                bar.wait_parity(false);
                out[0] = row[0][0];
            }}
        }}"
    )
}

/// Who is overtaken twice goes on; who is overtaken once waits for ever.
#[test]
fn waits_that_are_overtaken() {
    assert!(is_proved(&phases("1", "")));
    faulty(&phases("2", ""), "ring_overtaken");
    open(&phases("3", ""));
    faulty(&phases("4", ""), "ring_overtaken");
    // The number of phases is odd for some arguments alone.
    faulty(&phases("n", ""), "ring_deadlock");
    faulty(&phases("2 * n + 2", ""), "ring_overtaken");
    open(&phases("2 * n + 3", ""));
    // The row is written anew although the other thread may read it.
    faulty(&phases("1", "row[0][0] = 1;"), "ring_read");
    faulty(&phases("3", "row[0][0] = 1;"), "ring_overtaken");
}

/// A ring whose readers are a warp: a lane and then all of them release a stage, which completes 33 phases of one arrival.
fn released(count: u32, alone: &str, all: &str) -> String {
    format!(
        "#[cluster_kernel(block = 96)] fn kernel(out: &mut [u32], n: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let warp = tiled_partition::<32>(&block);
            let stages = shared_array::<[u32; 1], 2>();
            let full = shared_barriers::<2>();
            let empty = shared_barriers::<2>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, {count});
            let mut sum = 0;
            if i == 64 {{
                for k in 0..n {{
                    empty[k % 2].wait_parity(k / 2 % 2 == 0);
                    stages[k % 2][0] = k;
                    let _ = full[k % 2].arrive();
                }}
            }}
            if warp.meta_group_rank() < 1 {{
                for k in 0..n {{
                    full[k % 2].wait_parity(k / 2 % 2 == 1);
                    sum += stages[k % 2][0];
                    warp.sync();
                    if warp.thread_rank() == 0 {{ {alone} }}
                    {all}
                }}
            }}
            out[i] = sum;
        }}"
    )
}

/// Lanes of a warp arrive one after the other, and so complete phases of fewer arrivals.
#[test]
fn arrivals_of_lanes() {
    let arrives = "let _ = empty[k % 2].arrive();";
    assert!(is_proved(&released(33, arrives, arrives)));
    open(&released(1, arrives, arrives));
    open(&released(11, arrives, arrives));
    // An even number of phases leaves the parity as it was.
    faulty(&released(1, "", arrives), "ring_count");
    faulty(&released(16, "", arrives), "ring_count");
    // What is left over of each round brings the phases forward, until one comes too early.
    faulty(&released(32, arrives, arrives), "ring_count");
    faulty(&released(31, "", arrives), "ring_count");
    // Arrivals at once are not shared out.
    faulty(&released(1, "let _ = empty[k % 2].arrive_n(2);", ""), "ring_count");
    faulty(&released(3, arrives, "let _ = empty[k % 2].arrive_n(2);"), "ring_count");
}
