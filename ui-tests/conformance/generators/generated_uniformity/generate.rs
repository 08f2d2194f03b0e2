//! Generates random kernels of the whole language: mostly uniform values, and occasionally one that is not. `run`
//! decides about them.

use super::super::random::Random;
use super::super::shrink::Nested;
use super::tree::{Block, Expr, Group, Jump, Label, Op, SHARED, Site, Stmt, Var, ends};

/// The approximate number of statements of a kernel, without probes.
const BUDGET: usize = 10;
const DEEPEST: usize = 3;
/// The number of probes in a kernel.
pub(super) const PROBES: usize = 3;

pub(super) fn kernel(seed: u64) -> Block {
    let mut generator = Generator {
        random: Random::new(seed),
        ids: 0,
        visible: Vec::new(),
        targets: Vec::new(),
        left: BUDGET,
        wild: 0,
    };
    generator.wild = [4, 10, 25][generator.random.below(3)];
    let mut kernel = generator.published();
    kernel.extend(generator.block(0, &[]));
    let places = places(&mut kernel);
    for probe in 0..PROBES {
        insert(&mut kernel, Stmt::Probe(probe), generator.random.below(places));
    }
    kernel
}

/// Returns the number of positions for a statement.
fn places(block: &mut Block) -> usize {
    block.iter_mut().flat_map(Stmt::blocks).map(places).sum::<usize>() + block.len() + 1
}

fn insert(block: &mut Block, stmt: Stmt, mut place: usize) {
    if place <= block.len() {
        return block.insert(place, stmt);
    }
    place -= block.len() + 1;
    for inner in block.iter_mut().flat_map(Stmt::blocks) {
        let room = places(inner);
        if place < room {
            return insert(inner, stmt, place);
        }
        place -= room;
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Type {
    Int,
    Bool,
    Pair,
}

struct Generator {
    random: Random,
    ids: usize,
    /// The variables in scope, innermost last, without shadowed ones.
    visible: Vec<Vec<(Var, Type)>>,
    targets: Vec<(Label, bool)>,
    left: usize,
    /// How often a value is not uniform, in percent.
    wild: usize,
}

impl Generator {
    fn id(&mut self) -> usize {
        self.ids += 1;
        self.ids
    }

    fn site(&mut self, group: Group) -> Site {
        Site { id: self.id(), group }
    }

    fn group(&mut self) -> Group {
        Group::ALL[self.random.below(4)]
    }

    /// Creates a variable; its name may be that of another, which it then shadows.
    fn var(&mut self) -> Var {
        let id = self.id();
        let others: Vec<Var> = self.visible.iter().flatten().map(|(var, _)| *var).collect();
        match self.random.chance(10).then(|| self.random.pick(&others)).flatten() {
            Some(old) => Var { id, name: old.name },
            None => Var { id, name: id },
        }
    }

    fn declare(&mut self, var: Var, ty: Type) {
        self.visible.iter_mut().for_each(|scope| scope.retain(|(known, _)| known.name != var.name));
        self.visible.last_mut().expect("inside a block").push((var, ty));
    }

    fn known(&mut self, ty: Type) -> Option<Var> {
        let fitting = self.visible.iter().flatten().filter(|(_, known)| *known == ty);
        let fitting: Vec<Var> = fitting.map(|(var, _)| *var).collect();
        self.random.pick(&fitting)
    }

    fn int(&mut self, depth: usize) -> Expr {
        if self.random.chance(self.wild) {
            return self.divergent();
        }
        match self.random.below(if depth < 3 { 14 } else { 8 }) {
            0 => Expr::Int(self.random.below(4) as u32),
            1 => Expr::Scalar(self.random.below(2)),
            2..=4 => self.known(Type::Int).map_or(Expr::Scalar(0), Expr::Var),
            5 => {
                let half = self.random.below(2);
                self.known(Type::Pair).map_or(Expr::Scalar(1), |var| Expr::Field(var, half))
            }
            6 => self.of_a_group(),
            7 => Expr::Shared(self.random.below(SHARED)),
            8 => Expr::Input(Box::new(self.int(depth + 1))),
            9 | 10 => {
                let op = [Op::Add, Op::Xor][self.random.below(2)];
                Expr::binary(op, self.int(depth + 1), self.int(depth + 1))
            }
            11 => self.int(depth + 1).masked(3),
            12 => {
                let test = self.bool(depth + 1);
                let [then, otherwise] = [(); 2].map(|()| Box::new(self.int(depth + 1)));
                Expr::If(Box::new(test), then, otherwise)
            }
            _ => {
                let group = [Group::Tile, Group::Warp][self.random.below(2)];
                let lane = if self.random.chance(80) { Expr::Int(self.random.below(8) as u32) } else { self.int(3) };
                Expr::Shuffle(self.site(group), Box::new(self.int(depth + 1)), Box::new(lane.masked(7)))
            }
        }
    }

    /// Returns a value that is uniform at one group, and at no larger one.
    fn of_a_group(&mut self) -> Expr {
        match self.random.below(7) {
            6 => Expr::binary(Op::Div, self.of_a_rank(), self.size()),
            0 => Expr::binary(Op::Div, Expr::Rank, Expr::Int([8, 16, 32][self.random.below(3)])),
            1 | 2 => Expr::BlockRank,
            3 => Expr::ClusterRank,
            4 => {
                let rank = if self.random.chance(50) { Expr::BlockRank } else { Expr::Int(1) };
                Expr::Remote(Box::new(rank), self.random.below(SHARED))
            }
            _ => {
                let group = self.group();
                Expr::Claim(self.site(group), self.random.below(4))
            }
        }
    }

    /// Returns a value with the same quotient by some size in some of the threads.
    fn of_a_rank(&mut self) -> Expr {
        let rank = [Expr::Rank, Expr::Rank, Expr::ClusterThread, Expr::GridThread][self.random.below(4)].clone();
        match self.random.below(8) {
            0 => Expr::binary(Op::Rem, rank, self.size()),
            1 => Expr::binary(Op::Div, rank, Expr::Int(2)),
            2 => Expr::binary(Op::Times, rank, Expr::Int(1 + self.random.below(3) as u32)),
            3 => Expr::binary(Op::Add, rank, self.multiple()),
            4 => rank.masked([15, 31, 63][self.random.below(3)]),
            _ => rank,
        }
    }

    fn size(&mut self) -> Expr {
        Expr::Int([16, 32, 48, 64, 64, 96, 128][self.random.below(7)])
    }

    /// Returns a small value, which may be a multiple of a size.
    fn multiple(&mut self) -> Expr {
        let value = self.int(2).masked(3);
        match self.random.below(5) {
            0 | 1 => Expr::binary(Op::Times, value, self.size()),
            2 => {
                let value = Expr::binary(Op::Times, value, Expr::Int(20));
                Expr::binary(Op::RoundUp, value, self.size())
            }
            3 => self.size(),
            _ => {
                let sum = Expr::binary(Op::Times, value, self.size());
                Expr::binary(Op::Add, sum, self.size())
            }
        }
    }

    fn divergent(&mut self) -> Expr {
        match self.random.below(4) {
            0 => Expr::Rank,
            1 => Expr::binary(Op::Rem, Expr::Rank, Expr::Int(3)),
            2 => Expr::Input(Box::new(Expr::Rank)),
            _ => Expr::State(Box::new(Expr::Rank)),
        }
    }

    fn bool(&mut self, depth: usize) -> Expr {
        match self.random.below(if depth < 3 { 13 } else { 6 }) {
            12 => Expr::binary(Op::Less, self.of_a_rank(), self.multiple()),
            0..=2 => self.int(depth + 1).odd(),
            3 => self.int(depth + 1).below(1 + self.random.below(3) as u32),
            4 => self.known(Type::Bool).map_or(Expr::Scalar(0).odd(), Expr::Var),
            5 if self.random.chance(50) => Expr::Rank.below([8, 24, 32][self.random.below(3)]),
            5 | 6 => self.int(depth + 1).equals(self.random.below(3) as u32),
            7 => Expr::Not(Box::new(self.bool(depth + 1))),
            8 | 9 => {
                let op = [Op::And, Op::Or][self.random.below(2)];
                Expr::binary(op, self.bool(depth + 1), self.bool(depth + 1))
            }
            _ => {
                let group = [Group::Tile, Group::Warp][self.random.below(2)];
                let inner = if self.random.chance(50) { self.divergent().equals(5) } else { self.bool(depth + 1) };
                Expr::Any(self.site(group), Box::new(inner))
            }
        }
    }

    /// Writes values to shared memory, mostly between two barriers.
    fn published(&mut self) -> Block {
        let index = self.random.below(SHARED);
        let group = [Group::Block, Group::Cluster][self.random.below(2)];
        let value = self.int(1);
        let mut block = Block::new();
        if self.random.chance(90) {
            block.push(Stmt::Sync(self.site(group)));
        }
        block.push(Stmt::If(Expr::Rank.equals(0), vec![Stmt::Store(index, value)], None));
        if self.random.chance(85) {
            block.push(match self.random.chance(25) {
                true => Stmt::Split(self.site(group), self.site(group), Block::new()),
                false => Stmt::Sync(self.site(group)),
            });
        }
        block
    }

    fn block(&mut self, depth: usize, bound: &[(Var, Type)]) -> Block {
        self.visible.push(Vec::new());
        bound.iter().for_each(|(var, ty)| self.declare(*var, *ty));
        let mut block = Block::new();
        let wanted = 1 + self.random.below(if depth == 0 { 9 } else { 3 });
        while block.len() < wanted && self.left > 0 && !ends(&block) {
            self.left -= 1;
            let statements = self.statements(depth);
            block.extend(statements);
        }
        self.visible.pop();
        block
    }

    fn statements(&mut self, depth: usize) -> Block {
        match self.random.below(if depth < DEEPEST { 22 } else { 9 }) {
            0 | 1 => vec![self.bind()],
            2..=5 => self.assign().into_iter().collect(),
            6 => vec![Stmt::StoreState(self.int(1), self.int(1))],
            7 => self.jump().into_iter().collect(),
            8 => self.published(),
            9..=13 => {
                let test = self.bool(0);
                let mut then = self.block(depth + 1, &[]);
                if !ends(&then) && self.random.chance(25) {
                    then.extend(self.jump());
                }
                let otherwise = self.random.chance(40).then(|| self.block(depth + 1, &[]));
                vec![Stmt::If(test, then, otherwise)]
            }
            14 => {
                let arms = 2 + self.random.below(2);
                vec![Stmt::Match(self.int(0).masked(3), (0..arms).map(|_| self.block(depth + 1, &[])).collect())]
            }
            15 => {
                let label = self.id();
                vec![Stmt::Labelled(label, self.target(label, false, depth, &[]))]
            }
            _ => self.repeat(depth),
        }
    }

    fn target(&mut self, label: Label, is_loop: bool, depth: usize, bound: &[(Var, Type)]) -> Block {
        self.targets.push((label, is_loop));
        let body = self.block(depth + 1, bound);
        self.targets.pop();
        body
    }

    /// Generates a loop that terminates.
    fn repeat(&mut self, depth: usize) -> Block {
        let label = self.id();
        let id = self.id();
        let round = Var { id, name: id };
        let limit = self.int(1).masked(3);
        let kind = self.random.below(5);
        if kind == 3 {
            let (ends, step) = ([self.of_a_rank(), self.multiple()], [32, 64, 64, 96, 128][self.random.below(5)]);
            let body = self.target(label, true, depth, &[(round, Type::Int)]);
            return vec![Stmt::Strided(label, round, ends, step, body)];
        }
        if kind == 4 {
            let (start, end) = (self.of_a_rank(), self.multiple());
            let next = Stmt::Increase(round, self.size());
            let mut body = self.target(label, true, depth, &[]);
            body.insert(0, next);
            let goes_on = Expr::binary(Op::Less, Expr::Var(round), end);
            return vec![Stmt::Let(round, start), Stmt::While(label, goes_on, body)];
        }
        if kind == 0 {
            let body = self.target(label, true, depth, &[(round, Type::Int)]);
            return vec![Stmt::For(label, round, limit, body)];
        }
        let goes_on = Expr::binary(Op::Less, Expr::Var(round), limit);
        let goes_on = match self.random.chance(30) {
            true => Expr::binary(Op::And, goes_on, self.bool(1)),
            false => goes_on,
        };
        let mut body = self.target(label, true, depth, &[]);
        let next = Stmt::Increase(round, Expr::Int(1));
        let start = Stmt::Let(round, Expr::Int(0));
        if kind == 1 {
            body.insert(0, next);
            return vec![start, Stmt::While(label, goes_on, body)];
        }
        let leave = Stmt::If(Expr::Not(Box::new(goes_on)), vec![Stmt::Jump(Jump::Break(label))], None);
        body.splice(0..0, [leave, next]);
        vec![start, Stmt::Loop(label, body)]
    }

    fn jump(&mut self) -> Option<Stmt> {
        let target = self.random.pick(&self.targets.clone());
        match target {
            Some((label, true)) if self.random.chance(45) => Some(Stmt::Jump(Jump::Continue(label))),
            Some((label, _)) if self.random.chance(85) => Some(Stmt::Jump(Jump::Break(label))),
            _ => self.random.chance(50).then_some(Stmt::Jump(Jump::Return)),
        }
    }

    fn bind(&mut self) -> Stmt {
        match self.random.below(5) {
            0 | 1 => {
                let value = self.int(0);
                let var = self.var();
                self.declare(var, Type::Int);
                Stmt::Let(var, value)
            }
            2 => {
                let value = self.bool(0);
                let var = self.var();
                self.declare(var, Type::Bool);
                Stmt::Let(var, value)
            }
            3 => {
                let halves = [self.int(0), self.int(0)];
                let vars = [self.var(), self.var()];
                let [left, right] = halves;
                if vars[0].name == vars[1].name {
                    self.declare(vars[0], Type::Int);
                    return Stmt::Let(vars[0], left);
                }
                vars.iter().for_each(|var| self.declare(*var, Type::Int));
                Stmt::LetBoth(vars, left, right)
            }
            _ => {
                let (left, right) = (self.int(0), self.int(0));
                let var = self.var();
                self.declare(var, Type::Pair);
                Stmt::LetPair(var, left, right)
            }
        }
    }

    fn assign(&mut self) -> Option<Stmt> {
        match self.random.below(6) {
            0 | 1 => {
                let value = self.int(0);
                let by = self.random.chance(40);
                self.known(Type::Int).map(|var| if by { Stmt::Increase(var, value) } else { Stmt::Assign(var, value) })
            }
            2 => {
                let value = self.bool(0);
                self.known(Type::Bool).map(|var| Stmt::Assign(var, value))
            }
            3 => {
                let (value, half) = (self.int(0), self.random.below(2));
                self.known(Type::Pair).map(|var| Stmt::AssignField(var, half, value))
            }
            4 => {
                let (left, right) = (self.int(0), self.int(0));
                self.known(Type::Pair).map(|var| Stmt::AssignPair(var, left, right))
            }
            _ => match (self.known(Type::Pair), self.known(Type::Pair)) {
                (Some(to), Some(from)) if to != from => Some(Stmt::Copy(to, from)),
                _ => None,
            },
        }
    }
}
