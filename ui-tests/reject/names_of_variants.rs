//! Variants, constants and orders of other meanings with the names of the language's.

use phalanx::prelude::*;

mod others {
    pub enum Choice {
        Some(u32),
        None,
    }
    pub enum Outcome {
        Ok(u32),
        Err(u32),
    }
    pub use Choice::{None, Some};
    pub use Outcome::{Err, Ok};
    pub use phalanx::Scope::{
        Block as Cluster, Cluster as Device, Device as System, System as Block,
    };
    pub use std::sync::atomic::Ordering::{
        AcqRel as SeqCst, Acquire as Relaxed, Relaxed as Acquire, Release as AcqRel, SeqCst as Release,
    };
}

use others::{
    AcqRel, Acquire, Block, Cluster, Device, Err, None, Ok, Relaxed, Release, SeqCst, Some, System,
};

#[device]
fn variants(a: Option<u32>) -> Option<u32> {
    match a {
        Some(b) => Some(b + 1),
        None => None,
    }
}

#[cluster_kernel]
fn results(a: &mut [u32]) {
    match a.atomic(0).compare_exchange(1, 2, Relaxed, Relaxed) {
        Ok(b) => a[1] = b,
        Err(b) => a[2] = b,
    }
}

#[device]
fn orders() {
    fence(AcqRel, Block);
    fence(Acquire, Cluster);
    fence(Release, Device);
    fence(SeqCst, System);
}

#[device]
fn in_paths() {
    fence(others::AcqRel, others::Block);
}

fn main() {}
