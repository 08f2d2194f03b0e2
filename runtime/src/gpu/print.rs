//! The output of kernels on a GPU: a buffer in device memory, which threads fill through an atomic cursor, and its
//! conversion to text. `print.cuh` defines the layout; `context` decides when it is read. Only modules that print know
//! the buffer, which is allocated when the first of them is launched.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use super::ffi::{self, GpuMemory};
use crate::program::Program;
use crate::report::error::Result;
use crate::report::output::{PRINT_BYTES, Printed, RECORD_BYTES};

/// The counterpart of `print_sink` of `print.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Sink {
    buffer: u64,
    bytes: u64,
    kernel: u32,
    launch: u32,
}

/// The size of `print_buffer` of `print.cuh`: bytes in use, and records lost.
const HEADER_BYTES: u64 = 16;

const _: () = assert!(size_of::<Sink>() == 24);

/// The buffer that kernels print to.
pub(super) struct Prints {
    memory: GpuMemory,
    /// The number of launches that may have printed since it was last read.
    launches: u32,
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
        let mut memory = ffi::allocate(stream, (HEADER_BYTES + PRINT_BYTES) as usize)?;
        ffi::clear(stream, &mut memory)?;
        Ok(Prints { memory, launches: 0 })
    }

    /// Returns the sink for the next launch, of the kernel with this number.
    pub(super) fn sink(&mut self, stream: &Arc<CudaStream>, kernel: usize) -> Sink {
        self.launches += 1;
        let buffer = ffi::address(stream, &self.memory);
        Sink { buffer, bytes: PRINT_BYTES, kernel: kernel as u32, launch: self.launches }
    }

    /// Empties the buffer. The stream must be idle.
    pub(super) fn take(&mut self, stream: &Arc<CudaStream>) -> Result<Records> {
        if self.launches == 0 {
            return Ok(Records::default());
        }
        self.launches = 0;
        let header = ffi::read::<u64>(stream, &self.memory, 2)?;
        let (used, lost) = (header[0].min(PRINT_BYTES), header[1]);
        let mut bytes = ffi::read::<u8>(stream, &self.memory, (HEADER_BYTES + used) as usize)?;
        bytes.drain(..HEADER_BYTES as usize);
        ffi::clear(stream, &mut self.memory)?;
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
    launch: u32,
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
            launch: word(3),
            block: u64::from(word(5)) << 32 | u64::from(word(4)),
            thread: word(6),
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

    fn record(launch: u32, block: u64, thread: u32, values: &[u64]) -> Vec<u8> {
        let bytes = RECORD_BYTES as u32 + 8 * values.len() as u32;
        let words = [bytes, 7 << 16 | 9, 0, launch, block as u32, (block >> 32) as u32, thread, 0];
        let words = words.iter().flat_map(|word| word.to_ne_bytes());
        words.chain(values.iter().flat_map(|value| value.to_ne_bytes())).collect()
    }

    #[test]
    fn records_follow_each_other() {
        let bytes = [record(2, 1 << 40, 5, &[3, 4]), record(1, 0, 0, &[])].concat();
        let first = Record::first(&bytes).unwrap();
        assert_eq!((first.bytes, first.site, first.kernel, first.launch), (48, 7 << 16 | 9, 0, 2));
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
