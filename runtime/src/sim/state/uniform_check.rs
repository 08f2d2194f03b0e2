//! The calls of `group.uniform(value)` that not all threads have reached.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::sim::group::Group;
use crate::sim::site::Site;

/// The calls of a launch that not all threads have reached.
#[derive(Debug, Default)]
pub(crate) struct UniformChecks {
    /// The checks by call.
    pub(in crate::sim) open: Mutex<BTreeMap<UniformCall, UniformCheck>>,
}

/// The threads whose values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::sim) enum UniformGroup {
    Group(Group),
    Warpgroup,
}

impl UniformGroup {
    /// Returns the name that reports use.
    pub(in crate::sim) fn name(self) -> &'static str {
        match self {
            UniformGroup::Group(group) => group.name(),
            UniformGroup::Warpgroup => "warpgroup",
        }
    }
}

/// The n-th call of the threads of a group at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::sim) struct UniformCall {
    /// The group, and its rank among those of the grid.
    pub(in crate::sim) group: (UniformGroup, u64),
    pub(in crate::sim) site: Site,
    /// The number of calls that the thread has made there, including this one.
    pub(in crate::sim) round: u64,
}

/// The state of a check: the first thread's value, and the number of threads that have not made the call.
#[derive(Debug)]
pub(in crate::sim) struct UniformCheck {
    pub(in crate::sim) value: Box<[u8]>,
    pub(in crate::sim) left: u64,
}
