//! Every kind of parameter and result.

use phalanx::prelude::*;

type Real = f32;

#[device]
fn parameters(
    block: &ThreadBlock,
    cluster: &Cluster,
    shared: &SharedArray<u32, 32>,
    dynamic: &SharedSlice<u32>,
    remote: &RemoteArray<u32, 32>,
    by_value: RemoteArray<u32, 32>,
    input: &[u32],
    output: &mut [u32],
    mut scalar: Real,
    array: [i8; 3],
    borrowed: &[u32; 4],
    total: &mut u64,
) -> [u64; 2] {
    scalar += 1.0;
    *total += input.len() as u64 + borrowed[1] as u64 + array[0] as u64 + scalar as u64;
    output[0] = shared[block.thread_rank()] + dynamic[0] + remote[0] + by_value[0] + cluster.block_rank();
    [*total, 2]
}

#[cluster_kernel(block = 32)]
fn call<T: Number, const N: usize>(input: &[u32], output: &mut [u32], values: &mut [T], value: T) {
    let block = this_thread_block();
    let cluster = this_cluster();
    let shared = shared_array::<u32, 32>();
    let dynamic = dynamic_shared::<u32>();
    shared[block.thread_rank()] = 0;
    cluster.sync();
    let remote = cluster.map_shared_rank(&shared, 0);
    let four = [1; 4];
    let mut total = N as u64;
    let pair = parameters(
        &block,
        &cluster,
        &shared,
        &dynamic,
        &remote,
        remote,
        input,
        output,
        1.5,
        [1, 2, 3],
        &four,
        &mut total,
    );
    values[pair[0] as usize] = value + value;
    cluster.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<call<f32, 3>>, phalanx::Program::of::<call<u64, 4>>];
