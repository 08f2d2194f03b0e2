//! The synchronization skeleton of a kernel, as plain data: what is left when its values are dropped. It knows no syntax
//! and no spans; each step carries a number that the caller chose, by which it finds the source again.

use std::collections::BTreeSet;

use super::expr::Expr;
use super::verdict::Threads;

/// A kernel's phase barriers, the buffers that they guard, and the roles of its threads.
#[derive(Clone, Debug, Default)]
pub struct Skeleton {
    /// The number of thread blocks of a cluster. Barriers, slots and roles exist once in each block.
    pub blocks: u32,
    /// The arrays of phase barriers.
    pub barriers: Vec<BarrierArray>,
    /// The arrays of slots.
    pub slots: Vec<SlotArray>,
    /// The roles of a block's threads.
    pub roles: Vec<Role>,
}

/// An array of phase barriers in each block.
#[derive(Clone, Debug)]
pub struct BarrierArray {
    /// For each barrier, the number of arrivals that complete a phase of it.
    pub counts: Vec<u32>,
}

impl BarrierArray {
    /// Returns so many barriers that expect one number of arrivals.
    pub fn new(stages: u32, count: u32) -> BarrierArray {
        BarrierArray { counts: vec![count; stages as usize] }
    }

    /// The number of barriers.
    pub fn stages(&self) -> u32 {
        u32::try_from(self.counts.len()).unwrap_or(u32::MAX)
    }
}

/// An array of buffers in each block, each of which is filled and read as a whole.
#[derive(Clone, Copy, Debug)]
pub struct SlotArray {
    /// The number of slots.
    pub stages: u32,
    /// The number of fills, one for each thread or copy, that make a slot full. If it is 0, a slot is never empty nor full: fills do not
    /// concern each other, and only a fill and a read at the same time are a fault.
    pub parts: u32,
}

/// Threads of a block that execute the same steps.
#[derive(Clone, Debug)]
pub struct Role {
    /// The number of threads in each block.
    pub threads: u32,
    /// The stream of shared decisions that the role follows. The n-th shared decision is the same for all roles of a stream.
    pub stream: u32,
    /// The steps, from the first one on. A target that is not a step, and the place behind the last step, is the end.
    pub steps: Vec<Step>,
}

/// One step of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The caller's number for the step.
    pub id: u32,
    /// What a thread does at the step.
    pub op: Op,
}

/// An element of an array of barriers or slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// The index of the array in the skeleton.
    pub array: u32,
    /// The index of the element in the array.
    pub index: Expr,
}

/// What a thread does at a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// The thread waits until the barrier's current phase has the other parity.
    Wait {
        /// The barrier, of the own block.
        barrier: Element,
        /// The parity of the phase that must be complete, modulo 2.
        parity: Expr,
    },
    /// The thread waits for the phase of its last arrival with a token.
    WaitToken {
        /// The barrier, of the own block.
        barrier: Element,
    },
    /// The thread arrives.
    Arrive {
        /// The barrier.
        barrier: Element,
        /// The rank of the barrier's block.
        block: Expr,
        /// The number of arrivals.
        count: u32,
        /// Whether later phases expect as many arrivals fewer.
        drops: bool,
        /// Whether the thread keeps a token of the arrival.
        token: bool,
    },
    /// The thread adds to the bytes that the barrier's current phase expects.
    Expect {
        /// The barrier, of the own block.
        barrier: Element,
        /// The number of bytes.
        bytes: u32,
    },
    /// The thread begins an asynchronous copy, which fills a part of a slot and then completes bytes at a barrier.
    Copy {
        /// The slot.
        slot: Element,
        /// The barrier.
        barrier: Element,
        /// The rank of the slot's block.
        block: Expr,
        /// The rank of the barrier's block.
        signals: Expr,
        /// The number of bytes.
        bytes: u32,
        /// What the slot holds after the copy.
        data: Data,
        /// The slot of the own block that is read until the copy has landed, if it is one.
        from: Option<Element>,
    },
    /// The thread begins its share of a copy that all threads of the role make together, into a slot of the own block. The barrier's
    /// current phase waits for the share.
    Share {
        /// The slot, of the own block.
        slot: Element,
        /// The barrier, of the own block.
        barrier: Element,
        /// What the slot holds after the copy.
        data: Data,
    },
    /// The thread begins to fill its part of a slot.
    BeginFill {
        /// The slot.
        slot: Element,
        /// The rank of the slot's block.
        block: Expr,
        /// What the slot holds afterwards.
        data: Data,
    },
    /// The thread has filled its part of a slot.
    EndFill {
        /// The slot.
        slot: Element,
        /// The rank of the slot's block.
        block: Expr,
    },
    /// The thread begins to read a slot.
    BeginRead {
        /// The slot.
        slot: Element,
        /// The rank of the slot's block.
        block: Expr,
        /// What the slot must hold.
        data: Data,
    },
    /// The thread has read a slot.
    EndRead {
        /// The slot.
        slot: Element,
        /// The rank of the slot's block.
        block: Expr,
    },
    /// The thread begins a bulk copy out of a slot.
    Store {
        /// The slot, of the own block.
        slot: Element,
        /// The number of the thread's queue that the copy is in.
        queue: u8,
    },
    /// The thread waits until its bulk copies out of slots in one queue, but for the last ones, have read their slots.
    WaitStores {
        /// The number of the queue. Queues know nothing of each other.
        queue: u8,
        /// The number of last copies that may still be in flight.
        but: u32,
    },
    /// The thread meets others at a barrier that is no phase barrier.
    Sync {
        /// A number for the meeting. Threads meet only at steps with the same number.
        meeting: u32,
        /// The threads that meet.
        among: Among,
    },
    /// The thread sets counters, all of them from the values before the step.
    Set(Vec<(u32, Expr)>),
    /// The thread goes on to its next round, which [`Data::Round`] counts.
    NextRound,
    /// The thread goes on to the next step if the condition holds, and to another one otherwise.
    Branch {
        /// What the branch depends on.
        condition: Condition,
        /// The index of the step if the condition does not hold.
        otherwise: usize,
    },
    /// The thread goes on to another step.
    Jump(usize),
    /// The thread exits.
    Leave,
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// It holds the data of a round, counted by the thread's [`Op::NextRound`]s.
    Round {
        /// The number of rounds between the thread's and that of the data.
        ahead: i16,
        /// A number below 16 that tells data of one round apart.
        kind: u8,
    },
    /// It holds the same data in all rounds.
    Fixed(u8),
}

/// The threads that meet at an [`Op::Sync`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Among {
    /// All threads of the block.
    Block,
    /// All threads of the cluster.
    Cluster,
    /// The threads of these roles, in the own block.
    Roles(Vec<u32>),
}

/// What a branch depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The branch depends on counters: it holds if the value is not 0.
    Counters(Expr),
    /// The branch is a decision that all roles of the stream take alike, such as whether there is one more iteration.
    Shared,
    /// The branch holds if this many decisions that come next are all to go on, such as whether there will be an iteration so many rounds
    /// later. It takes none of them: the thread comes to each of them later.
    Ahead(Expr),
    /// The branch depends on what stays the same while the kernel runs, such as whether loops over a range have any iterations: all
    /// branches of the number go the same way, wherever and whenever a thread comes to them.
    Constant(u32),
    /// The branch is a decision of each thread's own.
    Free,
    /// The branch holds if the barrier's phase of this parity is over when the thread comes to it.
    Over {
        /// The barrier, of the own block.
        barrier: Element,
        /// The parity, modulo 2.
        parity: Expr,
    },
    /// The branch holds if the phase of the thread's last arrival with a token is over when the thread comes to it.
    Past {
        /// The barrier, of the own block.
        barrier: Element,
    },
}

impl Skeleton {
    /// The operation of a step by its index in the threads' role.
    pub(crate) fn op(&self, threads: Threads, index: usize) -> Option<&Op> {
        self.roles[threads.role as usize].steps.get(index).map(|step| &step.op)
    }
}

impl Op {
    /// Returns the indexes of the steps that may come after this one, which is at index `at`.
    pub(crate) fn targets(&self, at: usize) -> Vec<usize> {
        match self {
            Op::Jump(to) => vec![*to],
            Op::Branch { otherwise, .. } => vec![at + 1, *otherwise],
            Op::Leave => Vec::new(),
            Op::Wait { .. }
            | Op::WaitToken { .. }
            | Op::Arrive { .. }
            | Op::Expect { .. }
            | Op::Copy { .. }
            | Op::Share { .. }
            | Op::BeginFill { .. }
            | Op::EndFill { .. }
            | Op::BeginRead { .. }
            | Op::EndRead { .. }
            | Op::Store { .. }
            | Op::WaitStores { .. }
            | Op::Sync { .. }
            | Op::Set(_)
            | Op::NextRound => vec![at + 1],
        }
    }

    /// The counters that the step sets or reads.
    pub(crate) fn counters(&self) -> BTreeSet<u32> {
        let (set, read): (Vec<u32>, Vec<&Expr>) = match self {
            Op::Set(values) => {
                (values.iter().map(|(counter, _)| *counter).collect(), values.iter().map(|(_, expr)| expr).collect())
            }
            Op::Wait { barrier, parity } | Op::Branch { condition: Condition::Over { barrier, parity }, .. } => {
                (Vec::new(), vec![&barrier.index, parity])
            }
            Op::WaitToken { barrier }
            | Op::Expect { barrier, .. }
            | Op::Branch { condition: Condition::Past { barrier }, .. } => (Vec::new(), vec![&barrier.index]),
            Op::Arrive { barrier, block, .. } => (Vec::new(), vec![&barrier.index, block]),
            Op::Copy { slot, barrier, block, signals, from, .. } => {
                let from = from.iter().map(|from| &from.index);
                (Vec::new(), [&slot.index, &barrier.index, block, signals].into_iter().chain(from).collect())
            }
            Op::Share { slot, barrier, .. } => (Vec::new(), vec![&slot.index, &barrier.index]),
            Op::BeginFill { slot, block, .. }
            | Op::EndFill { slot, block }
            | Op::BeginRead { slot, block, .. }
            | Op::EndRead { slot, block } => (Vec::new(), vec![&slot.index, block]),
            Op::Store { slot, .. } => (Vec::new(), vec![&slot.index]),
            Op::Branch { condition: Condition::Counters(expr) | Condition::Ahead(expr), .. } => {
                (Vec::new(), vec![expr])
            }
            Op::Branch { condition: Condition::Shared | Condition::Constant(_) | Condition::Free, .. }
            | Op::WaitStores { .. }
            | Op::Sync { .. }
            | Op::NextRound
            | Op::Jump(_)
            | Op::Leave => (Vec::new(), Vec::new()),
        };
        set.into_iter().chain(read.into_iter().flat_map(Expr::counters)).collect()
    }
}
