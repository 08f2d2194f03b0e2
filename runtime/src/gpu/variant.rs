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
    /// All slices have fewer than 2^31 elements, so that an index of 32 bits and a length are compared as words.
    pub(super) short_slices: bool,
    /// All integers are less than 2^32, so that they are divided as words.
    pub(super) short_integers: bool,
    /// The slices that are aligned and the integers that are multiples of 16, the first in the lowest bit, so that vectors and copies
    /// need no test.
    pub(super) multiples: u64,
    /// The checks of accesses that hold for all threads, each as its bit, so that the kernel does not make them (`program::launch_checks`).
    pub(super) held_checks: u64,
    /// The launch has a deadline, so that waits note where they are when it ends. Only such launches run this code.
    pub(super) deadline: bool,
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
    pub(crate) const GENERAL: Variant = Variant {
        flat_grid: false,
        short_slices: false,
        short_integers: false,
        multiples: 0,
        held_checks: 0,
        deadline: false,
    };

    /// Returns the variant for a launch of this shape, in which these of the program's checks hold.
    pub(crate) fn of(program: &Program, shape: &Shape, known: Known, held_checks: u64) -> Variant {
        let threads = u64::from(shape.grid.x) * shape.block.count();
        Variant {
            flat_grid: program.names_grid() && shape.grid.y == 1 && shape.grid.z == 1 && threads < 1 << 32,
            short_slices: known.longest_slice < 1 << 31,
            short_integers: program.has_wide_integers() && known.largest_integer < 1 << 32,
            multiples: if program.needs_alignment() { known.multiples } else { 0 },
            held_checks,
            deadline: false,
        }
    }

    /// Returns the variant for a launch that has a deadline, or has none.
    pub(crate) fn with_deadline(self, deadline: bool) -> Variant {
        Variant { deadline, ..self }
    }

    /// Returns the variant for every launch that has a deadline, or has none, as this one.
    pub(crate) fn general(self) -> Variant {
        Variant::GENERAL.with_deadline(self.deadline)
    }

    /// The strongest variant whose code a launch of `program` may use without anything being known of its arguments' alignment. Most
    /// launches are of it.
    pub(crate) fn of_most_launches(program: &Program) -> Variant {
        Variant {
            flat_grid: program.names_grid(),
            short_slices: true,
            short_integers: program.has_wide_integers(),
            multiples: 0,
            held_checks: program.launch_checks().all(),
            deadline: false,
        }
    }

    /// Returns the checks of accesses that its code does not make.
    pub(crate) fn held_checks(self) -> u64 {
        self.held_checks
    }

    /// Returns the variant for launches whose arguments may be multiples of anything.
    pub(super) fn of_any_sizes(self) -> Variant {
        Variant { multiples: 0, ..self }
    }

    /// Returns variants whose code assumes less than this one's, and is right for its launches, with the ones that assume most first.
    pub(super) fn weaker(self) -> impl Iterator<Item = Variant> {
        let mut all: Vec<Variant> = (0..16u8)
            .map(|kept| Variant {
                flat_grid: self.flat_grid && kept & 1 != 0,
                short_slices: self.short_slices && kept & 2 != 0,
                short_integers: self.short_integers && kept & 4 != 0,
                multiples: 0,
                held_checks: if kept & 8 != 0 { self.held_checks } else { 0 },
                deadline: self.deadline,
            })
            .filter(|weaker| *weaker != self)
            .collect();
        all.sort_by_key(|variant| std::cmp::Reverse((variant.assumptions(), *variant)));
        all.dedup();
        all.into_iter()
    }

    /// Returns whether code of this variant is right for a launch of which `launch` holds.
    pub(super) fn is_right_for(self, launch: Variant) -> bool {
        let Variant { flat_grid, short_slices, short_integers, multiples, held_checks, deadline } = self;
        deadline == launch.deadline
            && flat_grid <= launch.flat_grid
            && short_slices <= launch.short_slices
            && short_integers <= launch.short_integers
            && multiples & !launch.multiples == 0
            && held_checks & !launch.held_checks == 0
    }

    /// Returns how much the code of this variant assumes.
    pub(super) fn assumptions(self) -> u32 {
        let Variant { flat_grid, short_slices, short_integers, multiples, held_checks, deadline: _ } = self;
        let flags = u32::from(flat_grid) + u32::from(short_slices) + u32::from(short_integers);
        flags + multiples.count_ones() + held_checks.count_ones()
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
            Variant::of(&program, &shape, known, 0)
        };
        assert_eq!(
            of((1 << 31) - 1),
            Variant { short_slices: true, ..Variant::GENERAL },
            "the text does not name the grid, tests no alignment, and has no integer of 64 bits"
        );
        assert_eq!(of(1 << 31), Variant::GENERAL);
        let macros = |variant| {
            let options = options(&program, variant).into_iter();
            options.filter(|option| option.starts_with("--define-macro")).count()
        };
        let all =
            Variant { flat_grid: true, short_integers: true, multiples: 1, held_checks: 1, deadline: true, ..of(0) };
        // For a deadline there are two: the text has nothing but arrivals at barriers.
        assert_eq!([Variant::GENERAL, of(0), all].map(macros), [0, 1, 7]);
    }

    #[test]
    fn code_that_assumes_less_is_right_too() {
        let launch = Variant { flat_grid: true, short_slices: true, multiples: 0b110, ..Variant::GENERAL };
        assert!(launch.is_right_for(launch) && Variant::GENERAL.is_right_for(launch));
        assert!(Variant { multiples: 0b100, ..launch }.is_right_for(launch));
        let held = Variant { held_checks: 0b11, ..launch };
        assert!(launch.is_right_for(held) && Variant { held_checks: 0b10, ..launch }.is_right_for(held));
        assert!(!held.is_right_for(Variant { held_checks: 0b01, ..launch }));
        assert!(held.weaker().any(|weaker| weaker == Variant { multiples: 0, ..held }));
        for wrong in [Variant { multiples: 0b001, ..launch }, Variant { short_integers: true, ..Variant::GENERAL }] {
            assert!(!wrong.is_right_for(launch), "{wrong:?}");
        }
        assert!(!Variant { flat_grid: true, ..Variant::GENERAL }.is_right_for(Variant::GENERAL));
        let ends = launch.with_deadline(true);
        assert!(!ends.is_right_for(launch) && !launch.is_right_for(ends) && ends.general().is_right_for(ends));
        assert!(ends.weaker().all(|weaker| weaker.is_right_for(ends)));
        let weaker: Vec<Variant> = launch.weaker().collect();
        assert!(weaker.iter().all(|weaker| weaker.is_right_for(launch)));
        assert_eq!(weaker[0], Variant { multiples: 0, ..launch });
        assert_eq!((weaker.len(), weaker.last()), (4, Some(&Variant::GENERAL)));
        assert_eq!(Variant::GENERAL.weaker().count(), 0);
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
