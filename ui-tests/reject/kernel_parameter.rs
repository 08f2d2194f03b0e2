//! Parameters and results that a kernel cannot have.

use phalanx::prelude::*;

#[cluster_kernel]
fn group(cluster: &Cluster) {}

#[cluster_kernel]
fn shared(array: &SharedArray<u32, 32>) {}

#[cluster_kernel]
fn reference(x: &u32) {}

#[cluster_kernel]
fn tuple(pair: (f32, u32)) {}

#[cluster_kernel]
fn token(token: ArrivalToken<Cluster>) {}

#[cluster_kernel]
fn result() -> u32 {
    3
}

fn main() {}
