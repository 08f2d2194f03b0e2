//! Each sentence about distributed shared memory; the rules' own files have more kernels.

use phalanx::prelude::*;

#[cluster_kernel(cluster = 2, block = 32)]
fn neither_entered_nor_waited_for(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = input[i];
    out[i] = cluster.map_shared_rank(&array, 1 - cluster.block_rank())[i];
}

#[cluster_kernel(cluster = 2, block = 32)]
fn all_at_once(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    cluster.sync();
    array[i] = input[i];
    out[i] = peer[i];
    array[i] = input[i] + 1;
    peer[i] = 7;
    out[i] += array[i];
    let token = cluster.barrier_arrive();
    array[i] = 3;
    cluster.barrier_wait(token);
    out[i] += peer[i];
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn read_and_pushed(input: &[u32], out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    array[i] = input[i];
    cluster.sync();
    out[i] = array[i];
    cluster.map_shared_rank(&array, 1 - cluster.block_rank())[i] = 7;
    cluster.sync();
}

#[cluster_kernel(cluster = 2, block = 32)]
fn no_such_rank(out: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    cluster.sync();
    out[0] = cluster.map_shared_rank(&array, 2)[0];
    cluster.sync();
}

#[repr(C)]
#[derive(Clone, Copy, DeviceCopy)]
struct Sum(u32);

#[device]
impl Sum {
    fn of_the_cluster(self) -> u32 {
        let cluster = this_cluster();
        let array = shared_array::<u32, 32>();
        array[0] = self.0;
        cluster.map_shared_rank(&array, 0)[0]
    }
}

fn main() {}
