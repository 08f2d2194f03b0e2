//! Removes a range of keys from a map, in time of the keys removed. From Rust 1.91 on, `BTreeMap::extract_if` does so.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Removes the entries whose keys lie in the range.
pub(super) fn remove_range<K: Ord + Copy, V>(map: &mut BTreeMap<K, V>, keys: RangeInclusive<K>) {
    while let Some((&key, _)) = map.range(keys.clone()).next() {
        map.remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_keys_of_the_range_go() {
        let mut map: BTreeMap<u32, ()> = (0..6).map(|key| (key, ())).collect();
        remove_range(&mut map, 2..=4);
        assert_eq!(map.into_keys().collect::<Vec<_>>(), [0, 1, 5]);
    }
}
