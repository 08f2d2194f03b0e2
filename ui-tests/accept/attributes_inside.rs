//! Conditions on what may be left out, and lints.

use phalanx::prelude::*;

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Pair {
    a: u32,
    b: u32,
}

#[device]
fn sum(a: u32, #[cfg(any())] c: u64, b: u32) -> u32 {
    a + b
}

#[device]
impl Pair {
    fn both(self) -> u32 {
        #[cfg(any())]
        return no_such_function();
        self.a + self.b
    }
}

#[cluster_kernel]
fn conditions(output: &mut [u32], #[cfg(any())] c: u64, n: u32) {
    #[cfg(any())]
    {
        output[0] = no_such_name;
    }
    #[cfg(any())]
    assert!(output[0] == no_such_name);
    #[cfg(any())]
    output[no_such_name] += 1;
    #[cfg(target_pointer_width = "64")]
    #[allow(unused_variables)]
    let unused = 7;
    let array = [
        #[cfg(any())]
        no_such_name,
        6u32,
        #[cfg(target_pointer_width = "64")]
        7,
    ];
    #[cfg(any())]
    if output[0] == 1 {
        output[0] = 8;
    }
    #[rustfmt::skip]
    let pair = Pair { #[cfg(any())] c: 3, #[cfg(target_pointer_width = "64")] a: 1, b: 2 };
    output[2] = match n {
        #[cfg(any())]
        0 => no_such_name,
        #[cfg(target_pointer_width = "64")]
        1 => 3,
        _ => 4,
    };
    output[0] = sum(
        array[0],
        #[cfg(any())]
        no_such_name,
        array[1],
    );
    output[1] =
        pair.both() + size_of::<Pair>() as u32 + std::mem::size_of::<[f32; 4]>() as u32 + align_of::<u64>() as u32;
}

#[device]
fn publish(cluster: &Cluster, array: &SharedArray<u32, 32>, i: u32) -> ArrivalToken<Cluster> {
    array[i] = i;
    cluster.barrier_arrive()
}

/// The type of the token is that of the function in this file.
#[cluster_kernel(cluster = 2, block = 32)]
fn token_of_a_function(output: &mut [u32]) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    let token = publish(&cluster, &array, i);
    cluster.barrier_wait(token);
    output[cluster.thread_rank()] = cluster.map_shared_rank(&array, 1 - cluster.block_rank())[i];
    cluster.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<conditions>, phalanx::Program::of::<token_of_a_function>];
