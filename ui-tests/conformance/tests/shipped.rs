//! Bugs that others shipped and that no check at compile time is for: data races by way of global memory or of values that only a
//! run knows, and counters. The simulator reports each. Those that the compiler refuses are in `ui-tests/shipped`;
//! `docs/shipped_bugs.md` lists all of them.

use phalanx::prelude::*;
use phalanx::{Error, Result};

/// A kernel's name, the words of its failure, and a launch of it.
type Bug = (&'static str, &'static str, fn(&Device) -> Result<()>);

/// Takes `kernel says "words", blocks;`. A kernel reads 256 words and writes as many.
macro_rules! bugs {
    ($($kernel:ident says $words:literal, $blocks:literal;)*) => {
        &[$((stringify!($kernel), $words, |device| {
            let input = device.upload(&Vec::from_iter(1..=256))?;
            let mut out = device.zeros(256)?;
            $kernel(&input, &mut out).grid($blocks).launch(device)
        })),*]
    };
}

const BUGS: &[Bug] = bugs![
    cuda_jl_1220 says "data race", 2;
    cuml_458 says "deadlock", 2;
    thunderkittens_194 says "data race", 2;
];

#[test]
fn the_simulator_reports_each() {
    for (name, words, launch) in BUGS {
        let found = match Simulator::new().explore(300, launch) {
            Err(found) => found,
            Ok(explored) => panic!("{name}: {} runs, and nothing is wrong", explored.runs),
        };
        let text = found.error.to_string();
        assert!(matches!(found.error, Error::Kernel(_)), "{name}: {text}");
        assert!(text.contains(words), "{name}: {text}");
    }
}

/// <https://github.com/JuliaGPU/CUDA.jl/issues/1220>: a barrier of the block, for elements that another block writes.
#[cluster_kernel(block = 64)]
fn cuda_jl_1220(input: &[u32], out: &mut [u32]) {
    let i = this_grid().thread_rank();
    out[i] = input[i] * 2;
    this_thread_block().sync();
    out[i + 128] = out[127 - i];
}

/// <https://github.com/NVIDIA/cuml/issues/458>: a barrier of the grid by counting, used twice with one counter. A block that
/// is late to see the first full count never sees it, because the next phase has begun.
#[cluster_kernel(block = 32)]
fn cuml_458(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let blocks = this_grid().num_blocks() as u32;
    for round in 0..2usize {
        if block.thread_rank() == 0 {
            out[128 + round * 2 + this_grid().block_rank()] = input[round];
            if out.atomic(0).fetch_add(1, AcqRel) == blocks - 1 {
                out.atomic(0).store(0, Release);
            }
            while out.atomic(0).load(Acquire) != 0 {}
        }
        block.sync();
    }
}

/// <https://github.com/HazyResearch/ThunderKittens/issues/194>: the wait is for the reads of a bulk copy, and a flag tells
/// another block that what it writes is there.
#[cluster_kernel(block = 32)]
fn thunderkittens_194(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<u32, 32>();
    if this_grid().block_rank() == 0 {
        tile[i] = input[i];
        block.sync();
        if i == 0 {
            bulk_copy_async(&mut out[..32], &tile);
            bulk_wait_group_read::<0>();
            out.atomic(64).store(1, Release);
        }
    } else if i == 0 {
        while out.atomic(64).load(Acquire) == 0 {}
        out[128] = out[31];
    }
}

/// <https://github.com/NVIDIA/Fuser/pull/1967>, <https://github.com/MoonshotAI/FlashKDA/issues/24> and
/// <https://github.com/NVIDIA/TransformerEngine/pull/2695>: plain accesses and a bulk copy of the same bytes, with no fence between
/// the two kinds of access. A kernel cannot forget it, because the function of each bulk copy has it.
#[test]
fn each_bulk_copy_comes_after_a_fence_between_proxies() {
    // The copies, each with the fence for the memory that it accesses.
    const COPIES: [(&str, &str); 3] = [
        ("detail::bulk_to_shared(", "detail::fence_source_proxy(from);"),
        ("asm volatile(\"cp.async.bulk.global.shared::cta", "detail::fence_global_proxy();"),
        ("asm volatile(\"cp.async.bulk.shared::cluster.shared::cta", "detail::fence_peer_proxy();"),
    ];
    let lines: Vec<&str> = include_str!("../../../runtime/src/program/cuda/phalanx/copy.cuh").lines().collect();
    for (copy, fence) in COPIES {
        let places: Vec<usize> = (1..lines.len()).filter(|&at| lines[at].contains(copy)).collect();
        assert!(!places.is_empty(), "{copy}");
        for at in places {
            assert!(lines[at - 1].contains(fence), "line {}: {}", at + 1, lines[at]);
        }
    }
}
