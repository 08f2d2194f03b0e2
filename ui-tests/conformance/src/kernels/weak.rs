//! The guarantees of atomics and fences, many times: pairs of threads in different blocks, each with locations of their
//! own in every iteration. Forbidden results are counted, in the simulator under schedules that show all that relaxed
//! atomics may do (`sim::weak` has the programs one by one), and on a GPU, where more than 10^7 pairs are checked.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list};

const BLOCK: u32 = 256;

/// Runs `$first` and `$second` concurrently, on two locations that hold zeros, with two results.
macro_rules! pairs {
    ($($name:ident: |$cells:ident, $found:ident, $x:ident, $y:ident| $first:expr, $second:expr;)*) => {$(
        #[cluster_kernel(block = BLOCK)]
        fn $name($cells: &mut [u32], $found: &mut [u32], rounds: u32) {
            let grid = this_grid();
            let pairs = grid.num_threads() / 2;
            let pair = grid.block_rank() / 2 * 256 + this_thread_block().thread_rank() as usize;
            for round in 0..rounds as usize {
                let $x = 2 * (round * pairs + pair);
                let $y = $x + 1;
                if grid.block_rank() % 2 == 0 {
                    $first;
                } else {
                    $second;
                }
            }
        }
    )*};
}

pairs! {
    released: |cells, found, x, y| {
        cells.atomic(x).store(1, Relaxed);
        cells.atomic(y).store(1, Release);
    }, {
        found[x] = cells.atomic(y).load(Acquire);
        found[y] = cells.atomic(x).load(Relaxed);
    };
    fenced: |cells, found, x, y| {
        cells.atomic(x).store(1, Relaxed);
        fence(Release, Scope::Device);
        cells.atomic(y).store(1, Relaxed);
    }, {
        found[x] = cells.atomic(y).load(Relaxed);
        fence(Acquire, Scope::Device);
        found[y] = cells.atomic(x).load(Relaxed);
    };
    counted: |cells, found, x, y| {
        cells.atomic(x).store(1, Relaxed);
        cells.atomic(y).fetch_add(1, AcqRel);
    }, {
        found[x] = cells.atomic(y).fetch_add(2, AcqRel);
        found[y] = cells.atomic(x).load(Relaxed);
    };
    in_an_order: |cells, found, x, y| {
        cells.atomic(x).store(1, SeqCst);
        found[x] = cells.atomic(y).load(SeqCst);
    }, {
        cells.atomic(y).store(1, SeqCst);
        found[y] = cells.atomic(x).load(SeqCst);
    };
    fenced_in_an_order: |cells, found, x, y| {
        cells.atomic(x).store(1, Relaxed);
        fence(SeqCst, Scope::Device);
        found[x] = cells.atomic(y).load(Relaxed);
    }, {
        cells.atomic(y).store(1, Relaxed);
        fence(SeqCst, Scope::Device);
        found[y] = cells.atomic(x).load(Relaxed);
    };
    coherent: |cells, found, x, y| {
        cells.atomic(x).store(1, Relaxed);
        cells.atomic(x).store(2, Relaxed);
        cells.atomic(x).store(3, Relaxed);
    }, {
        found[x] = cells.atomic(x).load(Relaxed);
        found[y] = cells.atomic(x).load(Relaxed);
    };
}

/// Runs a kernel, and counts forbidden pairs.
macro_rules! never {
    ($kernel:ident, $device:expr, |$a:ident, $b:ident| $wrong:expr) => {{
        let device: &Device = $device;
        let (blocks, rounds) = if device.is_simulator() { (4, 6) } else { (264, 300) };
        let all = (blocks * BLOCK * rounds) as usize;
        let (mut cells, mut found) = (device.zeros(all)?, device.zeros(all)?);
        $kernel(&mut cells, &mut found, rounds).grid(blocks).launch(device)?;
        let found: Vec<u32> = found.read()?;
        let wrong = found.chunks(2).filter(|pair| {
            let ($a, $b) = (pair[0], pair[1]);
            $wrong
        });
        match wrong.count() {
            0 => {}
            count => return Err(format!("{}: {count} of {} pairs are wrong", stringify!($kernel), all / 2).into()),
        }
    }};
}

fn message_passing(device: &Device) -> Outcome {
    never!(released, device, |flag, data| flag == 1 && data == 0);
    never!(fenced, device, |flag, data| flag == 1 && data == 0);
    never!(counted, device, |flag, data| flag == 1 && data == 0);
    Ok(())
}

fn store_buffering(device: &Device) -> Outcome {
    never!(in_an_order, device, |a, b| a == 0 && b == 0);
    never!(fenced_in_an_order, device, |a, b| a == 0 && b == 0);
    Ok(())
}

fn coherence(device: &Device) -> Outcome {
    never!(coherent, device, |first, second| second < first);
    Ok(())
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "weak",
        checks: check_list![message_passing, store_buffering, coherence],
        kernels: kernel_list![released, fenced, counted, in_an_order, fenced_in_an_order, coherent],
    }]
}
