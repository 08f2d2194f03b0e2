//! What callers must know of what a function does to shared memory and the cluster's barriers, and what it asks of the
//! functions that it calls: rustc joins the two (`phalanx::__private::protocol`), because the macro sees one function
//! at a time. Data, no analysis.

use std::collections::BTreeSet;

use crate::diag::Diag;
use crate::rules::Rule;
use crate::span::SpanRange;

/// What a function does, one bit each.
pub(crate) mod does {
    /// It touches a peer's memory before it has waited at a barrier of the cluster.
    pub(crate) const NEED_ENTRY: u8 = 1;
    /// It may return without having waited at one.
    pub(crate) const NOT_ENTER: u8 = 2;
    /// It may return without having arrived at one.
    pub(crate) const NOT_ARRIVE: u8 = 4;
    /// It may have touched a peer's memory after its last arrival.
    pub(crate) const LEAVE_OPEN: u8 = 8;
    /// Its own shared memory would not stand a second call without a barrier between.
    pub(crate) const ONCE_A_PHASE: u8 = 16;
    /// It may return without a barrier that orders what came before it: only relaxed ones, or none.
    pub(crate) const NOT_ORDER: u8 = 32;
}

/// Whose memory is touched, as the thread names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Own,
    Remote,
}

/// What is done to memory, one bit each.
pub(crate) mod uses {
    use super::Side;

    pub(crate) const READ: u32 = 1;
    pub(crate) const WRITE: u32 = 2;
    pub(crate) const ATOMIC_READ: u32 = 4;
    pub(crate) const ATOMIC: u32 = 8;
    pub(crate) const ALL: u32 = 15;

    /// To memory that a function was given, of its own block or of a peer.
    pub(crate) const fn of(side: Side, uses: u32) -> u32 {
        match side {
            Side::Own => uses,
            Side::Remote => uses << 16,
        }
    }
}

/// When a function does it to memory that it was given: by so many bits its uses are shifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// Before it has waited at a barrier.
    First = 0,
    /// With no barrier after it.
    Last = 4,
    /// With no barrier after it but an arrival that its caller waits for before it.
    Arrived = 8,
    /// At all: to a phase barrier.
    Ever = 12,
}

/// What is done to a phase barrier, one bit each.
pub(crate) mod barrier {
    /// It is used as the caller left it.
    pub(crate) const NEEDS: u32 = 1;
    /// It is initialised as the caller left it, perhaps.
    pub(crate) const BEGINS: u32 = 2;
    /// It is not.
    pub(crate) const KEEPS: u32 = 4;
    /// It is initialised by whoever calls.
    pub(crate) const ALONE: u32 = 8;
}

/// Something about a call, by its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Has {
    /// The function does one of these.
    Does(u16, u8),
    /// It does one of these to its parameter of this position.
    Uses(u16, usize, When, u32),
    /// It does what must not be at once to two of its parameters, if they are one.
    Clashes(u16, usize, usize),
    /// Not all is done in this row, and the other one if there are two.
    Beyond(Row, Option<Row>),
}

/// A row of memory that a call is given: of which parameter, and which other one says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) slot: u16,
    pub(crate) param: usize,
    pub(crate) by: usize,
}

/// It is so if all of `when` hold, unless one of `unless` does not do what is said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Case {
    pub(crate) when: Vec<Has>,
    pub(crate) unless: Vec<(u16, u8)>,
}

/// A fault, if it is so.
#[derive(Debug)]
pub(crate) struct Demand {
    pub(crate) case: Case,
    pub(crate) rule: Rule,
    pub(crate) at: SpanRange,
    pub(crate) message: String,
}

/// What the function does, if it is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gives {
    Does(u8),
    /// To its parameter of this position.
    Uses(usize, When, u32),
    /// What must not be at once, to two of its parameters if they are one.
    Clashes(usize, usize),
    /// To its own parameter, what a function that it calls does to one.
    Passes {
        own: usize,
        slot: u16,
        param: usize,
        when: When,
    },
}

#[derive(Debug, Default)]
pub(crate) struct Protocol {
    pub(crate) demands: Vec<Demand>,
    pub(crate) gives: Vec<(Gives, Case)>,
    /// Of memory that the function touches in one row alone, by the parameters' positions: one more than that of the
    /// parameter that says which, or 0.
    pub(crate) rows: Vec<u8>,
}

impl Protocol {
    /// Of a function that does nothing with the cluster.
    pub(super) fn plain() -> Protocol {
        let nothing = Gives::Does(does::NOT_ENTER | does::NOT_ARRIVE | does::NOT_ORDER);
        Protocol { gives: vec![(nothing, Case::default())], ..Protocol::default() }
    }

    /// Asks no more about a rule; says whether anything was asked.
    pub(crate) fn waive(&mut self, rule: Rule) -> bool {
        let before = self.demands.len();
        self.demands.retain(|demand| demand.rule != rule);
        self.demands.len() != before
    }

    /// The calls that anything depends on, by their slots.
    pub(crate) fn calls(&self) -> BTreeSet<u16> {
        let cases = self.demands.iter().map(|demand| &demand.case).chain(self.gives.iter().map(|(_, case)| case));
        let of_cases = cases.flat_map(|case| {
            let when = case.when.iter().flat_map(|has| match has {
                Has::Does(slot, _) | Has::Uses(slot, ..) | Has::Clashes(slot, ..) => [Some(*slot), None],
                Has::Beyond(row, other) => [Some(row.slot), other.map(|other| other.slot)],
            });
            when.flatten().chain(case.unless.iter().map(|(slot, _)| *slot))
        });
        let passed = self.gives.iter().filter_map(|(gives, _)| match gives {
            Gives::Passes { slot, .. } => Some(*slot),
            Gives::Does(_) | Gives::Uses(..) | Gives::Clashes(..) => None,
        });
        of_cases.chain(passed).collect()
    }

    pub(in crate::check) fn ask(&mut self, case: Case, fault: &Diag) {
        let message = fault.text();
        let known = |demand: &Demand| demand.message == message && demand.case == case;
        if !self.demands.iter().any(known) {
            self.demands.push(Demand { case, rule: fault.rule, at: fault.at, message });
        }
    }
}

impl Case {
    pub(super) fn unless(calls: &BTreeSet<u16>, does: u8) -> Case {
        Case { when: Vec::new(), unless: calls.iter().map(|call| (*call, does)).collect() }
    }

    pub(in crate::check) fn when(mut self, has: Has) -> Case {
        self.when.push(has);
        self
    }

    /// Whatever the functions do that are called.
    pub(in crate::check) fn is_certain(&self) -> bool {
        self.when.is_empty() && self.unless.is_empty()
    }
}
