//! Which places are read later: of the others, an analysis need not carry along what it knows. Backwards from each read
//! to where the place was set, as in any compiler.

use std::collections::BTreeSet;

use super::cfg::{BlockId, Cfg, Extent, Place, Source, StepKind};

/// By block, the places that are read after its start before they are set.
pub(crate) struct Live(Vec<BTreeSet<Place>>);

/// A field that was not set by itself is as good as the whole.
fn whole(place: Place) -> Option<Place> {
    match place {
        Place::Field(local, _) => Some(Place::Local(local)),
        Place::Local(_) | Place::Temporary(_) => None,
    }
}

impl Live {
    pub(crate) fn of(cfg: &Cfg<'_>) -> Live {
        let mut before: Vec<Vec<BlockId>> = vec![Vec::new(); cfg.blocks.len()];
        for (at, block) in cfg.blocks.iter().enumerate() {
            block.end.successors().for_each(|next| before[next.0].push(BlockId(at)));
        }
        let mut live = vec![BTreeSet::new(); cfg.blocks.len()];
        let mut sets = Vec::with_capacity(cfg.blocks.len());
        let mut work = Vec::new();
        for (at, block) in cfg.blocks.iter().enumerate() {
            let mut set = BTreeSet::new();
            for step in &block.steps {
                match step.kind {
                    StepKind::Evaluate(node) => {
                        if let Source::Read(place) = cfg.nodes[node.0].source {
                            let read = [Some(place), whole(place)].into_iter().flatten();
                            work.extend(read.filter(|place| !is_set(&set, *place)).map(|place| (BlockId(at), place)));
                        }
                    }
                    StepKind::Set { place, extent: Extent::Whole, .. } => {
                        set.insert(place);
                    }
                    _ => {}
                }
            }
            sets.push(set);
        }
        while let Some((block, place)) = work.pop() {
            if live[block.0].insert(place) {
                let earlier = before[block.0].iter().filter(|block| !is_set(&sets[block.0], place));
                work.extend(earlier.map(|block| (*block, place)));
            }
        }
        Live(live)
    }

    pub(crate) fn contains(&self, at: BlockId, place: &Place) -> bool {
        self.0[at.0].contains(place)
    }
}

fn is_set(set: &BTreeSet<Place>, place: Place) -> bool {
    set.contains(&place) || whole(place).is_some_and(|whole| set.contains(&whole))
}
