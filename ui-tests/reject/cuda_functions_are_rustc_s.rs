//! The types of CUDA's functions, and names that are not theirs: rustc reports them.

use phalanx::prelude::*;

#[cluster_kernel(block = 32)]
fn types(input: &[i32], out: &mut [i32], words: &[u32], halves: &[f16]) {
    let i = this_thread_block().thread_rank();
    out[i] = cuda::dp4a(input[i], words[i], 0);
    out[i] = cuda::vadd4(input[i], input[i]);
    out[i] = cuda::mulhi(input[i] as i16, 3) as i32;
    out[i] = cuda::hadd2(halves[i], halves[i]).to_f32() as i32;
    out[i] = cuda::clock64();
}

#[cluster_kernel(block = 32)]
fn names(words: &[u32], out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    out[i] = cuda::popc(words[i]);
}

mod own {
    /// Another function under the name of ours.
    pub mod cuda {
        pub fn clock64() -> u64 {
            3
        }
    }
}

#[cluster_kernel(block = 32)]
fn another(out: &mut [u64]) {
    out[0] = own::cuda::clock64();
}

fn main() {}
