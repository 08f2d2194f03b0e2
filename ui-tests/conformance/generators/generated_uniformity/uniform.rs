//! Generates kernels that are right by construction: a collective only where all control around it is uniform for its
//! group, with conditions made of uniform values. Each variable belongs to a group for all of its life, and is assigned
//! only values that are uniform at that group, under uniform control. Threads diverge in between, work, and reconverge.

use super::super::random::Random;
use super::tree::{Block, Expr, Group, Jump, Label, Op, Site, Stmt, Var};

const BUDGET: usize = 24;
const DEEPEST: usize = 4;

/// The group at which something is uniform. More is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Same {
    Thread,
    Of(Group),
    Grid,
}

const SAME: [Same; 6] = [
    Same::Thread,
    Same::Of(Group::Tile),
    Same::Of(Group::Warp),
    Same::Of(Group::Block),
    Same::Of(Group::Cluster),
    Same::Grid,
];

pub(super) fn kernel(seed: u64) -> Block {
    let mut generator = Generator {
        random: Random::new(seed),
        ids: 0,
        visible: Vec::new(),
        targets: Vec::new(),
        control: Same::Grid,
        gone: Same::Grid,
        left: BUDGET,
    };
    let mut kernel = generator.published();
    kernel.extend(generator.block(0, &[]));
    // No thread returns.
    if generator.random.chance(30) {
        let test = generator.bool(Same::Thread, 0);
        kernel.push(Stmt::If(test, vec![Stmt::Jump(Jump::Return)], None));
        kernel.push(Stmt::StoreState(Expr::Rank, Expr::Int(1)));
    }
    kernel
}

/// A loop or a labelled block, the uniformity of the decisions to leave it, and whether it is a loop.
#[derive(Clone, Copy)]
struct Target {
    label: Label,
    same: Same,
    is_loop: bool,
}

struct Generator {
    random: Random,
    ids: usize,
    visible: Vec<Vec<(Var, Same)>>,
    targets: Vec<Target>,
    /// The uniformity of the control flow here.
    control: Same,
    /// The uniformity of the decisions that select the threads of the next iteration.
    gone: Same,
    left: usize,
}

impl Generator {
    fn id(&mut self) -> usize {
        self.ids += 1;
        self.ids
    }

    fn site(&mut self, group: Group) -> Site {
        Site { id: self.id(), group }
    }

    /// Returns one of the groups that are converged here.
    fn group(&mut self) -> Option<Group> {
        let groups: Vec<Group> = Group::ALL.into_iter().filter(|group| Same::Of(*group) <= self.control).collect();
        self.random.pick(&groups)
    }

    fn var(&mut self, same: Same) -> Var {
        let id = self.id();
        let var = Var { id, name: id };
        self.visible.last_mut().expect("inside a block").push((var, same));
        var
    }

    /// Returns a variable that is uniform at this level.
    fn known(&mut self, same: Same) -> Option<Var> {
        let fitting: Vec<Var> =
            self.visible.iter().flatten().filter(|(_, known)| *known >= same).map(|(var, _)| *var).collect();
        self.random.pick(&fitting)
    }

    /// Returns a level, preferring higher ones.
    fn level(&mut self) -> Same {
        SAME[self.random.weighted(&[3, 2, 2, 3, 3, 3])]
    }

    /// Returns a value that is uniform at least at this level.
    fn int(&mut self, same: Same, depth: usize) -> Expr {
        if depth < 2 && self.random.chance(30) {
            return match self.random.below(5) {
                0 => Expr::binary(Op::Add, self.int(same, depth + 1), self.int(same, depth + 1)),
                1 => Expr::binary(Op::Xor, self.int(same, depth + 1), self.int(same, depth + 1)),
                2 => Expr::Input(Box::new(self.int(same, depth + 1))),
                3 => self.int(same, depth + 1).masked(3),
                _ => {
                    let test = Box::new(self.bool(same, depth + 1));
                    let [then, otherwise] = [(); 2].map(|()| Box::new(self.int(same, depth + 1)));
                    Expr::If(test, then, otherwise)
                }
            };
        }
        if self.random.chance(40)
            && let Some(var) = self.known(same)
        {
            return Expr::Var(var);
        }
        let at = SAME.iter().position(|known| *known == same).unwrap_or(0);
        match SAME[at + self.random.below(SAME.len() - at)] {
            Same::Thread => match self.random.below(3) {
                0 => Expr::Rank,
                1 => Expr::Input(Box::new(Expr::Rank)),
                _ => Expr::State(Box::new(Expr::Rank)),
            },
            Same::Of(Group::Tile) => Expr::binary(Op::Div, Expr::Rank, Expr::Int(8)),
            Same::Of(Group::Warp) => Expr::binary(Op::Div, Expr::Rank, Expr::Int(32)),
            Same::Of(Group::Block) => Expr::BlockRank,
            Same::Of(Group::Cluster) => Expr::ClusterRank,
            Same::Grid => match self.random.below(3) {
                0 => Expr::Int(self.random.below(4) as u32),
                1 => Expr::Scalar(self.random.below(2)),
                _ => Expr::Input(Box::new(Expr::Scalar(0))),
            },
        }
    }

    fn bool(&mut self, same: Same, depth: usize) -> Expr {
        match self.random.below(if depth < 2 { 9 } else { 4 }) {
            0..=2 => self.int(same, depth + 1).odd(),
            3 => self.int(same, depth + 1).below(2),
            4 => Expr::Not(Box::new(self.bool(same, depth + 1))),
            5 if same <= Same::Of(Group::Warp) => Expr::Rank.below(32),
            5 | 6 => {
                let op = [Op::And, Op::Or][self.random.below(2)];
                Expr::binary(op, self.bool(same, depth + 1), self.bool(same, depth + 1))
            }
            // A vote, where the whole tile is converged.
            7 if depth == 0 && same <= Same::Of(Group::Warp) && self.control >= Same::Of(Group::Warp) => {
                let inner = Box::new(self.bool(Same::Thread, 2));
                Expr::Any(self.site(Group::Warp), inner)
            }
            8 if depth == 0 => match (self.group(), same) {
                (Some(group), Same::Of(of)) if group >= of => Expr::Claim(self.site(group), self.random.below(4)).odd(),
                _ => self.int(same, depth + 1).odd(),
            },
            _ => self.int(same, depth + 1).equals(1),
        }
    }

    /// Publishes one thread's value to the block by a barrier.
    fn published(&mut self) -> Block {
        let index = self.random.below(3);
        let value = self.int(Same::Thread, 1);
        let group = [Group::Block, Group::Cluster][self.random.below(2)];
        let far = group == Group::Cluster;
        let mut block = vec![
            Stmt::Sync(self.site(Group::Cluster)),
            Stmt::If(Expr::Rank.equals(0), vec![Stmt::Store(index, value)], None),
        ];
        block.push(match self.random.chance(30) {
            true => {
                let work = vec![Stmt::StoreState(Expr::Rank, Expr::Int(2))];
                Stmt::Split(self.site(group), self.site(group), work)
            }
            false => Stmt::Sync(self.site(group)),
        });
        if !self.visible.is_empty() {
            let (value, same) = match far && self.random.chance(50) {
                true => {
                    (Expr::Remote(Box::new(self.int(Same::Of(Group::Cluster), 2)), index), Same::Of(Group::Cluster))
                }
                false => (Expr::Shared(index), Same::Of(Group::Block)),
            };
            let var = self.var(same);
            block.push(Stmt::Let(var, value));
        }
        block
    }

    fn block(&mut self, depth: usize, bound: &[(Var, Same)]) -> Block {
        self.visible.push(bound.to_vec());
        let mut block = Block::new();
        let wanted = 1 + self.random.below(if depth == 0 { 12 } else { 4 });
        while block.len() < wanted && self.left > 0 {
            self.left -= 1;
            let statements = self.statements(depth);
            block.extend(statements);
        }
        self.visible.pop();
        block
    }

    /// Generates a block under a condition that is uniform at this level: all threads that were here come back.
    fn under(&mut self, same: Same, depth: usize) -> Block {
        let before = self.control;
        self.control = before.min(same);
        let block = self.block(depth + 1, &[]);
        self.control = before.min(self.gone);
        block
    }

    fn statements(&mut self, depth: usize) -> Block {
        let compound = if depth < DEEPEST { 45 } else { 0 };
        match self.random.weighted(&[28, 12, 16, 6, 5, 8, compound]) {
            0 => match self.group() {
                Some(group) => vec![self.collective(group)],
                None => vec![Stmt::StoreState(Expr::Rank, Expr::Rank)],
            },
            1 => {
                // A variable of its own block may be less uniform than those around.
                let same = self.level().min(self.control);
                let value = self.int(same, 0);
                vec![Stmt::Let(self.var(same), value)]
            }
            2 => self.assign().into_iter().collect(),
            3 => self.reassigned(),
            4 if self.control == Same::Grid => self.published(),
            5 => self.leave().into_iter().collect(),
            6 => self.compound(depth),
            _ => vec![Stmt::StoreState(Expr::Rank, self.int(Same::Thread, 1))],
        }
    }

    fn collective(&mut self, group: Group) -> Stmt {
        match self.random.below(4) {
            0 if group >= Group::Block => {
                let work = match self.random.chance(50) {
                    true => {
                        let test = self.bool(Same::Thread, 1);
                        vec![Stmt::If(test, vec![Stmt::StoreState(Expr::Rank, Expr::Int(2))], None)]
                    }
                    false => Block::new(),
                };
                Stmt::Split(self.site(group), self.site(group), work)
            }
            _ => Stmt::Sync(self.site(group)),
        }
    }

    /// Assigns to a variable under control that is uniform at its group.
    fn assign(&mut self) -> Option<Stmt> {
        let fitting: Vec<(Var, Same)> =
            self.visible.iter().flatten().filter(|(_, same)| *same <= self.control).copied().collect();
        let (var, same) = self.random.pick(&fitting)?;
        let value = self.int(same, 0);
        Some(if self.random.chance(30) { Stmt::Increase(var, value) } else { Stmt::Assign(var, value) })
    }

    /// Assigns uniformly to a variable that threads have set for themselves.
    fn reassigned(&mut self) -> Block {
        let Some(group) = self.group() else { return Block::new() };
        let (test, value) = (self.bool(Same::Thread, 0), self.bool(Same::Of(group), 0));
        let id = self.id();
        let var = Var { id, name: id };
        vec![
            Stmt::Let(var, Expr::Bool(false)),
            Stmt::If(test, vec![Stmt::Assign(var, Expr::Bool(true))], None),
            Stmt::If(Expr::Var(var), vec![Stmt::StoreState(Expr::Rank, Expr::Int(1))], None),
            Stmt::Assign(var, value),
            Stmt::If(Expr::Var(var), vec![Stmt::Sync(self.site(group))], None),
        ]
    }

    /// Generates a jump under a condition. What follows is for the threads that stay: after a `continue`, until the
    /// iteration's end; a `break` is for threads that leave the loop together.
    fn leave(&mut self) -> Option<Stmt> {
        let Target { label, same, is_loop } = *self.targets.last()?;
        if is_loop && self.random.chance(50) {
            let alone = self.level().min(self.control);
            let test = self.bool(alone, 0);
            self.control = self.control.min(alone);
            self.gone = self.gone.min(self.control);
            return Some(Stmt::If(test, vec![Stmt::Jump(Jump::Continue(label))], None));
        }
        // The threads that decide here have made all decisions together.
        (same <= self.control).then(|| Stmt::If(self.bool(same, 0), vec![Stmt::Jump(Jump::Break(label))], None))
    }

    fn compound(&mut self, depth: usize) -> Block {
        let same = self.level();
        match self.random.below(8) {
            0..=2 => {
                let test = self.bool(same, 0);
                let then = self.under(same, depth);
                let otherwise = self.random.chance(50).then(|| self.under(same, depth));
                vec![Stmt::If(test, then, otherwise)]
            }
            3 => {
                let value = self.int(same, 0).masked(3);
                let arms = 2 + self.random.below(2);
                vec![Stmt::Match(value, (0..arms).map(|_| self.under(same, depth)).collect())]
            }
            _ => self.repeat(same, depth),
        }
    }

    fn repeat(&mut self, same: Same, depth: usize) -> Block {
        let before = self.control;
        let same = same.min(before);
        let label = self.id();
        let id = self.id();
        let round = Var { id, name: id };
        let limit = self.int(same, 1).masked(3);
        let kind = self.random.below(4);
        let is_loop = kind < 3;
        let gone = self.gone;
        if is_loop {
            self.gone = Same::Grid;
        }
        self.control = same;
        self.targets.push(Target { label, same, is_loop });
        let bound: &[(Var, Same)] = if kind == 0 { &[(round, same)] } else { &[] };
        let mut body = self.block(depth + 1, bound);
        self.targets.pop();
        (self.control, self.gone) = (before, gone);
        let goes_on = Expr::binary(Op::Less, Expr::Var(round), limit.clone());
        let (start, next) = (Stmt::Let(round, Expr::Int(0)), Stmt::Increase(round, Expr::Int(1)));
        match kind {
            0 => vec![Stmt::For(label, round, limit, body)],
            1 => {
                body.insert(0, next);
                vec![start, Stmt::While(label, goes_on, body)]
            }
            2 => {
                let leave = Stmt::If(Expr::Not(Box::new(goes_on)), vec![Stmt::Jump(Jump::Break(label))], None);
                body.splice(0..0, [leave, next]);
                vec![start, Stmt::Loop(label, body)]
            }
            _ => vec![Stmt::Labelled(label, body)],
        }
    }
}
