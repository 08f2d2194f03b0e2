//! Runs a kernel's tree on the simulator's host API, with a fence for each arrival.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use phalanx::__private::{Arguments, GlobalMut, Launch, MemoryMut, atomic, global_mut, load, store, with_fence};
use phalanx::{Cause, Cluster, Device, Error, Fence, SharedArray, Simulator, cluster_kernel};
use phalanx::{shared_array, this_cluster, this_thread_block};

use super::tree::{BLOCKS, Block, Element, Kernel, Kind, Memory, Stmt, THREADS};

/// Runs the kernel with this parameter, and returns its failure.
pub(super) fn run(kernel: &Kernel, fences: &[Fence], parameter: u32, simulator: Simulator) -> Option<Cause> {
    let device = Device::simulator_with(simulator);
    let zeros = || device.zeros::<u32>(BLOCKS * THREADS).expect("the simulator has memory");
    let (mut g, mut h) = (zeros(), zeros());
    let buffers = [global_mut(&mut g), global_mut(&mut h)];
    let (kernel, fences) = (kernel.clone(), fences.to_vec());
    let body = Box::new(move || {
        let cluster = this_cluster();
        let me = cluster.thread_rank() as usize;
        let arrays = [shared_array(), shared_array()];
        let mut thread = Thread { fences: &fences, parameter, cluster, me, arrays, buffers };
        thread.block(&kernel.body);
    });
    let launch = Launch::new::<anything>(Arguments::new(), body);
    match launch.grid(BLOCKS as u32).cluster(BLOCKS as u32).block(THREADS as u32).launch(&device) {
        Ok(()) => None,
        Err(Error::Kernel(failure)) => Some(failure.cause),
        Err(error) => panic!("{error}"),
    }
}

/// Gives the launches their name; `body` is what they run.
#[cluster_kernel]
fn anything() {}

struct Thread<'k> {
    fences: &'k [Fence],
    parameter: u32,
    cluster: Cluster,
    me: usize,
    arrays: [SharedArray<u32, THREADS>; 2],
    buffers: [GlobalMut<'k, u32>; 2],
}

impl Thread<'_> {
    fn block(&mut self, block: &Block) {
        block.iter().for_each(|stmt| self.statement(stmt));
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Access(memory, element, kind) => self.access(*memory, *element, *kind),
            Stmt::Sync(number) => with_fence(self.fences[*number], || self.cluster.sync()),
            Stmt::Split(number, body) => {
                let token = with_fence(self.fences[*number], || self.cluster.barrier_arrive());
                self.block(body);
                self.cluster.barrier_wait(token);
            }
            Stmt::If(uniform, then, otherwise) => {
                let tested = if *uniform { self.parameter } else { self.cluster.block_rank() };
                self.block(if tested == 0 { then } else { otherwise });
            }
            Stmt::Loop(body) => (0..2).for_each(|_| self.block(body)),
        }
    }

    fn access(&self, memory: Memory, element: Element, kind: Kind) {
        let i = this_thread_block().thread_rank() as usize;
        let (first, size) = if let Memory::Global(_) = memory { (self.me, BLOCKS * THREADS) } else { (i, THREADS) };
        let index = match element {
            Element::Own => first,
            Element::Neighbour => first / THREADS * THREADS + (i + 1) % THREADS,
            Element::Opposite => (first + THREADS) % size,
        };
        match memory {
            Memory::Own(array) => self.touch(&self.arrays[array], index, kind),
            Memory::Peer(array) => {
                let peer = self.cluster.map_shared_rank(&self.arrays[array], 1 - self.cluster.block_rank());
                self.touch(&peer, index, kind);
            }
            Memory::Global(buffer) => self.touch(&self.buffers[buffer], index, kind),
        }
    }

    fn touch<M: MemoryMut<Element = u32>>(&self, memory: &M, index: usize, kind: Kind) {
        match kind {
            Kind::Read => {
                load(memory, index);
            }
            // No two threads write the same value, which would be no race.
            Kind::Write => store(memory, index, self.me as u32 + 1),
            Kind::Atomic => {
                atomic(memory, index).fetch_add(1, Relaxed);
            }
            Kind::AtomicLoad => {
                atomic(memory, index).load(Acquire);
            }
        }
    }
}
