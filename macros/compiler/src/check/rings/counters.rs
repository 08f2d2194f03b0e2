//! The counters of the skeleton's roles: what they stand for, and which variables are none.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::part::Part;
use crate::check::cfg::{BlockId, ByVariable, NodeId, Variable};

/// A counter of the skeleton's roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counter {
    /// The value of a variable.
    Variable(Variable),
    /// The number of iterations that the loop has begun, by the block that decides about one more.
    Iterations(BlockId),
    /// The stage at which a pipeline is.
    Stage(Variable),
    /// The parity of a pipeline's round.
    Parity(Variable),
    /// The sum of what a thread has added to a queue by taking tickets, by the parameter that the queue is in.
    Tickets(usize),
    /// The number that the thread has published last in its own block.
    Published(Part),
    /// The count of turns in which the thread has read what is published.
    Taken,
    /// The last answer of a test whether a phase is over, by the number of the call.
    Tested(usize),
    /// The count of numbers that a lane of its warp has given to the thread, by the result.
    Given(NodeId),
}

impl Counter {
    /// The variable whose value it is, if it is one's.
    pub(super) fn variable(self) -> Option<Variable> {
        match self {
            Counter::Variable(variable) => Some(variable),
            Counter::Iterations(_)
            | Counter::Stage(_)
            | Counter::Parity(_)
            | Counter::Tickets(_)
            | Counter::Published(_)
            | Counter::Taken
            | Counter::Given(_)
            | Counter::Tested(_) => None,
        }
    }
}

/// The counters that were needed so far, by number.
#[derive(Debug, Default)]
pub(super) struct Counters {
    all: RefCell<Vec<Counter>>,
    /// The numbers of those that hold the values of variables, which are asked for at each step.
    of_variables: RefCell<ByVariable<u32>>,
    /// The variables that some thread sets to what nothing here counts, with the rank of that thread: nothing is known of their values
    /// in its steps.
    lost: RefCell<BTreeSet<(u32, Variable)>>,
}

impl Counters {
    pub(super) fn number(&self, counter: Counter) -> u32 {
        if let Some(known) = self.get(counter) {
            return known;
        }
        let mut all = self.all.borrow_mut();
        let number = u32::try_from(all.len()).unwrap_or(u32::MAX);
        all.push(counter);
        if let Counter::Variable(variable) = counter {
            self.of_variables.borrow_mut().get_or_insert(variable, number);
        }
        number
    }

    pub(super) fn get(&self, counter: Counter) -> Option<u32> {
        if let Counter::Variable(variable) = counter {
            return self.of_variables.borrow().get(variable).copied();
        }
        let known = self.all.borrow().iter().position(|known| *known == counter)?;
        u32::try_from(known).ok()
    }

    pub(super) fn len(&self) -> usize {
        self.all.borrow().len()
    }

    pub(super) fn all(&self) -> Vec<Counter> {
        self.all.borrow().clone()
    }

    /// The number of counters and of lost variables: a walk is repeated until it finds no more.
    pub(super) fn found(&self) -> usize {
        self.len() + self.lost.borrow().len()
    }
}

impl Counters {
    /// Notes that a thread sets a variable to what is not counted by rounds.
    pub(super) fn lose(&self, thread: u32, variable: Variable) {
        self.lost.borrow_mut().insert((thread, variable));
    }

    pub(super) fn is_lost(&self, thread: u32, variable: Variable) -> bool {
        self.lost.borrow().contains(&(thread, variable))
    }
}
