//! A map of nodes, few of which are in it: to find that one is not takes no search.

use std::collections::BTreeMap;
use std::ops::Deref;

use super::NodeId;

/// A map of nodes.
#[derive(Debug, Clone)]
pub(crate) struct ByNode<T> {
    all: BTreeMap<NodeId, T>,
    /// For each node up to the last one, whether it is in the map.
    has: Vec<bool>,
}

impl<T> From<BTreeMap<NodeId, T>> for ByNode<T> {
    fn from(all: BTreeMap<NodeId, T>) -> Self {
        let mut has = vec![false; all.keys().next_back().map_or(0, |last| last.0 + 1)];
        all.keys().for_each(|node| has[node.0] = true);
        ByNode { all, has }
    }
}

impl<T> ByNode<T> {
    pub(crate) fn get(&self, node: &NodeId) -> Option<&T> {
        if self.contains_key(node) { self.all.get(node) } else { None }
    }

    pub(crate) fn contains_key(&self, node: &NodeId) -> bool {
        node.0 < self.has.len() && self.has[node.0]
    }
}

impl<T> Deref for ByNode<T> {
    type Target = BTreeMap<NodeId, T>;

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

impl<'m, T> IntoIterator for &'m ByNode<T> {
    type Item = (&'m NodeId, &'m T);
    type IntoIter = std::collections::btree_map::Iter<'m, NodeId, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.iter()
    }
}
