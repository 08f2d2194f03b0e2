//! What kernels take of each device that this machine has.

use crate::launch::on_each_device::on_each_device;
use crate::report::error::{Error, LaunchError};

mod kernels {
    use crate::prelude::*;

    #[cluster_kernel]
    pub(super) fn shares(out: &mut [u32]) {
        let (block, array) = (this_thread_block(), shared_array::<u32, 1024>());
        let i = block.thread_rank();
        array[i] = i;
        block.sync();
        out[this_grid().thread_rank()] = array[block.num_threads() - 1 - i] + this_cluster().num_blocks();
    }

    #[cluster_kernel(non_portable)]
    pub(super) fn wide(out: &mut [u32]) {
        out[this_grid().thread_rank()] = this_cluster().num_blocks();
    }
}
use kernels::{shares, wide};

#[test]
fn a_gpu_knows_what_a_kernel_takes() {
    on_each_device(|device| {
        let mut out = device.zeros(1024).unwrap();
        match shares(&mut out).block(1024).attributes(device) {
            Err(error) => {
                assert!(device.is_simulator(), "{error}");
                assert!(matches!(error, Error::Launch { reason: LaunchError::NoMachineCode, .. }), "{error}");
            }
            Ok(found) => {
                assert!((1..=64).contains(&found.registers) && found.local_bytes == 0, "{found:?}");
                assert!(found.shared_bytes >= 4096 && found.max_threads_per_block >= 1024, "{found:?}");
                assert!((1..=2).contains(&found.blocks_per_multiprocessor) && found.multiprocessors > 16, "{found:?}");
            }
        }
        let error = shares(&mut out).attributes(device).unwrap_err();
        assert!(matches!(error, Error::Launch { reason: LaunchError::NoBlock, .. }), "{error}");
    });
}

#[test]
fn the_largest_cluster_runs() {
    on_each_device(|device| {
        let mut out = device.zeros::<u32>(16 * 64).unwrap();
        let most = shares(&mut out).block(64).max_potential_cluster_size(device).unwrap();
        assert_eq!(most, 8, "{device}");
        shares(&mut out).grid(most).cluster(most).block(64).launch(device).unwrap();
        let wider = wide(&mut out).block(64).cluster(2).max_potential_cluster_size(device).unwrap();
        assert!(wider == 16 || wider == 8, "{device}: {wider}");
        wide(&mut out).grid(wider).cluster(wider).block(64).launch(device).unwrap();
        assert_eq!(out.read().unwrap()[0], wider, "{device}");
    });
}
