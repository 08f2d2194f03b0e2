//! What is known of a value's uniformity: how far this function decides it, and the unknowns that only rustc can resolve.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use phalanx_contract::uniformity::Uniformity;

use crate::check::cfg::NodeId;
use crate::model::ValueId;

/// The uniformity of a value: the meet of what is known and of all unknowns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) at_most: Uniformity,
    pub(crate) unknown: Unknowns,
}

/// A set of unknowns. Most are empty and short-lived, so that an empty one allocates nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Unknowns(Option<Rc<BTreeSet<Unknown>>>);

impl Unknowns {
    pub(super) fn of(unknown: Unknown) -> Unknowns {
        Unknowns(Some(Rc::new(BTreeSet::from([unknown]))))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Unknown> {
        self.0.iter().flat_map(|all| all.iter())
    }

    /// Adds the unknowns of the other set, and returns whether one of them is new.
    pub(super) fn add(&mut self, other: &Unknowns) -> bool {
        let Some(others) = &other.0 else { return false };
        let Some(own) = &mut self.0 else {
            self.0 = other.0.clone();
            return true;
        };
        if others.is_subset(own) {
            return false;
        }
        Rc::make_mut(own).extend(&**others);
        true
    }
}

/// The unknowns that rustc finds to be uniform, or else reports, each with the group in which it does.
#[derive(Debug, Clone, Default)]
pub(crate) struct Required(BTreeMap<Unknown, Uniformity>);

impl Required {
    /// The unknown is uniform in a group.
    pub(crate) fn require(&mut self, unknown: Unknown, within: Uniformity) {
        self.add(&Unknowns::of(unknown), within);
    }

    /// All unknowns of a value are uniform in a group.
    pub(super) fn add(&mut self, unknowns: &Unknowns, within: Uniformity) {
        for unknown in unknowns.iter() {
            let known = self.0.entry(*unknown).or_insert(within);
            if within.covers(*known) {
                *known = within;
            }
        }
    }
}

/// A part of a value's uniformity that only rustc can resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unknown {
    /// The argument for a parameter, by position.
    Param(usize),
    /// The result of a device function, by the call's slot.
    Call(u16),
    /// The result of a method, which only rustc can find, by the call's slot.
    Method(u16),
    /// A thread's rank divided by a constant: uniform in tiles of the largest power of two that divides it.
    Multiple(u16),
}

impl Level {
    pub(super) fn known(at_most: Uniformity) -> Level {
        Level { at_most, unknown: Unknowns::default() }
    }

    pub(super) fn of(unknown: Unknown) -> Level {
        Level { at_most: Uniformity::Grid, unknown: Unknowns::of(unknown) }
    }

    pub(super) fn multiple(of: ValueId) -> Level {
        Level { at_most: Uniformity::Warp, unknown: Unknowns::of(Unknown::Multiple(of.0)) }
    }

    /// Whether the value is known to be uniform in every group of this scope.
    pub(crate) fn is_uniform(&self, within: Uniformity) -> bool {
        self.at_most.covers(within) && self.unknown.is_empty()
    }

    /// Lowers the level to the meet with the other one, and returns whether it changed.
    pub(super) fn meet(&mut self, other: &Level) -> bool {
        let at_most = self.at_most.meet(other.at_most);
        let is_new = self.unknown.add(&other.unknown);
        std::mem::replace(&mut self.at_most, at_most) != at_most || is_new
    }

    /// Resolves the unknowns that are required to be uniform, as far as they are.
    pub(super) fn assume(&mut self, required: &Required) {
        let (assumed, left): (Vec<Unknown>, Vec<Unknown>) =
            self.unknown.iter().partition(|unknown| required.0.contains_key(unknown));
        if assumed.is_empty() {
            return;
        }
        self.at_most = assumed.iter().fold(self.at_most, |level, unknown| level.meet(required.0[unknown]));
        self.unknown = Unknowns((!left.is_empty()).then(|| Rc::new(BTreeSet::from_iter(left))));
    }

    /// The level of a value that is computed from one or several of this level: it is no longer a rank.
    pub(super) fn combined(mut self) -> Level {
        if self.at_most == Uniformity::Rank {
            self.at_most = Uniformity::Divergent;
        }
        self
    }

    pub(super) fn is_top(&self) -> bool {
        self.at_most == Uniformity::Grid && self.unknown.is_empty()
    }
}

/// The level of each node. Levels only fall, from one solution of the graph to the next.
pub(super) struct Levels {
    pub(super) of: Vec<Level>,
    /// Whether the level of each node was used in this round.
    pub(super) used: Vec<bool>,
    /// Whether a level fell after it was used, so that another round is needed.
    pub(super) stale: bool,
}

impl Levels {
    pub(super) fn of_nodes(count: usize) -> Levels {
        Levels { of: vec![Level::known(Uniformity::Grid); count], used: vec![false; count], stale: false }
    }

    pub(super) fn use_of(&mut self, node: NodeId) -> &Level {
        self.used[node.0] = true;
        &self.of[node.0]
    }

    pub(super) fn lower(&mut self, node: NodeId, to: &Level) {
        self.stale |= self.of[node.0].meet(to) && self.used[node.0];
    }
}
