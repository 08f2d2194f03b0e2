//! The operations of a whole warp on matrices: loads from shared memory, stores to it, and `mma` (PTX ISA, ldmatrix,
//! stmatrix and mma). Each lane accesses the bytes of its own elements, as the simulator sees it, although it addresses rows for
//! other lanes on a GPU.

use std::panic::Location;

use super::Tile;
use super::members::Call;
use crate::kernel::matrix::{Matrix, MatrixElement, MultipliedBy, Registers, StoredByRows, StoredTransposed};
use crate::kernel::memory::{Index, MatrixMemory};
use crate::program::refusal::Message;
use crate::report::failure::Cause;
use crate::sim::{self, Site};

type Value<M> = <<M as Matrix>::Element as MatrixElement>::Value;
type Word<M> = <<M as Matrix>::Element as MatrixElement>::Word;

/// How the matrix lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stored {
    ByRows,
    Transposed,
}

impl Tile<32> {
    /// Returns the matrix whose first element is at this row and column of the tile, the block's shared memory, whose
    /// elements are its rows: `SharedArray<[T; N], ROWS>`, or a part of one. All lanes get it together, and must pass the same
    /// arguments.
    ///
    /// The rows must be a multiple of 16 bytes:
    ///
    /// ```compile_fail,E0080
    /// # use phalanx::prelude::*;
    /// #[cluster_kernel(block = 32)]
    /// fn first(out: &mut [f16]) {
    ///     let warp = tiled_partition::<32>(&this_thread_block());
    ///     let lane = warp.thread_rank();
    ///     let tile = shared_array::<[f16; 20], 16>(); // 40 bytes
    ///     if lane < 20 {
    ///         for i in 0..16 {
    ///             tile[i][lane] = f16::ONE;
    ///         }
    ///     }
    ///     warp.sync();
    ///     let a: MatrixA<f16, 16, 16> = warp.load_matrix(&tile, 0, 0);
    ///     out[lane] = a[0];
    /// }
    ///
    /// let device = Device::simulator();
    /// first(&mut device.upload(&[f16::ONE; 32]).unwrap()).grid(1).launch(&device).unwrap();
    /// ```
    ///
    /// # Failures
    /// The launch fails if the matrix does not lie within the tile, or does not start at a multiple of 16 bytes.
    #[track_caller]
    pub fn load_matrix<M: StoredByRows>(
        &self,
        tile: &impl MatrixMemory<Value<M>>,
        row: impl Index,
        column: impl Index,
    ) -> M {
        self.loaded("tile.load_matrix", tile, row, column, Stored::ByRows)
    }

    /// Returns the matrix whose transpose [`load_matrix`](Tile::load_matrix) would find at this row and column.
    #[track_caller]
    pub fn load_matrix_transposed<M: StoredTransposed>(
        &self,
        tile: &impl MatrixMemory<Value<M>>,
        row: impl Index,
        column: impl Index,
    ) -> M {
        self.loaded("tile.load_matrix_transposed", tile, row, column, Stored::Transposed)
    }

    /// Stores a matrix where [`load_matrix`](Tile::load_matrix) finds it.
    #[track_caller]
    pub fn store_matrix<M: StoredByRows>(
        &self,
        tile: &impl MatrixMemory<Value<M>>,
        row: impl Index,
        column: impl Index,
        matrix: M,
    ) {
        self.stored("tile.store_matrix", tile, row, column, matrix, Stored::ByRows);
    }

    /// Stores a matrix where [`load_matrix_transposed`](Tile::load_matrix_transposed) finds it.
    #[track_caller]
    pub fn store_matrix_transposed<M: StoredTransposed>(
        &self,
        tile: &impl MatrixMemory<Value<M>>,
        row: impl Index,
        column: impl Index,
        matrix: M,
    ) {
        self.stored("tile.store_matrix_transposed", tile, row, column, matrix, Stored::Transposed);
    }

    /// Returns `a * b + c`, by the tensor cores. All lanes compute it together, each its own elements.
    ///
    /// Integers are exact, and wrap around. Products of floats are exact, too; the simulator adds them to the sum one
    /// after the other in `f32`. Hardware rounds sums of several products at once, in an order that is not specified, so that
    /// its results may differ in the last bits (PTX ISA, mma: the order and the rounding of the sum are unspecified).
    #[track_caller]
    pub fn mma<A: MultipliedBy<B, C>, B: Matrix, C: Matrix>(&self, a: A, b: B, c: C) -> C {
        let call = Call { name: "tile.mma", site: Location::caller() };
        let of_lane = self.members().exchanged(call, (a, b));
        A::multiplied(self.lane(), |lane| of_lane(lane).0, |lane| of_lane(lane).1, c)
    }

    fn lane(&self) -> usize {
        sim::with("a matrix", |context| context.thread.lane()) as usize
    }

    #[track_caller]
    fn loaded<M: Matrix, S: MatrixMemory<Value<M>>>(
        &self,
        name: &'static str,
        tile: &S,
        row: impl Index,
        column: impl Index,
        stored: Stored,
    ) -> M {
        let at = Location::caller();
        let corner = corner::<M, S>(tile, row, column, stored, at);
        self.agree(name, tile, corner, at);
        let lane = self.lane();
        // Each element is overwritten.
        let mut matrix = M::splat(Value::<M>::default());
        for (word, elements) in matrix.registers_mut().chunks_exact_mut(M::LAYOUT.per_word).enumerate() {
            let places = places::<M>(lane, word, stored, corner);
            if is_in_order::<M>(stored) {
                elements.copy_from_slice(tile.read::<Word<M>>(places(0), at).values());
            } else {
                elements.iter_mut().enumerate().for_each(|(i, element)| *element = tile.read(places(i), at));
            }
        }
        matrix
    }

    #[track_caller]
    fn stored<M: Matrix, S: MatrixMemory<Value<M>>>(
        &self,
        name: &'static str,
        tile: &S,
        row: impl Index,
        column: impl Index,
        matrix: M,
        stored: Stored,
    ) {
        let at = Location::caller();
        let corner = corner::<M, S>(tile, row, column, stored, at);
        self.agree(name, tile, corner, at);
        let lane = self.lane();
        for (word, elements) in matrix.registers().chunks_exact(M::LAYOUT.per_word).enumerate() {
            let places = places::<M>(lane, word, stored, corner);
            if is_in_order::<M>(stored) {
                let mut together = Word::<M>::filled(elements[0]);
                together.values_mut().copy_from_slice(elements);
                tile.write(places(0), together, at);
            } else {
                elements.iter().enumerate().for_each(|(i, element)| tile.write(places(i), *element, at));
            }
        }
    }

    /// Ends the launch with a failure unless all lanes address the same matrix.
    fn agree<T>(&self, name: &'static str, tile: &impl MatrixMemory<T>, (row, column): (usize, usize), site: Site) {
        let [allocation, start] = tile.identity();
        self.members().uniform(Call { name, site }, [allocation, start, row as u64, column as u64]);
    }
}

/// Whether the elements of a word lie next to each other in memory.
fn is_in_order<M: Matrix>(stored: Stored) -> bool {
    M::LAYOUT.is_of_rows() == (stored == Stored::ByRows)
}

/// Returns the row and the column in memory of each element of a lane's word.
fn places<M: Matrix>(
    lane: usize,
    word: usize,
    stored: Stored,
    (row, column): (usize, usize),
) -> impl Fn(usize) -> (usize, usize) {
    let place = M::LAYOUT.place(lane, word);
    let in_order = is_in_order::<M>(stored);
    move |element| match in_order {
        true => (row + place.line, column + place.first + element),
        false => (row + place.first + element, column + place.line),
    }
}

/// Checks that a matrix lies within the tile, and starts at a multiple of 16 bytes.
fn corner<M: Matrix, S: MatrixMemory<Value<M>>>(
    tile: &S,
    row: impl Index,
    column: impl Index,
    stored: Stored,
    site: Site,
) -> (usize, usize) {
    const {
        if !(S::COLUMNS * size_of::<Value<M>>()).is_multiple_of(16) {
            let message = Message::new().text("the rows of a tile must be a multiple of 16 bytes, not ");
            let message = message.number(S::COLUMNS * size_of::<Value<M>>()).text(", for each to be aligned: add ");
            message.text("elements that pad them, as in `shared_array::<[bf16; 72], 64>()`").panic();
        }
    };
    let (rows, columns) = match stored {
        Stored::ByRows => (M::ROWS, M::COLUMNS),
        Stored::Transposed => (M::COLUMNS, M::ROWS),
    };
    let out_of_bounds = |start: i128, count: usize, length: usize, columns: bool| {
        sim::fail_at(Cause::MatrixOutOfBounds { start, count: count as u64, length: length as u64, columns }, site)
    };
    let is_within = |start: usize, count: usize, length: usize| count <= length && start <= length - count;
    if !is_within(row.to_usize(), rows, tile.rows()) {
        out_of_bounds(row.to_i128(), rows, tile.rows(), false);
    }
    if !is_within(column.to_usize(), columns, S::COLUMNS) {
        out_of_bounds(column.to_i128(), columns, S::COLUMNS, true);
    }
    let [_, start] = tile.identity();
    let first = start as usize + column.to_usize() * size_of::<Value<M>>();
    if !first.is_multiple_of(16) {
        sim::fail_at(Cause::MisalignedMatrix { column: column.to_i128() }, site);
    }
    (row.to_usize(), column.to_usize())
}
