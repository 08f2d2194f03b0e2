//! Which places are read later: of the others, an analysis need not carry along what it knows. Backwards from each read
//! to where the place was set, as in any compiler.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeMap;

use super::cfg::{BlockId, Cfg, Extent, Place, Source, StepKind};
use crate::model::LocalId;

pub(crate) struct Live {
    places: Places,
    /// By block, whether a place is read after its start before it is set.
    read: Vec<Vec<bool>>,
}

impl Live {
    pub(crate) fn of(cfg: &Cfg<'_>) -> Live {
        let places = Places::of(cfg);
        let mut live = Live { read: vec![vec![false; places.count()]; cfg.blocks.len()], places };
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); cfg.blocks.len()];
        let mut set = live.read.clone();
        let mut work = Vec::new();
        for (at, block) in cfg.blocks.iter().enumerate() {
            block.end.successors().for_each(|next| before[next.0].push(at));
            for step in &block.steps {
                if let StepKind::Evaluate(node) = step.kind
                    && let Some(place) = cfg.nodes[node.0].source.read()
                {
                    // A field that was not set by itself is as good as the whole.
                    for place in std::iter::once(place).chain(place.whole()) {
                        if !live.places.is_in(&set[at], place) {
                            work.push((at, place));
                        }
                    }
                }
                if let Some((place, _, Extent::Whole)) = step.kind.set() {
                    set[at][live.places.number(place)] = true;
                }
            }
        }
        while let Some((block, place)) = work.pop() {
            if std::mem::replace(&mut live.read[block][live.places.number(place)], true) {
                continue;
            }
            for &earlier in &before[block] {
                if !live.places.is_in(&set[earlier], place) {
                    work.push((earlier, place));
                }
            }
        }
        live
    }

    /// The places of the function.
    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// Whether it is read after the start of a block before it is set.
    pub(crate) fn contains(&self, at: BlockId, place: Place) -> bool {
        self.read[at.0][self.places.number(place)]
    }
}

/// The places of a function that are read or set, in a row: variables, temporary values, fields.
pub(crate) struct Places {
    locals: usize,
    temporaries: usize,
    fields: BTreeMap<(LocalId, u16), usize>,
}

impl Places {
    fn of(cfg: &Cfg<'_>) -> Places {
        let mut places = Places { locals: 0, temporaries: 0, fields: BTreeMap::new() };
        for step in cfg.blocks.iter().flat_map(|block| &block.steps) {
            if let Some((place, ..)) = step.kind.set() {
                places.add(place);
            }
            if let StepKind::Evaluate(node) = step.kind
                && let Source::Read(place) | Source::Counter { of: place, .. } = cfg.nodes[node.0].source
            {
                places.add(place);
            }
        }
        places
    }

    fn add(&mut self, place: Place) {
        match place {
            Place::Local(LocalId(local)) => self.locals = self.locals.max(local + 1),
            Place::Temporary(number) => self.temporaries = self.temporaries.max(number + 1),
            Place::Field(local, field) => {
                self.add(Place::Local(local));
                let next = self.fields.len();
                self.fields.entry((local, field)).or_insert(next);
            }
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.locals + self.temporaries + self.fields.len()
    }

    pub(crate) fn number(&self, place: Place) -> usize {
        match place {
            Place::Local(LocalId(local)) => local,
            Place::Temporary(number) => self.locals + number,
            Place::Field(local, field) => self.locals + self.temporaries + self.fields[&(local, field)],
        }
    }

    /// With the whole, its fields.
    fn is_in(&self, set: &[bool], place: Place) -> bool {
        set[self.number(place)] || place.whole().is_some_and(|whole| set[self.number(whole)])
    }
}
