//! The words in which the tests write skeletons: steps as a tree, with expressions as text over `k` and other counters, and
//! `b` for the block's rank.

use crate::rings::{
    Among, BarrierArray, Condition, Data, Element, Expr, Op, Operator, Role, Skeleton, SlotArray, Step,
};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    Wait(usize, String, String),
    WaitToken(usize, String),
    Arrive {
        barrier: usize,
        index: String,
        count: u32,
        to: String,
        drops: bool,
        token: bool,
    },
    Expect(usize, String, u32),
    Copy {
        slot: usize,
        index: String,
        barrier: usize,
        bytes: u32,
        to: String,
        signals: String,
        /// The slot that it reads, and the index.
        from: Option<(usize, String)>,
    },
    /// The thread's share of a copy: the slot, the index, the barrier.
    Share(usize, String, usize),
    Fill(usize, String, u8),
    Filled(usize, String),
    Read(usize, String),
    Done(usize, String),
    /// The queue, the slot, the index.
    Store(u8, usize, String),
    WaitStores(u8, u32),
    Sync(u32, Among),
    Let(Vec<(&'static str, String)>),
    /// A test of counters, a shared decision (`all?`), whether so many that come next are to go on (`next 2`), one that is always the same (`same?`) or a thread's own (`?`), and what depends
    /// on it.
    When(String, Vec<Word>),
    /// A loop with its counter; whether each iteration is a round.
    Loop(&'static str, bool, Vec<Word>),
    Next,
    Leave,
}

pub(super) fn wait(barrier: usize, index: &str, parity: &str) -> Word {
    Word::Wait(barrier, index.into(), parity.into())
}

pub(super) fn arrive(barrier: usize, index: &str) -> Word {
    Word::Arrive { barrier, index: index.into(), count: 1, to: "b".into(), drops: false, token: false }
}

pub(super) fn arrive_to(barrier: usize, index: &str, block: &str) -> Word {
    Word::Arrive { barrier, index: index.into(), count: 1, to: block.into(), drops: false, token: false }
}

pub(super) fn arrive_times(barrier: usize, index: &str, count: u32) -> Word {
    Word::Arrive { barrier, index: index.into(), count, to: "b".into(), drops: false, token: false }
}

pub(super) fn drop_out(barrier: usize) -> Word {
    Word::Arrive { barrier, index: "0".into(), count: 1, to: "b".into(), drops: true, token: false }
}

pub(super) fn expect(barrier: usize, index: &str, bytes: u32) -> Word {
    Word::Expect(barrier, index.into(), bytes)
}

pub(super) fn copy(slot: usize, index: &str, barrier: usize, bytes: u32) -> Word {
    Word::Copy { slot, index: index.into(), barrier, bytes, to: "b".into(), signals: "b".into(), from: None }
}

pub(super) fn copy_to(slot: usize, index: &str, barrier: usize, bytes: u32, block: &str) -> Word {
    Word::Copy { slot, index: index.into(), barrier, bytes, to: block.into(), signals: block.into(), from: None }
}

pub(super) fn share(slot: usize, index: &str, barrier: usize) -> Word {
    Word::Share(slot, index.into(), barrier)
}

pub(super) fn fill(slot: usize, index: &str) -> Word {
    Word::Fill(slot, index.into(), 0)
}

pub(super) fn filled(slot: usize, index: &str) -> Word {
    Word::Filled(slot, index.into())
}

pub(super) fn read(slot: usize, index: &str) -> Word {
    Word::Read(slot, index.into())
}

pub(super) fn done(slot: usize, index: &str) -> Word {
    Word::Done(slot, index.into())
}

/// A loop over `k`, each iteration of which is a round.
pub(super) fn rounds(body: Vec<Word>) -> Word {
    Word::Loop("k", true, body)
}

/// Creates a skeleton of arrays of barriers (stages, count) and slots (stages, parts).
pub(super) fn skeleton(blocks: u32, barriers: &[(u32, u32)], slots: &[(u32, u32)]) -> Skeleton {
    Skeleton {
        blocks,
        barriers: barriers.iter().map(|(stages, count)| BarrierArray::new(*stages, *count)).collect(),
        slots: slots.iter().map(|(stages, parts)| SlotArray { stages: *stages, parts: *parts }).collect(),
        roles: Vec::new(),
    }
}

pub(super) trait WithRole {
    /// Adds a role.
    fn role(self, threads: u32, words: &[Word]) -> Self;
}

impl WithRole for Skeleton {
    fn role(mut self, threads: u32, words: &[Word]) -> Self {
        let mut names = Vec::new();
        set_names(words, &mut names);
        let mut text = Text { names, steps: Vec::new(), role: u32::try_from(self.roles.len()).unwrap() };
        text.emit(words);
        self.roles.push(Role { threads, stream: 0, steps: text.steps });
        self
    }
}

fn set_names(words: &[Word], names: &mut Vec<String>) {
    for word in words {
        match word {
            Word::Loop(name, _, body) => {
                names.push((*name).into());
                set_names(body, names);
            }
            Word::When(_, body) => set_names(body, names),
            Word::Let(values) => names.extend(values.iter().map(|(name, _)| (*name).into())),
            _ => {}
        }
    }
}

struct Text {
    names: Vec<String>,
    steps: Vec<Step>,
    role: u32,
}

impl Text {
    fn push(&mut self, op: Op) -> usize {
        let id = 1000 * self.role + u32::try_from(self.steps.len()).unwrap();
        self.steps.push(Step { id, op });
        self.steps.len() - 1
    }

    fn expr(&self, text: &str) -> Expr {
        let mut parser = Parser { rest: text, names: &self.names };
        let expr = parser.comparison();
        assert!(parser.rest.is_empty(), "{text}");
        expr
    }

    fn element(&self, array: usize, index: &str) -> Element {
        Element { array: u32::try_from(array).unwrap(), index: self.expr(index) }
    }

    /// A slot of the own block, or `index@block` of another one.
    fn slot(&self, array: usize, text: &str) -> (Element, Expr) {
        let (index, block) = text.split_once('@').unwrap_or((text, "b"));
        (self.element(array, index), self.expr(block))
    }

    fn counter(&self, name: &str) -> u32 {
        u32::try_from(self.names.iter().position(|known| known == name).unwrap()).unwrap()
    }

    fn emit(&mut self, words: &[Word]) {
        for word in words {
            let data = Data::Round { ahead: 0, kind: 0 };
            let op = match word {
                Word::Wait(barrier, index, parity) => {
                    Op::Wait { barrier: self.element(*barrier, index), parity: self.expr(parity) }
                }
                Word::WaitToken(barrier, index) => Op::WaitToken { barrier: self.element(*barrier, index) },
                Word::Arrive { barrier, index, count, to, drops, token } => Op::Arrive {
                    barrier: self.element(*barrier, index),
                    block: self.expr(to),
                    count: *count,
                    drops: *drops,
                    token: *token,
                },
                Word::Expect(barrier, index, bytes) => {
                    Op::Expect { barrier: self.element(*barrier, index), bytes: *bytes }
                }
                Word::Copy { slot, index, barrier, bytes, to, signals, from } => Op::Copy {
                    slot: self.element(*slot, index),
                    barrier: self.element(*barrier, index),
                    block: self.expr(to),
                    signals: self.expr(signals),
                    bytes: *bytes,
                    data,
                    from: from.as_ref().map(|(slot, index)| self.element(*slot, index)),
                },
                Word::Share(slot, index, barrier) => {
                    Op::Share { slot: self.element(*slot, index), barrier: self.element(*barrier, index), data }
                }
                Word::Fill(slot, index, kind) => {
                    let (slot, block) = self.slot(*slot, index);
                    Op::BeginFill { slot, block, data: Data::Round { ahead: 0, kind: *kind } }
                }
                Word::Filled(slot, index) => {
                    let (slot, block) = self.slot(*slot, index);
                    Op::EndFill { slot, block }
                }
                Word::Read(slot, index) => {
                    let (slot, block) = self.slot(*slot, index);
                    Op::BeginRead { slot, block, data }
                }
                Word::Done(slot, index) => {
                    let (slot, block) = self.slot(*slot, index);
                    Op::EndRead { slot, block }
                }
                Word::Store(queue, slot, index) => Op::Store { slot: self.element(*slot, index), queue: *queue },
                Word::WaitStores(queue, but) => Op::WaitStores { queue: *queue, but: *but },
                Word::Sync(meeting, among) => Op::Sync { meeting: *meeting, among: among.clone() },
                Word::Let(values) => {
                    Op::Set(values.iter().map(|(name, value)| (self.counter(name), self.expr(value))).collect())
                }
                Word::Next => Op::NextRound,
                Word::Leave => Op::Leave,
                Word::When(test, body) => {
                    let condition = match test.as_str() {
                        "?" => Condition::Free,
                        "all?" => Condition::Shared,
                        "same?" => Condition::Constant(0),
                        ahead if ahead.starts_with("next ") => Condition::Ahead(self.expr(&ahead[5..])),
                        test => Condition::Counters(self.expr(test)),
                    };
                    let branch = self.push(Op::Branch { condition, otherwise: 0 });
                    self.emit(body);
                    self.land(branch);
                    continue;
                }
                Word::Loop(name, rounds, body) => {
                    let counter = self.counter(name);
                    self.push(Op::Set(vec![(counter, Expr::constant(0))]));
                    let branch = self.push(Op::Branch { condition: Condition::Shared, otherwise: 0 });
                    self.emit(body);
                    let next = Expr::counter(counter).apply(Operator::Add, Expr::constant(1));
                    self.push(Op::Set(vec![(counter, next)]));
                    if *rounds {
                        self.push(Op::NextRound);
                    }
                    self.push(Op::Jump(branch));
                    self.land(branch);
                    continue;
                }
            };
            self.push(op);
        }
    }

    /// Sends a branch whose condition does not hold to the next step.
    fn land(&mut self, branch: usize) {
        let next = self.steps.len();
        if let Op::Branch { otherwise, .. } = &mut self.steps[branch].op {
            *otherwise = next;
        }
    }
}

/// Reads expressions with the operators and the precedence of Python.
struct Parser<'a> {
    rest: &'a str,
    names: &'a [String],
}

impl Parser<'_> {
    fn one_of(&mut self, operators: &[(&str, Operator)]) -> Option<Operator> {
        let (text, operator) = operators.iter().find(|(text, _)| self.rest.starts_with(text))?;
        self.rest = &self.rest[text.len()..];
        Some(*operator)
    }

    fn comparison(&mut self) -> Expr {
        let left = self.sum();
        match self.one_of(&[("==", Operator::Eq), ("!=", Operator::Ne), ("<", Operator::Lt)]) {
            Some(operator) => left.apply(operator, self.sum()),
            None => left,
        }
    }

    fn sum(&mut self) -> Expr {
        let mut left = self.product();
        while let Some(operator) = self.one_of(&[("+", Operator::Add), ("-", Operator::Sub), ("^", Operator::Xor)]) {
            left = left.apply(operator, self.product());
        }
        left
    }

    fn product(&mut self) -> Expr {
        let mut left = self.atom();
        let operators = [("*", Operator::Mul), ("//", Operator::Div), ("%", Operator::Rem), ("&", Operator::And)];
        while let Some(operator) = self.one_of(&operators) {
            left = left.apply(operator, self.atom());
        }
        left
    }

    fn atom(&mut self) -> Expr {
        if let Some(rest) = self.rest.strip_prefix('(') {
            self.rest = rest;
            let expr = self.comparison();
            self.rest = self.rest.strip_prefix(')').expect("a closing parenthesis");
            return expr;
        }
        let end = self.rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match (word.parse(), self.names.iter().position(|name| name == word)) {
            (Ok(value), _) => Expr::constant(value),
            (_, Some(counter)) => Expr::counter(u32::try_from(counter).unwrap()),
            (_, None) if word == "b" => Expr::rank(),
            _ => Expr::unknown(),
        }
    }
}
