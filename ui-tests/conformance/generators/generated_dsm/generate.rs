//! Generates random kernels of the whole language, from those with a barrier after nearly each access to those with
//! few, with or without indices that are affine in ranks. `judge` decides whether they are right.

use super::super::random::Random;
use super::super::shrink::Nested;
use super::draw::Draw;
use super::relative::{Base, Relative, Step, Sum};
use super::tree::{
    Access, Array, Arrival, Block, Comparison, Form, Index, Jump, Kernel, Kind, LENGTH, Label, Number, Owner, Parity,
    Place, Rounds, Stmt, Test,
};

const BUDGET: usize = 12;
const DEEPEST: usize = 2;

pub(super) fn kernel(seed: u64) -> Kernel {
    generate(seed, false)
}

/// Generates a kernel whose numbers are computed from ranks.
pub(super) fn by_rank(seed: u64) -> Kernel {
    generate(seed, true)
}

fn generate(seed: u64, by_rank: bool) -> Kernel {
    let mut random = Random::new(seed);
    let blocks = 2 + random.below(if by_rank { 3 } else { 2 });
    let synced = [10, 40, 80][random.below(3)];
    let arrays = 1 + random.below(3);
    let budget = 2 + random.below(BUDGET);
    let mut generator = Generator {
        random,
        blocks,
        draw: by_rank.then(|| Draw::new(blocks)),
        synced,
        arrays,
        sites: 0,
        labels: 0,
        loops: Vec::new(),
        jumps: Vec::new(),
        left: budget,
    };
    let mut body = generator.start();
    body.extend(generator.block(0, true));
    if generator.random.chance(85) {
        body.push(Stmt::Sync);
    }
    Kernel { blocks, body }
}

struct Generator {
    random: Random,
    blocks: usize,
    /// Draws the numbers that are computed from ranks, if any are.
    draw: Option<Draw>,
    /// How often a barrier follows an access, in percent.
    synced: usize,
    /// The number of arrays that are used.
    arrays: usize,
    sites: usize,
    labels: usize,
    /// The enclosing loops, whose iterations can be named.
    loops: Vec<Label>,
    /// The loops that can be jumped out of, and whether `continue` is allowed, too.
    jumps: Vec<(Label, bool)>,
    left: usize,
}

impl Generator {
    fn label(&mut self) -> Label {
        self.labels += 1;
        self.labels
    }

    fn access_to(&mut self, kind: Kind, owner: Owner, place: Place) -> Stmt {
        self.sites += 1;
        Stmt::Access(Access { site: self.sites, kind, owner, named: self.random.chance(50), place })
    }

    /// Initializes every array, mostly, and publishes it by a barrier.
    fn start(&mut self) -> Block {
        let mut block = Block::new();
        for array in Array::ALL {
            for row in 0..if array == Array::Rows { 2 } else { 1 } {
                if self.random.chance(90) {
                    let place = Place { array, row: Parity::Literal(row), index: Index::Own };
                    block.push(self.access_to(Kind::Write, Owner::Own, place));
                }
            }
        }
        if self.random.chance(90) {
            block.push(Stmt::Sync);
        }
        block
    }

    fn number(&mut self) -> Number {
        let inner = self.loops.last().copied();
        match inner {
            Some(label) if self.random.chance(80) => Number::Round(label),
            _ => Number::Parameter(self.random.below(2)),
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
        match self.random.below(10) {
            0 => Parity::Literal(self.random.below(2) as u32),
            1 | 2 => Parity::Rem(number, 0),
            3 | 4 => Parity::Rem(number, 1 + self.random.below(2) as u32),
            5 => Parity::And(number),
            6 => Parity::Xor(number),
            7 => Parity::Minus(number),
            8 => Parity::Current,
            _ if self.random.chance(50) => Parity::CurrentMinus,
            _ => Parity::CurrentXor,
        }
    }

    fn place(&mut self) -> Place {
        let array = Array::ALL[3 - self.arrays + self.random.below(self.arrays)];
        let row = if array == Array::Rows { self.parity() } else { Parity::Literal(0) };
        if let Some(relative) = self.relative(50, LENGTH) {
            return Place { array, row, index: Index::Relative(relative) };
        }
        let index = match self.random.below(8) {
            3 if self.draw.is_some() => Index::Chunk(self.parity()),
            0 => Index::Literal(self.random.below(LENGTH) as u32),
            1 => Index::Other,
            2 => Index::Parity(self.parity()),
            _ => Index::Own,
        };
        Place { array, row, index }
    }

    fn access(&mut self) -> Stmt {
        let kind = [Kind::Read, Kind::Write, Kind::Update, Kind::Atomic][self.random.weighted(&[10, 8, 1, 2])];
        let owner = match self.random.below(9) {
            0..=3 => Owner::Own,
            _ if self.draw.is_some() && self.random.chance(50) => self.of_another(),
            4..=6 => Owner::Next,
            7 => Owner::Previous,
            _ => Owner::Rank(if self.random.chance(5) { 9 } else { self.random.below(self.blocks) as u32 }),
        };
        let place = self.place();
        self.access_to(kind, owner, place)
    }

    /// Returns the counterpart of an access, to a peer's memory for one to the block's own and vice versa, with nothing
    /// between.
    fn partner(&mut self, of: &Stmt) -> Option<Stmt> {
        let Stmt::Access(first) = of else { return None };
        if self.draw.is_none() || self.random.chance(80) {
            return None;
        }
        let owner = if first.is_remote() { Owner::Own } else { self.of_another() };
        let kind = if first.kind.writes() { Kind::Read } else { Kind::Write };
        let mut place = first.place;
        if let Some(relative) = self.relative(70, LENGTH) {
            place.index = Index::Relative(relative);
        } else if place.array == Array::Rows {
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

    /// Generates a block. If `open`, barriers may stand here.
    fn block(&mut self, depth: usize, open: bool) -> Block {
        let mut block = Block::new();
        let lets = self.draw.as_ref().map_or(0, Draw::lets);
        let wanted = if depth == 0 { 2 * BUDGET } else { 1 + self.random.below(3) };
        while block.len() < wanted && self.left > 0 && !matches!(block.last(), Some(Stmt::Jump(_))) {
            self.left -= 1;
            let stmt = self.statement(depth, open);
            let partner = self.partner(&stmt);
            let is_access = matches!(stmt, Stmt::Access(_));
            block.push(stmt);
            block.extend(partner);
            if open && is_access && self.random.chance(self.synced) {
                block.push(Stmt::Sync);
            }
        }
        if let Some(draw) = &mut self.draw {
            draw.leave(lets);
        }
        block
    }

    fn statement(&mut self, depth: usize, open: bool) -> Stmt {
        let compound = usize::from(depth < DEEPEST);
        let barrier = usize::from(open);
        let of_rank = 3 * usize::from(self.draw.is_some());
        let both = barrier * compound;
        let weights = [12, barrier, 1, 3 * both, both, 3 * compound, 3 * compound, 2, 1, 1, 1, of_rank];
        match self.random.weighted(&weights) {
            0 => self.access(),
            1 => Stmt::Sync,
            2 => self.barrier_of_the_block(open),
            3 => {
                let label = self.label();
                let body = self.apart(depth, false);
                Stmt::Split(label, if self.random.chance(40) { Arrival::Relaxed } else { Arrival::Full }, body)
            }
            4 => {
                let label = self.label();
                self.loops.push(label);
                let [first, second] = [self.apart(depth, false), self.apart(depth, false)];
                self.loops.pop();
                Stmt::Carried(label, 1 + self.random.below(3), [first, second, self.apart(depth, false)])
            }
            5 if self.random.chance(60) => {
                let test = self.uniform();
                let then = self.block(depth + 1, open);
                let otherwise = self.random.chance(40).then(|| self.block(depth + 1, open));
                Stmt::If(test, then, otherwise)
            }
            5 => {
                let test = self.of_ranks();
                let mut then = self.accesses();
                if let Test::Compared(_, number) = test
                    && self.random.chance(60)
                {
                    then.push(self.at_distance(number));
                }
                let otherwise = self.random.chance(40).then(|| self.accesses());
                Stmt::If(test, then, otherwise)
            }
            6 => self.repeat(depth, open),
            7 => match self.random.pick(&self.jumps.clone()) {
                Some((label, goes_on)) => {
                    let jump =
                        if goes_on && self.random.chance(60) { Jump::Continue(label) } else { Jump::Break(label) };
                    self.guarded(jump)
                }
                None if open => self.guarded(Jump::Return),
                None => self.access(),
            },
            8 => Stmt::Flip(self.random.chance(50)),
            9 => Stmt::Fence,
            10 => Stmt::Choose(self.number()),
            _ => self.variable(),
        }
    }

    /// Returns a test of ranks.
    fn of_ranks(&mut self) -> Test {
        let rank = self.random.below(2) as u32;
        match self.random.below(if self.draw.is_some() { 4 } else { 2 }) {
            0 => Test::BlockRank(rank),
            1 => Test::ThreadRank(rank),
            _ => Test::Compared(Comparison::ALL[self.random.below(5)], self.number()),
        }
    }

    /// Returns an access to the memory of the block that is `number` ranks away, if there is one.
    fn at_distance(&mut self, number: Number) -> Stmt {
        let step = if self.random.chance(60) { Step::Plus } else { Step::Below };
        let access = self.access();
        let Stmt::Access(access) = access else { return access };
        let owner = Owner::Relative(Relative::Sum(Sum { number: Some((step, number)), ..Sum::of(Base::Rank) }));
        Stmt::Access(Access { owner, named: false, ..access })
    }

    fn variable(&mut self) -> Stmt {
        let label = self.label();
        let (random, loops) = (&mut self.random, &self.loops);
        match &mut self.draw {
            Some(draw) if random.chance(60) => Stmt::Let(label, draw.hold(random, label, loops)),
            Some(draw) => Stmt::Set(draw.slot(random, loops)),
            None => Stmt::Flip(true),
        }
    }

    fn barrier_of_the_block(&mut self, open: bool) -> Stmt {
        if open || self.random.chance(50) { Stmt::SyncBlock } else { self.access() }
    }

    fn guarded(&mut self, jump: Jump) -> Stmt {
        let mut body = Block::new();
        if self.random.chance(20) {
            body.push(self.access());
        }
        body.push(Stmt::Jump(jump));
        Stmt::If(self.uniform(), body, None)
    }

    /// Generates a block that no jump leaves.
    fn apart(&mut self, depth: usize, open: bool) -> Block {
        let jumps = std::mem::take(&mut self.jumps);
        let body = self.block(depth + 1, open);
        self.jumps = jumps;
        body
    }

    /// Generates accesses that one thread makes and another does not.
    fn accesses(&mut self) -> Block {
        let mut block: Block = (0..self.random.below(3)).map(|_| self.access()).collect();
        if block.is_empty() {
            block.push(Stmt::Fence);
        }
        block
    }

    fn repeat(&mut self, depth: usize, open: bool) -> Stmt {
        let label = self.label();
        let form = [Form::For, Form::Loop, Form::While, Form::WhileLast][self.random.below(4)];
        let rounds = match self.random.below(5) {
            0 => Rounds::Parameter(self.random.below(2)),
            rounds => Rounds::Literal(1 + rounds % 3),
        };
        self.loops.push(label);
        self.jumps.push((label, form != Form::WhileLast));
        let body = self.block(depth + 1, open);
        self.loops.pop();
        self.jumps.pop();
        Stmt::Loop(label, rounds, form, body)
    }
}

/// Returns whether the kernel is complete. A smaller one may have lost the loop that a jump leaves, or that a number
/// counts, or the `let` of a name.
pub(super) fn is_whole(kernel: &Kernel) -> bool {
    block_is_whole(&kernel.body, &mut Vec::new(), &mut Vec::new())
}

/// Returns whether a block is complete. `loops` says of each loop whether it can be jumped out of.
fn block_is_whole(block: &Block, loops: &mut Vec<(Label, bool)>, lets: &mut Vec<Label>) -> bool {
    let outside = lets.len();
    let is_whole = block.iter().all(|stmt| {
        let counted =
            |number: Number| number.round().is_none_or(|label| loops.iter().any(|(known, _)| *known == label));
        let in_sight = |relative: Relative| {
            relative.number().is_none_or(counted) && relative.held().is_none_or(|label| lets.contains(&label))
        };
        let here = match stmt {
            Stmt::Access(access) => access.numbers().all(counted) && access.relatives().all(in_sight),
            Stmt::If(test, ..) if test.number().is_some() => test.number().is_none_or(counted),
            Stmt::Choose(number) => counted(*number),
            Stmt::Jump(Jump::Break(label) | Jump::Continue(label)) => loops.contains(&(*label, true)),
            Stmt::Let(_, relative) | Stmt::Set(relative) => in_sight(*relative),
            Stmt::If(..)
            | Stmt::Jump(Jump::Return)
            | Stmt::Sync
            | Stmt::SyncBlock
            | Stmt::Fence
            | Stmt::Split(..)
            | Stmt::Carried(..)
            | Stmt::Loop(..)
            | Stmt::Flip(_) => true,
        };
        let depth = loops.len();
        match stmt {
            Stmt::Carried(label, ..) => loops.push((*label, false)),
            Stmt::Loop(label, ..) => loops.push((*label, true)),
            Stmt::Let(label, _) => lets.push(*label),
            _ => {}
        }
        let inside = stmt.clone().blocks().into_iter().all(|block| block_is_whole(block, loops, lets));
        loops.truncate(depth);
        here && inside
    });
    lets.truncate(outside);
    is_whole
}
