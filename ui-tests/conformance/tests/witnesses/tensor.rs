//! The witnesses of tensor cores and of tensor maps.

use phalanx::prelude::*;

use super::Witness;

/// The witness of `multicast_unarmed`, whose kernel takes a tensor.
pub(super) const MULTICAST: Witness = ("multicast_unarmed", "data race", |device| {
    let (input, mut out) = (device.zeros::<u32>(32)?, device.zeros(2)?);
    let input = input.tensor([4, 8])?;
    // SAFETY: in the simulator, what the rule would have refused is an error.
    unsafe { expected_by_one(&input, &mut out) }.grid(2).launch(device)
});

/// The phase of block 1 ends before the bytes have arrived.
#[cluster_kernel(cluster = 2, block = 1, unchecked(multicast_unarmed, ring_read))]
fn expected_by_one(input: &TensorMap<[[u32; 8]; 4]>, out: &mut [u32]) {
    let cluster = this_cluster();
    let tiles = shared_array::<[[u32; 8]; 4], 1>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    tiles[0][0][0] = 1;
    cluster.sync();
    if cluster.block_rank() == 0 {
        input.expect_multicast(&tiles[0], &full);
        input.multicast_async([0, 0], &tiles[0], &full, &cluster);
    }
    full.arrive_and_wait();
    out[cluster.block_rank()] = tiles[0][0][0];
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 128, unchecked(mma_in_flight, unsynchronized_access))]
pub(super) fn written_while_read(out: &mut [u32]) {
    let warpgroup = tiled_partition::<128>(&this_thread_block());
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Swizzled<u8, 32>, 64>();
    for i in 0..16 {
        tile[rank / 2][rank % 2 * 16 + i] = 1;
    }
    this_thread_block().sync();
    let product = warpgroup.mma_async(Accumulator::<i32, 64, 64>::splat(0), &tile, &tile);
    if rank == 0 {
        tile[0][0] = 2;
    }
    let sum = warpgroup.wait_mma(product);
    out[rank] = sum[0] as u32;
}
