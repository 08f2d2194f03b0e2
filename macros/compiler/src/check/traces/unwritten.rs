//! Elements of shared arrays that a launch reads and that no thread writes first: an array of which only a part is set to zero before
//! atomics add to all of it, a block to which nobody sends.
//!
//! All threads are followed. What a thread has read itself before it writes is no first write (`hist[b] += 1`, an atomic that updates), so
//! that whoever writes such an element first has read it before, whatever the order. Asked of arrays of which the text shows that what is
//! written depends on ranks and literals alone: an argument may be the number of elements that the kernel uses. How often a loop
//! over a range comes to a write may depend on an argument if the element does not, but for its remainder (`s[round % 2]`).

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use super::elements::{Element, is_followed};
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{
    AccessId, AccessKind, BlockId, Cfg, CopyStep, End, MemoryStep, NodeId, Region, Shared, Source, Step, StepKind,
    Variable,
};
use crate::check::runs::{Fails, Launch, Observer, Thread, ThreadId};
use crate::diag::Diag;
use crate::messages;
use crate::model::atomic::AtomicAccess;
use crate::model::expr::BinaryOp;

/// The largest number of threads of a cluster that are followed.
const THREADS: u64 = 2_048;

/// The largest number of steps of all threads.
const STEPS: usize = 200_000;

/// The largest number of different remainders that a few rounds have.
const SMALL: u64 = 4;

/// The effect of an access on the elements of an asked array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Reads,
    Writes,
}

/// The accesses of the arrays that are asked.
struct Asked<'a, 'f> {
    check: &'a Check<'a, 'f>,
    uses: BTreeMap<AccessId, (Shared, Use)>,
}

/// An observer that collects which elements the threads read and write.
struct Follower<'a, 'f> {
    asked: &'a Asked<'a, 'f>,
    /// The elements that the thread has read.
    own: BTreeSet<Element>,
    /// The elements that some thread reads, each with one of the reads.
    read: BTreeMap<Element, AccessId>,
    /// The elements that some thread writes and has not read before.
    written: BTreeSet<Element>,
    /// The arrays of which a thread may write any element.
    lost: BTreeSet<Shared>,
}

/// `uninit_shared_read`: each element that is read has been written.
///
/// ```text
/// for b in (i..128).step_by(64) { hist[b] = 0; }          // of an array of 256 elements
/// cluster.sync();
/// hist.atomic(keys[i] % 256).fetch_add(1, Relaxed);
/// ```
///
/// The launch is the first in which no thread fails.
pub(super) fn check(check: &Check<'_, '_>, launches: &[Launch]) -> Option<Diag> {
    let all = check.threads * check.blocks;
    if all > THREADS {
        return None;
    }
    let asked = Asked::of(check);
    if asked.uses.is_empty() {
        return None;
    }
    let unwritten = |launch: &Launch| in_launch(&asked, Launch { element: None, ..*launch }).ok();
    launches.iter().find_map(unwritten).flatten()
}

/// The fault in a launch, if no thread fails there.
fn in_launch(asked: &Asked<'_, '_>, launch: Launch) -> Result<Option<Diag>, Fails> {
    let check = asked.check;
    let mut follower = Follower {
        asked,
        own: BTreeSet::new(),
        read: BTreeMap::new(),
        written: BTreeSet::new(),
        lost: BTreeSet::new(),
    };
    let mut left = STEPS;
    for (block, rank) in (0..check.blocks).flat_map(|block| (0..check.threads).map(move |rank| (block, rank))) {
        follower.own.clear();
        let id = ThreadId { block: Some(block), rank };
        if !check.runs.run(launch, id, &mut left, &mut follower)? {
            return Ok(None);
        }
    }
    let Follower { read, written, lost, .. } = follower;
    let is_followed = |element: &Element| element.0 < check.blocks && !lost.contains(&element.1);
    let unwritten = read.into_iter().find(|(element, _)| is_followed(element) && !written.contains(element));
    Ok(unwritten.and_then(|(element, read)| fault(check, element, read)))
}

fn fault(check: &Check<'_, '_>, (block, shared, indexes): Element, read: AccessId) -> Option<Diag> {
    let access = &check.cfg.accesses[read.0];
    let name = check.cfg.name_of(check.function, shared)?;
    let indexes = indexes.iter().take(access.region.path.len()).map(|index| format!("[{index}]"));
    let element = format!("{name}{}", indexes.collect::<String>());
    Some(messages::unwritten_element(access.at, &element, (check.blocks > 1).then_some(block)))
}

impl<'a, 'f> Asked<'a, 'f> {
    fn of(check: &'a Check<'a, 'f>) -> Self {
        let cfg = check.cfg;
        let mut asked = Asked { check, uses: BTreeMap::new() };
        let mut lost: BTreeSet<Shared> = BTreeSet::new();
        let memory = |region: &Region| region.root.party().map(|(_, shared)| shared);
        lost.extend(cfg.calls.iter().flat_map(|call| call.regions.iter().flatten()).filter_map(memory));
        for copy in &cfg.copies {
            let CopyStep::Begin { writes, .. } = copy else { continue };
            lost.extend(writes.iter().filter_map(memory));
        }
        let values = cfg.values_of_variables();
        let steps = cfg.blocks.iter().enumerate();
        let steps = steps.flat_map(|(number, block)| block.steps.iter().map(move |step| (BlockId(number), step)));
        for (block, step) in steps {
            let StepKind::Memory(MemoryStep::Access(id)) = step.kind else { continue };
            let access = &cfg.accesses[id.0];
            let Some(shared) = memory(&access.region) else { continue };
            let reads = matches!(access.kind, AccessKind::Read | AccessKind::AtomicRead)
                || access.atomic == Some(AtomicAccess::Update);
            let is_asked = is_followed(access)
                && matches!(shared, Shared::Array(_))
                && check.elements.is_one(id)
                && asked.is_fixed(&values, block, &access.region);
            match (reads, is_asked) {
                (true, true) => _ = asked.uses.insert(id, (shared, Use::Reads)),
                (false, true) => _ = asked.uses.insert(id, (shared, Use::Writes)),
                // Who has read it before is not known, if it is an atomic.
                (true, false) => {}
                (false, false) => _ = lost.insert(shared),
            }
        }
        let does = |of: Use| {
            let of_kind = asked.uses.values().filter(move |(_, is)| *is == of);
            of_kind.map(|(shared, _)| *shared).collect::<BTreeSet<_>>()
        };
        let both: BTreeSet<Shared> = does(Use::Reads).intersection(&does(Use::Writes)).copied().collect();
        // What may be any array may be each.
        let may_be_any = lost.contains(&Shared::Any);
        asked.uses.retain(|_, (shared, _)| !may_be_any && both.contains(shared) && !lost.contains(shared));
        asked
    }

    /// Whether nothing but ranks and literals decides whether threads come to an access, and to which element.
    fn is_fixed(&self, values: &BTreeMap<Variable, Vec<NodeId>>, block: BlockId, region: &Region) -> bool {
        let cfg = self.check.cfg;
        let mut repeats = false;
        for branch in self.check.values.control.deciders(block) {
            let End::Branch { on, .. } = cfg.blocks[branch.0].end else { return false };
            if !is_of_ranks(cfg, values, false, on) {
                if !cfg.counted.contains_key(&branch) {
                    return false;
                }
                repeats = true;
            }
        }
        let selects = region.path.iter().flat_map(|select| select.nodes()).chain(region.rank);
        selects.into_iter().all(|node| is_of_ranks(cfg, values, repeats, node))
    }
}

/// Whether a value is computed from ranks, literals and the counters of loops over such ranges, or is a small remainder. `values` are those
/// that variables get. Where rounds repeat the access, a variable that is set more than once may be another one in each, but for such a counter.
fn is_of_ranks(cfg: &Cfg<'_>, values: &BTreeMap<Variable, Vec<NodeId>>, repeats: bool, value: NodeId) -> bool {
    let counts = |node: &NodeId| match &cfg.nodes[node.0].source {
        Source::Counter { .. } => true,
        // What a counter is before the first round.
        Source::Operands => cfg.nodes[node.0].operands.is_empty(),
        Source::Integer(_)
        | Source::Constant(_)
        | Source::Binary(_)
        | Source::Not
        | Source::Read(_)
        | Source::Param(_)
        | Source::Known { .. }
        | Source::ThreadRank
        | Source::Round(..)
        | Source::Load(_)
        | Source::Agreed { .. }
        | Source::Shuffled { .. }
        | Source::Call { .. } => false,
    };
    let mut seen = BTreeSet::new();
    let mut work = vec![value];
    while let Some(node) = work.pop() {
        if !seen.insert(node) {
            continue;
        }
        let of = &cfg.nodes[node.0];
        match &of.source {
            Source::Read(variable) => match (cfg.only_value(*variable), values.get(variable)) {
                (Some(value), _) => work.push(value),
                (None, Some(all)) if !repeats || all.iter().all(counts) => work.extend(all),
                (None, _) => return false,
            },
            Source::Binary(op @ (BinaryOp::Rem | BinaryOp::BitAnd)) if is_small_remainder(cfg, *op, &of.operands) => {}
            Source::Operands | Source::Binary(_) | Source::Not | Source::Round(..) | Source::Counter { .. } => {
                work.extend(&of.operands);
            }
            Source::Integer(_) | Source::Constant(_) | Source::ThreadRank | Source::Known { .. } => {}
            Source::Param(_)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => return false,
        }
    }
    true
}

/// Whether a remainder is all that it may be within the few rounds that are followed: a small one of a counter, and not of every other one.
fn is_small_remainder(cfg: &Cfg<'_>, op: BinaryOp, operands: &[NodeId]) -> bool {
    let [number, by] = *operands else { return false };
    let most = if op == BinaryOp::Rem { SMALL } else { SMALL - 1 };
    let is_small = cfg.nodes[cfg.origin(by).0].source.integer().is_some_and(|by| by <= most);
    let is_slow = matches!(cfg.nodes[cfg.origin(number).0].source, Source::Binary(BinaryOp::Div | BinaryOp::Shr));
    is_small && !is_slow
}

impl Observer for Follower<'_, '_> {
    fn step(&mut self, thread: &Thread<'_, '_, '_>, _: (BlockId, usize), step: &Step) {
        let StepKind::Memory(MemoryStep::Access(id)) = step.kind else { return };
        let Some((shared, of)) = self.asked.uses.get(&id) else { return };
        match (of, self.asked.check.elements.elements(thread, id, false)) {
            (Use::Reads, Some((elements, _))) => {
                for element in elements.all() {
                    self.own.insert(*element);
                    self.read.entry(*element).or_insert(id);
                }
            }
            (Use::Reads, None) => {}
            (Use::Writes, Some((elements, _))) => {
                self.written.extend(elements.all().iter().filter(|element| !self.own.contains(element)));
            }
            (Use::Writes, None) => _ = self.lost.insert(*shared),
        }
    }

    fn pass_over(&mut self, _: BlockId, arms: &BlockSet) {
        let steps = arms.iter().flat_map(|block| &self.asked.check.cfg.blocks[block.0].steps);
        let uses = steps.filter_map(|step| step.kind.accessed()).filter_map(|id| self.asked.uses.get(&id));
        self.lost.extend(uses.filter(|(_, of)| *of == Use::Writes).map(|(shared, _)| *shared));
    }

    fn iterates(&mut self) -> bool {
        true
    }

    fn shortens(&self) -> bool {
        true
    }

    fn sees_values(&self) -> bool {
        false
    }
}
