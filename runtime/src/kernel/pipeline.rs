//! The position of a thread in a ring of stages that producers fill and consumers empty ([`Pipeline`]). It is written
//! in the kernel language itself, for phase barriers that the kernel makes. It keeps only the stage and the parity.

use phalanx_macros::{DeviceCopy, device};

use crate::kernel::barrier::Barriers;

/// The position of one thread in a ring of `STAGES` stages, each with a barrier for "full" and one for "empty". Each
/// producer and each consumer has its own, from [`Pipeline::new`], and passes it the barriers. The names are those of
/// `cuda::pipeline`.
///
/// The full barriers expect as many arrivals as threads commit a stage, and the empty barriers as many as threads
/// release it. The bytes of asynchronous copies are expected on the stage's full barrier between `producer_acquire` and
/// `producer_commit`.
///
/// ```
/// # use phalanx::prelude::*;
/// /// The sum of all chunks: one thread prefetches up to three of them, the other warps add them up.
/// #[cluster_kernel(block = 96)]
/// fn sums(input: &[u32], out: &mut [u32], chunks: u32) {
///     let block = this_thread_block();
///     let i = block.thread_rank();
///     let stages = shared_array::<[u32; 64], 3>();
///     let full = shared_barriers::<3>();
///     let empty = shared_barriers::<3>();
///     full.init_collective(&block, 1);
///     empty.init_collective(&block, 64);
///     let mut pipeline = Pipeline::<3>::new();
///     if i == 64 {
///         for chunk in 0..chunks {
///             let stage = pipeline.producer_acquire(&empty);
///             full[stage].expect_tx(256);
///             bulk_copy_async(&stages[stage], &input[chunk * 64..(chunk + 1) * 64], &full[stage]);
///             pipeline.producer_commit(&full);
///         }
///     } else if i < 64 {
///         let mut sum = 0;
///         for _ in 0..chunks {
///             let stage = pipeline.consumer_wait(&full);
///             sum += stages[stage][i];
///             pipeline.consumer_release(&empty);
///         }
///         out[i] = sum;
///     }
/// }
/// # fn main() -> phalanx::Result<()> {
/// # let device = Device::simulator();
/// # let input = device.upload(&Vec::from_iter(0..640u32))?;
/// # let mut out = device.zeros(64)?;
/// # sums(&input, &mut out, 10).grid(1).launch(&device)?;
/// # assert_eq!(out.read()?[5], 45 * 64 + 50);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, DeviceCopy)]
#[repr(C)]
pub struct Pipeline<const STAGES: usize> {
    stage: u32,
    /// The parity of the round through the ring, 0 or 1.
    parity: u32,
}

#[device]
impl<const STAGES: usize> Pipeline<STAGES> {
    /// Returns the position before the first stage; all stages are empty.
    #[allow(clippy::new_without_default, reason = "a kernel writes `new`")]
    pub fn new() -> Pipeline<STAGES> {
        Pipeline { stage: 0, parity: 0 }
    }

    /// Waits until the current stage is empty, and returns its number. The thread may then fill it.
    pub fn producer_acquire(&self, empty: &Barriers<STAGES>) -> u32 {
        // On a fresh barrier, the phase before the first has completed.
        empty[self.stage].wait_parity(self.parity == 0);
        self.stage
    }

    /// Arrives at the stage's full barrier, and advances to the next stage.
    pub fn producer_commit(&mut self, full: &Barriers<STAGES>) {
        let _ = full[self.stage].arrive();
        (self.stage, self.parity) = behind::<STAGES>(self.stage, self.parity);
    }

    /// Waits until the current stage is full, and returns its number. The thread may then read it.
    pub fn consumer_wait(&self, full: &Barriers<STAGES>) -> u32 {
        full[self.stage].wait_parity(self.parity == 1);
        self.stage
    }

    /// Arrives at the stage's empty barrier, and advances to the next stage.
    pub fn consumer_release(&mut self, empty: &Barriers<STAGES>) {
        let _ = empty[self.stage].arrive();
        (self.stage, self.parity) = behind::<STAGES>(self.stage, self.parity);
    }

    /// Advances to the next stage without an arrival, if another thread arrives on behalf of this one, as one thread of
    /// a warp may for all.
    pub fn advance(&mut self) {
        (self.stage, self.parity) = behind::<STAGES>(self.stage, self.parity);
    }
}

/// Returns the position behind a stage and a parity. It is a function because only the results of functions are known to be uniform
/// where their arguments are, whichever method calls them.
#[device]
fn behind<const STAGES: usize>(stage: u32, parity: u32) -> (u32, u32) {
    if stage as usize + 1 == STAGES { (0, 1 - parity) } else { (stage + 1, parity) }
}

impl<const STAGES: usize> Pipeline<STAGES> {
    /// Tells this type from others of its name, whose constant is that of [`OtherPipeline`]: the checks know what its methods do.
    #[doc(hidden)]
    pub const IS_OURS: bool = true;
}

/// What generated code asks of a type that is named `Pipeline`.
pub trait OtherPipeline {
    /// Whether the type is [`Pipeline`].
    const IS_OURS: bool = false;
}

impl<T> OtherPipeline for T {}
