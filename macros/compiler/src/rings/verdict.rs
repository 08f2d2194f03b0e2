//! What the check of a skeleton answers: a proof, a fault with the interleaving that leads to it, or why there is neither.

/// The answer for a skeleton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No run has a fault, whatever the trip counts and the interleaving.
    Proved {
        /// The number of states that were visited.
        states: usize,
    },
    /// A run has a fault.
    Fault {
        /// The fault.
        fault: Fault,
        /// What happens before it, with a smallest number of moves.
        trace: Vec<Event>,
    },
    /// The check found no fault, and no proof either.
    NotProved(Reason),
}

/// Why a skeleton is neither proved nor faulty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The step has an expression that depends on data.
    Data {
        /// The caller's number of the step.
        step: u32,
    },
    /// The step has an expression whose value the check does not follow, such as a negative index.
    Arithmetic {
        /// The caller's number of the step.
        step: u32,
    },
    /// The counters of the role take too many values.
    Counters {
        /// The index of the role.
        role: u32,
    },
    /// Nothing bounds how far the role runs ahead of the others.
    Lead {
        /// The index of the role.
        role: u32,
    },
    /// Nothing bounds the role's bulk copies in flight.
    Stores {
        /// The index of the role.
        role: u32,
    },
    /// The threads of the role decide the branch at the step on their own, and then go on.
    FreeDecision {
        /// The caller's number of the step.
        step: u32,
    },
    /// Several threads execute the step, which is checked only for one: a copy, or an expectation of bytes.
    ManyThreads {
        /// The caller's number of the step.
        step: u32,
    },
    /// The phases of the barrier are not completed by one arrival of each thread of the same roles.
    Arrivals {
        /// The index of the array of barriers.
        barrier: u32,
    },
    /// A thread begins an access that it does not end, or ends one that it has not begun.
    Unpaired {
        /// The caller's number of the step.
        step: u32,
    },
    /// The skeleton is larger than a state can hold, or refers to what it does not have.
    Size,
    /// There are more states than the limit.
    States,
}

/// A thread of a role, or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Threads {
    /// The index of the role.
    pub role: u32,
    /// The rank of the block.
    pub block: u32,
    /// The representative among those of the role: all but the last stand for one thread, the last one for the rest.
    pub representative: u32,
    /// The number of threads that it stands for.
    pub number: u32,
}

/// A barrier or a slot of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object {
    /// The index of the array.
    pub array: u32,
    /// The index in the array.
    pub index: u32,
    /// The rank of the block.
    pub block: u32,
}

/// A property that does not hold, by family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No thread can go on.
    Deadlock {
        /// The threads that wait.
        waiting: Vec<Waiting>,
    },
    /// A slot is filled while it is in use.
    Overwrite {
        /// The threads that fill it.
        threads: Threads,
        /// The slot.
        slot: Object,
        /// What the slot is in use for.
        by: Use,
    },
    /// A slot is read that does not hold the data.
    Read {
        /// The threads that read it.
        threads: Threads,
        /// The slot.
        slot: Object,
        /// What the slot holds.
        content: Content,
    },
    /// A barrier gets more arrivals than the phase lacks, or an element does not exist.
    Count(CountFault),
    /// A thread's phase is over and so is the next one, so that the wait is for a third.
    Overtaken {
        /// The threads that wait.
        threads: Threads,
        /// The barrier.
        barrier: Object,
        /// How the wait names its phase.
        wait: LateWait,
    },
    /// Something is in flight to or from a block or a thread that has exited.
    Undrained(UndrainedFault),
}

/// Threads that wait for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The threads.
    pub threads: Threads,
    /// The caller's number of their step.
    pub step: u32,
    /// The index of the step in its role.
    pub index: usize,
    /// The barrier at which they wait, unless they are to meet others.
    pub barrier: Option<BarrierState>,
}

/// What a slot is in use for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It is being read.
    Read,
    /// It is being filled.
    Fill,
}

/// What a slot holds instead of the data that a thread reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// It holds a part of the data, or nothing that a thread has still to read.
    Incomplete,
    /// It is being filled.
    BeingFilled,
    /// It holds data of another round.
    OtherRound,
}

/// A fault of the family [`Fault::Count`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountFault {
    /// More arrivals than the phase lacks.
    Arrivals {
        /// The threads that arrive.
        threads: Threads,
        /// The barrier.
        barrier: Object,
        /// The number of arrivals.
        arrivals: u32,
        /// The number of arrivals that the phase lacks.
        lacks: u32,
    },
    /// The array has no element with the index, or the cluster no such block.
    Index {
        /// The threads that name it.
        threads: Threads,
        /// The caller's number of the step.
        step: u32,
    },
}

/// How a wait that comes too late names its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateWait {
    /// By its parity.
    Parity,
    /// By a token of an arrival, which is older than the phase before.
    StaleToken,
    /// By a token that the thread does not have.
    NoToken,
}

/// A fault of the family [`Fault::Undrained`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndrainedFault {
    /// A thread arrives at a barrier of a block that has exited.
    Arrival {
        /// The threads that arrive.
        threads: Threads,
        /// The barrier.
        barrier: Object,
    },
    /// A copy lands in a block that has exited.
    Copy {
        /// The slot.
        slot: Object,
    },
    /// A thread exits while its bulk copy reads a slot.
    Store {
        /// The threads that exit.
        threads: Threads,
        /// The slot.
        slot: Object,
    },
}

/// One step of an interleaving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What happens.
    pub action: EventAction,
    /// What the barrier lacks afterwards if the step is about one.
    pub barrier: Option<BarrierState>,
    /// The slot that a step of threads is about.
    pub slot: Option<Object>,
}

/// What happens in one step of an interleaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventAction {
    /// Threads execute a step.
    Step {
        /// The threads.
        threads: Threads,
        /// The caller's number of the step.
        step: u32,
        /// The index of the step in its role. Several steps may have one number.
        index: usize,
    },
    /// A copy lands in a slot.
    Lands {
        /// The slot.
        slot: Object,
    },
    /// A bulk copy has read a slot, or whatever else its queue is of.
    Stored {
        /// The threads that began it.
        threads: Threads,
        /// Its queue.
        queue: u8,
        /// The slot.
        slot: Object,
    },
}

/// The state of a barrier in an interleaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierState {
    /// The barrier.
    pub barrier: Object,
    /// The parity of its current phase.
    pub parity: bool,
    /// The number of arrivals that the phase lacks.
    pub arrivals: u32,
    /// The number of bytes that the phase lacks, negative if copies have brought bytes that are not expected yet.
    pub bytes: i64,
}
