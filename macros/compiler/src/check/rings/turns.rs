//! Decisions about what a thread publishes, in a proof: in its *n*-th turn, all readers decide alike about the number that they have read, and the
//! publishing thread decides as they do where its own condition is theirs of the number that it has stored.
//!
//! That a reader has read the number of its turn is not assumed: the search sees whether its slot holds the data of that round, and without that
//! there is no proof. That two threads have come to as many turns where they decide is checked step by step (`same_turns`).

use std::collections::BTreeSet;

use super::compared::{Comparison, Relation, Side};
use super::counters::Counters;
use super::decision::Key;
use super::handed::{Handed, Load, Published};
use super::kernel::{Kernel, Point, array_of};
use super::part::Part;
use super::published::leads;
use super::value::Evaluator;
use super::walk::Program;
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{Access, AccessId, AccessKind, BlockId, End, Extent, NodeId, Root, Source, Variable};
use crate::check::uniform::control::following_until;

impl Kernel<'_, '_> {
    /// What a thread publishes, if the decisions about it may be followed in a proof: what all readers of a turn read is stored at one place.
    pub(super) fn turns_of(&self, handed: &Handed) -> Option<Published> {
        let of = handed.published.clone()?;
        if !self.stores_once_in_a_turn(&of) {
            return None;
        }
        let one = of.ranks.first().filter(|_| of.ranks.len() == 1)?;
        let is_of_one = |load: &Load| load.rank.and_then(|rank| self.known(rank)) == Some(i64::from(*one));
        // In the turns of the block whose memory all read, nothing else is stored there.
        let are_of_one = of.first == Some(*one) && of.loads.values().all(is_of_one);
        (self.blocks == 1 || are_of_one || self.stores_in_one_loop(&of)).then_some(of)
    }

    /// Whether each array is stored to once in a turn: otherwise a part has two values, or two elements are one part.
    fn stores_once_in_a_turn(&self, of: &Published) -> bool {
        let sites = |array: usize| self.accesses_of(array).into_iter().filter(|(access, _)| access.kind.changes());
        let begins = |(_, point): &(&Access, Point)| {
            let id = self.cfg.blocks[point.0.0].steps[point.1].kind.accessed();
            id.is_some_and(|id| of.turns.get(&id) == Some(&true))
        };
        let first: BTreeSet<Point> =
            of.arrays.iter().flat_map(|array| sites(*array)).filter(begins).map(|(_, point)| point).collect();
        of.arrays.iter().all(|array| {
            let points: Vec<Point> = sites(*array).map(|(_, point)| point).collect();
            points.iter().all(|from| !points.iter().any(|to| self.leads_without(*from, *to, &first)))
        })
    }

    /// Whether a way leads from one point to another, or back to it, without passing by, or ending in, one of these.
    fn leads_without(&self, from: Point, to: Point, without: &BTreeSet<Point>) -> bool {
        let mut seen = BTreeSet::new();
        let mut work = vec![(from.0, from.1 + 1)];
        while let Some((block, index)) = work.pop() {
            let stop = without.range((block, index)..).next().filter(|(of, _)| *of == block);
            if to.0 == block && to.1 >= index && stop.is_none_or(|(_, stop)| to.1 < *stop) {
                return true;
            }
            if stop.is_none() {
                let next = self.cfg.blocks[block.0].end.successors().filter(|next| seen.insert(*next));
                work.extend(next.map(|next| (next, 0)));
            }
        }
        false
    }

    fn known(&self, node: NodeId) -> Option<i64> {
        let counters = Counters::default();
        let evaluator =
            Evaluator { kernel: self, counters: &counters, arguments: None, thread: 0, after: None, inlines: false };
        evaluator.value(node, self.evaluated(node)?).known()
    }

    /// Whether each part is stored once for all blocks, in one loop over their ranks that does not change it.
    fn stores_in_one_loop(&self, of: &Published) -> bool {
        let mut heads = BTreeSet::new();
        let mut arrays = BTreeSet::new();
        of.arrays.iter().flat_map(|array| self.accesses_of(*array)).filter(|(access, _)| access.kind.changes()).all(
            |(access, point)| {
                let rank = access.region.rank.filter(|_| matches!(access.region.root, Root::Remote(_)));
                let variable = rank.and_then(|rank| self.cfg.nodes[self.cfg.first_origin(rank).0].source.read());
                let Some(variable) = variable.filter(|variable| self.is_kept_by_body(*variable)) else { return false };
                let Some(counted) = self.loop_of(variable) else { return false };
                let head = self.cfg.counted.iter().find(|(_, other)| other.inside == counted.inside);
                let Some((arms, _)) = head.and_then(|(head, _)| self.regions.get(head)) else { return false };
                let is_set = |of: Variable| self.sets(of).iter().any(|(at, ..)| arms.contains(at.0));
                let id = self.cfg.blocks[point.0.0].steps[point.1].kind.accessed();
                let stored = id.into_iter().flat_map(|id| self.stored(id));
                let needed = self.needed_by(stored.map(|(_, value)| value));
                let is_whole = counted.by == Some(1)
                    && !counted.inclusive
                    && self.known(counted.start) == of.first.map(i64::from)
                    && self.known(counted.end) == Some(i64::from(self.blocks));
                heads.insert(counted.inside);
                let is_only = array_of(&access.region).is_some_and(|array| arrays.insert(array));
                let stored: Vec<NodeId> =
                    id.into_iter().flat_map(|id| self.stored(id)).map(|(_, value)| value).collect();
                let is_same = stored.iter().all(|value| self.is_plain_in(*value, arms));
                let is_alone = is_only && heads.len() == 1 && arms.contains(point.0);
                is_whole && is_alone && is_same && !needed.into_iter().any(is_set)
            },
        )
    }

    /// Whether what some blocks evaluate of a value depends on its variables and the thread alone: no memory is read there, and nothing is
    /// called.
    fn is_plain_in(&self, value: NodeId, blocks: &BlockSet) -> bool {
        let mut seen = BTreeSet::new();
        let mut work = vec![value];
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            let of = &self.cfg.nodes[node.0];
            let is_plain = match &of.source {
                Source::Integer(_)
                | Source::Constant(_)
                | Source::Binary(_)
                | Source::Not
                | Source::Read(_)
                | Source::Param(_)
                | Source::ThreadRank
                | Source::Round(..) => true,
                // What has no operands is not known.
                Source::Operands => !of.operands.is_empty(),
                Source::Counter { .. }
                | Source::Known { .. }
                | Source::Load(_)
                | Source::Agreed { .. }
                | Source::Shuffled { .. }
                | Source::Call { .. } => false,
            };
            if !is_plain && self.evaluated(node).is_none_or(|(block, _)| blocks.contains(block)) {
                return false;
            }
            work.extend(&of.operands);
        }
        true
    }

    /// What an access stores, by field.
    fn stored(&self, id: AccessId) -> Vec<(Option<u16>, NodeId)> {
        let content = self.cfg.contents.get(&id);
        let whole = self.cfg.accesses[id.0].stored.or(content.map(|content| content.value));
        let fields = content.into_iter().flat_map(|content| &content.fields);
        whole
            .map(|value| (None, value))
            .into_iter()
            .chain(fields.map(|(field, value)| (Some(*field), *value)))
            .collect()
    }

    /// Whether each way to a point leads by another one, also each way from the point back to it.
    fn comes_always_after(&self, point: Point, before: Point) -> bool {
        let again = before.0 == point.0 || !following_until(self.cfg, point.0, before.0).contains(point.0);
        leads(self.cfg, before, point) && again
    }
}

/// What the publishing thread stores.
struct Store {
    point: Point,
    part: Part,
    value: NodeId,
}

impl Evaluator<'_, '_, '_> {
    /// The key of a decision about what is published, and whether the condition holds if what the key says does.
    pub(super) fn turn(&self, on: NodeId, point: Point) -> Option<(Key, bool)> {
        if self.arguments.is_some() {
            return None;
        }
        let handed = self.kernel.handed.borrow().clone()?;
        let of = handed.published.as_ref()?;
        let read = self.decided_by_reading(on, point, of);
        let read = read.map(|comparison| (Key::Turn(comparison.to_string()), comparison.holds));
        read.or_else(|| if self.thread == of.by { self.decided_by_storing(on, point, of) } else { None })
    }

    /// Whether the thread decides about what is published as the thread does that has a program.
    pub(super) fn decides_by_turns_like(&self, program: &Program) -> bool {
        let is_turn = |key: &&Key| matches!(key, Key::Turn(_));
        program.keys.iter().all(|(step, keys)| {
            let Some(key) = keys.iter().find(is_turn) else { return true };
            let decision = program.decided_at.get(step).map(|block| (*block, &self.kernel.cfg.blocks[block.0]));
            decision.is_some_and(|(block, content)| {
                let point = (block, content.steps.len());
                let on = content.end.condition().map(|on| self.open_part(on, point));
                on.and_then(|on| self.turn(on, point)).is_some_and(|(other, _)| other == *key)
            })
        })
    }

    /// The comparison of what has been read in this turn.
    fn decided_by_reading(&self, on: NodeId, point: Point, of: &Published) -> Option<Comparison> {
        let kernel = self.kernel;
        let mut loads = Vec::new();
        let comparison = self.compared(on, point, (of, &mut loads))?.of_a_part()?;
        // A turn of the publishing thread begins where it stores.
        let publishes = self.thread == of.by;
        let openings: Vec<Point> =
            self.sites(of, |kind| kind == AccessKind::Read || publishes).into_iter().map(|(_, at)| at).collect();
        let is_of_turn = |load: &Load| {
            let at = self.sites(of, |_| true).into_iter().find(|(id, _)| *id == load.access).map(|(_, at)| at);
            at.is_some_and(|at| {
                kernel.comes_always_after(point, at) && !kernel.may_pass_between(openings.iter().copied(), at, point)
            })
        };
        loads.iter().all(is_of_turn).then_some(comparison)
    }

    /// The accesses of what is published, with their places.
    fn sites(&self, of: &Published, is: impl Fn(AccessKind) -> bool) -> Vec<(AccessId, Point)> {
        let blocks = (0..).map(BlockId).zip(&self.kernel.cfg.blocks);
        let steps = blocks.flat_map(|(block, content)| {
            content.steps.iter().enumerate().map(move |(index, step)| ((block, index), step))
        });
        let sites = steps.filter_map(|(point, step)| Some((step.kind.accessed()?, point)));
        let accesses = &self.kernel.cfg.accesses;
        sites.filter(|(id, _)| of.turns.contains_key(id) && is(accesses[id.0].kind)).collect()
    }

    /// The comparison that readers make of what has been stored in this turn, if the thread's own condition follows from it.
    fn decided_by_storing(&self, on: NodeId, point: Point, of: &Published) -> Option<(Key, bool)> {
        let kernel = self.kernel;
        let own = self.compared(on, point, (of, &mut Vec::new()))?;
        let sites = self.sites(of, |kind| kind != AccessKind::Read);
        let openings: Vec<Point> = sites.iter().map(|(_, at)| *at).collect();
        let fresh = sites.iter().filter(|(_, at)| {
            kernel.comes_always_after(point, *at) && !kernel.may_pass_between(openings.iter().copied(), *at, point)
        });
        let stores = fresh.flat_map(|(id, at)| {
            let array = array_of(&kernel.cfg.accesses[id.0].region);
            let stored = kernel.stored(*id).into_iter();
            stored.filter_map(move |(field, value)| {
                Some(Store { point: *at, part: Part { array: array?, field }, value })
            })
        });
        let stores: Vec<Store> = stores.collect();
        let conditions = (0..).map(BlockId).zip(&kernel.cfg.blocks).filter_map(|(block, content)| {
            let at = (block, content.steps.len());
            self.compared(content.end.condition()?, at, (of, &mut Vec::new()))?.of_a_part()
        });
        conditions.into_iter().find_map(|theirs| {
            let store = stores.iter().find(|store| Some(store.part) == theirs.part())?;
            let is_same = self.follows(&own, point, &theirs, store, of)?;
            Some((Key::Turn(theirs.to_string()), is_same == theirs.holds))
        })
    }

    /// Whether the thread's own condition holds just if a reader's does of what is stored, or just if it does not.
    fn follows(
        &self,
        own: &Comparison,
        point: Point,
        theirs: &Comparison,
        store: &Store,
        of: &Published,
    ) -> Option<bool> {
        let evaluator = self;
        let stored = evaluator.side(store.value, store.point, (of, &mut Vec::new()))?;
        let told = theirs.with(&stored);
        if let Some(alike) = told.holds_like(own)
            && evaluator.is_kept(own, store.point, point)
        {
            return Some(alike);
        }
        let (decides, at, holds) = self.selected(theirs, store, &stored, of)?;
        let alike = decides.holds_like(own).filter(|_| evaluator.is_kept(own, at, point))?;
        Some(alike == (holds == theirs.holds))
    }

    /// The condition that decides which of two values is stored, where it is evaluated, and whether the relation of a comparison holds of the
    /// value that it is if the condition holds; of the other one, it does not then.
    fn selected(
        &self,
        theirs: &Comparison,
        store: &Store,
        stored: &Side,
        of: &Published,
    ) -> Option<(Comparison, Point, bool)> {
        let (kernel, evaluator) = (self.kernel, self);
        let cfg = kernel.cfg;
        let Side::Variable(variable) = stored else {
            // A truth value that is stored.
            let node = cfg.first_origin(store.value);
            let at = kernel.evaluated(node).filter(|_| kernel.is_boolean(node))?;
            let is_fresh = kernel.comes_always_after(store.point, at);
            let [_, Side::Number(number @ 0..=1)] = theirs.sides else { return None };
            let decides = evaluator.compared(node, at, (of, &mut Vec::new()))?;
            return (is_fresh && theirs.relation == Relation::Equal).then_some((decides, at, number == 1));
        };
        let [one, other] = kernel.sets(*variable) else { return None };
        let (branch, condition, arms) = [(one, other), (other, one)].into_iter().find_map(|(first, second)| {
            let arms = |(branch, leads): (BlockId, bool)| {
                let End::Branch { on, then, otherwise } = cfg.blocks[branch.0].end else { return None };
                let once = |arm: BlockId| !following_until(cfg, arm, branch).contains(arm);
                let are_arms = leads && then == first.0.0 && otherwise == second.0.0;
                (are_arms && once(then) && once(otherwise)).then_some((branch, on, [first, second]))
            };
            kernel.guards_of(first.0.0).into_iter().find_map(arms)
        })?;
        if arms.iter().any(|(.., extent)| *extent != Extent::Whole) {
            return None;
        }
        let at = (branch, cfg.blocks[branch.0].steps.len());
        let decides = evaluator.compared(condition, at, (of, &mut Vec::new()))?;
        let holds = |(set, value, _): &(Point, NodeId, Extent), arm: bool| {
            let value = evaluator.side(*value, *set, (of, &mut Vec::new()))?;
            // What is less than another number is not the largest one.
            let is_less = decides.relation == Relation::Less
                && decides.sides[0] == value
                && decides.holds == arm
                && evaluator.is_kept(&decides, at, *set)
                && theirs.relation == Relation::Equal
                && self.is_largest(theirs);
            theirs.with(&value).known().or(is_less.then_some(false))
        };
        let (first, second) = (holds(arms[0], true)?, holds(arms[1], false)?);
        let is_fresh = kernel.comes_always_after(store.point, at);
        (first != second && is_fresh).then_some((decides, at, first))
    }

    /// Whether a comparison is one of an element of an array with the largest number of its type.
    fn is_largest(&self, of: &Comparison) -> bool {
        let element =
            of.part().filter(|part| part.field.is_none()).and_then(|part| self.kernel.function.shared.get(part.array));
        let is_u32 = element.is_some_and(|(element, _)| element.to_string() == "u32");
        is_u32 && of.sides[1] == Side::Number(i64::from(u32::MAX))
    }
}
