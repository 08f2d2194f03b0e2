//! The output of kernels on a GPU: a buffer in device memory, which threads fill through an atomic cursor, and its
//! conversion to text. `print.cuh` defines the layout; `queue` decides when it is read. Each stream has its
//! own, which is allocated when the first kernel that prints is launched there.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use super::ffi::{self, Allocation};
use crate::program::Program;
use crate::report::error::Result;
use crate::report::output::{PRINT_BYTES, Printed, RECORD_BYTES};

/// The size of `print_buffer` of `print.cuh`: bytes in use, and records lost.
const HEADER_BYTES: u64 = 16;

/// The buffer that kernels print to.
pub(super) struct Prints {
    memory: Allocation,
    /// Whether a launch may have printed since it was last read.
    used: bool,
}

/// The contents of the buffer.
#[derive(Default)]
pub(super) struct Records {
    bytes: Vec<u8>,
    lost: u64,
}

impl Prints {
    /// Allocates an empty buffer.
    pub(super) fn new(stream: &Arc<CudaStream>) -> Result<Self> {
        let memory = ffi::allocate(stream, (HEADER_BYTES + PRINT_BYTES) as usize)?;
        ffi::clear(stream, memory.region())?;
        Ok(Prints { memory, used: false })
    }

    /// Returns the buffer's address, for a launch that prints.
    pub(super) fn address(&mut self) -> u64 {
        self.used = true;
        self.memory.address()
    }

    /// Empties the buffer, after all launches on its stream. Nothing is enqueued there meanwhile.
    pub(super) fn take(&mut self, stream: &Arc<CudaStream>) -> Result<Records> {
        if !self.used {
            return Ok(Records::default());
        }
        self.used = false;
        let memory = self.memory.region();
        let header = ffi::read::<u64>(stream, memory.part(0, HEADER_BYTES as usize))?;
        let (used, lost) = (header[0].min(PRINT_BYTES), header[1]);
        let bytes = ffi::read::<u8>(stream, memory.part(HEADER_BYTES as usize, used as usize))?;
        ffi::clear(stream, memory)?;
        Ok(Records { bytes, lost })
    }
}

impl Records {
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.lost == 0
    }

    /// Returns the texts, in the order of launches, blocks, threads, and of each thread's statements. `programs` are
    /// the kernels by their numbers, which wrote the records.
    pub(super) fn printed(self, programs: &[Arc<Program>]) -> Printed {
        let mut records = Vec::new();
        let mut rest = &self.bytes[..];
        // The first record that found no space left a gap of zeros, and no record follows it.
        while let Some(record) = Record::first(rest) {
            rest = &rest[record.bytes..];
            records.push(record);
        }
        // A stable sort: each thread reserves space in program order.
        records.sort_by_key(|record| (record.launch, record.block, record.thread));
        Printed { texts: records.iter().map(|record| record.text(programs)).collect(), lost: self.lost }
    }
}

/// The counterpart of `print_record` of `print.cuh`, with its values.
struct Record<'b> {
    bytes: usize,
    site: u32,
    kernel: u32,
    launch: u64,
    block: u64,
    thread: u32,
    values: &'b [u8],
}

impl<'b> Record<'b> {
    /// Returns the record at the start of `bytes`, if it is complete.
    fn first(bytes: &'b [u8]) -> Option<Self> {
        let (header, values) = bytes.split_at_checked(RECORD_BYTES as usize)?;
        let word = |index: usize| {
            let bytes = header[4 * index..4 * index + 4].try_into();
            bytes.map_or(0, u32::from_ne_bytes)
        };
        let length = word(0) as usize;
        Some(Record {
            bytes: length,
            site: word(1),
            kernel: word(2),
            thread: word(3),
            block: u64::from(word(5)) << 32 | u64::from(word(4)),
            launch: u64::from(word(7)) << 32 | u64::from(word(6)),
            values: values.get(..length.checked_sub(RECORD_BYTES as usize)?)?,
        })
    }

    fn text(&self, programs: &[Arc<Program>]) -> String {
        let program = programs.get(self.kernel as usize);
        let format = program.and_then(|program| program.sites().message(self.site));
        // SAFETY: the program wrote the record at this site.
        let text = format.and_then(|format| unsafe { format(self.values) });
        text.unwrap_or_else(|| "(a print that is not in the text)\n".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(launch: u64, block: u64, thread: u32, values: &[u64]) -> Vec<u8> {
        let bytes = RECORD_BYTES as u32 + 8 * values.len() as u32;
        let (high, launch) = ((block >> 32) as u32, [launch as u32, (launch >> 32) as u32]);
        let words = [bytes, 7 << 16 | 9, 0, thread, block as u32, high, launch[0], launch[1]];
        let words = words.iter().flat_map(|word| word.to_ne_bytes());
        words.chain(values.iter().flat_map(|value| value.to_ne_bytes())).collect()
    }

    #[test]
    fn records_follow_each_other() {
        let bytes = [record(2 << 32, 1 << 40, 5, &[3, 4]), record(1, 0, 0, &[])].concat();
        let first = Record::first(&bytes).unwrap();
        assert_eq!((first.bytes, first.site, first.kernel, first.launch), (48, 7 << 16 | 9, 0, 2 << 32));
        assert_eq!((first.block, first.thread), (1 << 40, 5));
        assert_eq!(first.values, [3u64, 4].map(u64::to_ne_bytes).concat());
        assert_eq!(Record::first(&bytes[48..]).unwrap().values, [0u8; 0]);
    }

    #[test]
    fn what_is_not_whole_is_no_record() {
        assert!(Record::first(&[0; 64]).is_none(), "a gap");
        let whole = record(1, 0, 0, &[3]);
        assert!(Record::first(&whole[..39]).is_none());
        let records = Records { bytes: [whole, vec![0; 48]].concat(), lost: 2 };
        let printed = records.printed(&[]);
        assert_eq!(printed.lost, 2);
        assert_eq!(printed.texts, ["(a print that is not in the text)\n"]);
    }
}
