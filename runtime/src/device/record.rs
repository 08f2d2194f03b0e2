//! The record that a failing kernel leaves in pinned memory, and its reading as a [`Failure`]. The layout is
//! `failure.cuh`'s; who clears it and when is `gpu`'s.

use crate::failure::{Cause, Failure, Location};
use crate::program::Program;
use crate::program::message;
use crate::program::template::Scalar;
use crate::shape::Dim3;

/// `failure_record` of `failure.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Record {
    /// 1 once the rest is written.
    pub(super) state: u32,
    cause: u32,
    site: u32,
    /// Which loaded kernel: [`Sink::kernel`] of its module.
    pub(super) kernel: u32,
    block: [u32; 3],
    thread: [u32; 3],
    tags: [u32; 4],
    reserved: [u32; 2],
    values: [u64; 4],
}

/// `failure_sink` of `failure.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sink {
    /// The record's address on the device.
    pub(super) record: u64,
    /// A word that the first failing thread takes.
    pub(super) claim: u64,
    /// Words that count the failed threads of each block.
    pub(super) failed_threads: u64,
    /// How many of those.
    pub(super) blocks: u32,
    /// Comes back as [`Record::kernel`].
    pub(super) kernel: u32,
}

const _: () = assert!(size_of::<Record>() == 96 && align_of::<Record>() == 8 && size_of::<Sink>() == 32);

impl Record {
    /// What the record says, in the terms of `program`, which wrote it.
    pub(super) fn failure(&self, program: &Program) -> Failure {
        let found = program.sites().find(self.site);
        let segments = found.as_ref().map_or(&[][..], |(_, segments)| segments);
        let values: Vec<Scalar> = (0..4).map_while(|index| self.value(index)).collect();
        let dividend = values.first().copied().unwrap_or(Scalar::Signed(self.values[0] as i64 as i128, "i64"));
        let cause = match self.cause {
            1 => {
                let index = match values.first() {
                    Some(Scalar::Unsigned(index, _)) => *index as i128,
                    _ => self.values[0] as i64 as i128,
                };
                Cause::IndexOutOfBounds { index, length: self.values[1] }
            }
            2 => Cause::DivisionByZero { dividend },
            3 => Cause::DivisionOverflow { dividend },
            4 => Cause::RankOutOfRange { rank: self.values[0] as u32, num_blocks: self.values[1] as u32 },
            5 => Cause::Assertion(message(segments, &values)),
            6 => Cause::Panic(message(segments, &values)),
            other => Cause::Panic(format!("a failure record of unknown kind {other}")),
        };
        let dim = |[x, y, z]: [u32; 3]| Dim3::new(x, y, z);
        Failure {
            kernel: program.name().into(),
            location: found.map(|(location, _)| location).or_else(|| self.line_only(program)),
            cause,
            block: dim(self.block),
            thread: dim(self.thread),
        }
    }

    /// A line that has no site of ours, as `#line` gave it to the compiler.
    fn line_only(&self, program: &Program) -> Option<Location> {
        let (line, column) = (self.site >> 16, self.site & 0xffff);
        (line != 0).then(|| Location { file: program.file().into(), line, column })
    }

    fn value(&self, index: usize) -> Option<Scalar> {
        let bits = self.values[index];
        match self.tags[index] {
            1 => Some(Scalar::Bool(bits != 0)),
            2 => Some(Scalar::Signed(bits as i64 as i128, "i64")),
            3 => Some(Scalar::Unsigned(bits.into(), "u64")),
            4 => Some(Scalar::F32(f32::from_bits(bits as u32))),
            5 => Some(Scalar::F64(f64::from_bits(bits))),
            _ => None,
        }
    }
}
