//! Multicasts of tiles to all blocks of a cluster, to a row or a column of it, and to listed ones; receivers that cannot be.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, fails, find, kernel_list};

const SOURCE: &str = include_str!("multicast.rs");

type Part = [[u32; 8]; 4];

/// Makes a kernel in whose clusters of 2 by 2 blocks each block sends its tile to the blocks that `$receivers` names, which is one tile
/// from each of `$senders`, and all write what they get to `out`, a tile for each sender.
macro_rules! sent {
    ($($name:ident: $cluster:ident, $rank:ident, $receivers:expr, $senders:expr;)*) => {$(
        #[cluster_kernel(cluster = (2, 2), block = 32)]
        fn $name(input: &TensorMap<Part>, out: &mut [u32]) {
            let ($cluster, block) = (this_cluster(), this_thread_block());
            let $rank = $cluster.block_rank();
            let tiles = shared_array::<Part, 4>();
            let full = shared_cluster_barrier();
            full.init_collective(&$cluster, 1);
            let i = block.thread_rank();
            let senders = $senders;
            if i == 0 {
                for sender in senders {
                    input.expect_multicast(&tiles[sender], &full);
                }
                input.multicast_async([$rank as i32 * 4, 0], &tiles[$rank], &full, $receivers);
                let _ = full.arrive();
            }
            full.wait_parity(false);
            for sender in senders {
                out[($rank * 4 + sender) * 32 + i] = tiles[sender][i / 8][i % 8];
            }
            $cluster.sync();
        }
    )*};
}

sent! {
    to_all: cluster, rank, &cluster, [0, 1, 2, 3];
    to_row: cluster, rank, cluster.row(), [rank / 2 * 2, rank / 2 * 2 + 1];
    to_column: cluster, rank, cluster.column(), [rank % 2, rank % 2 + 2];
    to_listed: cluster, rank, [rank, 3 - rank], [rank, 3 - rank];
    to_the_next: cluster, rank, [(rank + 1) % 4], [(rank + 3) % 4];
}

fn receivers(device: &Device) -> Outcome {
    let numbers: Vec<u32> = (0..16 * 8).collect();
    let input = device.upload(&numbers)?;
    let want = |senders: &dyn Fn(u32) -> Vec<u32>| {
        let mut want = vec![0; 16 * 32];
        for rank in 0..4 {
            for sender in senders(rank) {
                let (to, from) = ((rank * 4 + sender) as usize * 32, sender as usize * 32);
                want[to..to + 32].copy_from_slice(&numbers[from..from + 32]);
            }
        }
        want
    };
    let map = input.tensor([16, 8])?;
    macro_rules! check {
        ($($kernel:ident: $senders:expr;)*) => {$(
            let mut out = device.zeros(16 * 32)?;
            $kernel(&map, &mut out).grid((2, 2)).launch(device)?;
            equal(&out.read()?, &want(&$senders))?;
        )*};
    }
    check! {
        to_all: |_| (0..4).collect();
        to_row: |rank| vec![rank / 2 * 2, rank / 2 * 2 + 1];
        to_column: |rank| vec![rank % 2, rank % 2 + 2];
        to_listed: |rank| vec![rank, 3 - rank];
        to_the_next: |rank| vec![(rank + 3) % 4];
    }
    Ok(())
}

/// Sends a tile to the blocks of two ranks, which only the launch knows.
#[cluster_kernel(cluster = 2, block = 1)]
fn to_some(input: &TensorMap<Part>, out: &mut [u32], first: u32, second: u32) {
    let cluster = this_cluster();
    let tiles = shared_array::<Part, 1>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    input.expect_multicast(&tiles[0], &full);
    if cluster.block_rank() == 0 {
        /* sends */
        input.multicast_async([0, 0], &tiles[0], &full, [first, second]);
    }
    full.arrive_and_wait();
    out[cluster.block_rank()] = tiles[0][3][7];
    cluster.sync();
}

fn receivers_are_checked(device: &Device) -> Outcome {
    let input = device.upload(&(0..32).collect::<Vec<u32>>())?;
    let run = |first, second| -> phalanx::Result<Vec<u32>> {
        let mut out = device.zeros(2)?;
        to_some(&input.tensor([4, 8])?, &mut out, first, second).grid(2).launch(device)?;
        out.read()
    };
    equal(&run(1, 0)?, &[31, 31])?;
    let at = find(file!(), SOURCE, "sends");
    let out_of_range = "block rank 2 out of range for a cluster of 2 blocks";
    fails(run(1, 2).map(drop), out_of_range, &at, (0, 0, 0), (0, 0, 0))?;
    let twice = "a multicast must name each block that receives it once, but block rank 1 is in the list twice";
    fails(run(1, 1).map(drop), twice, &at, (0, 0, 0), (0, 0, 0))
}

pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "multicast",
        checks: check_list![receivers, receivers_are_checked],
        kernels: kernel_list![to_all, to_row, to_column, to_listed, to_the_next, to_some],
    }]
}
