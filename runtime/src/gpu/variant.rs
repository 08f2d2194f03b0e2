//! What the code of a launch may assume beyond the kernel's attribute: facts of the grid and of the arguments, of which each
//! combination that occurs is a CUBIN of its own.

use crate::program::Program;
use crate::shape::Shape;

/// What the compiler knows of the launches of a program beyond its attribute. Each variant is a CUBIN of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Variant {
    /// Grids have one dimension and fewer than 2^32 threads, so that ranks are indexes and words: those of three dimensions
    /// take 64-bit products.
    pub(super) flat_grid: bool,
    /// All slices have fewer than 2^32 elements, so that an index of 32 bits and a length are compared as words.
    pub(super) short_slices: bool,
    /// All integers are less than 2^32, so that they are divided as words.
    pub(super) short_integers: bool,
    /// The slices that are aligned and the integers that are multiples of 16, the first in the lowest bit, so that vectors and copies
    /// need no test.
    pub(super) multiples: u64,
}

/// What a launch knows of the slices and the integers among its arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Known {
    longest_slice: u64,
    largest_integer: u64,
    /// The number of arguments that were asked for multiples, of which the first 64 are known.
    asked: u32,
    multiples: u64,
}

impl Known {
    /// Notes a slice that may be anywhere.
    pub(crate) fn length(&mut self, length: u64) {
        self.longest_slice = self.longest_slice.max(length);
    }

    /// Notes a slice at an address.
    pub(crate) fn slice(&mut self, address: u64, length: u64) {
        self.length(length);
        self.ask(address);
    }

    /// Notes an integer; a negative one is a large one.
    pub(crate) fn integer(&mut self, value: u64) {
        self.largest_integer = self.largest_integer.max(value);
        self.ask(value);
    }

    fn ask(&mut self, value: u64) {
        if value.is_multiple_of(16) {
            self.multiples |= 1u64.checked_shl(self.asked).unwrap_or(0);
        }
        self.asked += 1;
    }
}

impl Variant {
    /// The variant for every launch.
    pub(crate) const GENERAL: Variant =
        Variant { flat_grid: false, short_slices: false, short_integers: false, multiples: 0 };

    /// Returns the variant for a launch of this shape.
    pub(crate) fn of(program: &Program, shape: &Shape, known: Known) -> Variant {
        let threads = u64::from(shape.grid.x) * shape.block.count();
        Variant {
            flat_grid: program.names_grid() && shape.grid.y == 1 && shape.grid.z == 1 && threads < 1 << 32,
            short_slices: known.longest_slice < 1 << 32,
            short_integers: program.has_wide_integers() && known.largest_integer < 1 << 32,
            multiples: if program.needs_alignment() { known.multiples } else { 0 },
        }
    }

    /// Returns the variant for launches whose arguments may be multiples of anything.
    pub(super) fn of_any_sizes(self) -> Variant {
        Variant { multiples: 0, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::super::nvrtc::options;
    use super::super::nvrtc::tests::copy;
    use super::*;
    use crate::program::types::constant;

    #[test]
    fn launches_choose_the_variant() {
        let program = copy(constant(&7u32));
        let shape = Shape { grid: 8.into(), cluster: 1.into(), block: 1.into(), dynamic_shared_bytes: 0 };
        let of = |length| {
            let mut known = Known::default();
            known.slice(16, length);
            known.integer(32);
            Variant::of(&program, &shape, known)
        };
        assert_eq!(
            of((1 << 32) - 1),
            Variant { short_slices: true, ..Variant::GENERAL },
            "the text does not name the grid, tests no alignment, and has no integer of 64 bits"
        );
        assert_eq!(of(1 << 32), Variant::GENERAL);
        let macros = |variant| {
            let options = options(&program, variant).into_iter();
            options.filter(|option| option.starts_with("--define-macro")).count()
        };
        let all = Variant { flat_grid: true, short_integers: true, multiples: 1, ..of(0) };
        assert_eq!([Variant::GENERAL, of(0), all].map(macros), [0, 1, 4]);
    }

    #[test]
    fn what_is_known_of_arguments() {
        let mut known = Known::default();
        known.slice(0x1008, 7);
        known.integer(48);
        known.length(9);
        known.integer(3);
        assert_eq!(known, Known { longest_slice: 9, largest_integer: 48, asked: 3, multiples: 0b010 });
        (0..80).for_each(|_| known.integer(0));
        assert_eq!(known.multiples, !0b101, "those after the 64th are not known");
    }
}
