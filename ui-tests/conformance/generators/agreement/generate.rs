//! Generates random kernels, from well-behaved to wild ones, with or without indices that are affine in ranks. Whether
//! they are right is not decided here.

use super::super::generated_dsm::draw::Draw;
use super::super::generated_dsm::relative::Relative;
use super::super::generated_dsm::tree::{
    Access, Array, Arrival, Comparison, Form, Index, Jump, Kind, LENGTH, Label, Number, Owner, Parity, Place, Rounds,
    Test,
};
use super::super::random::Random;
use super::tree::{Block, Ending, Group, Kernel, Stmt};
use super::walk::SITES;

const BUDGET: usize = 10;
const DEEPEST: usize = 2;

pub(super) fn kernel(seed: u64) -> Kernel {
    generate(seed, false)
}

/// Generates a kernel whose numbers are computed from ranks.
pub(super) fn by_rank(seed: u64) -> Kernel {
    generate(seed, true)
}

/// Generates a kernel of either kind.
pub(super) fn either(seed: u64) -> Kernel {
    generate(seed, seed % 2 == 1)
}

fn generate(seed: u64, by_rank: bool) -> Kernel {
    let mut random = Random::new(seed);
    let blocks = if by_rank {
        2 + random.below(3)
    } else if random.chance(75) {
        2
    } else {
        3
    };
    // With one thread in each block, the rules cover all races.
    let threads = if random.chance(if by_rank { 70 } else { 40 }) { 1 } else { 2 };
    let wild = [0, 0, 3, 12][random.below(4)];
    let synced = [20, 50, 90][random.below(3)];
    let left = 2 + random.below(BUDGET);
    let mut generator = Generator {
        random,
        threads,
        draw: by_rank.then(|| Draw::new(blocks)),
        wild,
        synced,
        sites: 0,
        labels: 0,
        loops: Vec::new(),
        jumps: Vec::new(),
        left,
    };
    let mut body = generator.start();
    body.extend(generator.block(0, true));
    if generator.random.chance(88) {
        body.push(Stmt::Sync(Group::Cluster));
    }
    Kernel { blocks, threads, body }
}

struct Generator {
    random: Random,
    threads: usize,
    /// Draws the numbers that are computed from ranks, if any are.
    draw: Option<Draw>,
    /// How often something mostly wrong is done, in percent.
    wild: usize,
    /// How often a barrier follows an access, in percent.
    synced: usize,
    sites: usize,
    labels: usize,
    /// The enclosing loops, whose iterations can be named, and those that can be jumped out of.
    loops: Vec<Label>,
    jumps: Vec<Label>,
    left: usize,
}

impl Generator {
    fn label(&mut self) -> Label {
        self.labels += 1;
        self.labels
    }

    fn is_wild(&mut self) -> bool {
        self.random.chance(self.wild)
    }

    fn access_to(&mut self, kind: Kind, owner: Owner, place: Place) -> Stmt {
        if self.sites + 1 == SITES {
            return Stmt::Flip;
        }
        self.sites += 1;
        Stmt::Access(Access { site: self.sites, kind, owner, named: false, place })
    }

    /// Initializes every array, mostly, and publishes it by a barrier.
    fn start(&mut self) -> Block {
        let mut block = Block::new();
        for (array, row) in [(Array::A, 0), (Array::B, 0), (Array::Rows, 0), (Array::Rows, 1)] {
            if self.random.chance(2) {
                continue;
            }
            let indexes = match (&self.draw, self.threads) {
                (Some(_), 1) => (0..LENGTH as u32).map(Index::Literal).collect(),
                (Some(_), _) => vec![Index::Own, Index::Chunk(Parity::Literal(1))],
                (None, 1) => vec![Index::Own, Index::Other],
                (None, _) => vec![Index::Own],
            };
            for index in indexes {
                let place = Place { array, row: Parity::Literal(row), index };
                block.push(self.access_to(Kind::Write, Owner::Own, place));
            }
        }
        if self.random.chance(92) {
            block.push(Stmt::Sync(Group::Cluster));
        }
        block
    }

    fn number(&mut self) -> Number {
        match self.loops.last() {
            Some(label) if self.random.chance(75) => Number::Round(*label),
            Some(_) | None => Number::Parameter(self.random.below(2)),
        }
    }

    fn relative(&mut self, percent: usize, limit: usize) -> Option<Relative> {
        let draw = self.draw.as_mut().filter(|_| self.random.chance(percent))?;
        Some(draw.relative(&mut self.random, &self.loops, limit as u32))
    }

    fn parity(&mut self) -> Parity {
        if let Some(relative) = self.relative(40, 2) {
            return Parity::Relative(relative);
        }
        let number = self.number();
        match self.random.below(8) {
            0 => Parity::Literal(self.random.below(2) as u32),
            1 | 2 => Parity::Rem(number, 0),
            3 => Parity::Rem(number, 1),
            4 => Parity::And(number),
            5 => Parity::Minus(number),
            6 => Parity::Current,
            _ => Parity::CurrentXor,
        }
    }

    fn access(&mut self) -> Stmt {
        let kind = [Kind::Read, Kind::Write, Kind::Update, Kind::Atomic][self.random.weighted(&[10, 8, 1, 2])];
        let owner = match self.random.below(8) {
            0..=3 => Owner::Own,
            _ if self.draw.is_some() && self.random.chance(50) => self.of_another(),
            4..=6 => Owner::Next,
            _ if self.random.chance(3) => Owner::Rank(9),
            _ => Owner::Rank(self.random.below(2) as u32),
        };
        let array = Array::ALL[self.random.below(3)];
        let row = if array == Array::Rows { self.parity() } else { Parity::Literal(0) };
        // No rule covers an access to another thread's element of the same block.
        let index = match self.random.below(12) {
            3..=7 if self.draw.is_some() && self.threads == 1 => {
                self.relative(100, LENGTH).map_or(Index::Own, Index::Relative)
            }
            8 if self.draw.is_some() => Index::Chunk(self.parity()),
            0 if self.threads == 1 => Index::Literal(self.random.below(2) as u32),
            1 if self.threads == 1 => Index::Parity(self.parity()),
            2 if self.threads == 1 || owner != Owner::Own => Index::Other,
            _ => Index::Own,
        };
        self.access_to(kind, owner, Place { array, row, index })
    }

    /// Returns the counterpart of an access, to a peer's memory for one to the block's own and vice versa, with nothing
    /// between.
    fn partner(&mut self, of: &[Stmt]) -> Option<Stmt> {
        let [Stmt::Access(first)] = of else { return None };
        if self.draw.is_none() || self.random.chance(80) {
            return None;
        }
        let owner = if first.is_remote() { Owner::Own } else { self.of_another() };
        let kind = if first.kind.writes() { Kind::Read } else { Kind::Write };
        let mut place = first.place;
        if self.threads == 2 {
            place.index = Index::Own;
        } else if let Some(relative) = self.relative(70, LENGTH) {
            place.index = Index::Relative(relative);
        }
        if place.array == Array::Rows && self.random.chance(40) {
            place.row = self.parity();
        }
        Some(self.access_to(kind, owner, place))
    }

    fn of_another(&mut self) -> Owner {
        self.draw.as_mut().map_or(Owner::Next, |draw| draw.owner(&mut self.random, &self.loops))
    }

    fn uniform(&mut self) -> Test {
        let number = self.number();
        if self.random.chance(40) { Test::Even(number) } else { Test::Equals(number, self.random.below(3) as u32) }
    }

    fn of_ranks(&mut self) -> Test {
        let rank = self.random.below(2) as u32;
        match self.random.below(if self.draw.is_some() { 3 } else { 2 }) {
            0 if self.threads > 1 => Test::ThreadRank(rank),
            2 => Test::Compared(Comparison::ALL[self.random.below(5)], self.number()),
            _ => Test::BlockRank(rank),
        }
    }

    fn test(&mut self) -> Test {
        if self.is_wild() { self.of_ranks() } else { self.uniform() }
    }

    fn group(&mut self) -> Group {
        Group::ALL[self.random.weighted(&[1, 3])]
    }

    /// Generates a block. If `open`, barriers may stand here.
    fn block(&mut self, depth: usize, open: bool) -> Block {
        let mut block = Block::new();
        let lets = self.draw.as_ref().map_or(0, Draw::lets);
        let wanted = if depth == 0 { 2 * BUDGET } else { 1 + self.random.below(3) };
        while block.len() < wanted && self.left > 0 && !matches!(block.last(), Some(Stmt::Jump(_))) {
            self.left -= 1;
            let here = open || self.is_wild();
            let stmts = self.statements(depth, here);
            let is_access = matches!(stmts[..], [Stmt::Access(_)]);
            let partner = self.partner(&stmts);
            block.extend(stmts);
            block.extend(partner);
            if open && is_access && self.random.chance(self.synced) {
                block.push(Stmt::Sync(Group::Cluster));
            }
        }
        if let Some(draw) = &mut self.draw {
            draw.leave(lets);
        }
        block
    }

    fn statements(&mut self, depth: usize, open: bool) -> Block {
        let compound = usize::from(depth < DEEPEST);
        let barrier = usize::from(open);
        let both = barrier * compound;
        let of_rank = 3 * usize::from(self.draw.is_some());
        let weights = [12, 2 * barrier, 3 * both, both, both, both, 3 * compound, 3 * compound, 2, 1, of_rank];
        match self.random.weighted(&weights) {
            0 => vec![self.access()],
            1 => vec![Stmt::Sync(self.group())],
            2 => {
                let (label, group) = (self.label(), self.group());
                let relaxed = group == Group::Cluster && self.random.chance(30);
                let arrival = if relaxed { Arrival::Relaxed } else { Arrival::Full };
                vec![Stmt::Split(label, group, arrival, self.between(depth))]
            }
            3 => {
                let (label, group, test) = (self.label(), self.group(), self.test());
                let arms = [(); 2].map(|()| {
                    let arm = self.between(depth);
                    let ending = match self.is_wild() {
                        true => Ending::Lose,
                        false if self.random.chance(25) => Ending::Forget,
                        false => Ending::Wait,
                    };
                    (arm, ending)
                });
                vec![Stmt::Arms(label, group, test, arms)]
            }
            4 => self.in_a_variable(depth),
            5 => {
                let label = self.label();
                self.loops.push(label);
                let [first, second] = [(); 2].map(|()| self.between(depth));
                self.loops.pop();
                vec![Stmt::Carried(label, 1 + self.random.below(3), [first, second, self.between(depth)])]
            }
            6 if self.random.chance(65) => {
                let test = self.test();
                let then = self.block(depth + 1, open);
                let otherwise = self.random.chance(40).then(|| self.block(depth + 1, open));
                vec![Stmt::If(test, then, otherwise)]
            }
            6 => {
                let test = self.of_ranks();
                let wild = self.is_wild();
                let then = self.block(depth + 1, wild);
                let otherwise = self.random.chance(40).then(|| self.block(depth + 1, wild));
                vec![Stmt::If(test, then, otherwise)]
            }
            7 => vec![self.repeat(depth, open)],
            8 => vec![self.jump(open)],
            9 => vec![match self.random.below(3) {
                0 => Stmt::Fence,
                1 => Stmt::Flip,
                _ => Stmt::Choose(self.number()),
            }],
            _ => vec![self.variable()],
        }
    }

    fn variable(&mut self) -> Stmt {
        let label = self.label();
        let (random, loops) = (&mut self.random, &self.loops);
        match &mut self.draw {
            Some(draw) if random.chance(60) => Stmt::Let(label, draw.hold(random, label, loops)),
            Some(draw) => Stmt::Set(draw.slot(random, loops)),
            None => Stmt::Flip,
        }
    }

    /// Generates a token that goes through a variable: put there, mostly under a test, and taken out.
    fn in_a_variable(&mut self, depth: usize) -> Block {
        let group = self.group();
        let mut block = match self.random.chance(60) {
            true => vec![Stmt::If(self.test(), vec![Stmt::Put(group)], None)],
            false => vec![Stmt::Put(group)],
        };
        block.extend(self.between(depth));
        if !self.is_wild() {
            block.push(Stmt::Take(group));
        }
        block
    }

    /// Generates what stands between an arrival and its wait. Mostly no jump leaves it.
    fn between(&mut self, depth: usize) -> Block {
        let wild = self.is_wild();
        let jumps = if wild { self.jumps.clone() } else { std::mem::take(&mut self.jumps) };
        let body = self.block(depth + 1, wild);
        self.jumps = jumps;
        body
    }

    fn jump(&mut self, open: bool) -> Stmt {
        let jump = match self.random.pick(&self.jumps.clone()) {
            Some(label) if self.random.chance(50) => Jump::Continue(label),
            Some(label) => Jump::Break(label),
            None if open => Jump::Return,
            None => return self.access(),
        };
        let mut body = Block::new();
        if self.random.chance(20) {
            body.push(self.access());
        }
        body.push(Stmt::Jump(jump));
        Stmt::If(self.test(), body, None)
    }

    fn repeat(&mut self, depth: usize, open: bool) -> Stmt {
        let label = self.label();
        let form = [Form::For, Form::Loop, Form::While][self.random.below(3)];
        let rounds = match self.random.below(5) {
            0 => Rounds::Parameter(self.random.below(2)),
            rounds => Rounds::Literal(1 + rounds % 3),
        };
        self.loops.push(label);
        self.jumps.push(label);
        let body = self.block(depth + 1, open);
        self.loops.pop();
        self.jumps.pop();
        Stmt::Loop(label, rounds, form, body)
    }
}
