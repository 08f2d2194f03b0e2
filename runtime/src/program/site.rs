//! Maps a position in the CUDA C++ back to the site in the Rust source that can fail or print there. A position is the
//! line that `#line` gives and the column in the generated text, which the prelude gets from the compiler.

use std::collections::BTreeMap;

use super::template::{Format, Site, SiteMessage};
use crate::location::Location;

/// The sites of one program that can fail or print.
#[derive(Debug, Default)]
pub(crate) struct SiteMap {
    /// The sites by their positions as a device reports them. Different sites have different positions.
    sites: BTreeMap<u32, SiteEntry>,
}

/// Packs a position like `site_of` of failure.cuh.
fn position(line: u32, column: u32) -> u32 {
    line.wrapping_mul(1 << 16).wrapping_add(column)
}

/// The source location and message at a position.
#[derive(Debug, Clone, Copy)]
pub(super) struct SiteEntry {
    pub(super) file: &'static str,
    pub(super) site: Site,
    /// The function that formats the message, with the instance of the function that the message is in, which
    /// determines the types of its values.
    pub(super) message: Option<(&'static str, Format)>,
}

impl SiteEntry {
    /// Returns whether both are the same site. Two instances of a function share their sites, but not their messages.
    fn is(&self, other: &SiteEntry) -> bool {
        let instance = |entry: &SiteEntry| entry.message.map(|(instance, _)| instance);
        (self.file, self.site, instance(self)) == (other.file, other.site, instance(other))
    }
}

impl SiteMap {
    /// Enters `entry` at a position of the text. Returns false if the position is taken by another site.
    pub(super) fn insert(&mut self, line: u32, column: u32, entry: SiteEntry) -> bool {
        self.sites.entry(position(line, column)).or_insert(entry).is(&entry)
    }

    /// Returns the location for a position as the device reports it. If there is no site at that column, it is the
    /// nearest on the line: compilers differ in where an operator's expression begins.
    pub(crate) fn find(&self, position: u32) -> Option<Location> {
        let SiteEntry { file, site, .. } = self.nearest(position)?;
        Some(Location { file: file.to_string(), line: site.line, column: site.column })
    }

    /// Returns the sentence of the site.
    pub(crate) fn text(&self, position: u32) -> Option<&'static str> {
        match self.nearest(position)?.site.message {
            SiteMessage::Text(text) => Some(text),
            SiteMessage::None | SiteMessage::Slot(_) => None,
        }
    }

    fn nearest(&self, position: u32) -> Option<&SiteEntry> {
        let on_line = self.sites.range(position & !0xffff..=position | 0xffff);
        on_line.min_by_key(|(at, _)| at.abs_diff(position)).map(|(_, entry)| entry)
    }

    /// Returns the function that formats the message at exactly this position, because the values of another message
    /// have other types.
    pub(crate) fn message(&self, position: u32) -> Option<Format> {
        self.sites.get(&position)?.message.map(|(_, format)| format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::message::format_of;

    const fn entry(file: &'static str, column: u32, message: Option<(&'static str, Format)>) -> SiteEntry {
        SiteEntry { file, site: Site { line: 7, column, message: SiteMessage::None }, message }
    }

    #[test]
    fn finds_the_nearest_on_the_line() {
        let mut map = SiteMap::default();
        assert!(map.insert(7, 10, entry("k.rs", 5, None)));
        assert!(map.insert(7, 20, entry("k.rs", 9, None)));
        let column = |position| map.find(position).map(|location| location.column);
        assert_eq!(column(7 << 16 | 10), Some(5));
        assert_eq!(column(7 << 16 | 19), Some(9));
        assert_eq!(column(8 << 16 | 10), None);
    }

    #[test]
    fn one_position_is_one_site() {
        let mut map = SiteMap::default();
        assert!(map.insert(7, 10, entry("k.rs", 5, None)));
        assert!(map.insert(7, 10, entry("k.rs", 5, None)), "the same site of a second instance");
        assert!(!map.insert(7, 10, entry("other.rs", 5, None)));
    }

    #[test]
    fn a_message_is_its_instance_s_alone() {
        let format = format_of(|(): ()| String::new());
        let mut map = SiteMap::default();
        assert!(map.insert(7, 10, entry("k.rs", 5, Some(("f<u32>", format)))));
        assert!(!map.insert(7, 10, entry("k.rs", 5, Some(("f<bool>", format)))));
        assert!(map.message(7 << 16 | 10).is_some());
        assert!(map.message(7 << 16 | 11).is_none(), "the nearest will not do");
        assert!(!map.insert(65_536 + 7, 10, entry("long.rs", 5, None)), "a device cannot tell it apart");
    }
}
