//! The record that a failing kernel leaves in pinned memory, and its conversion to a [`Failure`]. `failure.cuh` defines
//! the layout; `slots` decides when it is cleared.

use std::time::Duration;

use crate::location::Location;
use crate::program::Program;
use crate::program::message::MOST_BYTES;
use crate::program::types::bytes_of;
use crate::report::failure::{Cause, Failure, WaitingThreads};
use crate::scalar::Scalar;
use crate::shape::Dim3;

/// The counterpart of `failure_record` of `failure.cuh`.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Record {
    /// One of the states below. It is written last.
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

/// The number of places at which waits of a launch that is ended are noted: `most_waits` of deadline.cuh.
const MOST_WAITS: usize = 7;

impl Record {
    /// The states of a record in which nothing stands, of one that describes a failure, and of one whose launch has a deadline: it has begun, or
    /// ended without a failure.
    pub(super) const EMPTY: u32 = 0;
    pub(super) const FAILED: u32 = 1;
    pub(super) const RUNS: u32 = 2;
    pub(super) const ENDED: u32 = 3;

    /// The causes of a launch that has ended because of its deadline, and of one that has not.
    const DEADLINE: u32 = 29;
    const DEADLINE_IGNORED: u32 = 30;

    /// Returns what a launch with this deadline begins with: `timed_record` of deadline.cuh, as words.
    pub(super) fn timed(limit: Duration) -> [u64; size_of::<Record>() / size_of::<u64>() + 2] {
        let (begun, limit) = (0, limit.as_nanos().try_into().unwrap_or(u64::MAX));
        let mut words = [0; size_of::<Record>() / size_of::<u64>() + 2];
        let [state, .., of_beginning, of_limit] = &mut words;
        (*state, *of_beginning, *of_limit) = (Record::ENDED.into(), begun, limit);
        words
    }

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
            Record::DEADLINE => Cause::Deadline { limit: self.limit(), waiting: self.waiting(program) },
            Record::DEADLINE_IGNORED => Cause::DeadlineIgnored { limit: self.limit() },
            31 => Cause::ProductDepth { depths: [self.word(0), self.word(1)], step: self.word(2) },
            other => Cause::Panic(format!("a failure record of unknown kind {other}")),
        };
        let (site, block, thread) = match self.cause {
            Record::DEADLINE => {
                let [key, x, rest, ..] = self.values;
                let (block, thread) = indices(x, rest);
                (key as u32, block, thread)
            }
            _ => (self.site, self.block, self.thread),
        };
        let dim = |[x, y, z]: [u32; 3]| Dim3::new(x, y, z);
        Failure {
            kernel: program.name().into(),
            location: location(program, site),
            calls: Vec::new(),
            cause,
            block: dim(block),
            thread: dim(thread),
            schedule: None,
        }
    }

    /// Returns the record of a launch that goes on past its deadline.
    pub(super) fn of_ignored_deadline(kernel: u32, limit: Duration) -> Record {
        let mut record = Record { state: Record::FAILED, cause: Record::DEADLINE_IGNORED, kernel, ..Record::default() };
        record.values[MOST_BYTES / 8 - 1] = limit.as_nanos() as u64;
        record
    }

    fn limit(&self) -> Duration {
        Duration::from_nanos(self.values[MOST_BYTES / 8 - 1])
    }

    /// Returns where the threads of a launch waited at its deadline.
    fn waiting(&self, program: &Program) -> Vec<WaitingThreads> {
        let (entries, _) = self.values[..4 * MOST_WAITS].as_chunks::<4>();
        let of_entry = |[key, x, rest, pending]: &[u64; 4]| {
            let (what, spins) = match key >> 32 {
                1 => (at_phase_barrier(*pending as u32), false),
                2 => ("wait at the block's barrier".into(), false),
                3 => ("wait at the grid's barrier".into(), false),
                _ => ("use an atomic".into(), true),
            };
            let (block, thread) = indices(*x, *rest);
            WaitingThreads {
                what,
                location: location(program, *key as u32),
                calls: Vec::new(),
                spins,
                threads: *x as u32 as usize,
                first: (block.into(), thread.into()),
                missing: Vec::new(),
            }
        };
        entries.iter().take_while(|[key, ..]| *key != 0).map(of_entry).collect()
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

/// Describes a wait for a phase that still expects so many arrivals, or of which nothing is known.
fn at_phase_barrier(pending: u32) -> String {
    let expected = match pending {
        0 => return "wait at a phase barrier".into(),
        1 => "1 arrival".into(),
        _ => format!("{pending} arrivals"),
    };
    format!("wait at a phase barrier, for a phase that still expects {expected}")
}

/// Returns the place of a site of the program, or else the line that `#line` gave to the compiler.
fn location(program: &Program, site: u32) -> Option<Location> {
    let (line, column) = (site >> 16, site & 0xffff);
    let line_only = || (line != 0).then(|| Location { file: program.file().into(), line, column });
    program.sites().find(site).or_else(line_only)
}

/// Returns the indices of a block and a thread from the last words of an entry (deadline.cuh).
fn indices(x: u64, rest: u64) -> ([u32; 3], [u32; 3]) {
    let (yz, thread) = (rest as u32, (rest >> 32) as u32);
    ([(x >> 32) as u32, yz >> 16, yz & 0xffff], [thread & 1023, thread >> 10 & 1023, thread >> 20])
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::super::nvrtc::tests::copy;
    use super::*;
    use crate::program::types::constant;

    #[test]
    fn the_layout_is_the_prelude_s() {
        let offsets = [
            offset_of!(Record, state),
            offset_of!(Record, cause),
            offset_of!(Record, site),
            offset_of!(Record, block),
            offset_of!(Record, tags),
            offset_of!(Record, thread),
            offset_of!(Record, values),
        ];
        assert_eq!(offsets, [0, 4, 8, 16, 28, 32, 48]);
    }

    #[test]
    fn a_late_launch_says_where_its_threads_waited() {
        let program = copy(constant(&7u32));
        let limit = Duration::from_millis(20);
        let mut record = Record { state: Record::FAILED, cause: Record::DEADLINE, ..Record::default() };
        record.values[..4].copy_from_slice(&[
            1 << 32 | 4 << 16,
            31 | 5 << 32,
            6 << 16 | 7 | (9 << 20 | 8 << 10 | 3) << 32,
            2,
        ]);
        record.values[4..8].copy_from_slice(&[1 << 32 | 4 << 16 | 9, 2, 0, 0]);
        record.values[8..12].copy_from_slice(&[4 << 32 | 5 << 16 | 2, 1, 0, 0]);
        record.values[31] = limit.as_nanos() as u64;
        let failure = record.failure(&program);
        assert_eq!((failure.block, failure.thread), (Dim3::new(5, 6, 7), Dim3::new(3, 8, 9)));
        let text = failure.to_string();
        let expected = [
            "the launch was ended at its deadline of 20ms, when its threads waited",
            "31 thread(s), first block (5,6,7) thread (3,8,9): wait at a phase barrier, for a phase that still expects 2 arrivals, at src/demo.rs:4:5",
            "2 thread(s), first block (0,0,0) thread (0,0,0): wait at a phase barrier, at",
            "1 thread(s), first block (0,0,0) thread (0,0,0): use an atomic, at src/demo.rs:5:2",
        ];
        assert!(expected.iter().all(|expected| text.contains(expected)), "{text}");
        let text = Record::of_ignored_deadline(3, limit).failure(&program).to_string();
        assert!(text.contains("did not end at its deadline of 20ms"), "{text}");
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
