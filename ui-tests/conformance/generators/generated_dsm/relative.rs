//! Numbers that are computed from the block's rank in its cluster, or from cluster-uniform values: how they are
//! written, their values, and their bounds. A negative result wraps, which changes the number for some moduli.

use super::tree::{Label, Number};
use super::words;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Base {
    Zero,
    Rank,
    /// The variable `slot`, which is below the number of blocks.
    Slot,
    /// The variable of a `let`, and its bound.
    Held(Label, u32),
}

/// The step from one number to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step {
    /// `rank + k`
    Plus,
    /// `rank + n - k`
    Minus,
    /// `rank + n - k % n`
    MinusRem,
    /// `rank - k`, which may go below zero.
    Below,
    /// `k + n - rank`
    Mirrored,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Modulus {
    /// `cluster.num_blocks()`
    Blocks,
    Literal(u32),
    /// `& 1` and `& 3`
    Mask(u32),
}

impl Modulus {
    fn value(self, blocks: u32) -> u32 {
        match self {
            Modulus::Blocks => blocks,
            Modulus::Literal(modulus) => modulus,
            Modulus::Mask(mask) => mask + 1,
        }
    }

    fn name(self) -> String {
        match self {
            Modulus::Blocks => "n".into(),
            Modulus::Literal(_) | Modulus::Mask(_) => self.value(0).to_string(),
        }
    }
}

/// `(base * times + number + more) % modulus`
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sum {
    pub(crate) base: Base,
    pub(crate) times: u32,
    pub(crate) number: Option<(Step, Number)>,
    pub(crate) more: u32,
    pub(crate) modulus: Option<Modulus>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Relative {
    Sum(Sum),
    /// `rank ^ 1`, `rank ^ k`
    Xor(Base, u32),
    XorNumber(Base, Number),
    /// `n - 1 - rank`, or with the literal.
    Reverse(Base, Modulus),
    /// `rank / 2`
    Half(Base),
}

/// The values of the variables at one point of a run.
pub(crate) struct Values<'v> {
    pub(crate) blocks: u32,
    pub(crate) rank: u32,
    pub(crate) slot: u32,
    pub(crate) held: &'v dyn Fn(Label) -> u32,
    pub(crate) number: &'v dyn Fn(Number) -> u32,
}

impl Base {
    fn limit(self, blocks: u32) -> u32 {
        match self {
            Base::Zero => 1,
            Base::Rank | Base::Slot => blocks,
            Base::Held(_, limit) => limit,
        }
    }

    fn name(self) -> String {
        match self {
            Base::Zero => "0".into(),
            Base::Rank => "rank".into(),
            Base::Slot => "slot".into(),
            Base::Held(label, _) => format!("h{label}"),
        }
    }

    fn value(self, values: &Values<'_>) -> u32 {
        match self {
            Base::Zero => 0,
            Base::Rank => values.rank,
            Base::Slot => values.slot,
            Base::Held(label, _) => (values.held)(label),
        }
    }
}

impl Sum {
    pub(crate) const fn of(base: Base) -> Sum {
        Sum { base, times: 1, number: None, more: 0, modulus: None }
    }

    /// Returns the bound, unless it is large.
    fn limit(&self, blocks: u32) -> Option<u32> {
        let base = self.base.limit(blocks) - 1;
        let Some(modulus) = self.modulus else {
            let goes_up = matches!(self.number, None | Some((Step::Plus, _)));
            let number = self.number.map_or(0, |(_, number)| number.most());
            return goes_up.then_some(base * self.times + number + self.more + 1);
        };
        Some(modulus.value(blocks))
    }

    fn value(&self, values: &Values<'_>) -> u32 {
        let (base, more) = (self.base.value(values) * self.times, self.more);
        let modulus = self.modulus.map(|modulus| modulus.value(values.blocks));
        let number = |number| (values.number)(number);
        let turn = modulus.unwrap_or(0);
        let sum = match self.number {
            None => base + more,
            Some((Step::Plus, by)) => base + number(by) + more,
            Some((Step::Minus, by)) => (base + turn).wrapping_sub(more + number(by)),
            Some((Step::MinusRem, by)) => (base + turn).wrapping_sub(more + number(by) % turn),
            Some((Step::Below, by)) => (base + more).wrapping_sub(number(by)),
            Some((Step::Mirrored, by)) => (number(by) + more + turn).wrapping_sub(base),
        };
        modulus.map_or(sum, |modulus| sum % modulus)
    }

    fn text(&self) -> String {
        let base = match (self.base, self.times) {
            (base, 1) => base.name(),
            (base, times) => format!("{} * {times}", base.name()),
        };
        let more = |sign| if self.more == 0 { String::new() } else { format!(" {sign} {}", self.more) };
        let modulus = self.modulus.map(Modulus::name).unwrap_or_default();
        let number = words::number;
        let sum = match self.number {
            Some((Step::Plus, by)) if self.base == Base::Zero => format!("{}{}", number(by), more("+")),
            None => format!("{base}{}", more("+")),
            Some((Step::Plus, by)) => format!("{base} + {}{}", number(by), more("+")),
            Some((Step::Minus, by)) => match self.modulus {
                Some(Modulus::Literal(modulus)) => format!("{base} + {} - {}", modulus - self.more, number(by)),
                _ => format!("{base} + {modulus}{} - {}", more("-"), number(by)),
            },
            Some((Step::MinusRem, by)) => format!("{base} + {modulus}{} - {} % {modulus}", more("-"), number(by)),
            Some((Step::Below, by)) => format!("{base} - {}{}", number(by), more("+")),
            Some((Step::Mirrored, by)) => format!("{}{} + {modulus} - {base}", number(by), more("+")),
        };
        match self.modulus {
            None => sum,
            Some(Modulus::Mask(mask)) => format!("({sum}) & {mask}"),
            Some(Modulus::Blocks | Modulus::Literal(_)) => format!("({sum}) % {modulus}"),
        }
    }
}

impl Relative {
    pub(crate) const RANK: Relative = Relative::Sum(Sum::of(Base::Rank));

    /// Returns the bound, in a cluster of so many blocks.
    pub(crate) fn limit(&self, blocks: u32) -> Option<u32> {
        match *self {
            Relative::Sum(sum) => sum.limit(blocks),
            Relative::Xor(base, by) => Some(base.limit(blocks).max(by + 1).next_power_of_two()),
            Relative::XorNumber(base, by) => Some(base.limit(blocks).max(by.most() + 1).next_power_of_two()),
            Relative::Reverse(base, of) => (base.limit(blocks) <= of.value(blocks)).then_some(of.value(blocks)),
            Relative::Half(base) => Some(base.limit(blocks).div_ceil(2)),
        }
    }

    pub(crate) fn value(&self, values: &Values<'_>) -> u32 {
        match *self {
            Relative::Sum(sum) => sum.value(values),
            Relative::Xor(base, by) => base.value(values) ^ by,
            Relative::XorNumber(base, by) => base.value(values) ^ (values.number)(by),
            Relative::Reverse(base, of) => of.value(values.blocks) - 1 - base.value(values),
            Relative::Half(base) => base.value(values) / 2,
        }
    }

    pub(crate) fn text(&self) -> String {
        match *self {
            Relative::Sum(sum) => sum.text(),
            Relative::Xor(base, by) => format!("{} ^ {by}", base.name()),
            Relative::XorNumber(base, by) => format!("{} ^ {}", base.name(), words::number(by)),
            Relative::Reverse(base, Modulus::Blocks) => format!("n - 1 - {}", base.name()),
            Relative::Reverse(base, of) => format!("{} - {}", of.value(0) - 1, base.name()),
            Relative::Half(base) => format!("{} / 2", base.name()),
        }
    }

    fn base(&self) -> Base {
        match *self {
            Relative::Sum(Sum { base, .. })
            | Relative::Xor(base, _)
            | Relative::XorNumber(base, _)
            | Relative::Reverse(base, _)
            | Relative::Half(base) => base,
        }
    }

    /// Returns the uniform number that it uses.
    pub(crate) fn number(&self) -> Option<Number> {
        match *self {
            Relative::Sum(Sum { number, .. }) => number.map(|(_, number)| number),
            Relative::XorNumber(_, number) => Some(number),
            Relative::Xor(..) | Relative::Reverse(..) | Relative::Half(_) => None,
        }
    }

    /// Returns the `let` that must be in scope.
    pub(crate) fn held(&self) -> Option<Label> {
        match self.base() {
            Base::Held(label, _) => Some(label),
            Base::Zero | Base::Rank | Base::Slot => None,
        }
    }

    /// Returns whether a literal could replace it.
    pub(crate) fn is_constant(&self) -> bool {
        self.base() == Base::Zero && self.number().is_none()
    }

    /// Returns whether it depends only on `cur`, which a check may know.
    pub(crate) fn is_of_current(&self) -> bool {
        self.base() == Base::Zero && self.number() == Some(Number::Current)
    }

    /// Returns whether it is the same throughout the kernel.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self.base(), Base::Zero | Base::Rank) && matches!(self.number(), None | Some(Number::Parameter(_)))
    }
}
