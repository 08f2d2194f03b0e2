//! The fences that are inferred for barriers of the cluster: which they are, and that each is the weakest. With every fence one
//! step weaker, the simulator reports a race in each kernel that relies on one.

use phalanx::{Cause, Device, Error, Fence, Schedule, Simulator};
use phalanx_conformance::kernels::fences::{FENCED, Fenced};

const SCHEDULES: [Schedule; 4] = [
    Schedule::RoundRobin,
    Schedule::Random { seed: 1 },
    Schedule::Priority { seed: 1, changes: 2 },
    Schedule::Lockstep { seed: 1 },
];

#[test]
fn each_barrier_has_the_weakest_fence() {
    for Fenced { name, fences, barriers, .. } in FENCED {
        let barriers = barriers().expect("the kernel has a program");
        let mut in_order: Vec<_> = barriers.iter().map(|barrier| (barrier.line, barrier.fence)).collect();
        in_order.sort();
        let letter = |fence| match fence {
            Fence::Relaxed => 'r',
            Fence::Shared => 's',
            Fence::Full => 'f',
        };
        let found: String = in_order.into_iter().map(|(_, fence)| letter(fence)).collect();
        assert_eq!(found, *fences, "{name}: {barriers:#?}");
        for barrier in &barriers {
            assert_eq!(barrier.cause.is_none(), barrier.fence == Fence::Relaxed, "{name}: {barrier}");
        }
    }
}

#[test]
fn a_weaker_fence_is_a_race() {
    for Fenced { name, relies, run, .. } in FENCED {
        for schedule in SCHEDULES {
            let simulator = Simulator::new().schedule(schedule.clone());
            let right = Device::simulator_with(simulator.clone());
            let errors = run(&right, 8, 3).and_then(|out| out.read()).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(errors.iter().all(|errors| *errors == 0), "{name} under {schedule}");
            let weak = Device::simulator_with(simulator.weaker_fences(true));
            match run(&weak, 8, 3) {
                Err(Error::Kernel(failure)) => assert!(matches!(failure.cause, Cause::Race(_)), "{name}: {failure}"),
                Err(error) => panic!("{name}: {error}"),
                Ok(_) => assert!(!relies, "{name} under {schedule}: a weaker fence goes unnoticed"),
            }
        }
    }
}
