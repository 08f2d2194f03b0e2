//! `Option`s and flags that tell whether a copy is in flight. If a variable is `Some`, or `true`, wherever the copy is in flight, the copy is not
//! in flight on the edge of a branch where the variable is not. These are facts of variables at a point, by copy.

use std::collections::{BTreeMap, BTreeSet};

use super::flight::FlightId;
use super::holder::Holder;
use crate::check::cfg::{BlockId, Cfg, Computed, End, Extent, NodeId, Source, StepKind, ValueStep, Variable};

/// The variables that are `true`, and the variants of `Option`s that are `Some`.
type Holding = BTreeSet<Holder>;

/// The variables that hold, on all paths to a point, and on those on which a copy is in flight, by copy.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    always: Holding,
    while_in_flight: BTreeMap<FlightId, Holding>,
}

/// The most steps between what a branch tests and the variable whose value it is.
const MOST_STEPS: usize = 6;

/// A value that a variable decides.
enum Of {
    /// It holds, whatever variables are.
    Always,
    /// It is what the variable is, read at this node, or the opposite.
    Variable { variable: Variable, read: NodeId, is_opposite: bool },
}

fn decided_by(cfg: &Cfg<'_>, value: NodeId) -> Option<Of> {
    let (mut node, mut is_opposite) = (value, false);
    for _ in 0..MOST_STEPS {
        let of = &cfg.nodes[node.0];
        match (cfg.computed.get(&node), &of.source, &of.operands[..]) {
            (Some(Computed::Number(number)), ..) => return (*number > 0 && !is_opposite).then_some(Of::Always),
            (Some(Computed::Is { some }), _, [operand]) => {
                is_opposite ^= !some;
                node = *operand;
            }
            (Some(Computed::Held), _, [operand]) => node = *operand,
            (_, Source::Not, [operand]) => {
                is_opposite = !is_opposite;
                node = *operand;
            }
            (_, Source::Integer(number), _) => return (*number == 1 && !is_opposite).then_some(Of::Always),
            (_, source, _) => {
                let variable = source.read()?;
                return Some(Of::Variable { variable, read: node, is_opposite });
            }
        }
    }
    None
}

impl Held {
    /// A copy begins.
    pub(super) fn begin(&mut self, flight: FlightId) {
        self.while_in_flight.insert(flight, self.always.clone());
    }

    /// A value is evaluated.
    pub(super) fn evaluate(&mut self, cfg: &Cfg<'_>, value: NodeId) {
        let Some(variable) = cfg.nodes[value.0].source.read() else { return };
        let read = |holding: &mut Holding| {
            if holding.contains(&Holder::Variable(variable)) {
                holding.insert(Holder::Node(value));
            } else {
                holding.remove(&Holder::Node(value));
            }
        };
        read(&mut self.always);
        self.while_in_flight.values_mut().for_each(read);
    }

    /// A variable is set.
    pub(super) fn set(&mut self, cfg: &Cfg<'_>, variable: Variable, value: NodeId, extent: Extent) {
        let of = if extent == Extent::Whole { decided_by(cfg, value) } else { None };
        let set = |holding: &mut Holding| {
            let holds = match &of {
                Some(Of::Always) => true,
                Some(Of::Variable { read, is_opposite: false, .. }) => holding.contains(&Holder::Node(*read)),
                Some(Of::Variable { is_opposite: true, .. }) | None => false,
            };
            // Fields that have steps of their own are set after the whole.
            if extent != Extent::Field {
                holding.retain(|known| !known.is_field_of(variable));
            }
            if holds {
                holding.insert(Holder::Variable(variable));
            } else if extent != Extent::Field {
                holding.remove(&Holder::Variable(variable));
            }
        };
        set(&mut self.always);
        self.while_in_flight.values_mut().for_each(set);
    }

    /// An edge is taken: returns the copies that are not in flight where it is.
    pub(super) fn edge(&mut self, cfg: &Cfg<'_>, from: BlockId, to: BlockId) -> BTreeSet<FlightId> {
        let tested = match cfg.blocks[from.0].end {
            End::Branch { on, .. } => tested(cfg, from, on),
            End::Never | End::Leave | End::Goto(_) | End::Option { .. } => None,
        };
        let (Some((variable, is_opposite)), Some(holds)) = (tested, cfg.blocks[from.0].end.holds_on_edge(to)) else {
            return BTreeSet::new();
        };
        if holds != is_opposite {
            self.always.insert(Holder::Variable(variable));
            self.while_in_flight.values_mut().for_each(|holding| _ = holding.insert(Holder::Variable(variable)));
            return BTreeSet::new();
        }
        let with_it = self.while_in_flight.iter().filter(|(_, holding)| holding.contains(&Holder::Variable(variable)));
        let over: BTreeSet<FlightId> = with_it.map(|(flight, _)| *flight).collect();
        self.while_in_flight.retain(|flight, _| !over.contains(flight));
        over
    }

    /// Joins what holds on two paths, on each of which some copies are in flight; says whether less is known than before.
    pub(super) fn join(
        &mut self,
        other: &Held,
        is_in_flight: impl Fn(FlightId) -> bool,
        is_in_others: impl Fn(FlightId) -> bool,
    ) -> bool {
        let keep = |holding: &mut Holding, others: Option<&Holding>| {
            let before = holding.len();
            holding.retain(|holder| others.is_some_and(|others| others.contains(holder)));
            holding.len() != before
        };
        let mut changed = keep(&mut self.always, Some(&other.always));
        for (flight, holding) in &mut self.while_in_flight {
            // Where the copy is in flight on one path alone, it is as on that one.
            if is_in_flight(*flight) && is_in_others(*flight) {
                changed |= keep(holding, other.while_in_flight.get(flight));
            }
        }
        for (flight, holding) in &other.while_in_flight {
            if is_in_others(*flight) && !is_in_flight(*flight) {
                self.while_in_flight.insert(*flight, holding.clone());
            }
        }
        changed
    }
}

/// The variable on whose value at the end of a block a branch there decides, and whether it asks for the opposite.
pub(super) fn tested(cfg: &Cfg<'_>, block: BlockId, on: NodeId) -> Option<(Variable, bool)> {
    let Some(Of::Variable { variable, read, is_opposite }) = decided_by(cfg, on) else { return None };
    let whole = variable.whole().unwrap_or(variable);
    for step in cfg.blocks[block.0].steps.iter().rev() {
        if let StepKind::Value(ValueStep::Evaluate(node)) = step.kind
            && node == read
        {
            return Some((variable, is_opposite));
        }
        if step.kind.set().is_some_and(|(set, ..)| set == variable || set == whole) {
            return None;
        }
    }
    None
}
