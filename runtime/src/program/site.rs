//! From a position in the CUDA C++ back to the place in the Rust source that can fail there. A position is the line
//! that `#line` gives and the column in the generated text, which is what the prelude's operators learn of themselves.

use std::collections::BTreeMap;

use super::template::{Scalar, Segment, Site};
use crate::failure::Location;

/// The places of one program that can fail.
#[derive(Debug, Default)]
pub(crate) struct SiteMap {
    sites: BTreeMap<(u32, u32), (&'static str, Site)>,
}

impl SiteMap {
    /// Enters `site` of `file` at a position of the text. False where the position is another's already.
    pub(super) fn insert(&mut self, line: u32, column: u32, file: &'static str, site: Site) -> bool {
        *self.sites.entry((line, column)).or_insert((file, site)) == (file, site)
    }

    /// The site at a position as the device reports it, `line * 65536 + column`. Where none is at that column, the
    /// nearest on the line: compilers differ in where an operator's expression begins.
    pub(crate) fn find(&self, position: u32) -> Option<(Location, &'static [Segment])> {
        let (line, column) = (position >> 16, position & 0xffff);
        let on_line = self.sites.range((line, 0)..=(line, u32::MAX));
        let (_, (file, site)) = on_line.min_by_key(|((_, at), _)| at.abs_diff(column))?;
        let location = Location { file: file.to_string(), line: site.line, column: site.column };
        Some((location, site.message))
    }
}

/// The message of an `assert!` or `panic!` with its values. The device's record holds four; for a fifth stands `..`.
pub(crate) fn message(segments: &[Segment], values: &[Scalar]) -> String {
    let mut values = values.iter();
    let part = |segment: &Segment| match segment {
        Segment::Text(text) => text.to_string(),
        Segment::Value => values.next().map_or("..".into(), Scalar::to_string),
    };
    segments.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn site(line: u32, column: u32) -> Site {
        Site { line, column, message: &[] }
    }

    #[test]
    fn finds_the_nearest_on_the_line() {
        let mut map = SiteMap::default();
        assert!(map.insert(7, 10, "k.rs", site(7, 5)));
        assert!(map.insert(7, 20, "k.rs", site(7, 9)));
        let column = |position| map.find(position).map(|(location, _)| location.column);
        assert_eq!(column(7 << 16 | 10), Some(5));
        assert_eq!(column(7 << 16 | 19), Some(9));
        assert_eq!(column(8 << 16 | 10), None);
    }

    #[test]
    fn one_position_is_one_site() {
        let mut map = SiteMap::default();
        assert!(map.insert(7, 10, "k.rs", site(7, 5)));
        assert!(map.insert(7, 10, "k.rs", site(7, 5)), "the same site of a second instance");
        assert!(!map.insert(7, 10, "other.rs", site(7, 5)));
    }

    #[test]
    fn messages_take_their_values_in_order() {
        let segments = [Segment::Value, Segment::Text(" is not below "), Segment::Value];
        let values = [Scalar::Unsigned(12, "u32"), Scalar::F32(1.0)];
        assert_eq!(message(&segments, &values), "12 is not below 1.0");
    }
}
