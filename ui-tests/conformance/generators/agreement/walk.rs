//! Walks a kernel's tree on the simulator's host API, one thread at a time, as the host body of its source would. Each
//! access has a position of its own in this file, so that a race identifies its two accesses. Nothing is judged here.

use std::panic::Location;
use std::sync::{Arc, LazyLock};

use phalanx::__private::{Arguments, Launch, atomic, load, store, update};
use phalanx::prelude::*;
use phalanx::{Cause, Error, RaceAccess};

use super::super::generated_dsm::relative::{Relative, Values};
use super::super::generated_dsm::tree::{
    Access, Array, Arrival, Index, Jump, Kind, LENGTH, Label, Number, Owner, Parity, Rounds, Test,
};
use super::tree::{Block, Ending, Group, Kernel, Stmt};

/// The bound on the number of accesses in a kernel.
pub(super) const SITES: usize = 64;
/// The number of elements of each array.
const ELEMENTS: usize = 2 * LENGTH;

/// Runs the kernel with these parameters, and returns its failure.
pub(super) fn run(kernel: &Arc<Kernel>, parameters: [usize; 2], simulator: Simulator) -> Option<Cause> {
    let (blocks, threads) = (kernel.blocks as u32, kernel.threads as u32);
    let kernel = Arc::clone(kernel);
    let body = Box::new(move || {
        Thread::new(&kernel, parameters).block(&kernel.body);
    });
    let launch = Launch::new::<anything>(Arguments::new(), body).grid(blocks).cluster(blocks).block(threads);
    match launch.launch(&Device::simulator_with(simulator)) {
        Ok(()) => None,
        Err(Error::Kernel(failure)) => Some(failure.cause),
        Err(error) => panic!("{error}"),
    }
}

/// Returns the access of a race's side.
pub(super) fn site(side: &RaceAccess) -> usize {
    let here = |door: &Door| (door.here.line(), door.here.column()) == (side.location.line, side.location.column);
    DOORS.iter().position(here).expect("an access of this file")
}

/// Gives the launches their name; `body` is what they run.
#[cluster_kernel]
fn anything() {}

#[derive(Clone, Copy)]
enum Memory<'m> {
    Own(&'m SharedArray<u32, ELEMENTS>),
    Peer(RemoteArray<u32, ELEMENTS>),
}

/// A position in the source at which memory is accessed.
struct Door {
    here: &'static Location<'static>,
    touch: fn(Memory<'_>, usize, Kind, u32),
}

#[track_caller]
fn here() -> &'static Location<'static> {
    Location::caller()
}

#[track_caller]
fn touch<M: phalanx::__private::MemoryMut<Element = u32>>(memory: &M, index: usize, kind: Kind, value: u32) {
    match kind {
        Kind::Read => {
            load(memory, index);
        }
        Kind::Write => store(memory, index, value),
        Kind::Update => update(memory, index, value, |old, new| old ^ new),
        Kind::Atomic => {
            atomic(memory, index).fetch_add(1, Relaxed);
        }
    }
}

macro_rules! door {
    () => {
        Door {
            here: here(),
            touch: |memory, index, kind, value| match memory {
                Memory::Own(array) => touch(array, index, kind, value),
                Memory::Peer(array) => touch(&array, index, kind, value),
            },
        }
    };
}

#[rustfmt::skip]
static DOORS: LazyLock<[Door; SITES]> = LazyLock::new(|| [
    door!(), door!(), door!(), door!(), door!(), door!(), door!(), door!(),
    door!(), door!(), door!(), door!(), door!(), door!(), door!(), door!(),
    door!(), door!(), door!(), door!(), door!(), door!(), door!(), door!(),
    door!(), door!(), door!(), door!(), door!(), door!(), door!(), door!(),
    door!(), door!(), door!(), door!(), door!(), door!(), door!(), door!(),
    door!(), door!(), door!(), door!(), door!(), door!(), door!(), door!(),
    door!(), door!(), door!(), door!(), door!(), door!(), door!(), door!(),
    door!(), door!(), door!(), door!(), door!(), door!(), door!(), door!(),
]);

enum Token {
    Block(ArrivalToken<ThreadBlock>),
    Cluster(ArrivalToken<Cluster>),
}

fn forget(token: Token) {
    match token {
        Token::Block(token) => token.forget(),
        Token::Cluster(token) => token.forget(),
    }
}

struct Thread<'k> {
    kernel: &'k Kernel,
    parameters: [usize; 2],
    cluster: Cluster,
    block: ThreadBlock,
    arrays: [SharedArray<u32, ELEMENTS>; 3],
    rounds: Vec<(Label, usize)>,
    current: usize,
    slot: u32,
    held: Vec<(Label, u32)>,
    variables: [Option<Token>; 2],
    /// Counts writes, so that no two write the same value.
    written: u32,
}

impl<'k> Thread<'k> {
    fn new(kernel: &'k Kernel, parameters: [usize; 2]) -> Self {
        let cluster = this_cluster();
        Thread {
            kernel,
            parameters,
            slot: cluster.block_rank(),
            held: Vec::new(),
            written: cluster.thread_rank() << 16,
            cluster,
            block: this_thread_block(),
            arrays: [shared_array(), shared_array(), shared_array()],
            rounds: Vec::new(),
            current: 0,
            variables: [None, None],
        }
    }

    /// Runs a block, and returns the jump that left it.
    fn block(&mut self, block: &Block) -> Option<Jump> {
        block.iter().find_map(|stmt| self.statement(stmt))
    }

    fn arrive(&self, group: Group, arrival: Arrival) -> Token {
        match (group, arrival) {
            (Group::Block, _) => Token::Block(self.block.barrier_arrive()),
            (Group::Cluster, Arrival::Full) => Token::Cluster(self.cluster.barrier_arrive()),
            (Group::Cluster, Arrival::Relaxed) => Token::Cluster(self.cluster.barrier_arrive_relaxed()),
        }
    }

    fn wait(&self, token: Token) {
        match token {
            Token::Block(token) => self.block.barrier_wait(token),
            Token::Cluster(token) => self.cluster.barrier_wait(token),
        }
    }

    fn statement(&mut self, stmt: &Stmt) -> Option<Jump> {
        match stmt {
            Stmt::Access(access) => self.access(access),
            Stmt::Sync(Group::Block) => self.block.sync(),
            Stmt::Sync(Group::Cluster) => self.cluster.sync(),
            Stmt::Fence => fence(AcqRel, Scope::Cluster),
            Stmt::Split(_, group, arrival, body) => {
                let token = self.arrive(*group, *arrival);
                if let Some(jump) = self.block(body) {
                    return Some(jump);
                }
                self.wait(token);
            }
            Stmt::Arms(_, group, test, arms) => {
                let token = self.arrive(*group, Arrival::Full);
                let (arm, ending) = &arms[usize::from(!self.holds(*test))];
                if let Some(jump) = self.block(arm) {
                    return Some(jump);
                }
                match ending {
                    Ending::Wait => self.wait(token),
                    Ending::Forget => forget(token),
                    Ending::Lose => {}
                }
            }
            Stmt::Put(group) => self.variables[*group as usize] = Some(self.arrive(*group, Arrival::Full)),
            Stmt::Take(group) => {
                if let Some(token) = self.variables[*group as usize].take() {
                    self.wait(token);
                }
            }
            Stmt::Carried(label, rounds, [first, second, last]) => {
                let mut token = self.arrive(Group::Cluster, Arrival::Full);
                for round in 0..*rounds {
                    self.rounds.push((*label, round));
                    if let Some(jump) = self.block(first) {
                        return Some(jump);
                    }
                    self.wait(token);
                    if let Some(jump) = self.block(second) {
                        return Some(jump);
                    }
                    token = self.arrive(Group::Cluster, Arrival::Full);
                    self.rounds.pop();
                }
                if let Some(jump) = self.block(last) {
                    return Some(jump);
                }
                self.wait(token);
            }
            Stmt::If(test, then, otherwise) => {
                let arm = if self.holds(*test) { Some(then) } else { otherwise.as_ref() };
                return arm.and_then(|arm| self.block(arm));
            }
            Stmt::Loop(label, rounds, _, body) => {
                let rounds = match rounds {
                    Rounds::Literal(rounds) => *rounds,
                    Rounds::Parameter(index) => self.parameters[*index],
                };
                let outside = self.rounds.len();
                for round in 0..rounds {
                    self.rounds.push((*label, round));
                    let jump = self.block(body);
                    self.rounds.truncate(outside);
                    match jump {
                        Some(Jump::Break(to)) if to == *label => break,
                        Some(Jump::Continue(to)) if to == *label => {}
                        Some(jump) => return Some(jump),
                        None => {}
                    }
                }
            }
            Stmt::Jump(jump) => return Some(*jump),
            Stmt::Flip => self.current ^= 1,
            Stmt::Choose(number) => self.current = self.number(*number) % 2,
            Stmt::Let(label, relative) => {
                let value = self.relative(*relative);
                self.held.push((*label, value));
            }
            Stmt::Set(relative) => self.slot = self.relative(*relative),
        }
        None
    }

    fn number(&self, number: Number) -> usize {
        match number {
            Number::Parameter(index) => self.parameters[index],
            Number::Round(label) => {
                self.rounds.iter().find(|(known, _)| *known == label).map_or(0, |(_, round)| *round)
            }
            Number::Current => self.current,
        }
    }

    fn relative(&self, relative: Relative) -> u32 {
        relative.value(&Values {
            blocks: self.kernel.blocks as u32,
            rank: self.cluster.block_rank(),
            slot: self.slot,
            // The last iteration.
            held: &|label| self.held.iter().rfind(|(known, _)| *known == label).map_or(0, |(_, value)| *value),
            number: &|number| self.number(number) as u32,
        })
    }

    fn holds(&self, test: Test) -> bool {
        match test {
            Test::Equals(number, value) => self.number(number) == value as usize,
            Test::Even(number) => self.number(number).is_multiple_of(2),
            Test::BlockRank(rank) => self.cluster.block_rank() == rank,
            Test::ThreadRank(rank) => self.block.thread_rank() == rank,
            Test::Compared(comparison, number) => {
                comparison.holds(self.cluster.block_rank() as usize, self.number(number), self.kernel.blocks)
            }
        }
    }

    fn parity(&self, parity: Parity) -> usize {
        let which = match parity {
            Parity::Literal(value) => value as usize,
            Parity::Rem(number, more) => self.number(number) + more as usize,
            Parity::And(number) => self.number(number),
            Parity::Xor(number) | Parity::Minus(number) => self.number(number) + 1,
            Parity::Current => self.current,
            Parity::CurrentMinus | Parity::CurrentXor => self.current + 1,
            Parity::Relative(relative) => self.relative(relative) as usize,
        };
        which % 2
    }

    fn access(&mut self, access: &Access) {
        let i = self.block.thread_rank() as usize;
        let index = match access.place.index {
            Index::Literal(index) => index as usize,
            Index::Own => i,
            Index::Other => 1 - i,
            Index::Parity(parity) => self.parity(parity),
            Index::Relative(relative) => self.relative(relative) as usize,
            Index::Chunk(parity) => self.parity(parity) * 2 + i,
        };
        let (array, row) = match access.place.array {
            Array::A => (&self.arrays[0], 0),
            Array::B => (&self.arrays[1], 0),
            Array::Rows => (&self.arrays[2], self.parity(access.place.row)),
        };
        let (rank, blocks) = (self.cluster.block_rank(), self.kernel.blocks as u32);
        let owner = match access.owner {
            Owner::Own => None,
            Owner::Next => Some((rank + 1) % blocks),
            Owner::Previous => Some((rank + blocks - 1) % blocks),
            Owner::Rank(rank) => Some(rank),
            Owner::Relative(relative) => Some(self.relative(relative)),
        };
        let memory = match owner {
            None => Memory::Own(array),
            Some(rank) => Memory::Peer(self.cluster.map_shared_rank(array, rank)),
        };
        self.written += 1;
        (DOORS[access.site].touch)(memory, row * LENGTH + index, access.kind, self.written);
    }
}
