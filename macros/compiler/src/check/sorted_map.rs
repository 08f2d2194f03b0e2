//! A map of few entries, as a sorted list: the states of analyses are cloned and joined often, and have few entries each.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

/// A map whose entries lie in the order of their keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SortedMap<K, V> {
    entries: Vec<(K, V)>,
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        SortedMap { entries: Vec::new() }
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// Where a key is, or else would be.
    fn find(&self, key: &K) -> Result<usize, usize> {
        let (mut from, mut to) = (0, self.entries.len());
        while from < to {
            let middle = (from + to) / 2;
            match self.entries[middle].0.cmp(key) {
                Ordering::Less => from = middle + 1,
                Ordering::Equal => return Ok(middle),
                Ordering::Greater => to = middle,
            }
        }
        Err(from)
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        match self.find(key) {
            Ok(at) => Some(&self.entries[at].1),
            Err(_) => None,
        }
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        match self.find(key) {
            Ok(at) => Some(&mut self.entries[at].1),
            Err(_) => None,
        }
    }

    pub(crate) fn contains_key(&self, key: &K) -> bool {
        self.find(key).is_ok()
    }

    pub(crate) fn insert(&mut self, key: K, value: V) {
        match self.find(&key) {
            Ok(at) => self.entries[at].1 = value,
            Err(at) => self.entries.insert(at, (key, value)),
        }
    }

    /// The value of a key, which is the default one if it is new.
    pub(crate) fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let at = match self.find(&key) {
            Ok(at) => at,
            Err(at) => {
                self.entries.insert(at, (key, V::default()));
                at
            }
        };
        &mut self.entries[at].1
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let at = self.find(key).ok()?;
        Some(self.entries.remove(at).1)
    }

    /// The entries whose keys lie in a range.
    fn places(&self, keys: RangeInclusive<K>) -> std::ops::Range<usize> {
        let from = self.find(keys.start()).unwrap_or_else(|at| at);
        let to = self.find(keys.end()).map_or_else(|at| at, |at| at + 1);
        from..to
    }

    pub(crate) fn remove_range(&mut self, keys: RangeInclusive<K>) {
        let places = self.places(keys);
        if !places.is_empty() {
            self.entries.drain(places);
        }
    }

    pub(crate) fn range_mut(&mut self, keys: RangeInclusive<K>) -> impl Iterator<Item = &mut V> {
        let places = self.places(keys);
        self.entries[places].iter_mut().map(|(_, value)| value)
    }

    pub(crate) fn retain(&mut self, mut is_kept: impl FnMut(&K, &mut V) -> bool) {
        self.entries.retain_mut(|(key, value)| is_kept(key, value));
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.entries.iter_mut().map(|(key, value)| (&*key, value))
    }

    pub(crate) fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.entries.iter().map(|(key, _)| key)
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.iter_mut().map(|(_, value)| value)
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(entries: T) -> Self {
        let mut map = SortedMap::default();
        map.extend(entries);
        map
    }
}

impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<T: IntoIterator<Item = (K, V)>>(&mut self, entries: T) {
        entries.into_iter().for_each(|(key, value)| self.insert(key, value));
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::SortedMap;

    #[test]
    fn like_a_map() {
        let mut map = SortedMap::default();
        [5, 1, 3, 9, 7].into_iter().for_each(|key| map.insert(key, key * 10));
        map.insert(3, 31);
        assert_eq!(
            map.iter().map(|(key, value)| (*key, *value)).collect::<Vec<_>>(),
            [(1, 10), (3, 31), (5, 50), (7, 70), (9, 90)]
        );
        assert_eq!((map.get(&3), map.get(&4), map.contains_key(&9)), (Some(&31), None, true));
        assert_eq!((map.remove(&5), map.remove(&5)), (Some(50), None));
        map.range_mut(2..=7).for_each(|value| *value += 1);
        map.remove_range(8..=8);
        map.remove_range(9..=20);
        assert_eq!(map.keys().copied().collect::<Vec<_>>(), [1, 3, 7]);
        map.retain(|key, _| *key != 3);
        assert_eq!(map.into_iter().collect::<Vec<_>>(), [(1, 10), (7, 71)]);
    }
}
