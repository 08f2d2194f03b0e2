//! The texts of what stopped a kernel.

use std::fmt;

use super::Cause;
use crate::location::Location;
use crate::report::render;
use crate::report::waiting::{called_from, threads};

/// A place in shared memory: an element, if it is known, of an array that is named as the source names it, if that is there.
fn place(byte: usize, element: Option<usize>, declared: Option<&Location>) -> String {
    let what = match element {
        Some(element) => format!("element {element} (byte {byte})"),
        None => format!("byte {byte}"),
    };
    match (declared, declared.and_then(render::declared_name)) {
        (_, Some(name)) => format!("{what} of `{name}`"),
        (Some(location), None) => format!("{what} of the shared array at {location}"),
        (None, None) => format!("{what} of the dynamic shared memory"),
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::IndexOutOfBounds { index, length } => write!(f, "index {index} out of bounds for length {length}"),
            Cause::RangeOutOfBounds { start, end, inclusive, length } => {
                let dots = if *inclusive { "..=" } else { ".." };
                write!(f, "range {start}{dots}{end} out of bounds for length {length}")
            }
            Cause::MisalignedVector { index, bytes } => {
                write!(
                    f,
                    "a vector of {bytes} bytes must be aligned to {bytes} bytes, but the one at index {index} is not"
                )
            }
            Cause::MatrixOutOfBounds { start, count, length, columns } => {
                let lines = if *columns { "columns" } else { "rows" };
                write!(
                    f,
                    "a matrix of {count} {lines} from {start} on is out of bounds for the {length} {lines} of the memory"
                )
            }
            Cause::MisalignedMatrix { column } => {
                write!(f, "a matrix must start at a multiple of 16 bytes, but the one from column {column} on does not")
            }
            Cause::DynamicSharedMisaligned { offset, alignment } => {
                write!(f, "a type of alignment {alignment} cannot start at byte {offset} of dynamic shared memory")
            }
            Cause::DynamicSharedOutOfBounds { offset, length, size, available } => write!(
                f,
                "{length} elements of {size} bytes from byte {offset} exceed the {available} bytes of dynamic shared memory"
            ),
            Cause::DivisionByZero { dividend } => write!(f, "attempt to divide {dividend} by zero"),
            Cause::DivisionOverflow { dividend } => write!(f, "attempt to divide {dividend} by -1 with overflow"),
            Cause::PartialTile { threads, size } => {
                write!(f, "a block of {threads} threads cannot be partitioned into tiles of {size}")
            }
            Cause::RankOutOfRange { rank, num_blocks } => {
                write!(f, "block rank {rank} out of range for a cluster of {num_blocks} blocks")
            }
            Cause::RepeatedReceiver { rank } => {
                write!(
                    f,
                    "a multicast must name each block that receives it once, but block rank {rank} is in the list twice"
                )
            }
            Cause::BarrierCount { count } => {
                write!(f, "a phase cannot expect {count} arrivals: the count must be 1 to 1048575")
            }
            Cause::CopyLengths { to, from } => {
                write!(
                    f,
                    "the source and the destination of a copy must have the same length, but have {from} and {to} elements; take a part of the longer one: `&x[..n]`"
                )
            }
            Cause::BulkBytes { bytes } => {
                write!(
                    f,
                    "the size of a bulk copy must be a multiple of 16 bytes, but is {bytes}; `memcpy_async` copies any number"
                )
            }
            Cause::BulkMisaligned { to, from } => write!(
                f,
                "both addresses of a bulk copy must be multiples of 16, but the destination is {to} and the source {from} bytes past one; `memcpy_async` copies from and to any element"
            ),
            Cause::MisalignedTile { past } => write!(
                f,
                "a tile that is copied from or to a tensor must start at a multiple of 128 bytes, but this one starts {past} bytes past one; give tiles that follow each other a multiple of 128 bytes"
            ),
            Cause::MisalignedCoordinate { at, elements } => write!(
                f,
                "the last coordinate of a tile must be a multiple of 16 bytes, which are {elements} elements here, but is {at}; begin the tile at such a multiple"
            ),
            Cause::NegativeCoordinate { at, dimension } => write!(
                f,
                "a tile must not be written to a tensor from a negative coordinate on, but coordinate {dimension} is {at}; only loads may begin before the tensor"
            ),
            Cause::ProductRows { rows: [a, b], expected: [rows, columns] } => write!(
                f,
                "this product takes {rows} rows of its left operand and {columns} of its right one, whose rows are the columns of the sum, but they have {a} and {b}; pass a part, such as `&tile[0..{rows}]`"
            ),
            Cause::ProductDepth { depths: [left, right], step } => write!(
                f,
                "the operands of this product must have as many elements in the direction of the sum, a multiple of {step}, but they have {left} and {right}; a transposed tile has one for each of its rows"
            ),
            Cause::MisalignedOperand { past, pattern } => write!(
                f,
                "an operand of a warpgroup's product must start at a multiple of {pattern} bytes, 8 of its rows, but this one starts {past} bytes past one; begin it at a row that is a multiple of 8"
            ),
            Cause::Assertion(message) | Cause::Panic(message) => f.write_str(message),
            Cause::Deadlock(waiting) | Cause::SpinLimit { waiting, .. } | Cause::Deadline { waiting, .. } => {
                f.write_str(&self.title())?;
                for group in waiting {
                    let waiting = threads(group.threads, group.first, &group.what, group.location.as_ref());
                    write!(f, "\n  {waiting}{}", called_from(&group.calls))?;
                    for missing in &group.missing {
                        let missing = threads(missing.threads, missing.first, &missing.what, missing.location.as_ref());
                        write!(f, "\n    {}: {missing}", group.lacks())?;
                    }
                }
                Ok(())
            }
            Cause::DeadlineIgnored { limit } => write!(
                f,
                "the launch did not end at its deadline of {limit:?}, and cannot be ended: its threads wait at a barrier of the hardware \
                 (`block.sync()`, `cluster.sync()`, a warp's collective), or loop without a wait; the GPU is busy with it until the process ends"
            ),
            Cause::UninitializedShared { byte, element, declared, rank, copy: Some(copy) } => {
                let place = place(*byte, *element, declared.as_ref());
                write!(
                    f,
                    "a copy to shared memory must be waited for before the memory is read, but the copy at {copy} to {place} of block rank {rank} is still in flight"
                )
            }
            Cause::UninitializedShared { byte, element, declared, rank, copy: None } => {
                let place = place(*byte, *element, declared.as_ref());
                write!(
                    f,
                    "shared memory must be written before it is read, but {place} of block rank {rank} was never written"
                )
            }
            Cause::PeerMayNotHaveStarted { rank } => {
                write!(
                    f,
                    "a barrier of the cluster must come before the first access to a peer's shared memory: block rank {rank} may not have started"
                )
            }
            Cause::PeerMayHaveExited { rank } => {
                write!(
                    f,
                    "a barrier of the cluster must come after the last access to a peer's shared memory: block rank {rank} may have exited"
                )
            }
            Cause::Race(race) => race.fmt(f),
            Cause::Protocol(what) => f.write_str(what),
            Cause::NoClosure => {
                write!(f, "`cuda!` needs a closure to run in the simulator: write `else |x| ..` after its operands")
            }
            Cause::StepLimit(limit) => {
                write!(f, "a thread exceeded the limit of {limit} loop iterations, which `Simulator::step_limit` sets")
            }
        }
    }
}
