//! The record that a failing kernel leaves in pinned memory, and its conversion to a [`Failure`]. `failure.cuh` defines
//! the layout; `slots` decides when it is cleared.

use crate::location::Location;
use crate::program::Program;
use crate::program::message::MOST_BYTES;
use crate::program::types::bytes_of;
use crate::report::failure::{Cause, Failure};
use crate::scalar::Scalar;
use crate::shape::Dim3;

/// The counterpart of `failure_record` of `failure.cuh`.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Record {
    /// The state, which becomes 1 when the rest has been written.
    pub(super) state: u32,
    cause: u32,
    site: u32,
    /// The loaded kernel that failed: `kernel` of its launch's block.
    pub(super) kernel: u32,
    block: [u32; 3],
    tags: [u8; 4],
    thread: [u32; 3],
    values: [u64; MOST_BYTES / 8],
}

const _: () = assert!(size_of::<Record>() == 304 && align_of::<Record>() == 16);

impl Record {
    /// Returns the failure that the record describes, in terms of `program`, which wrote it.
    pub(super) fn failure(&self, program: &Program) -> Failure {
        let dividend = self.value(0).unwrap_or(Scalar::Signed(0, "i64"));
        let cause = match self.cause {
            1 => Cause::IndexOutOfBounds { index: self.index(0), length: self.word(1) },
            2 => Cause::DivisionByZero { dividend },
            3 => Cause::DivisionOverflow { dividend },
            4 => Cause::RankOutOfRange { rank: self.word(0) as u32, num_blocks: self.word(1) as u32 },
            5 => Cause::Assertion(self.message(program)),
            6 => Cause::Panic(self.message(program)),
            7 => Cause::step_of_zero(),
            8 => Cause::PartialTile { threads: self.word(0) as u32, size: self.word(1) as u32 },
            9 => Cause::BarrierCount { count: self.word(0) as u32 },
            10 => Cause::CopyLengths { to: self.word(0), from: self.word(1) },
            11 => Cause::BulkBytes { bytes: self.word(0) },
            12 => Cause::BulkMisaligned { to: self.word(0), from: self.word(1) },
            16 | 17 => Cause::RangeOutOfBounds {
                start: self.index(0),
                end: self.index(1),
                inclusive: self.cause == 17,
                length: self.word(2),
            },
            18 => Cause::MisalignedVector { index: self.index(0), bytes: self.word(1) },
            19 => Cause::DynamicSharedMisaligned { offset: self.index(0), alignment: self.word(1) },
            20 => Cause::DynamicSharedOutOfBounds {
                offset: self.index(0),
                length: self.index(1),
                size: self.word(2),
                available: self.word(3),
            },
            21 => Cause::MatrixOutOfBounds {
                start: self.index(0),
                count: self.word(1),
                length: self.word(2),
                columns: self.word(3) != 0,
            },
            22 => Cause::MisalignedMatrix { column: self.index(0) },
            23 => Cause::MisalignedTile { past: self.word(0) },
            24 => Cause::MisalignedCoordinate { at: self.word(0) as i32, elements: self.word(1) },
            25 => Cause::NegativeCoordinate { at: self.word(0) as i32, dimension: self.word(1) },
            26 => Cause::ProductRows { rows: [self.word(0), self.word(1)], expected: [self.word(2), self.word(3)] },
            27 => Cause::MisalignedOperand { past: self.word(0), pattern: self.word(1) },
            28 => Cause::RepeatedReceiver { rank: self.word(0) as u32 },
            other => Cause::Panic(format!("a failure record of unknown kind {other}")),
        };
        let dim = |[x, y, z]: [u32; 3]| Dim3::new(x, y, z);
        Failure {
            kernel: program.name().into(),
            location: program.sites().find(self.site).or_else(|| self.line_only(program)),
            calls: Vec::new(),
            cause,
            block: dim(self.block),
            thread: dim(self.thread),
            schedule: None,
        }
    }

    /// Returns the line that `#line` gave to the compiler, for a position that is not a site of the program.
    fn line_only(&self, program: &Program) -> Option<Location> {
        let (line, column) = (self.site >> 16, self.site & 0xffff);
        (line != 0).then(|| Location { file: program.file().into(), line, column })
    }

    /// Returns a word of the operands of a built-in check.
    fn word(&self, index: usize) -> u64 {
        self.values[index]
    }

    /// Returns a value that is an index, which is unsigned if its type is.
    fn index(&self, value: usize) -> i128 {
        match self.value(value) {
            Some(Scalar::Unsigned(index, _)) => index as i128,
            _ => self.word(value) as i64 as i128,
        }
    }

    /// Returns an operand of a built-in check. A value of two words is the only operand.
    fn value(&self, index: usize) -> Option<Scalar> {
        let (low, high) = (self.values[index], self.values[index + 1]);
        let wide = u128::from(high) << 64 | u128::from(low);
        match self.tags[index] {
            1 => Some(Scalar::Signed((low as i64).into(), "i64")),
            2 => Some(Scalar::Unsigned(low.into(), "u64")),
            3 => Some(Scalar::Signed(wide as i128, "i128")),
            4 => Some(Scalar::Unsigned(wide, "u128")),
            _ => None,
        }
    }

    fn message(&self, program: &Program) -> String {
        let format = program.sites().message(self.site);
        let values = self.values.get(..self.tags[0] as usize).unwrap_or_default();
        // SAFETY: `program` wrote the values at this site, and `state` says that all of them are there.
        let text = format.and_then(|format| unsafe { format(bytes_of(values)) });
        let text = text.or_else(|| program.sites().text(self.site).map(String::from));
        text.unwrap_or_else(|| "a message that is not in the text".into())
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn the_layout_is_the_prelude_s() {
        let offsets = [
            offset_of!(Record, state),
            offset_of!(Record, site),
            offset_of!(Record, block),
            offset_of!(Record, tags),
            offset_of!(Record, thread),
            offset_of!(Record, values),
        ];
        assert_eq!(offsets, [0, 8, 16, 28, 32, 48]);
    }

    #[test]
    fn values_come_with_their_sign_and_all_their_bits() {
        let mut record = Record { tags: [1, 2, 0, 0], ..Record::default() };
        record.values[0] = -5i64 as u64;
        record.values[1] = u64::MAX;
        assert_eq!(record.value(0), Some(Scalar::Signed(-5, "i64")));
        assert_eq!(record.value(1), Some(Scalar::Unsigned(u64::MAX.into(), "u64")));
        (record.values[0], record.values[1]) = (5, 1 << 63);
        record.tags = [3, 0, 0, 0];
        assert_eq!(record.value(0), Some(Scalar::Signed(i128::MIN + 5, "i128")));
        record.tags = [4, 0, 0, 0];
        assert_eq!(record.value(0), Some(Scalar::Unsigned((1 << 127) + 5, "u128")));
        record.tags = [0, 9, 0, 0];
        assert_eq!((record.value(0), record.value(1)), (None, None));
    }
}
