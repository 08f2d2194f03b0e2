//! Runs a kernel of the generator, all threads of a cluster in step, and records each access with the number of
//! barriers before it. Nothing is judged here. What a check may not know can be left open: then every thread takes
//! every path.

use super::relative::{Relative, Values};
use super::tree::{
    Access, Array, Arrival, Block, DOMAIN, Index, Jump, Kernel, Kind, LENGTH, Label, Number, Owner, Parity, Rounds,
    Stmt, THREADS, Test,
};

/// The most blocks of a kernel.
const BLOCKS: usize = 4;
/// A mask of all elements of an array, or of a row.
const ELEMENTS: u8 = (1 << LENGTH) - 1;
/// The most threads of a cluster.
const ALL: usize = BLOCKS * THREADS;
/// The most iterations of a loop if paths are left open.
const ROUNDS: usize = 3;
/// The most runs of one kernel.
const RUNS: usize = 2_000;

/// The facts that are left open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unknown {
    /// Which element a varying index names.
    pub(super) elements: bool,
    /// Which element an index computed from ranks names, and whose memory such a number maps.
    pub(super) relatives: bool,
    /// The outcome of a test of ranks.
    pub(super) ranks: bool,
    /// The outcome of a test of numbers, and the number of iterations of a loop.
    pub(super) paths: bool,
    /// Which of two elements a parity names.
    pub(super) parities: bool,
}

/// A statement's accesses by all threads that reach it.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) access: Access,
    /// The numbers of arrivals and of waits at the cluster's barrier before it.
    pub(super) arrived: usize,
    pub(super) waited: usize,
    /// The number of barriers of the block before it.
    pub(super) synced: usize,
    /// Whether a test of ranks decides which threads get here, so that others may be elsewhere.
    pub(super) is_by_rank: bool,
    /// The elements for each owner and each accessing thread, one bit each.
    touched: [[u8; ALL]; BLOCKS],
    /// The threads that fenced it, and whether a barrier of the block came after it, so that each of its threads can.
    fenced: Mask,
    is_known: bool,
    /// The arrival that orders it, for each thread.
    ordered: [Option<usize>; ALL],
}

impl Event {
    /// Returns whether a block's own access by one event and another block's access by the other, which is later in
    /// program order, may alias, with no barrier to order the two.
    pub(super) fn races_with(&self, later: &Event) -> bool {
        let open = |thread: usize| self.ordered[thread].is_none_or(|arrival| arrival >= later.waited);
        let bits = |event: &Event, owner: usize, owns: bool, open: &dyn Fn(usize) -> bool| {
            let threads = (0..ALL).filter(|thread| (thread / THREADS == owner) == owns && open(*thread));
            threads.fold(0, |bits, thread| bits | event.touched[owner][thread])
        };
        let is_own = !self.access.is_remote();
        let of = |owner: usize| bits(self, owner, is_own, &open) & bits(later, owner, !is_own, &|_| true) != 0;
        self.access.place.array == later.access.place.array && (0..BLOCKS).any(of)
    }

    /// Returns whether threads of two blocks may access the same element, one by this event and one by the other, which is later in program
    /// order, with no barrier to order the two.
    pub(super) fn meets(&self, later: &Event) -> bool {
        let open = |thread: usize| self.ordered[thread].is_none_or(|arrival| arrival >= later.waited);
        let meet = |one: usize, other: usize| {
            let shares = |owner: usize| self.touched[owner][one] & later.touched[owner][other] != 0;
            one / THREADS != other / THREADS && open(one) && (0..BLOCKS).any(shares)
        };
        let alias = self.access.place.array == later.access.place.array;
        alias && (0..ALL).any(|one| (0..ALL).any(|other| meet(one, other)))
    }

    /// Returns whether threads of two blocks write the same element.
    pub(super) fn races_with_itself(&self) -> bool {
        let by = |owner: usize, block: usize| {
            (0..THREADS).fold(0, |bits, thread| bits | self.touched[owner][block * THREADS + thread])
        };
        let pairs = |owner: usize| (0..BLOCKS).any(|one| (0..one).any(|other| by(owner, one) & by(owner, other) != 0));
        matches!(self.access.kind, Kind::Write | Kind::Update) && (0..BLOCKS).any(pairs)
    }

    /// Returns whether it reads an element, of its own block or of another, that none of these events writes in that block.
    pub(super) fn reads_unwritten(&self, events: &[Event]) -> bool {
        let written = |owner: usize| {
            let writes = events
                .iter()
                .filter(|event| event.access.kind.writes() && event.access.place.array == self.access.place.array);
            writes.flat_map(|event| event.touched[owner]).fold(0, |bits, touched| bits | touched)
        };
        let reads = |owner: usize| self.touched[owner].iter().any(|touched| touched & !written(owner) != 0);
        self.access.kind.reads() && (0..BLOCKS).any(reads)
    }

    /// Returns whether no arrival orders it.
    pub(super) fn is_open(&self) -> bool {
        (0..ALL).any(|thread| self.ordered[thread].is_none() && self.reaches(thread))
    }

    /// Returns whether it accesses another block's memory for some of its threads. A block may map its own rank.
    pub(super) fn is_remote(&self) -> bool {
        match self.access.owner {
            Owner::Own => false,
            Owner::Next | Owner::Previous => true,
            Owner::Rank(_) | Owner::Relative(_) => (0..ALL).any(|thread| self.reaches(thread)),
        }
    }

    fn reaches(&self, thread: usize) -> bool {
        let is_any = !matches!(self.access.owner, Owner::Rank(_) | Owner::Relative(_));
        let of = |owner: usize| self.touched[owner][thread] != 0 && (is_any || owner != thread / THREADS);
        (0..BLOCKS).any(of)
    }
}

/// The events of a run in program order.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) events: Vec<Event>,
    pub(super) arrivals: usize,
}

/// Runs the kernel in every way. Returns whether there were not too many.
pub(super) fn runs(kernel: &Kernel, unknown: Unknown, mut each: impl FnMut(&Trace)) -> bool {
    let mut left = RUNS;
    let mut is_read = [false; 2];
    for input in 0..DOMAIN * DOMAIN {
        let parameters = [input % DOMAIN, input / DOMAIN];
        // Without a read of a parameter, one value is enough.
        if (0..2).any(|index| parameters[index] != 0 && !is_read[index]) {
            continue;
        }
        let mut choices = Choices::default();
        loop {
            let mut run = Run {
                kernel,
                unknown,
                parameters,
                choices,
                rounds: Vec::new(),
                current: 0,
                slot: std::array::from_fn(|rank| rank as u32),
                held: Vec::new(),
                waited: 0,
                synced: 0,
                arms: 0,
                trace: Trace::default(),
                is_read,
            };
            run.block(&kernel.body, Mask::MAX >> (ALL - kernel.blocks * THREADS));
            each(&run.trace);
            left -= 1;
            if left == 0 {
                return false;
            }
            is_read = run.is_read;
            choices = run.choices;
            if !choices.advance() {
                break;
            }
        }
    }
    true
}

/// The choices made so far, each with the number of its alternatives.
#[derive(Debug, Default)]
struct Choices {
    made: Vec<(usize, usize)>,
    at: usize,
}

impl Choices {
    fn next(&mut self, limit: usize) -> usize {
        if self.at == self.made.len() {
            self.made.push((0, limit));
        }
        self.at += 1;
        self.made[self.at - 1].0
    }

    /// Advances to the next run, if there is one.
    fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((choice, limit)) = self.made.pop() {
            if choice + 1 < limit {
                self.made.push((choice + 1, limit));
                return true;
            }
        }
        false
    }
}

/// One bit for each thread of the cluster.
type Mask = u8;

struct Run<'k> {
    kernel: &'k Kernel,
    unknown: Unknown,
    parameters: [usize; 2],
    choices: Choices,
    rounds: Vec<(Label, usize)>,
    current: u32,
    /// The value of `slot` for each block.
    slot: [u32; BLOCKS],
    held: Vec<(Label, [u32; BLOCKS])>,
    waited: usize,
    synced: usize,
    /// The number of enclosing tests of ranks.
    arms: usize,
    trace: Trace,
    is_read: [bool; 2],
}

impl Run<'_> {
    /// Runs a block, and returns the jump that left it.
    fn block(&mut self, block: &Block, mask: Mask) -> Option<Jump> {
        block.iter().find_map(|stmt| self.statement(stmt, mask))
    }

    fn arrive(&mut self, arrival: Arrival) {
        for event in &mut self.trace.events {
            for (thread, ordered) in event.ordered.iter_mut().enumerate() {
                if arrival == Arrival::Full || event.fenced & 1 << thread != 0 {
                    ordered.get_or_insert(self.trace.arrivals);
                }
            }
        }
        self.trace.arrivals += 1;
    }

    fn fence(&mut self, mask: Mask) {
        // Threads that may not get here do not count.
        if self.arms > 0 && self.unknown.ranks {
            return;
        }
        for event in &mut self.trace.events {
            let fences = |thread: usize| mask & 1 << thread != 0;
            let one_of_block =
                |thread: usize| (0..ALL).any(|other| other / THREADS == thread / THREADS && fences(other));
            for thread in 0..ALL {
                if fences(thread) || event.is_known && one_of_block(thread) {
                    event.fenced |= 1 << thread;
                }
            }
        }
    }

    fn wait(&mut self) {
        self.waited += 1;
    }

    fn statement(&mut self, stmt: &Stmt, mask: Mask) -> Option<Jump> {
        match stmt {
            Stmt::Access(access) => self.access(access, mask),
            Stmt::Sync => {
                self.arrive(Arrival::Full);
                self.wait();
            }
            Stmt::SyncBlock => {
                self.synced += 1;
                self.trace.events.iter_mut().for_each(|event| event.is_known = true);
            }
            Stmt::Fence => self.fence(mask),
            Stmt::Split(_, arrival, body) => {
                self.arrive(*arrival);
                let jump = self.block(body, mask);
                if jump.is_some() {
                    return jump;
                }
                self.wait();
            }
            Stmt::Carried(label, rounds, [first, second, last]) => {
                self.arrive(Arrival::Full);
                let rounds = if self.unknown.paths { self.choices.next(ROUNDS + 1) } else { *rounds };
                for round in 0..rounds {
                    self.rounds.push((*label, round));
                    self.block(first, mask);
                    self.wait();
                    self.block(second, mask);
                    self.arrive(Arrival::Full);
                    self.rounds.pop();
                }
                self.block(last, mask);
                self.wait();
            }
            Stmt::If(test, then, otherwise) => {
                let nothing = Block::new();
                let otherwise = otherwise.as_ref().unwrap_or(&nothing);
                if let Some(whole) = self.uniform(*test) {
                    return self.block(if whole { then } else { otherwise }, mask);
                }
                let holds = self.of_ranks(*test);
                let taken = if self.unknown.ranks { mask } else { mask & holds };
                let rest = if self.unknown.ranks { mask } else { mask & !holds };
                self.arms += 1;
                self.block(then, taken);
                self.block(otherwise, rest);
                self.arms -= 1;
            }
            Stmt::Loop(label, rounds, _, body) => {
                let rounds = match rounds {
                    _ if self.unknown.paths => self.choices.next(ROUNDS + 1),
                    Rounds::Literal(rounds) => *rounds,
                    Rounds::Parameter(index) => self.number(Number::Parameter(*index)),
                };
                for round in 0..rounds {
                    self.rounds.push((*label, round));
                    let jump = self.block(body, mask);
                    self.rounds.pop();
                    match jump {
                        Some(Jump::Break(to)) if to == *label => break,
                        Some(Jump::Continue(to)) if to == *label => {}
                        Some(jump) => return Some(jump),
                        None => {}
                    }
                }
            }
            Stmt::Jump(jump) => return Some(*jump),
            Stmt::Flip(_) => self.current ^= 1,
            Stmt::Choose(number) => self.current = self.number(*number) as u32 % 2,
            Stmt::Let(label, relative) => {
                let values = self.of_blocks(*relative);
                self.held.retain(|(known, _)| known != label);
                self.held.push((*label, values));
            }
            Stmt::Set(relative) => self.slot = self.of_blocks(*relative),
        }
        None
    }

    fn number(&mut self, number: Number) -> usize {
        self.read(number);
        self.value(number)
    }

    fn read(&mut self, number: Number) {
        if let Number::Parameter(index) = number {
            self.is_read[index] = true;
        }
    }

    fn value(&self, number: Number) -> usize {
        match number {
            Number::Parameter(index) => self.parameters[index],
            Number::Round(label) => {
                self.rounds.iter().find(|(known, _)| *known == label).map_or(0, |(_, round)| *round)
            }
            Number::Current => self.current as usize,
        }
    }

    /// Returns the value for each block.
    fn of_blocks(&mut self, relative: Relative) -> [u32; BLOCKS] {
        relative.number().into_iter().for_each(|number| self.read(number));
        let blocks = self.kernel.blocks;
        std::array::from_fn(|rank| {
            let held = |label| self.held.iter().find(|(known, _)| *known == label).map_or(0, |(_, held)| held[rank]);
            let number = |number| self.value(number) as u32;
            let (blocks, slot, rank) = (blocks as u32, self.slot[rank], rank as u32);
            // The cluster has no such block.
            if rank >= blocks {
                0
            } else {
                relative.value(&Values { blocks, rank, slot, held: &held, number: &number })
            }
        })
    }

    fn uniform(&mut self, test: Test) -> Option<bool> {
        if !test.is_uniform() {
            return None;
        }
        if self.unknown.paths {
            return Some(self.choices.next(2) == 0);
        }
        match test {
            Test::Equals(number, value) => Some(self.number(number) == value as usize),
            Test::Even(number) => Some(self.number(number).is_multiple_of(2)),
            Test::BlockRank(_) | Test::ThreadRank(_) | Test::Compared(..) => None,
        }
    }

    fn of_ranks(&mut self, test: Test) -> Mask {
        test.number().into_iter().for_each(|number| self.read(number));
        let blocks = self.kernel.blocks;
        let holds = |thread: usize| match test {
            Test::Compared(comparison, number) => comparison.holds(thread / THREADS, self.value(number), blocks),
            Test::BlockRank(rank) => thread / THREADS == rank as usize,
            Test::ThreadRank(rank) => thread % THREADS == rank as usize,
            Test::Equals(..) | Test::Even(_) => true,
        };
        (0..self.kernel.blocks * THREADS).filter(|thread| holds(*thread)).fold(0, |mask, thread| mask | 1 << thread)
    }

    /// Returns, for each block, one bit for each of the two that it may be.
    fn parity(&mut self, parity: Parity) -> [u8; BLOCKS] {
        let which = match parity {
            Parity::Literal(value) => return [1 << value; BLOCKS],
            Parity::Relative(_) if self.unknown.relatives => return [0b11; BLOCKS],
            Parity::Relative(relative) => return self.of_blocks(relative).map(|value| 1 << value),
            Parity::Rem(number, more) => self.number(number) as u32 + more,
            Parity::And(number) => self.number(number) as u32,
            Parity::Xor(number) | Parity::Minus(number) => self.number(number) as u32 + 1,
            Parity::Current => self.current,
            Parity::CurrentMinus | Parity::CurrentXor => self.current + 1,
        };
        [if self.unknown.parities { 0b11 } else { 1 << (which % 2) }; BLOCKS]
    }

    /// Returns, for each block and each of its threads, one bit for each element.
    fn elements(&mut self, index: Index) -> [[u8; THREADS]; BLOCKS] {
        let varies = |thread: usize| if self.unknown.elements { ELEMENTS } else { 1 << thread };
        match index {
            Index::Literal(index) => [[1 << index; THREADS]; BLOCKS],
            Index::Own => [std::array::from_fn(varies); BLOCKS],
            Index::Other => [std::array::from_fn(|thread| varies(THREADS - 1 - thread)); BLOCKS],
            Index::Relative(_) if self.unknown.relatives => [[ELEMENTS; THREADS]; BLOCKS],
            Index::Relative(relative) => self.of_blocks(relative).map(|value| [1 << value; THREADS]),
            Index::Parity(_) if self.unknown.elements && self.unknown.parities => [[ELEMENTS; THREADS]; BLOCKS],
            Index::Parity(parity) => self.parity(parity).map(|bits| [bits; THREADS]),
            Index::Chunk(_) if self.unknown.elements => [[ELEMENTS; THREADS]; BLOCKS],
            Index::Chunk(parity) => self.parity(parity).map(|chunk| {
                let chunks = if chunk & 1 != 0 { 0b1 } else { 0 } | if chunk & 2 != 0 { 0b100 } else { 0 };
                std::array::from_fn(|thread| chunks << thread)
            }),
        }
    }

    /// Returns, for each block, the owners of the memory it accesses: one bit for each.
    fn owners(&mut self, owner: Owner) -> [u8; BLOCKS] {
        let blocks = self.kernel.blocks;
        match owner {
            Owner::Own => std::array::from_fn(|block| 1 << block),
            Owner::Next => std::array::from_fn(|block| 1 << ((block + 1) % blocks)),
            Owner::Previous => std::array::from_fn(|block| 1 << ((block + blocks - 1) % blocks)),
            // A rank that does not exist stands for any.
            Owner::Rank(rank) if self.unknown.elements => [1 << (rank as usize % blocks); BLOCKS],
            Owner::Rank(rank) => [if (rank as usize) < blocks { 1 << rank } else { 0 }; BLOCKS],
            Owner::Relative(_) if self.unknown.relatives => [u8::MAX; BLOCKS],
            Owner::Relative(relative) => self.of_blocks(relative).map(|rank| 1u8.checked_shl(rank).unwrap_or(0)),
        }
    }

    fn access(&mut self, access: &Access, mask: Mask) {
        let blocks = self.kernel.blocks;
        let rows = self.parity(access.place.row);
        let elements = self.elements(access.place.index);
        let owners = self.owners(access.owner);
        let mut touched = [[0; ALL]; BLOCKS];
        for thread in (0..blocks * THREADS).filter(|thread| mask & 1 << thread != 0) {
            let block = thread / THREADS;
            let elements = elements[block][thread % THREADS];
            let rows = (0..2).filter(|row| rows[block] & 1 << row != 0);
            let bits = match access.place.array {
                Array::A | Array::B => elements,
                Array::Rows => rows.fold(0, |bits, row| bits | elements << (row * LENGTH)),
            };
            for owner in (0..blocks).filter(|owner| owners[block] & 1 << owner != 0) {
                touched[owner][thread] |= bits;
            }
        }
        self.trace.events.push(Event {
            access: *access,
            arrived: self.trace.arrivals,
            waited: self.waited,
            synced: self.synced,
            is_by_rank: self.arms > 0,
            touched,
            fenced: 0,
            is_known: false,
            ordered: [None; ALL],
        });
    }
}
