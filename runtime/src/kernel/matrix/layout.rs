//! Which lane of a warp holds which element of a matrix (PTX ISA, Matrix Fragments for mma). The lanes' words of 32 bits
//! make up squares of 8 lines of 16 bytes, as `ldmatrix` loads them: lane `l` has word `l % 4` of line `l / 4`. A line is a
//! part of a row, or of a column of `MatrixB`. Each warp of a warpgroup has 16 rows (PTX ISA, Register Fragments for wgmma).

use std::fmt;

/// The layout of a matrix in the registers of a warp.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The number of elements in a word.
    pub(crate) per_word: usize,
    lines: Lines,
}

/// What the lines of the squares are a part of, and with that the order of a lane's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    /// Lines are parts of rows. The first two words are those of 16 rows, the next two follow to the right.
    Rows,
    /// Lines are parts of columns. The first two words are those of 8 columns, the next two those of 8 more.
    Columns,
}

/// The place of a word in a matrix: the line, and the first element in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) first: usize,
}

impl Layout {
    pub(super) const fn of_rows(per_word: usize) -> Layout {
        Layout { per_word, lines: Lines::Rows }
    }

    pub(super) const fn of_columns(per_word: usize) -> Layout {
        Layout { per_word, lines: Lines::Columns }
    }

    /// Whether a line is a part of a row.
    pub(crate) fn is_of_rows(self) -> bool {
        match self.lines {
            Lines::Rows => true,
            Lines::Columns => false,
        }
    }

    /// Returns the place of a lane's word.
    pub(crate) fn place(self, lane: usize, word: usize) -> Place {
        let (down, along) = match self.lines {
            Lines::Rows => (word % 2, word / 2),
            Lines::Columns => (word / 2, word % 2),
        };
        Place { line: lane / 32 * 16 + down * 8 + lane % 32 / 4, first: (along * 4 + lane % 4) * self.per_word }
    }

    /// Returns the row and the column of an element of a lane.
    pub(crate) fn position(self, lane: usize, index: usize) -> (usize, usize) {
        let Place { line, first } = self.place(lane, index / self.per_word);
        let at = first + index % self.per_word;
        match self.lines {
            Lines::Rows => (line, at),
            Lines::Columns => (at, line),
        }
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {} a word", self.lines, self.per_word)
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use half::bf16;

    /// Every element has one holder, and `row` and `column`, which kernels call, say the same.
    fn agrees<M: Matrix>(of: &str, row: impl Fn(&M, u32, u32) -> u32, column: impl Fn(&M, u32, u32) -> u32, zero: M) {
        let mut seen = vec![false; M::ROWS * M::COLUMNS];
        for lane in 0..M::ROWS * M::COLUMNS / zero.registers().len() {
            for index in 0..zero.registers().len() {
                let at = M::LAYOUT.position(lane, index);
                let (l, i) = (lane as u32, index as u32);
                assert_eq!(at, (row(&zero, l, i) as usize, column(&zero, l, i) as usize), "{of}, lane {l}, {i}");
                assert!(!std::mem::replace(&mut seen[at.0 * M::COLUMNS + at.1], true), "{of}, {at:?}");
            }
        }
        assert!(seen.into_iter().all(|seen| seen), "{of}");
    }

    macro_rules! agree {
        ($($name:ident<$t:ident, $rows:literal, $columns:literal>, $zero:expr;)*) => {
            $({
                type M = $name<$t, $rows, $columns>;
                agrees::<M>(stringify!($name<$t, $rows, $columns>), M::row, M::column, M::splat($zero));
            })*
        };
    }

    #[test]
    fn every_element_has_one_place() {
        agree! {
            MatrixA<bf16, 16, 16>, bf16::ZERO;
            MatrixA<tf32, 16, 8>, 0.0;
            MatrixA<i8, 16, 32>, 0;
            MatrixA<bf16, 64, 64>, bf16::ZERO;
            MatrixA<tf32, 64, 32>, 0.0;
            MatrixA<u8, 64, 128>, 0;
            MatrixB<bf16, 16, 8>, bf16::ZERO;
            MatrixB<bf16, 16, 16>, bf16::ZERO;
            MatrixB<tf32, 8, 8>, 0.0;
            MatrixB<tf32, 8, 16>, 0.0;
            MatrixB<u8, 32, 8>, 0;
            MatrixB<u8, 32, 16>, 0;
            Accumulator<f32, 16, 8>, 0.0;
            Accumulator<i32, 16, 16>, 0;
            Accumulator<bf16, 16, 16>, bf16::ZERO;
            Accumulator<f32, 64, 8>, 0.0;
            Accumulator<i32, 64, 48>, 0;
            Accumulator<bf16, 64, 256>, bf16::ZERO;
        }
    }

    /// Some places as the PTX ISA's figures have them.
    #[test]
    fn places_are_those_of_the_figures() {
        type A = MatrixA<bf16, 16, 16>;
        // Lane 5 is thread 1 of group 1: a3 is in the second row of its group, a4 to the right.
        assert_eq!((A::LAYOUT.position(5, 3), A::LAYOUT.position(5, 4)), ((9, 3), (1, 10)));
        assert_eq!(MatrixA::<i8, 16, 32>::LAYOUT.position(5, 13), (9, 16 + 4 + 1));
        assert_eq!(MatrixB::<bf16, 16, 8>::LAYOUT.position(5, 2), (8 + 2, 1));
        assert_eq!(MatrixB::<tf32, 8, 8>::LAYOUT.position(5, 1), (4 + 1, 1));
        assert_eq!(Accumulator::<f32, 16, 8>::LAYOUT.position(5, 2), (9, 2));
        // The third warp has rows 32 to 47.
        assert_eq!(MatrixA::<tf32, 64, 16>::LAYOUT.position(2 * 32 + 5, 7), (32 + 9, 8 + 4 + 1));
        assert_eq!(MatrixA::<e4m3, 64, 64>::LAYOUT.position(2 * 32 + 5, 30), (32 + 9, 32 + 16 + 4 + 2));
        assert_eq!(Accumulator::<f32, 64, 24>::LAYOUT.position(2 * 32 + 5, 10), (32 + 9, 16 + 2));
    }
}
