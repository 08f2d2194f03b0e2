//! Launches on a stream that another library captures into a CUDA graph of its own. The driver records the kernel and what clears its
//! words; nobody tells us when the graph is launched, nor when it is gone. So what the kernel leaves a failure in stays for ever, as the kernel
//! itself does, and whoever next waits for a stream of the device gets the failure. `graph` has the graphs that are ours.

use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::CudaStream;

use super::block::LaunchBlock;
use super::ffi;
use super::ffi::pinned::PinnedRecords;
use super::mode::{Access, Mode};
use super::queue::{GpuMemory, counted_blocks};
use super::record::Record;
use crate::program::Program;
use crate::report::error::{LaunchError, Result};
use crate::shape::Shape;

/// The records of the launches that others have captured, one each.
#[derive(Default)]
pub(super) struct Captured(Mutex<Vec<ManuallyDrop<PinnedRecords>>>);

impl Captured {
    /// Has the stream record what clears the words of a launch of the kernel with this number, and returns its block.
    pub(super) fn block(&self, stream: &Arc<CudaStream>, kernel: usize, shape: &Shape) -> Result<LaunchBlock> {
        let blocks = counted_blocks(shape);
        // The claim, the word of the grid's barrier, and the counts.
        let words = ffi::capture::allocate_for_ever((2 + blocks as usize) * size_of::<u64>())?;
        let records = PinnedRecords::new(stream.context(), 1)?;
        let record = records.address(0);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(ManuallyDrop::new(records));
        ffi::clear(stream, words)?;
        let word = |number: usize| words.part(number * size_of::<u64>(), 0).address();
        Ok(LaunchBlock {
            record,
            claim: word(0),
            grid_barrier: word(1),
            failed_threads: word(2),
            blocks,
            number: 1,
            kernel: kernel as u32,
            ..LaunchBlock::default()
        })
    }

    /// Takes a failure that some launch of a graph has left.
    pub(super) fn take(&self) -> Option<Record> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = all.iter_mut().find(|records| records.state(0) == Record::FAILED)?;
        let record = failed.read(0);
        failed.clear(0);
        Some(record)
    }
}

/// Returns why a stream that another library captures cannot take a launch.
pub(super) fn refused(
    program: &Program,
    mode: Mode,
    has_deadline: bool,
    uses: &[(Arc<GpuMemory>, Access)],
) -> Option<LaunchError> {
    let is_kept = uses.iter().all(|(memory, _)| memory.is_vouched_for());
    mode.refused_in_graph(program, has_deadline).or((!is_kept).then_some(LaunchError::OwnedInGraph))
}
