//! Interleavings in messages: each step is named by what it does, also where several steps have one place.

use super::super::faults;

/// The text of the one fault of a kernel.
#[track_caller]
fn text(source: &str) -> String {
    let found = faults(source);
    let [fault] = &found[..] else { panic!("{} faults of\n{source}", found.len()) };
    fault.text().to_string()
}

/// A turn begins with the store of a tile, and with its load.
#[test]
fn turns_begin_with_accesses() {
    let source = "#[cluster_kernel(block = 64)] fn tiles(queue: &mut [u32], out: &mut [u32], tiles: u32) {
        let block = this_thread_block();
        let i = block.thread_rank();
        let slots = shared_array::<u32, 2>();
        let full = shared_barriers::<2>();
        let empty = shared_barriers::<2>();
        full.init_collective(&block, 1);
        empty.init_collective(&block, 32);
        let mut k = 0;
        if i == 32 {
            loop {
                let tile = queue.atomic(0).fetch_add(1, Relaxed);
                empty[k % 2].wait_parity(k / 2 % 2 == 0);
                slots[k % 2] = if tile < tiles { tile } else { 100 };
                let _ = full[k % 2].arrive();
                if tile >= tiles { break; }
                k += 1;
            }
        } else if i < 32 {
            loop {
                full[k % 2].wait_parity(k / 2 % 2 == 1);
                let _ = empty[k % 2].arrive();
                let tile = slots[k % 2];
                if tile >= 100 { break; }
                out[tile * 32 + i] = tile;
                k += 1;
            }
        }
    }";
    let text = text(source);
    assert!(text.contains("thread 32 writes to `slots[0]`") && text.contains("read `slots["), "{text}");
}

/// A thread that arrives and waits in one call does both.
#[test]
fn arrivals_that_wait() {
    let source = "#[cluster_kernel(block = 64)] fn kernel(out: &mut [u32]) {
        let block = this_thread_block();
        let i = block.thread_rank();
        let one = shared_barrier();
        let two = shared_barrier();
        one.init_collective(&block, 64);
        two.init_collective(&block, 64);
        if i < 32 {
            one.arrive_and_wait();
            two.arrive_and_wait();
        } else {
            two.arrive_and_wait();
            one.arrive_and_wait();
        }
        out[i] = 1;
    }";
    let text = text(source);
    for does in ["arrive at `one`", "arrive at `two`", "wait at `one`", "wait at `two`"] {
        assert!(text.contains(does), "no {does}: {text}");
    }
}
