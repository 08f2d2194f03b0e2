//! Kernels on graphs in compressed rows: breadth-first search, components, ranks, shortest paths.

use phalanx::prelude::*;

use super::below;
use crate::{Module, Outcome, check_list, kernel_list, read, same};

const UNSEEN: u32 = u32::MAX;

/// A level of a breadth-first search: a thread a vertex of the frontier, and the new frontier by an atomic counter
/// (Luo, Wong and Hwu 2010; Merrill, Garland and Grimshaw, "Scalable GPU Graph Traversal", 2012). `counts[0]` is how many
/// there are, `counts[1]` how many there will be.
#[cluster_kernel(block = 64)]
fn expand(
    starts: &[u32],
    edges: &[u32],
    frontier: &[u32],
    next: &mut [u32],
    counts: &mut [u32],
    depths: &mut [u32],
    depth: u32,
) {
    let i = this_grid().thread_rank() as u32;
    if i >= counts[0] {
        return;
    }
    let vertex = frontier[i];
    for edge in starts[vertex]..starts[vertex + 1] {
        let neighbour = edges[edge];
        if depths.atomic(neighbour).compare_exchange(UNSEEN, depth, Relaxed, Relaxed).is_ok() {
            let place = counts.atomic(1).fetch_add(1, Relaxed);
            next[place] = neighbour;
        }
    }
}

/// Returns the root of a vertex's tree, and halves the path on the way.
#[device]
fn root(parents: &mut [u32], vertex: u32) -> u32 {
    let mut current = vertex;
    loop {
        let parent = parents.atomic(current).load(Relaxed);
        if parent == current {
            return current;
        }
        let grandparent = parents.atomic(parent).load(Relaxed);
        parents.atomic(current).fetch_min(grandparent, Relaxed);
        current = grandparent;
    }
}

/// Components by union and find without locks: the larger root is hooked under the smaller (ECL-CC: Jaiganesh and
/// Burtscher, "A High-Performance Connected Components Implementation for GPUs", 2018).
#[cluster_kernel(block = 64)]
fn unite(from: &[u32], to: &[u32], parents: &mut [u32]) {
    let grid = this_grid();
    for edge in (grid.thread_rank()..from.len()).step_by(grid.num_threads()) {
        let mut a = root(parents, from[edge]);
        let mut b = root(parents, to[edge]);
        while a != b {
            let (low, high) = (a.min(b), a.max(b));
            match parents.atomic(high).compare_exchange(high, low, Relaxed, Relaxed) {
                Ok(_) => break,
                Err(_) => {
                    a = root(parents, high);
                    b = root(parents, low);
                }
            }
        }
    }
}

/// Replaces each vertex's parent by its root.
#[cluster_kernel(block = 64)]
fn flatten(parents: &mut [u32]) {
    let vertex = this_grid().thread_rank() as u32;
    if vertex < parents.len() as u32 {
        let root = root(parents, vertex);
        parents.atomic(vertex).store(root, Relaxed);
    }
}

/// A step of PageRank that pulls (nvGRAPH's and Gunrock's), a thread a vertex.
#[cluster_kernel(block = 64)]
fn rank(starts: &[u32], sources: &[u32], degrees: &[u32], ranks: &[f64], out: &mut [f64], damping: f64) {
    let vertex = this_grid().thread_rank() as u32;
    let vertices = out.len() as u32;
    if vertex >= vertices {
        return;
    }
    let mut sum = 0.0;
    for edge in starts[vertex]..starts[vertex + 1] {
        let source = sources[edge];
        sum += ranks[source] / degrees[source] as f64;
    }
    out[vertex] = (1.0 - damping) / vertices as f64 + damping * sum;
}

/// A round of Bellman and Ford's shortest paths over edges, whose distances shrink by atomic minima (Harish and
/// Narayanan, "Accelerating Large Graph Algorithms on the GPU Using CUDA", 2007).
#[cluster_kernel(block = 64)]
fn relax(from: &[u32], to: &[u32], lengths: &[u32], distances: &mut [u64], changed: &mut [u32]) {
    let edge = this_grid().thread_rank();
    if edge >= from.len() {
        return;
    }
    let distance = distances.atomic(from[edge]).load(Relaxed);
    if distance == u64::MAX {
        return;
    }
    let through = distance + lengths[edge] as u64;
    if distances.atomic(to[edge]).fetch_min(through, Relaxed) > through {
        changed.atomic(0).store(1, Relaxed);
    }
}

/// Random edges, and the same as rows: the start of each vertex's row, and the vertices they lead to.
struct Edges {
    from: Vec<u32>,
    to: Vec<u32>,
    starts: Vec<u32>,
    targets: Vec<u32>,
}

fn edges(vertices: u32, count: usize) -> Edges {
    let (from, to) = (below(vertices, 151, count), below(vertices, 152, count));
    let (mut starts, mut targets) = (vec![0], Vec::new());
    for vertex in 0..vertices {
        targets.extend((0..count).filter(|&edge| from[edge] == vertex).map(|edge| to[edge]));
        starts.push(targets.len() as u32);
    }
    Edges { from, to, starts, targets }
}

fn breadth_first(device: &Device) -> Outcome {
    for (vertices, count) in [(128, 400), (201, 230)] {
        let graph = edges(vertices, count);
        let (starts, targets) = (device.upload(&graph.starts)?, device.upload(&graph.targets)?);
        let mut depths = vec![UNSEEN; vertices as usize];
        depths[0] = 0;
        let (mut seen, mut counts) = (device.upload(&depths)?, device.upload(&[1, 0])?);
        let (mut frontier, mut next) = (device.zeros(vertices as usize)?, device.zeros(vertices as usize)?);
        let mut level = vec![0u32];
        for depth in 1.. {
            let size = counts.read()?[0];
            same(&[size], &[level.len() as u32], |_| format!("frontier of depth {depth}"))?;
            if size == 0 {
                break;
            }
            expand(&starts, &targets, &frontier, &mut next, &mut counts, &mut seen, depth)
                .grid(size.div_ceil(64))
                .launch(device)?;
            counts = device.upload(&[counts.read()?[1], 0])?;
            std::mem::swap(&mut frontier, &mut next);
            let mut further = Vec::new();
            for &vertex in &level {
                for &target in
                    &graph.targets[graph.starts[vertex as usize] as usize..graph.starts[vertex as usize + 1] as usize]
                {
                    if depths[target as usize] == UNSEEN {
                        depths[target as usize] = depth;
                        further.push(target);
                    }
                }
            }
            level = further;
        }
        same(&seen.read()?, &depths, |i| format!("vertex {i} of {vertices}"))?;
    }
    Ok(())
}

fn components(device: &Device) -> Outcome {
    for (vertices, count) in [(128, 60), (300, 290)] {
        let graph = edges(vertices, count);
        let (from, to) = (device.upload(&graph.from)?, device.upload(&graph.to)?);
        let mut parents = device.upload(&(0..vertices).collect::<Vec<u32>>())?;
        unite(&from, &to, &mut parents).grid(2).launch(device)?;
        flatten(&mut parents).grid(vertices.div_ceil(64)).launch(device)?;
        let mut want: Vec<u32> = (0..vertices).collect();
        for (&a, &b) in graph.from.iter().zip(&graph.to) {
            let (a, b) = (want[a as usize], want[b as usize]);
            want.iter_mut().filter(|root| **root == a.max(b)).for_each(|root| *root = a.min(b));
        }
        same(&parents.read()?, &want, |i| format!("vertex {i} of {vertices}"))?;
    }
    Ok(())
}

fn ranks(device: &Device) -> Outcome {
    let (vertices, count) = (100, 700);
    let graph = edges(vertices, count);
    // The rows hold the vertices that point here.
    let mut degrees = vec![0u32; vertices as usize];
    graph.targets.iter().for_each(|&source| degrees[source as usize] += 1);
    let (starts, sources, out_degrees) =
        (device.upload(&graph.starts)?, device.upload(&graph.targets)?, device.upload(&degrees)?);
    let mut want = vec![1.0 / f64::from(vertices); vertices as usize];
    let mut ranks = device.upload(&want)?;
    for _ in 0..3 {
        let mut next = device.zeros(vertices as usize)?;
        rank(&starts, &sources, &out_degrees, &ranks, &mut next, 0.85).grid(2).launch(device)?;
        ranks = next;
        let of = |vertex: usize| {
            let sources = &graph.targets[graph.starts[vertex] as usize..graph.starts[vertex + 1] as usize];
            let sum = sources.iter().fold(0.0, |sum, &s| sum + want[s as usize] / f64::from(degrees[s as usize]));
            (1.0 - 0.85) / f64::from(vertices) + 0.85 * sum
        };
        want = (0..vertices as usize).map(of).collect();
    }
    same(&ranks.read()?, &want, |i| format!("vertex {i}"))
}

fn shortest_paths(device: &Device) -> Outcome {
    let (vertices, count) = (90, 333);
    let graph = edges(vertices, count);
    let lengths = below(100, 153, count);
    let (from, to, along) = (device.upload(&graph.from)?, device.upload(&graph.to)?, device.upload(&lengths)?);
    let mut want = vec![u64::MAX; vertices as usize];
    want[0] = 0;
    let mut distances = device.upload(&want)?;
    loop {
        let changed = read!(device, 1, |out| relax(&from, &to, &along, &mut distances, out).grid(6));
        if changed == [0] {
            break;
        }
    }
    for _ in 0..vertices {
        for edge in 0..count {
            let through = want[graph.from[edge] as usize].saturating_add(u64::from(lengths[edge]));
            let target = &mut want[graph.to[edge] as usize];
            *target = through.min(*target);
        }
    }
    same(&distances.read()?, &want, |i| format!("vertex {i}"))
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::graph",
        checks: check_list![breadth_first, components, ranks, shortest_paths],
        kernels: kernel_list![expand, unite, flatten, rank, relax],
    }
}
