//! Types of other meanings with the names of the language's.

use phalanx::prelude::*;

mod others {
    pub type ArrivalToken<T> = (u32, T);
    pub type Barriers<const N: usize> = [u32; N];
    pub type Cluster = phalanx::Grid;
    pub type ClusterBarrier = u32;
    pub type ClusterBarriers<const N: usize> = [u32; N];
    pub type CoalescedGroup = phalanx::Grid;
    pub type Grid = phalanx::Cluster;
    pub type Option<T> = Result<T, ()>;
    pub type RemoteArray<T, const N: usize> = phalanx::SharedArray<T, N>;
    pub type RemoteBarrier = u32;
    pub type RemoteSlice<T> = phalanx::SharedSlice<T>;
    pub type SharedArray<T, const N: usize> = phalanx::RemoteArray<T, N>;
    pub type SharedSlice<T> = phalanx::RemoteSlice<T>;
    pub type TensorMap<T> = [T; 4];
    pub type ThreadBlock = phalanx::Grid;
    pub type Tile<const N: u32> = phalanx::CoalescedGroup;
}

use others::{
    ArrivalToken, Barriers, Cluster, ClusterBarrier, ClusterBarriers, CoalescedGroup, Grid, Option, RemoteArray,
    RemoteBarrier, RemoteSlice, SharedArray, SharedSlice, TensorMap, ThreadBlock, Tile,
};

#[device]
fn groups(a: &CoalescedGroup, b: &Tile<32>, c: &ThreadBlock, d: &Cluster, e: &Grid, f: ArrivalToken<Cluster>) {
    d.barrier_wait(f);
}

#[device]
fn memory(a: &SharedArray<u32, 4>, b: &SharedSlice<u32>, c: RemoteArray<u32, 4>, d: RemoteSlice<u32>) -> Option<u32> {
    None
}

#[device]
fn barriers(a: &Barriers<4>, b: &ClusterBarrier, c: &ClusterBarriers<4>, d: RemoteBarrier) {}

#[device]
fn tensors(a: &TensorMap<[f32; 4]>, b: &mut TensorMap<[f32; 4]>) {}

#[device]
fn in_a_path(a: &others::SharedArray<u32, 4>) {}

fn main() {}
