//! A role's steps in one block as a finite automaton: a node is a step together with the values of the role's counters.

use std::collections::{BTreeMap, BTreeSet};

use super::counters::{Kept, kept};
use super::expr::{Expr, Operator};
use super::live::{Live, live};
use super::places::{CopyKind, Places};
use super::skeleton::{Among, Condition, Data, Element, Op, Role};
use super::verdict::Reason;

/// The largest number of nodes of an automaton.
const LARGEST: usize = 1024;

/// The steps between an expectation and the arrival that it belongs to.
pub(super) const OWNED: u8 = 8;

/// The largest number of decisions that a thread looks ahead.
const FURTHEST: u16 = 16;

/// The action of a thread at a node. Barriers, slots and kinds of copies are numbers of [`Places`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Wait {
        barrier: usize,
        parity: bool,
    },
    WaitToken {
        barrier: usize,
    },
    Arrive {
        barrier: usize,
        count: u32,
        drops: bool,
        token: bool,
    },
    Expect {
        barrier: usize,
        units: u32,
    },
    Copy {
        kind: usize,
        data: Data,
    },
    /// The share of one thread of a copy that a role makes together, or that of the rest of its threads.
    Share {
        one: usize,
        rest: usize,
        data: Data,
    },
    BeginFill {
        slot: usize,
        data: Data,
    },
    EndFill {
        slot: usize,
    },
    BeginRead {
        slot: usize,
        data: Data,
    },
    EndRead {
        slot: usize,
    },
    Store {
        slot: usize,
        queue: u8,
    },
    WaitStores {
        queue: u8,
        but: usize,
    },
    Sync {
        meeting: u32,
        among: Among,
    },
    Shared,
    /// A branch on whether this many shared decisions that come next are all to go on.
    Ahead(u16),
    /// A branch that goes the same way as all of its number.
    Constant(u32),
    Free,
    /// A branch on whether the barrier's phase of a parity is over.
    Over {
        barrier: usize,
        parity: bool,
    },
    /// A branch on whether the phase of the thread's token is over.
    Past {
        barrier: usize,
    },
    Missing,
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) action: Action,
    /// The caller's number of the step.
    pub(super) id: u32,
    /// The index of the step, none at the end.
    pub(super) step: Option<usize>,
    /// The node that follows, and the one that follows if the decision is `false`; each with the rounds that begin on the way.
    pub(super) next: [(u16, u16); 2],
    /// Whether a shared decision may follow or be looked at, or the node is one.
    pub(super) decides: bool,
    /// The shared decision or the branch on a constant that comes next, which may be the node itself, if no decision of the thread's own
    /// comes before it.
    pub(super) ahead: Option<u16>,
    /// Whether the expected bytes are those of a phase that the thread itself has yet to arrive at, in its next steps.
    pub(super) owned: bool,
}

impl Node {
    /// The index of the step; there is none at the end.
    pub(super) fn index(&self) -> usize {
        self.step.unwrap_or(usize::MAX)
    }

    pub(super) fn after(&self, taken: bool) -> (u16, u16) {
        self.next[usize::from(!taken)]
    }
}

#[derive(Clone, Debug)]
pub(super) struct Automaton {
    pub(super) nodes: Vec<Node>,
    pub(super) start: (u16, u16),
    /// For each way that a constant may go, whether nothing is left to a thread at each node but decisions.
    pub(super) spent: Vec<((u32, bool), Vec<bool>)>,
    /// The node of a thread that has exited.
    pub(super) end: Option<u16>,
}

type Counters = Vec<i64>;

struct Builder<'a> {
    role: &'a Role,
    number: u32,
    block: u32,
    places: &'a mut Places,
    kept: Vec<Kept>,
    /// The counters that matter at each step.
    live: Vec<Live>,
    nodes: Vec<Node>,
    /// The nodes of each step, and of the end, by the counters that matter there.
    ids: Vec<BTreeMap<Counters, u16>>,
    /// The nodes whose followers are not known yet.
    open: Vec<(u16, usize, Counters)>,
}

/// Builds the automaton of a role, which has the given number, in a block.
pub(super) fn automaton(role: &Role, number: u32, block: u32, places: &mut Places) -> Result<Automaton, Reason> {
    let kept = kept(role);
    let counters = vec![0; kept.len()];
    let (nodes, ids, open) = (Vec::new(), vec![BTreeMap::new(); role.steps.len() + 1], Vec::new());
    let live = live(role);
    let mut builder = Builder { role, number, block, places: &mut *places, kept, live, nodes, ids, open };
    let start = builder.go_to(0, counters)?;
    while let Some((node, step, counters)) = builder.open.pop() {
        let (first, second) = match &role.steps[step].op {
            Op::Branch { otherwise, .. } => {
                (builder.go_to(step + 1, counters.clone())?, builder.go_to(*otherwise, counters)?)
            }
            _ => {
                let next = builder.go_to(step + 1, counters)?;
                (next, next)
            }
        };
        builder.nodes[usize::from(node)].next = [first, second];
    }
    let mut automaton = Automaton { nodes: builder.nodes, start, spent: Vec::new(), end: None };
    for node in 0..automaton.nodes.len() {
        automaton.nodes[node].owned = automaton.owns(node, places);
    }
    automaton.end_early();
    automaton.find_decisions();
    for node in 0..automaton.nodes.len() {
        automaton.nodes[node].ahead = u16::try_from(node).ok().and_then(|node| automaton.next_shared(node));
    }
    Ok(automaton)
}

impl Builder<'_> {
    /// Follows the steps that concern the role's counters alone; returns the node of the next other step, and the rounds that
    /// began on the way.
    fn go_to(&mut self, mut step: usize, mut counters: Counters) -> Result<(u16, u16), Reason> {
        let mut rounds = 0;
        for _ in 0..LARGEST {
            let Some(here) = self.role.steps.get(step) else { return Ok((self.node(None, counters)?, rounds)) };
            let value = |expr: &Expr| expr.value(&counters, i64::from(self.block), here.id);
            step = match &here.op {
                Op::Set(values) => {
                    let matters = |(counter, _): &&(u32, Expr)| self.live[step + 1].contains(*counter as usize);
                    let set = |(counter, expr): &(u32, Expr)| {
                        let kept = self.kept[*counter as usize].representative(value(expr)?);
                        Ok((*counter as usize, kept.ok_or(Reason::Arithmetic { step: here.id })?))
                    };
                    let values: Vec<_> = values.iter().filter(matters).map(set).collect::<Result<_, _>>()?;
                    values.into_iter().for_each(|(counter, value)| counters[counter] = value);
                    step + 1
                }
                Op::NextRound => {
                    rounds += 1;
                    step + 1
                }
                Op::Jump(target) => *target,
                Op::Branch { condition: Condition::Counters(test), otherwise } => {
                    if value(test)? != 0 {
                        step + 1
                    } else {
                        *otherwise
                    }
                }
                Op::Leave => return Ok((self.node(None, counters)?, rounds)),
                _ => return Ok((self.node(Some(step), counters)?, rounds)),
            };
        }
        Err(Reason::Counters { role: self.number })
    }

    fn node(&mut self, step: Option<usize>, mut counters: Counters) -> Result<u16, Reason> {
        match step {
            Some(step) => {
                let live = &self.live[step];
                for (counter, value) in counters.iter_mut().enumerate() {
                    if !live.contains(counter) {
                        *value = 0;
                    }
                }
            }
            None => counters.clear(),
        }
        let place = step.unwrap_or(self.role.steps.len());
        if let Some(node) = self.ids[place].get(&counters) {
            return Ok(*node);
        }
        if self.nodes.len() >= LARGEST {
            return Err(Reason::Counters { role: self.number });
        }
        let node = u16::try_from(self.nodes.len()).map_err(|_| Reason::Size)?;
        let (action, id) = match step {
            Some(step) => (self.action(step, &counters)?, self.role.steps[step].id),
            None => (Action::End, 0),
        };
        self.nodes.push(Node { action, id, step, next: [(node, 0); 2], decides: false, ahead: None, owned: false });
        self.ids[place].insert(counters.clone(), node);
        if let Some(step) = step {
            self.open.push((node, step, counters));
        }
        Ok(node)
    }

    fn action(&mut self, step: usize, counters: &Counters) -> Result<Action, Reason> {
        let step = &self.role.steps[step];
        let rank = i64::from(self.block);
        let value = |expr: &Expr| expr.value(counters, rank, step.id);
        let index = |element: &Element| Ok((element.array, value(&element.index)?));
        let places = &mut *self.places;
        let is_odd = |parity: &Expr| Ok(value(&parity.clone().apply(Operator::Rem, Expr::constant(2)))? == 1);
        let found = match &step.op {
            Op::Wait { barrier, parity } => {
                let parity = is_odd(parity)?;
                places.barrier(index(barrier)?, rank).map(|barrier| Action::Wait { barrier, parity })
            }
            Op::Branch { condition: Condition::Over { barrier, parity }, .. } => {
                let parity = is_odd(parity)?;
                places.barrier(index(barrier)?, rank).map(|barrier| Action::Over { barrier, parity })
            }
            Op::Branch { condition: Condition::Past { barrier }, .. } => {
                places.barrier(index(barrier)?, rank).map(|barrier| Action::Past { barrier })
            }
            Op::WaitToken { barrier } => {
                places.barrier(index(barrier)?, rank).map(|barrier| Action::WaitToken { barrier })
            }
            Op::Arrive { barrier, block, count, drops, token } => {
                let (count, drops, token) = (*count, *drops, *token);
                let barrier = places.barrier(index(barrier)?, value(block)?);
                barrier.map(|barrier| Action::Arrive { barrier, count, drops, token })
            }
            Op::Expect { barrier, bytes } => {
                let units = places.units(*bytes);
                places.barrier(index(barrier)?, rank).map(|barrier| Action::Expect { barrier, units })
            }
            Op::Copy { slot, barrier, block, signals, bytes, data, from } => {
                let slot = places.slot(index(slot)?, value(block)?);
                let barrier = places.barrier(index(barrier)?, value(signals)?);
                let from = match from {
                    Some(from) => places.slot(index(from)?, rank).map(Some),
                    None => Some(None),
                };
                slot.zip(barrier).zip(from).map(|((slot, barrier), from)| {
                    let kind = CopyKind { from, ..places.copy(slot, barrier, *bytes) };
                    Action::Copy { kind: places.kind(kind), data: *data }
                })
            }
            Op::Share { slot, barrier, data } => {
                let places_of = places.slot(index(slot)?, rank).zip(places.barrier(index(barrier)?, rank));
                places_of.map(|(slot, barrier)| {
                    let (one, rest) = places.shares(slot, barrier, self.number);
                    Action::Share { one, rest, data: *data }
                })
            }
            Op::BeginFill { slot, block, data } => {
                places.slot(index(slot)?, value(block)?).map(|slot| Action::BeginFill { slot, data: *data })
            }
            Op::EndFill { slot, block } => {
                places.slot(index(slot)?, value(block)?).map(|slot| Action::EndFill { slot })
            }
            Op::BeginRead { slot, block, data } => {
                places.slot(index(slot)?, value(block)?).map(|slot| Action::BeginRead { slot, data: *data })
            }
            Op::EndRead { slot, block } => {
                places.slot(index(slot)?, value(block)?).map(|slot| Action::EndRead { slot })
            }
            Op::Store { slot, queue } => {
                places.slot(index(slot)?, rank).map(|slot| Action::Store { slot, queue: *queue })
            }
            Op::WaitStores { queue, but } => Some(Action::WaitStores { queue: *queue, but: *but as usize }),
            Op::Sync { meeting, among } => Some(Action::Sync { meeting: *meeting, among: among.clone() }),
            Op::Branch { condition: Condition::Free, .. } => Some(Action::Free),
            Op::Branch { condition: Condition::Constant(number), .. } => Some(Action::Constant(*number)),
            Op::Branch { condition: Condition::Ahead(number), .. } => {
                let number = u16::try_from(value(number)?).ok().filter(|number| *number <= FURTHEST);
                Some(Action::Ahead(number.ok_or(Reason::Arithmetic { step: step.id })?))
            }
            Op::Branch { .. } => Some(Action::Shared),
            Op::Set(_) | Op::NextRound | Op::Jump(_) | Op::Leave => Some(Action::End),
        };
        Ok(found.unwrap_or(Action::Missing))
    }
}

impl Automaton {
    /// Lets a thread exit where nothing is left to it but decisions: nobody waits for what it decides.
    fn end_early(&mut self) {
        let busy = self.busy(None);
        for (number, node) in self.nodes.iter_mut().enumerate().filter(|(number, _)| !busy[*number]) {
            node.action = Action::End;
            node.next = [(u16::try_from(number).unwrap_or(0), 0); 2];
        }
        let constants = self.nodes.iter().filter_map(|node| match node.action {
            Action::Constant(number) => Some(number),
            _ => None,
        });
        let constants: BTreeSet<u32> = constants.collect();
        for constant in constants.into_iter().flat_map(|number| [(number, true), (number, false)]) {
            let busy = self.busy(Some(constant));
            self.spent.push((constant, busy.iter().map(|busy| !busy).collect()));
        }
        let end = self.nodes.iter().position(|node| node.action == Action::End);
        self.end = end.and_then(|end| u16::try_from(end).ok());
    }

    /// For each node, whether a thread may come to a step from there that is no decision, if a constant goes one way.
    fn busy(&self, known: Option<(u32, bool)>) -> Vec<bool> {
        let acts =
            |node: &Node| !matches!(node.action, Action::Shared | Action::Ahead(_) | Action::Constant(_) | Action::End);
        let mut busy: Vec<bool> = self.nodes.iter().map(acts).collect();
        loop {
            let leads = |node: &Node| match (&node.action, known) {
                (Action::Constant(number), Some((constant, taken))) if *number == constant => {
                    busy[usize::from(node.after(taken).0)]
                }
                _ => node.next.iter().any(|(next, _)| busy[usize::from(*next)]),
            };
            let more: Vec<usize> = (0..busy.len()).filter(|node| !busy[*node] && leads(&self.nodes[*node])).collect();
            if more.is_empty() {
                return busy;
            }
            more.into_iter().for_each(|node| busy[node] = true);
        }
    }

    /// Finds the nodes from which there is a way to a shared decision.
    fn find_decisions(&mut self) {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (number, node) in self.nodes.iter().enumerate() {
            node.next.iter().for_each(|(next, _)| before[usize::from(*next)].push(number));
        }
        let is_shared = |node: &Node| matches!(node.action, Action::Shared | Action::Ahead(_));
        let mut work: Vec<usize> = (0..self.nodes.len()).filter(|node| is_shared(&self.nodes[*node])).collect();
        while let Some(node) = work.pop() {
            if !std::mem::replace(&mut self.nodes[node].decides, true) {
                work.extend(&before[node]);
            }
        }
    }

    fn next_shared(&self, mut node: u16) -> Option<u16> {
        // Where no shared decision may follow, a thread may go round for ever.
        loop {
            let here = &self.nodes[usize::from(node)];
            match here.action {
                Action::Shared | Action::Constant(_) => return Some(node),
                Action::End | Action::Free | Action::Over { .. } | Action::Past { .. } | Action::Ahead(_) => {
                    return None;
                }
                _ if !here.decides => return None,
                _ => node = here.after(true).0,
            }
        }
    }

    /// Returns whether only expectations and copies for its barrier, and reads, stand between an expectation, or a share of a copy, and an
    /// arrival at its barrier, so that these steps are one move.
    fn owns(&self, node: usize, places: &Places) -> bool {
        let own = match self.nodes[node].action {
            Action::Expect { barrier, .. } => barrier,
            Action::Share { one, .. } => places.copies[one].barrier,
            _ => return false,
        };
        let mut at = node;
        for _ in 0..OWNED {
            at = usize::from(self.nodes[at].after(true).0);
            match self.nodes[at].action {
                Action::Arrive { barrier, .. } => return barrier == own,
                Action::Expect { barrier, .. } if barrier == own => {}
                Action::Copy { kind, .. } | Action::Share { one: kind, .. } if places.copies[kind].barrier == own => {}
                Action::BeginRead { .. } => {}
                _ => return false,
            }
        }
        false
    }
}
