//! Device functions that kernels in other files call: `reject/rings_of_files.rs` and `accept/rings_of_files.rs`.

use phalanx::prelude::*;

pub(crate) const STAGES: u32 = 2;

/// Waits until a stage has been read.
#[device]
pub(crate) fn wait_for_readers(empty: &Barriers<2>, round: u32) {
    empty[round % STAGES].wait_parity(round / STAGES % 2 == 0);
}

/// Waits until a stage has been filled.
#[device]
pub(crate) fn wait_for_writers(full: &Barriers<2>, round: u32) {
    full[round % STAGES].wait_parity(round / STAGES % 2 == 1);
}

/// Says that a stage may be filled again.
#[device]
pub(crate) fn release(empty: &Barriers<2>, round: u32) {
    let _ = empty[round % STAGES].arrive();
}

/// A value with its lower half first.
#[device]
pub(crate) fn turned(value: u32) -> u32 {
    if value == 0 {
        return 0;
    }
    value.rotate_left(16)
}
