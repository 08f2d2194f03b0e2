//! The values that runs compute beyond operators and formulas: those of methods of unsigned integers, what an `Option` holds, and the
//! elements of arrays that the text lists.

use super::{Number, Thread};
use crate::check::cfg::{Computed, Formula, NodeId};

impl Thread<'_, '_, '_> {
    pub(super) fn computed(&self, of: Computed, operands: &[NodeId]) -> Option<Number> {
        let known = |at: usize| operands.get(at).and_then(|operand| self.known(*operand));
        match of {
            Computed::Number(number) => Some(Number { value: i64::try_from(number).ok()?, is_given: false }),
            Computed::Method { name, bits } => self.method(operands, |numbers| method(name, bits, numbers)),
            Computed::Fits { name, bits } => self.method(operands, |numbers| fits(name, bits, numbers).map(u64::from)),
            Computed::Is { some } => known(0).map(|of| Number { value: i64::from((of.value != 0) == some), ..of }),
            Computed::Held => known(0),
            Computed::HeldOr => {
                let variant = known(2)?;
                let value = known(if variant.value == 0 { 1 } else { 0 })?;
                Some(Number { is_given: value.is_given || variant.is_given, ..value })
            }
        }
    }

    /// The elements of an array that the text lists, or of the one of its rows that the thread has selected.
    pub(super) fn listed(&self, array: NodeId) -> Option<&[NodeId]> {
        let cfg = self.runs.cfg;
        if let Some(elements) = cfg.listed(array) {
            return Some(elements);
        }
        let row = cfg.first_origin(array);
        match (cfg.formulas.get(&row), &cfg.nodes[row.0].operands[..]) {
            (Some(Formula::Element), &[rows, index]) => {
                let index = usize::try_from(self.known(index)?.value).ok()?;
                self.listed(*self.listed(rows)?.get(index)?)
            }
            _ => None,
        }
    }

    fn method(&self, operands: &[NodeId], of: impl FnOnce(&[u64]) -> Option<u64>) -> Option<Number> {
        let numbers = operands.iter().map(|operand| self.known(*operand)).collect::<Option<Vec<Number>>>()?;
        let is_given = numbers.iter().any(|number| number.is_given);
        let numbers = numbers.into_iter().map(Number::natural).collect::<Option<Vec<u64>>>()?;
        Some(Number { value: i64::try_from(of(&numbers)?).ok()?, is_given })
    }
}

/// The result of a method of unsigned integers of so many bits; `None` if it is not known or too large.
fn method(name: &str, bits: u32, numbers: &[u64]) -> Option<u64> {
    let most = u64::MAX >> (64 - bits);
    let cut = |number: u64| number & most;
    let is_small = |number: &u64| *number <= most;
    if !numbers.iter().all(is_small) {
        return None;
    }
    match (name, numbers) {
        ("wrapping_add", &[a, b]) => Some(cut(a.wrapping_add(b))),
        ("wrapping_sub", &[a, b]) => Some(cut(a.wrapping_sub(b))),
        ("wrapping_mul", &[a, b]) => Some(cut(a.wrapping_mul(b))),
        ("saturating_add", &[a, b]) => Some(a.saturating_add(b).min(most)),
        ("saturating_sub", &[a, b]) => Some(a.saturating_sub(b)),
        ("saturating_mul", &[a, b]) => Some(a.saturating_mul(b).min(most)),
        ("checked_add", &[a, b]) => a.checked_add(b).filter(is_small),
        ("checked_sub", &[a, b]) => a.checked_sub(b),
        ("checked_mul", &[a, b]) => a.checked_mul(b).filter(is_small),
        ("checked_div" | "div_euclid", &[a, b]) => a.checked_div(b),
        ("checked_rem", &[a, b]) => a.checked_rem(b),
        ("pow", &[a, b]) => a.checked_pow(u32::try_from(b).ok()?).filter(is_small),
        ("midpoint", &[a, b]) => Some(a.midpoint(b)),
        ("count_ones", &[of]) => Some(of.count_ones().into()),
        ("count_zeros", &[of]) => Some((bits - of.count_ones()).into()),
        ("leading_zeros", &[of]) => Some((of.leading_zeros() - (64 - bits)).into()),
        ("trailing_zeros", &[of]) => Some(of.trailing_zeros().min(bits).into()),
        ("trailing_ones", &[of]) => Some(of.trailing_ones().into()),
        ("reverse_bits", &[of]) => Some(of.reverse_bits() >> (64 - bits)),
        ("swap_bytes", &[of]) => Some(of.swap_bytes() >> (64 - bits)),
        ("rotate_left", &[of, by]) => rotated(of, by, bits),
        ("rotate_right", &[of, by]) => rotated(of, u64::from(bits) - by % u64::from(bits), bits),
        ("is_power_of_two", &[of]) => Some(of.is_power_of_two().into()),
        ("next_power_of_two", &[of]) => of.checked_next_power_of_two().filter(is_small),
        ("ilog2", &[of]) => of.checked_ilog2().map(u64::from),
        ("isqrt", &[of]) => Some(of.isqrt()),
        _ => None,
    }
}

/// Whether the result of a checked method is a number.
fn fits(name: &str, bits: u32, numbers: &[u64]) -> Option<bool> {
    let is_known = matches!(name, "checked_add" | "checked_sub" | "checked_mul" | "checked_div" | "checked_rem");
    is_known.then(|| method(name, bits, numbers).is_some())
}

fn rotated(of: u64, by: u64, bits: u32) -> Option<u64> {
    let by = u32::try_from(by % u64::from(bits)).ok()?;
    let both = u128::from(of) << by;
    u64::try_from((both | both >> bits) & (u128::from(u64::MAX) >> (64 - bits))).ok()
}

#[cfg(test)]
mod tests {
    use super::{fits, method};

    #[test]
    fn methods_of_unsigned_integers() {
        assert_eq!(method("reverse_bits", 32, &[1]), Some(1_u32.reverse_bits().into()));
        assert_eq!(method("rotate_left", 32, &[0x8000_0001, 4]), Some(0x8000_0001_u32.rotate_left(4).into()));
        assert_eq!(method("rotate_right", 32, &[5, 33]), Some(5_u32.rotate_right(33).into()));
        assert_eq!(method("rotate_left", 64, &[u64::MAX - 1, 0]), Some(u64::MAX - 1));
        assert_eq!(method("leading_zeros", 16, &[5]), Some(5_u16.leading_zeros().into()));
        assert_eq!(method("wrapping_sub", 32, &[0, 1]), Some(u32::MAX.into()));
        assert_eq!(method("saturating_add", 8, &[250, 10]), Some(255));
        assert_eq!(fits("checked_sub", 32, &[0, 1]), Some(false));
        assert_eq!(fits("checked_add", 8, &[250, 5]), Some(true));
        assert_eq!(fits("checked_add", 8, &[250, 6]), Some(false));
        // What a wider type holds is no number of this one.
        assert_eq!(method("count_ones", 8, &[256]), None);
    }
}
