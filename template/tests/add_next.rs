//! The kernel against plain Rust: in the simulator, which reports data races and deadlocks, and on a GPU.

use {{crate_name}}::{BLOCK, CLUSTER, add_next_in_rust, add_next_on};
use phalanx::Simulator;
use phalanx::prelude::*;

fn input() -> Vec<i32> {
    (0..2 * CLUSTER * BLOCK)
        .map(|i| (i * i % 1009) as i32)
        .collect()
}

#[test]
fn in_the_simulator() -> phalanx::Result<()> {
    assert_eq!(
        add_next_on(&Device::simulator(), &input())?,
        add_next_in_rust(&input())
    );
    Ok(())
}

/// A report names the schedule that shows the fault once more.
#[test]
fn under_random_schedules() {
    let explored = Simulator::new().explore(20, |device| {
        assert_eq!(add_next_on(device, &input())?, add_next_in_rust(&input()));
        Ok(())
    });
    if let Err(finding) = explored {
        panic!("{finding}");
    }
}

#[test]
#[ignore = "needs a GPU of compute capability 9.0 or newer"]
fn on_a_gpu() -> phalanx::Result<()> {
    assert_eq!(
        add_next_on(&Device::gpu(0)?, &input())?,
        add_next_in_rust(&input())
    );
    Ok(())
}
