//! Walks a ring's tree on the simulator's host API, one thread at a time, as the host body of its source would. Nothing is judged here.

use std::sync::Arc;

use phalanx::__private::{Arguments, Launch, barrier_at, load, store};
use phalanx::prelude::*;
use phalanx::{Cause, Error};

use super::tree::{Bar, Index, Kernel, Parity, Role, Step, THREADS};

/// Names the barriers.
struct Full;
struct Empty;

/// Runs the kernel with this argument, and returns its failure.
pub(super) fn run(kernel: &Arc<Kernel>, rounds: u32, simulator: Simulator) -> Option<Cause> {
    let kernel = Arc::clone(kernel);
    let body: Box<dyn Fn() + Send + Sync> = match kernel.stages {
        1 => Box::new(move || thread::<1>(&kernel, rounds)),
        2 => Box::new(move || thread::<2>(&kernel, rounds)),
        _ => Box::new(move || thread::<3>(&kernel, rounds)),
    };
    let launch = Launch::new::<anything>(Arguments::new(), body).grid(1).cluster(1).block(THREADS);
    match launch.launch(&Device::simulator_with(simulator)) {
        Ok(()) => None,
        Err(Error::Kernel(failure)) => Some(failure.cause),
        Err(error) => panic!("{error}"),
    }
}

/// Gives the launches their name; `thread` is what they run.
#[cluster_kernel]
fn anything() {}

fn thread<const N: usize>(kernel: &Kernel, rounds: u32) {
    let block = this_thread_block();
    let stages = shared_array::<u32, N>();
    let full = shared_barriers::<Full, N>();
    let empty = shared_barriers::<Empty, N>();
    full.init_collective(&block, kernel.counts[0]);
    empty.init_collective(&block, kernel.counts[1]);
    for (number, role) in kernel.roles.iter().enumerate() {
        if kernel.threads(number).contains(&block.thread_rank()) {
            self::role(role, (&full, &empty, &stages), rounds);
        }
    }
    if kernel.meet {
        block.sync();
    }
}

type Objects<'o, const N: usize> = (&'o Barriers<N, Full>, &'o Barriers<N, Empty>, &'o SharedArray<u32, N>);

fn role<const N: usize>(role: &Role, (full, empty, stages): Objects<'_, N>, rounds: u32) {
    let stage = |k: u32, Index(later): Index| ((k + later) % N as u32) as usize;
    for k in role.from..rounds.saturating_add_signed(role.more) {
        let mut skips = false;
        for step in &role.steps {
            // Of several in a row, the last one counts.
            if !matches!(step, Step::Sometimes(_)) && std::mem::take(&mut skips) {
                continue;
            }
            match *step {
                Step::Wait(bar, at, Parity { later, stages, inverted }) => {
                    let parity = ((k + later) / stages % 2 == 1) != inverted;
                    match bar {
                        Bar::Full => barrier_at(full, stage(k, at)).wait_parity(parity),
                        Bar::Empty => barrier_at(empty, stage(k, at)).wait_parity(parity),
                    }
                }
                Step::Arrive(Bar::Full, at) => drop(barrier_at(full, stage(k, at)).arrive()),
                Step::Arrive(Bar::Empty, at) => drop(barrier_at(empty, stage(k, at)).arrive()),
                Step::Fill(at) => store(stages, stage(k, at), k),
                Step::Read(at) => {
                    load(stages, stage(k, at));
                }
                Step::Sometimes(rest) => skips = k % 2 != rest,
            }
        }
    }
}
