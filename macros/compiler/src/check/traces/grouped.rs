//! The accesses of all threads by the elements that they access.

use super::elements::Element;
use super::trace::{MadeBy, Trace, comparable};
use crate::check::cfg::Shared;

/// Accesses by element, each element's in the order of the threads and of what each has done. A hash table: a launch has tens of thousands
/// of accesses.
pub(super) struct Grouped<'t> {
    groups: Vec<(Element, Vec<MadeBy<'t>>)>,
    /// The number of a group, from one on, at the hash of its element or in the next free place behind; zero where there is none.
    places: Vec<usize>,
}

impl<'t> Grouped<'t> {
    /// The accesses of traces, as far as their times compare.
    pub(super) fn of(traces: &'t [Trace]) -> Grouped<'t> {
        let all: usize = traces.iter().map(|trace| trace.made.len()).sum();
        let mut grouped = Grouped { groups: Vec::new(), places: vec![0; (2 * all).next_power_of_two()] };
        for (trace, alike) in comparable(traces) {
            for made in &trace.made {
                if made.time.barriers <= alike {
                    grouped.of_element(made.element).push((trace, made));
                }
            }
        }
        grouped
    }

    fn of_element(&mut self, element: Element) -> &mut Vec<MadeBy<'t>> {
        let place = self.place(element);
        if self.places[place] == 0 {
            self.groups.push((element, Vec::new()));
            self.places[place] = self.groups.len();
        }
        let number = self.places[place] - 1;
        &mut self.groups[number].1
    }

    /// The accesses of an element, if there are any.
    pub(super) fn get(&self, element: Element) -> Option<&[MadeBy<'t>]> {
        let number = self.places[self.place(element)].checked_sub(1)?;
        Some(&self.groups[number].1)
    }

    /// The groups with a write, in the order of their elements.
    pub(super) fn written(self) -> Vec<(Element, Vec<MadeBy<'t>>)> {
        let mut groups = self.groups;
        groups.retain(|(_, accesses)| accesses.iter().any(|(_, made)| made.by.writes()));
        groups.sort_unstable_by_key(|(element, _)| *element);
        groups
    }

    /// Where the number of an element's group is, or would be.
    fn place(&self, element: Element) -> usize {
        let last = self.places.len() - 1;
        let mut place = hash(element) as usize & last;
        loop {
            match self.places[place] {
                0 => return place,
                number if self.groups[number - 1].0 == element => return place,
                _ => place = (place + 1) & last,
            }
        }
    }
}

fn hash((owner, shared, [a, b, c]): Element) -> u64 {
    let shared = match shared {
        Shared::Array(number) => 4 * number,
        Shared::Slice(number) => 4 * number + 1,
        Shared::Param(number) => 4 * number + 2,
        Shared::Dynamic => 3,
        Shared::Any => 7,
    };
    let mixed = |hash: u64, part: u64| {
        let hash = (hash ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^ hash >> 32
    };
    mixed(mixed(mixed(mixed(owner, shared as u64), a), b), c)
}
