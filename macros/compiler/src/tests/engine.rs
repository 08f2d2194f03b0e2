//! Tests of the dataflow engine on handwritten and random graphs, with an analysis whose right answer is found by
//! walking every path. There are no kernels here, and none of the crate's own analyses.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;

use super::random::Random;
use crate::check::cfg::Team;
use crate::check::cfg::{BasicBlock, BlockId, Cfg, End, GroupStep, NodeId, Step, StepKind, Variable};
use crate::check::engine::{Analysis, Join, solve, visit};
use crate::model::group::Group;
use crate::span::SpanRange;

/// An analysis in which step `x` adds the mark `x`, and step `-x` and the `none` edge of an option remove it.
#[derive(Default)]
struct Marks {
    /// The states that each step was given, in order.
    given: RefCell<BTreeMap<*const Step, Vec<Set>>>,
}

type Set = BTreeSet<&'static str>;

#[derive(Debug, Clone, PartialEq)]
struct Marked(Set);

impl Join for Marked {
    fn join(&mut self, other: &Self) -> bool {
        let before = self.0.len();
        self.0.extend(&other.0);
        self.0.len() != before
    }
}

fn apply(state: &mut Set, step: &Step) {
    let StepKind::Group(GroupStep::Collective { name, .. }) = step.kind else {
        panic!("these graphs have no other steps")
    };
    match name.strip_prefix('-') {
        Some(name) => state.remove(name),
        None => state.insert(name),
    };
}

fn cross(state: &mut Set, end: &End, to: BlockId) {
    if let End::Option { none, some, .. } = end
        && to == *none
        && none != some
    {
        state.remove("t");
    }
}

impl Analysis for Marks {
    type State = Marked;

    fn entry(&self) -> Marked {
        Marked(Set::from(["entry"]))
    }

    fn transfer(&self, state: &mut Marked, step: &Step) {
        self.given.borrow_mut().entry(step).or_default().push(state.0.clone());
        apply(&mut state.0, step);
    }

    fn edge(&self, state: &mut Marked, cfg: &Cfg<'_>, from: BlockId, to: BlockId) {
        cross(&mut state.0, &cfg.blocks[from.0].end, to);
    }
}

/// Builds a graph from the steps and the end of each block; the first is the entry.
fn cfg<const N: usize>(blocks: [(&[&'static str], End); N]) -> Cfg<'static> {
    let at = SpanRange::at(Span::call_site());
    let step = |name: &&'static str| Step {
        kind: StepKind::Group(GroupStep::Collective { team: Team::whole(Group::Cluster), name, barrier: false }),
        at,
    };
    let blocks = blocks.into_iter().map(|(names, end)| BasicBlock { steps: names.iter().map(step).collect(), end });
    Cfg {
        blocks: blocks.collect(),
        entry: BlockId(0),
        nodes: Vec::new(),
        accesses: Vec::new(),
        copies: Vec::new(),
        barrier_calls: Vec::new(),
        calls: Vec::new(),
        queries: BTreeMap::new().into(),
        axes: BTreeMap::new().into(),
        added: BTreeMap::new(),
        of_lanes: BTreeSet::new(),
        contents: BTreeMap::new(),
        positions: BTreeMap::new().into(),
        cuts: BTreeMap::new().into(),
        differences: BTreeMap::new(),
        recast: BTreeMap::new(),
        named_lengths: Vec::new(),
        formulas: BTreeMap::new().into(),
        computed: BTreeMap::new().into(),
        variants: BTreeMap::new(),
        counted: BTreeMap::new(),
        assertions: Vec::new(),
        collectives_of_warps: Vec::new(),
        register_changes: Vec::new(),
        slices: Vec::new(),
        dynamic: Vec::new(),
        names: BTreeMap::new(),
        read_only: BTreeSet::new(),
        teams: Vec::new(),
        only_values: std::cell::OnceCell::new(),
        callees: std::cell::OnceCell::new(),
    }
}

fn goto(next: usize) -> End {
    End::Goto(BlockId(next))
}

fn branch(then: usize, otherwise: usize) -> End {
    End::Branch { on: NodeId(0), then: BlockId(then), otherwise: BlockId(otherwise) }
}

fn option(some: usize, none: usize) -> End {
    End::Option { on: NodeId(0), variable: Variable::Temporary(0), some: BlockId(some), none: BlockId(none) }
}

/// Returns the union over all paths, by following each until it repeats a block in a state.
fn union_over_paths(cfg: &Cfg<'_>) -> Vec<Option<Set>> {
    let mut met = BTreeSet::new();
    let mut open = vec![(cfg.entry, Set::from(["entry"]))];
    while let Some((block, mut state)) = open.pop() {
        if !met.insert((block, state.clone())) {
            continue;
        }
        let BasicBlock { steps, end } = &cfg.blocks[block.0];
        steps.iter().for_each(|step| apply(&mut state, step));
        for next in end.successors() {
            let mut state = state.clone();
            cross(&mut state, end, next);
            open.push((next, state));
        }
    }
    let mut union = vec![None; cfg.blocks.len()];
    for (block, state) in met {
        union[block.0].get_or_insert_with(Set::new).extend(state);
    }
    union
}

/// Checks that `solve` finds the union over all paths, with ever growing states in few steps, and that `visit` shows
/// each step once.
#[track_caller]
fn check(cfg: &Cfg<'_>) {
    let analysis = Marks::default();
    let states = solve(&analysis, cfg);
    let expected = union_over_paths(cfg);
    let found: Vec<Option<Set>> = states.iter().map(|state| state.as_ref().map(|state| state.0.clone())).collect();
    assert_eq!(found, expected, "{cfg:#?}");

    let marks: Set = expected.iter().flatten().flatten().copied().collect();
    for given in analysis.given.take().values() {
        assert!(given.is_sorted_by(|earlier, later| earlier.is_subset(later)), "a state shrank: {given:?} in {cfg:#?}");
        // Once when it is reached, and once for each mark that comes later.
        assert!(given.len() <= marks.len() + 1, "{} rounds in {cfg:#?}", given.len());
    }

    let mut shown = Vec::new();
    visit(&analysis, cfg, &states, |state, step| shown.push((state.0.clone(), std::ptr::from_ref(step))));
    let mut steps = Vec::new();
    for (block, state) in cfg.blocks.iter().zip(expected) {
        let Some(mut state) = state else { continue };
        for step in &block.steps {
            steps.push((state.clone(), std::ptr::from_ref(step)));
            apply(&mut state, step);
        }
    }
    assert_eq!(shown, steps, "{cfg:#?}");
}

#[test]
fn straight() {
    check(&cfg([(&["a", "b"], goto(1)), (&["-a"], goto(2)), (&["c"], End::Leave)]));
}

#[test]
fn diamonds() {
    check(&cfg([(&["a"], branch(1, 2)), (&["b", "-a"], goto(3)), (&["c"], goto(3)), (&["d"], End::Leave)]));
    let two = [(&["a"] as _, branch(1, 2)), (&["b"] as _, goto(3)), (&["-a"] as _, goto(3))];
    let more = [(&["c"] as _, branch(4, 5)), (&["-b"] as _, goto(5)), (&[] as _, End::Leave)];
    let blocks: Vec<(&[&str], End)> = two.into_iter().chain(more).collect();
    check(&cfg::<6>(blocks.try_into().unwrap_or_else(|_| panic!("six blocks"))));
}

#[test]
fn a_branch_with_one_target() {
    check(&cfg([(&["t"], branch(1, 1)), (&[], End::Leave)]));
    // Neither edge tells anything if both go to one block.
    check(&cfg([(&["t"], option(1, 1)), (&[], End::Leave)]));
}

#[test]
fn what_an_edge_tells() {
    check(&cfg([(&["t", "a"], option(1, 2)), (&["b"], goto(3)), (&["c"], goto(3)), (&[], End::Leave)]));
    // Back to its own block, where the mark comes again.
    check(&cfg([(&["a"], goto(1)), (&["t"], option(2, 1)), (&[], End::Leave)]));
}

#[test]
fn loops() {
    check(&cfg([(&["a"], goto(1)), (&["b", "-a"], branch(1, 2)), (&[], End::Leave)]));
    // What the inner loop adds last, the outer one's first block sees.
    check(&cfg([
        (&["a"], goto(1)),
        (&["-c"], branch(2, 5)),
        (&["b"], branch(3, 4)),
        (&["c", "-b"], goto(2)),
        (&["d"], goto(1)),
        (&[], End::Leave),
    ]));
    // No way out.
    check(&cfg([(&["a"], goto(1)), (&["b"], goto(0)), (&["c"], End::Leave)]));
}

#[test]
fn a_loop_with_two_entries() {
    check(&cfg([(&["a"], branch(1, 2)), (&["b", "-a"], goto(2)), (&["c", "-b"], branch(1, 3)), (&[], End::Leave)]));
}

#[test]
fn unreached_blocks() {
    // They add nothing to what they jump to.
    check(&cfg([(&["a"], goto(2)), (&["never"], goto(2)), (&["b"], End::Leave), (&["never"], goto(3))]));
    assert_eq!(solve(&Marks::default(), &cfg([(&[], End::Leave), (&[], goto(0))]))[1], None);
}

#[test]
fn any_graph() {
    const STEPS: [&str; 8] = ["a", "-a", "b", "-b", "t", "-t", "c", "-c"];
    for seed in 0..2_000 {
        let mut random = Random::new(seed);
        let blocks = std::array::from_fn::<_, 7, _>(|_| {
            let length = random.below(3);
            let at = random.below(STEPS.len() - length);
            let (first, second) = (random.below(7), random.below(7));
            let end = match random.below(6) {
                0 => End::Leave,
                1 | 2 => goto(first),
                3 => option(first, second),
                _ => branch(first, second),
            };
            (&STEPS[at..at + length], end)
        });
        check(&cfg(blocks));
    }
}
