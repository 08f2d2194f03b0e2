//! The mends of `reject/rings_of_states.rs`: the stage and the phase of a ring in a struct, whose methods are followed.

use phalanx::prelude::*;

const STAGES: usize = 3;
const DEPTH: u32 = 3;

/// The stage and the phase of a ring, as a pipeline's loops carry them.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct State<const N: u32> {
    stage: u32,
    phase: u32,
}

#[device]
impl<const N: u32> State<N> {
    fn new(phase: u32) -> Self {
        Self { stage: 0, phase }
    }

    /// The state of the next round in a ring of so many stages.
    fn next<const STAGES: u32>(self) -> Self {
        let stage = self.stage + 1;
        if stage == STAGES { Self { stage: 0, phase: self.phase ^ 1 } } else { Self { stage, ..self } }
    }

    fn advance(&mut self) {
        self.stage += 1;
        if self.stage == N {
            self.stage = 0;
            self.phase ^= 1;
        }
    }
}

type OfThree = State<3>;

#[device]
trait Rounds {
    fn stage(&self) -> u32;
    fn parity(&self) -> bool;
}

/// A count of rounds.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Count {
    rounds: u32,
}

#[device]
impl Rounds for Count {
    fn stage(&self) -> u32 {
        self.rounds % 3
    }

    fn parity(&self) -> bool {
        self.rounds / 3 % 2 == 1
    }
}

/// The first waits of the loads pass at once.
#[cluster_kernel(block = 64)]
fn first_phase(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 32], STAGES>();
    let full = shared_barriers::<STAGES>();
    let empty = shared_barriers::<STAGES>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 32);
    if i == 32 {
        let mut state = State::<3>::new(1);
        for k in 0..chunks {
            empty[state.stage].wait_parity(state.phase == 1);
            full[state.stage].expect_tx(128);
            bulk_copy_async(&stages[state.stage], &input[k * 32..(k + 1) * 32], &full[state.stage]);
            let _ = full[state.stage].arrive();
            state.advance();
        }
    } else if i < 32 {
        let mut state = State::<3>::new(0);
        let mut sum = 0;
        for k in 0..chunks {
            full[state.stage].wait_parity(state.phase == 1);
            sum += stages[state.stage][i];
            let _ = empty[state.stage].arrive();
            state.advance();
        }
        out[i] = sum;
    }
}

/// The same type by two names.
#[cluster_kernel(block = 64)]
fn other_depth(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 32], STAGES>();
    let full = shared_barriers::<STAGES>();
    let empty = shared_barriers::<STAGES>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 32);
    if i == 32 {
        let mut state = OfThree::new(1);
        for k in 0..chunks {
            empty[state.stage].wait_parity(state.phase == 1);
            full[state.stage].expect_tx(128);
            bulk_copy_async(&stages[state.stage], &input[k * 32..(k + 1) * 32], &full[state.stage]);
            let _ = full[state.stage].arrive();
            state.advance();
        }
    } else if i < 32 {
        let mut state = State::<3>::new(0);
        let mut sum = 0;
        for k in 0..chunks {
            full[state.stage].wait_parity(state.phase == 1);
            sum += stages[state.stage][i];
            let _ = empty[state.stage].arrive();
            state.advance();
        }
        out[i] = sum;
    }
}

/// The loads are a whole turn ahead.
#[cluster_kernel(block = 64)]
fn by_a_trait(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 32], STAGES>();
    let full = shared_barriers::<STAGES>();
    let empty = shared_barriers::<STAGES>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 32);
    if i == 32 {
        let mut state = Count { rounds: 3 };
        for k in 0..chunks {
            empty[state.stage()].wait_parity(state.parity());
            full[state.stage()].expect_tx(128);
            bulk_copy_async(&stages[state.stage()], &input[k * 32..(k + 1) * 32], &full[state.stage()]);
            let _ = full[state.stage()].arrive();
            state.rounds += 1;
        }
    } else if i < 32 {
        let mut state = Count { rounds: 0 };
        let mut sum = 0;
        for k in 0..chunks {
            full[state.stage()].wait_parity(state.parity());
            sum += stages[state.stage()][i];
            let _ = empty[state.stage()].arrive();
            state.rounds += 1;
        }
        out[i] = sum;
    }
}

/// The number of stages is the method's: a literal, and a constant of the file.
#[cluster_kernel(block = 64)]
fn next_of_stages(input: &[u32], out: &mut [u32], chunks: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 32], STAGES>();
    let full = shared_barriers::<STAGES>();
    let empty = shared_barriers::<STAGES>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 32);
    if i == 32 {
        let mut state = OfThree::new(1);
        for k in 0..chunks {
            empty[state.stage].wait_parity(state.phase == 1);
            full[state.stage].expect_tx(128);
            bulk_copy_async(&stages[state.stage], &input[k * 32..(k + 1) * 32], &full[state.stage]);
            let _ = full[state.stage].arrive();
            state = state.next::<3>();
        }
    } else if i < 32 {
        let mut state = OfThree::new(0);
        let mut sum = 0;
        for k in 0..chunks {
            full[state.stage].wait_parity(state.phase == 1);
            sum += stages[state.stage][i];
            let _ = empty[state.stage].arrive();
            state = state.next::<DEPTH>();
        }
        out[i] = sum;
    }
}

/// A constant of the body has no name where rustc selects the method: the ring is left to the simulator.
#[cluster_kernel(block = 32)]
fn next_of_own_stages(out: &mut [u32], rounds: u32) {
    const DEPTH: u32 = 2;
    let block = this_thread_block();
    let bars = shared_barriers::<2>();
    bars.init_collective(&block, 32);
    let mut state = OfThree::new(0);
    for _ in 0..rounds {
        let _ = bars[state.stage].arrive();
        bars[state.stage].wait_parity(state.phase == 1);
        state = state.next::<DEPTH>();
    }
    out[block.thread_rank()] = state.stage;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<first_phase>,
    phalanx::Program::of::<other_depth>,
    phalanx::Program::of::<by_a_trait>,
    phalanx::Program::of::<next_of_stages>,
    phalanx::Program::of::<next_of_own_stages>,
];
