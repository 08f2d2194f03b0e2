//! Walks a ring's tree on the simulator's host API, one thread at a time, as the host body of its source would. Nothing is judged here.

use std::sync::Arc;

use phalanx::__private::{Arguments, Launch, barrier_at, load, store};
use phalanx::prelude::*;
use phalanx::{Cause, Error};

use super::tree::{Bar, Index, Kernel, Parity, Part, Role, Step};

/// Names the barriers.
struct Full;
struct Empty;

/// Runs the kernel with this argument, and returns its failure.
pub(super) fn run(kernel: &Arc<Kernel>, rounds: u32, simulator: Simulator) -> Option<Cause> {
    let kernel = Arc::clone(kernel);
    let threads = kernel.block();
    let body: Box<dyn Fn() + Send + Sync> = match kernel.stages {
        1 => Box::new(move || thread::<1>(&kernel, rounds)),
        2 => Box::new(move || thread::<2>(&kernel, rounds)),
        _ => Box::new(move || thread::<3>(&kernel, rounds)),
    };
    let launch = Launch::new::<anything>(Arguments::new(), body).grid(1).cluster(1).block(threads);
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
    let warp = kernel.warps.then(|| tiled_partition::<32>(&block));
    // The fields of a stage. One that is no struct has the first alone.
    let (first, second) = (shared_array::<u32, N>(), shared_array::<u32, N>());
    let full = shared_barriers::<Full, N>();
    let empty = shared_barriers::<Empty, N>();
    full.init_collective(&block, kernel.counts[0]);
    empty.init_collective(&block, kernel.counts[1]);
    if kernel.least.is_some_and(|least| rounds < least.rounds) {
        return;
    }
    for (number, role) in kernel.roles.iter().enumerate() {
        if kernel.threads(number).contains(&block.thread_rank()) {
            self::role(role, (&full, &empty, [&first, &second]), warp.as_ref(), rounds);
        }
    }
    if kernel.meet {
        block.sync();
    }
}

type Objects<'o, const N: usize> = (&'o Barriers<N, Full>, &'o Barriers<N, Empty>, [&'o SharedArray<u32, N>; 2]);

fn role<const N: usize>(role: &Role, (full, empty, stages): Objects<'_, N>, warp: Option<&Tile<32>>, rounds: u32) {
    let stage = |k: u32, Index(later): Index| ((k + later) % N as u32) as usize;
    let begun = role.from + role.before;
    for k in role.from..begun.max(rounds.saturating_add_signed(role.more)) {
        let (mut skips, mut alone) = (false, false);
        for step in &role.steps {
            let is_prefix = matches!(step, Step::Sometimes(_) | Step::Alone);
            // Of several in a row, the last one counts.
            if !is_prefix {
                let leads = warp.is_none_or(|warp| warp.thread_rank() == 0);
                let follows = std::mem::take(&mut alone) && !matches!(step, Step::Meet) && !leads;
                if std::mem::take(&mut skips) || follows {
                    continue;
                }
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
                Step::Fill(at, part) => fields(part).for_each(|field| store(stages[field], stage(k, at), k)),
                Step::Read(at, part) => fields(part).for_each(|field| {
                    load(stages[field], stage(k, at));
                }),
                Step::Alone => alone = true,
                Step::Meet => warp.into_iter().for_each(Tile::sync),
                Step::Sometimes(rest) => skips = k % 2 != rest,
            }
        }
    }
}

/// The numbers of the fields that are a part.
fn fields(part: Part) -> impl Iterator<Item = usize> {
    [Part::First, Part::Second].into_iter().enumerate().filter(move |(_, field)| part.has(*field)).map(|(at, _)| at)
}
