//! Draws random numbers that are computed from ranks, within bounds, from the variables in scope. A kernel reuses a few
//! of them, because little is known of two unrelated ones.

use super::super::random::Random;
use super::relative::{Base, Modulus, Relative, Step, Sum};
use super::tree::{Label, Number, Owner};

pub(crate) struct Draw {
    blocks: u32,
    seen: Vec<Relative>,
    /// The `let`s in scope, and the bounds of their values.
    lets: Vec<(Label, u32)>,
}

impl Draw {
    pub(crate) fn new(blocks: usize) -> Draw {
        Draw { blocks: blocks as u32, seen: Vec::new(), lets: Vec::new() }
    }

    pub(crate) fn lets(&self) -> usize {
        self.lets.len()
    }

    /// Removes the `let`s of a block, which go out of scope behind it.
    pub(crate) fn leave(&mut self, lets: usize) {
        self.lets.truncate(lets);
    }

    /// Draws what a `let` of this label may hold.
    pub(crate) fn hold(&mut self, random: &mut Random, label: Label, loops: &[Label]) -> Relative {
        let below = [2, self.blocks, self.blocks, 4][random.below(4)];
        let relative = self.held(random, loops, below);
        self.lets.push((label, relative.limit(self.blocks).unwrap_or(below)));
        relative
    }

    /// Draws what `slot` may become, mostly the next or the previous rank.
    pub(crate) fn slot(&mut self, random: &mut Random, loops: &[Label]) -> Relative {
        if random.chance(30) {
            return self.held(random, loops, self.blocks);
        }
        let more = [1, self.blocks - 1][random.below(2)];
        let modulus = [Modulus::Blocks, Modulus::Literal(self.blocks)][random.below(2)];
        Relative::Sum(Sum { more, modulus: Some(modulus), ..Sum::of(Base::Slot) })
    }

    /// Draws the rank of the block that owns the memory, rarely that of the accessing block.
    pub(crate) fn owner(&mut self, random: &mut Random, loops: &[Label]) -> Owner {
        match self.relative(random, loops, self.blocks) {
            own if own == Relative::RANK && random.chance(80) => Owner::Next,
            relative => Owner::Relative(relative),
        }
    }

    /// Draws a value for a variable: the test is whether a check knows it at its uses.
    fn held(&mut self, random: &mut Random, loops: &[Label], limit: u32) -> Relative {
        loop {
            let relative = self.relative(random, loops, limit);
            if !relative.is_of_current() {
                return relative;
            }
        }
    }

    /// Draws a number below `limit`.
    pub(crate) fn relative(&mut self, random: &mut Random, loops: &[Label], limit: u32) -> Relative {
        if random.chance(50)
            && let Some(relative) = random.pick(&self.seen)
            && self.is_in_sight(relative, loops)
            && self.is_below(relative, limit)
        {
            return relative;
        }
        loop {
            let relative = self.any(random, loops);
            if self.is_below(relative, limit) && !relative.is_constant() {
                self.seen.push(relative);
                return relative;
            }
        }
    }

    fn is_below(&self, relative: Relative, limit: u32) -> bool {
        relative.limit(self.blocks).is_some_and(|known| known <= limit)
    }

    fn is_in_sight(&self, relative: Relative, loops: &[Label]) -> bool {
        let round = relative.number().and_then(Number::round);
        round.is_none_or(|label| loops.contains(&label))
            && relative.held().is_none_or(|label| self.lets.iter().any(|(known, _)| *known == label))
    }

    fn base(&self, random: &mut Random) -> Base {
        match random.weighted(&[10, 2, 4, 1]) {
            1 => Base::Slot,
            2 => random.pick(&self.lets).map_or(Base::Rank, |(label, limit)| Base::Held(label, limit)),
            3 => Base::Zero,
            _ => Base::Rank,
        }
    }

    fn modulus(&self, random: &mut Random) -> Option<Modulus> {
        Some(match random.weighted(&[8, 8, 3, 2, 2]) {
            0 => Modulus::Blocks,
            1 => Modulus::Literal(self.blocks),
            2 => Modulus::Literal(2 + random.below(3) as u32),
            3 => Modulus::Mask([1, 3][random.below(2)]),
            _ => return None,
        })
    }

    fn any(&self, random: &mut Random, loops: &[Label]) -> Relative {
        let base = self.base(random);
        let number = match loops.last() {
            _ if random.chance(10) => Number::Current,
            Some(label) if random.chance(80) => Number::Round(*label),
            Some(_) | None => Number::Parameter(random.below(2)),
        };
        match random.weighted(&[5, 5, 9, 2, 1, 1, 1]) {
            0 => Relative::Sum(Sum::of(base)),
            1 => {
                let modulus = self.modulus(random);
                Relative::Sum(Sum { more: random.below(4) as u32, modulus, times: self.times(random), ..Sum::of(base) })
            }
            2 => {
                let steps = [Step::Plus, Step::Minus, Step::MinusRem, Step::Below, Step::Mirrored];
                let step = steps[random.weighted(&[4, 3, 2, 1, 2])];
                let modulus = self.modulus(random);
                let more = [0, 0, 0, 1, 1, 2][random.below(6)];
                let number = Some((step, number));
                Relative::Sum(Sum { base, times: self.times(random), number, more, modulus })
            }
            3 => Relative::Xor(base, [1, 1, 1, 2, 3][random.below(5)]),
            4 => Relative::XorNumber(base, number),
            5 => Relative::Reverse(base, [Modulus::Blocks, Modulus::Literal(self.blocks)][random.below(2)]),
            _ => Relative::Half(base),
        }
    }

    fn times(&self, random: &mut Random) -> u32 {
        if random.chance(10) { 2 } else { 1 }
    }
}
