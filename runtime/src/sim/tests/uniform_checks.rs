//! `uniform`: true claims pass and delay no thread, false ones are reported, for groups of every size.

use super::shape;
use crate::kernel::group::{this_cluster, this_grid, this_thread_block, tiled_partition};
use crate::report::failure::Cause;
use crate::schedule::Schedule;
use crate::sim::{Simulator, run};

const SCHEDULES: [Schedule; 3] = [Schedule::RoundRobin, Schedule::Random { seed: 0 }, Schedule::Random { seed: 9 }];

/// Runs `body` in two clusters of two blocks of 40 threads.
fn check(expected: Option<&str>, body: impl Fn() + Send + Sync) {
    for schedule in SCHEDULES {
        let result = run("test", &shape(4, 2, 40), &Simulator::new().schedule(schedule.clone()), &body).1;
        match (expected, result) {
            (None, result) => result.unwrap(),
            (Some(expected), result) => match result.expect_err("a false claim").cause {
                Cause::Protocol(sentence) => assert_eq!(sentence, expected, "{schedule:?}"),
                other => panic!("{schedule:?}: {other}"),
            },
        }
    }
}

#[test]
fn true_claims() {
    check(None, || {
        let (grid, cluster, block) = (this_grid(), this_cluster(), this_thread_block());
        for round in 0..3_u32 {
            assert_eq!(grid.uniform(round), round);
            cluster.uniform(grid.cluster_rank() + round as usize);
            block.uniform(cluster.block_rank() * 10 + round);
        }
        tiled_partition::<8>(&block).uniform(block.thread_rank() / 8);
    });
}

/// The check is no barrier: the first thread does not wait.
#[test]
fn nobody_waits() {
    check(None, || {
        let block = this_thread_block();
        block.uniform(7_u8);
        if block.thread_rank() > 0 {
            block.uniform(8_u8);
        }
    });
}

#[test]
fn false_claims() {
    check(
        Some("the value of `grid.uniform()` must be the same in all threads of the grid, but differs between them"),
        || {
            this_grid().uniform(this_grid().cluster_rank());
        },
    );
    check(
        Some(
            "the value of `cluster.uniform()` must be the same in all threads of the cluster, but differs between them",
        ),
        || {
            this_cluster().uniform(this_cluster().block_rank());
        },
    );
    check(
        Some("the value of `block.uniform()` must be the same in all threads of the block, but differs between them"),
        || {
            let block = this_thread_block();
            for round in 0..4 {
                block.uniform(block.thread_rank() == 39 && round == 3);
            }
        },
    );
    check(
        Some("the value of `tile.uniform()` must be the same in all threads of the group, but differs between them"),
        || {
            let block = this_thread_block();
            tiled_partition::<8>(&block).uniform(block.thread_rank() / 4);
        },
    );
}
