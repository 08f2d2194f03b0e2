//! Tensors in global memory as a kernel sees them, and the copies between them and tiles in shared memory, which one
//! thread issues (PTX ISA, cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and cp.async.bulk.prefetch.tensor). `tile` has
//! the types of tiles. `sim::copy` decides when the bytes arrive. The device's implementation is `tensor.cuh`.

mod tile;

use std::any::type_name;
use std::panic::Location;

pub use self::tile::{AddedElement, BitsElement, ComparedElement, TensorTile, tensor_tile};
use crate::kernel::barrier::{Barrier, BarrierScope, Brand, ClusterScope};
use crate::kernel::copy::SharedEnd;
use crate::kernel::memory::{Addressed, Global, GlobalMut, exchanged};
use crate::program::tensor::{Fill, TensorElement, TensorShape};
use crate::report::failure::Cause;
use crate::sim::{self, BarrierId, Batch, Combine, Completion, CopyEnd, CopyPiece, Site, TileCopy};

/// The alignment of tiles in shared memory (PTX ISA, cp.async.bulk.tensor).
const ALIGNMENT: usize = 128;

/// The bytes that a swizzled row exchanges together, and the granule of the last coordinate.
const UNIT: usize = 16;

/// A tensor in global memory that a kernel reads in tiles of type `Tile`, which is its parameter `&TensorMap<Tile>`: a
/// `CUtensorMap` that the launch makes of a [`Tensor`](crate::Tensor).
///
/// The tile's type is that of the shared memory which it is copied to. It says all that the map has to know of it: the
/// element, the number of dimensions and of elements in each, and whether its rows are [`Swizzled`](crate::Swizzled).
///
/// # In kernels
///
/// | operation | meaning |
/// |---|---|
/// | `map.load_async([row, column], &tile, &bar)` | copies the elements from these coordinates on to a tile in shared memory, and lets the current phase of the barrier expect their bytes |
/// | `map.prefetch([row, column])` | loads those elements into the L2 cache |
/// | `map.multicast_async([row, column], &tile, &bar, &cluster)` | copies them to the tile of each block of the cluster, or of the ranks of a list, and completes on the barrier of each |
/// | `map.expect_multicast(&tile, &bar)` | lets the current phase of the barrier expect the bytes of a tile that such a copy brings |
///
/// The coordinates are those of the tile's first element, as `i32`, in the order of indexes. Elements that lie outside of the
/// tensor, before it or behind it, are zeros in the tile, or NaN if the host says so
/// ([`filled_with_nan`](crate::Tensor::filled_with_nan)); their bytes count nonetheless. The last coordinate is a multiple of 16
/// bytes: a kernel with another one fails there, because the GPU has no instruction for it.
///
/// ```
/// use phalanx::prelude::*;
///
/// type Rows = [[f32; 32]; 8];
///
/// /// Copies the first tile of each block's rows to `out`.
/// #[cluster_kernel(block = 32)]
/// fn tiles(input: &TensorMap<Rows>, out: &mut [f32]) {
///     let block = this_thread_block();
///     let tiles = shared_array::<Rows, 1>();
///     let full = shared_barrier();
///     full.init_collective(&block, 1);
///     let at = this_grid().block_rank();
///     if block.thread_rank() == 0 {
///         input.load_async([at as i32 * 8, 0], &tiles[0], &full);
///         let _ = full.arrive();
///     }
///     full.wait_parity(false);
///     for row in 0..8 {
///         let i = block.thread_rank() as usize;
///         out[(at * 8 + row) * 32 + i] = tiles[0][row][i];
///     }
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let input = device.upload(&Vec::from_iter((0..10 * 40).map(|i| i as f32)))?;
/// let mut out = device.zeros(16 * 32)?;
/// tiles(&input.tensor([10, 40])?, &mut out).grid(2).launch(&device)?;
/// let out = out.read()?;
/// assert_eq!((out[33], out[9 * 32 + 1]), (41.0, 361.0));
/// assert_eq!(out[10 * 32..], [0.0; 6 * 32], "rows behind the tensor");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TensorMap<'a, Tile: TensorTile> {
    memory: Global<'a, Tile::Element>,
    shape: TensorShape,
}

/// A tensor in global memory that a kernel reads and writes in tiles of type `Tile`, which is its parameter
/// `&mut TensorMap<Tile>`.
///
/// # In kernels
///
/// | operation | meaning |
/// |---|---|
/// | `map.store_async([row, column], &tile)` | copies a tile of shared memory to the elements from these coordinates on |
/// | `map.reduce_add_async([row, column], &tile)` | adds the tile to those elements, each atomically; `min`, `max`, `and`, `or` and `xor` in place of `add` are the other operations |
/// | what a [`TensorMap`] has | the same |
///
/// What lies outside of the tensor is left out. Each copy is a group of its own, for
/// [`bulk_wait_group`](crate::bulk_wait_group) and [`bulk_wait_group_read`](crate::bulk_wait_group_read).
///
/// ```
/// use phalanx::prelude::*;
///
/// type Rows = [[u32; 8]; 4];
///
/// /// Adds 1 to a tile at the tensor's corner, by each block.
/// #[cluster_kernel(block = 32)]
/// fn count(out: &mut TensorMap<Rows>) {
///     let (block, tiles) = (this_thread_block(), shared_array::<Rows, 1>());
///     let i = block.thread_rank();
///     tiles[0][i / 8][i % 8] = 1;
///     block.sync();
///     if i == 0 {
///         out.reduce_add_async([1, 0], &tiles[0]);
///         bulk_wait_group::<0>();
///     }
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let mut out = device.zeros(4 * 8)?;
/// count(&mut out.tensor_mut([4, 8])?).grid(3).launch(&device)?;
/// assert_eq!(out.read()?, [[0; 8].as_slice(), &[3; 24]].concat(), "the tile's last row lies outside");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TensorMapMut<'a, Tile: TensorTile> {
    memory: GlobalMut<'a, Tile::Element>,
    shape: TensorShape,
}

/// A tile in the block's own shared memory, by its rows.
pub trait TileEnd<Tile: TensorTile>: SharedEnd<Element = Tile::Part> {}

impl<Tile: TensorTile, S: SharedEnd<Element = Tile::Part> + ?Sized> TileEnd<Tile> for S {}

/// Implements what both maps have.
macro_rules! map {
    ($name:ident, $memory:ident) => {
        impl<'a, Tile: TensorTile> $name<'a, Tile> {
            pub(crate) fn new(memory: $memory<'a, Tile::Element>, shape: TensorShape) -> Self {
                $name { memory, shape }
            }

            /// Copies a tile of the tensor to shared memory by one thread, and does not wait: `cp.async.bulk.tensor`. The
            /// current phase of the barrier completes only after the bytes have arrived, of which the call tells the
            /// barrier; the thread still has to arrive.
            #[track_caller]
            pub fn load_async<S, B, C>(self, at: Tile::Coordinates, to: &S, bar: &Barrier<B, C>)
            where
                S: TileEnd<Tile> + ?Sized,
                B: Brand,
                C: BarrierScope,
            {
                let site = Location::caller();
                let completion = Completion::Barrier { barrier: bar.id(), expect: true };
                let pieces = self.pieces(at, to, site, Direction::Load);
                begin::<Tile>("load_async", &pieces, (None, self.shape.fill), completion, site);
            }

            /// Copies a tile of the tensor to the same tile of several blocks of the cluster by one thread, and does not wait:
            /// `cp.async.bulk.tensor` with `.multicast::cluster`. The bytes complete on the same barrier of each receiver, which
            /// has to expect them.
            #[track_caller]
            pub fn multicast_async<S, B, const N: usize>(
                self,
                at: Tile::Coordinates,
                to: &S,
                bar: &Barrier<B, ClusterScope>,
                ranks: [u32; N],
            ) where
                S: TileEnd<Tile> + ?Sized,
                B: Brand,
            {
                let site = Location::caller();
                let pieces = self.pieces(at, to, site, Direction::Load);
                multicast::<Tile>((&pieces, self.shape.fill), bar.id(), &ranks, site);
            }

            /// Lets the current phase of a barrier expect the bytes of a tile that a multicast of some block brings: the thread still
            /// has to arrive.
            #[track_caller]
            pub fn expect_multicast<S, B>(self, to: &S, bar: &Barrier<B, ClusterScope>)
            where
                S: TileEnd<Tile> + ?Sized,
                B: Brand,
            {
                Self::check_tile(to, Direction::Load, Location::caller());
                bar.expect_tx(size_of::<Tile>() as u32);
            }

            /// Loads a tile of the tensor into the L2 cache, which the simulator does not have.
            #[allow(clippy::needless_pass_by_value, reason = "as on the device")]
            pub fn prefetch(self, _at: Tile::Coordinates) {
                sim::with("`prefetch()`", |_| ());
            }

            /// Checks the length and the alignment of a tile.
            fn check_tile<S>(tile: &S, direction: Direction, site: Site)
            where
                S: TileEnd<Tile> + ?Sized,
            {
                if tile.length() != Tile::LENGTH {
                    let (tile, whole) = (tile.length() as u64, Tile::LENGTH as u64);
                    let (to, from) = match direction {
                        Direction::Load => (tile, whole),
                        Direction::Store => (whole, tile),
                    };
                    sim::fail_at(Cause::CopyLengths { to, from }, site);
                }
                let past = tile.start() % ALIGNMENT;
                if past != 0 {
                    sim::fail_at(Cause::MisalignedTile { past: past as u64 }, site);
                }
            }

            /// Returns the pieces of a copy, after checking the tile.
            fn pieces<S>(&self, at: Tile::Coordinates, tile: &S, site: Site, direction: Direction) -> Vec<CopyPiece>
            where
                S: TileEnd<Tile> + ?Sized,
            {
                Self::check_tile(tile, direction, site);
                let (last, elements) = (at.as_ref().last().copied().unwrap_or(0), UNIT / Tile::SHAPE.element);
                if last.rem_euclid(elements as i32) != 0 {
                    sim::fail_at(Cause::MisalignedCoordinate { at: last, elements: elements as u64 }, site);
                }
                if direction == Direction::Store {
                    let negative = at.as_ref().iter().zip(0..).find(|(at, _)| **at < 0);
                    if let Some((at, dimension)) = negative {
                        sim::fail_at(Cause::NegativeCoordinate { at: *at, dimension }, site);
                    }
                }
                let tile = CopyEnd { memory: tile.id(), start: tile.start() };
                let tensor = CopyEnd { memory: self.memory.id(), start: self.memory.start() };
                pieces::<Tile>(&self.shape, at, tile, tensor, direction)
            }
        }

        impl<Tile: TensorTile> Clone for $name<'_, Tile> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<Tile: TensorTile> Copy for $name<'_, Tile> {}
    };
}

map!(TensorMap, Global);
map!(TensorMapMut, GlobalMut);

/// Implements the copies that combine elements.
macro_rules! reductions {
    ($($name:ident: $bound:ident::$combine:ident, $what:literal;)*) => {$(
        #[doc = concat!($what, " a tile of shared memory, each element atomically, by one thread, and does not wait: `cp.reduce.async.bulk.tensor`.")]
        #[track_caller]
        pub fn $name<S>(self, at: Tile::Coordinates, from: &S)
        where
            Tile::Element: $bound,
            S: TileEnd<Tile> + ?Sized,
        {
            let combined = |old: &mut [u8], new: &[u8]| combine::<Tile::Element>(old, new, $bound::$combine);
            let combine = Combine { element: size_of::<Tile::Element>(), combined };
            self.write(stringify!($name), at, from, Some(combine), Location::caller());
        }
    )*};
}

impl<Tile: TensorTile> TensorMapMut<'_, Tile> {
    /// Copies a tile of shared memory to the tensor by one thread, and does not wait: `cp.async.bulk.tensor`.
    #[track_caller]
    pub fn store_async<S: TileEnd<Tile> + ?Sized>(self, at: Tile::Coordinates, from: &S) {
        self.write("store_async", at, from, None, Location::caller());
    }

    reductions! {
        reduce_add_async: AddedElement::added, "Adds to the tensor's elements those of";
        reduce_min_async: ComparedElement::smaller, "Keeps in the tensor the smaller of its elements and those of";
        reduce_max_async: ComparedElement::larger, "Keeps in the tensor the larger of its elements and those of";
        reduce_and_async: BitsElement::and, "Keeps in the tensor the bits that are set in its elements and in those of";
        reduce_or_async: BitsElement::or, "Sets in the tensor's elements the bits of those of";
        reduce_xor_async: BitsElement::xor, "Flips in the tensor's elements the bits of those of";
    }

    fn write<S>(self, name: &'static str, at: Tile::Coordinates, from: &S, combine: Option<Combine>, site: Site)
    where
        S: TileEnd<Tile> + ?Sized,
    {
        let pieces = self.pieces(at, from, site, Direction::Store);
        begin::<Tile>(name, &pieces, (combine, Fill::Zeros), Completion::Batch(Batch::Bulk), site);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Load,
    Store,
}

/// Begins a copy to each receiver of a multicast: one actor writes the memory of each.
fn multicast<Tile: TensorTile>((pieces, fill): (&[CopyPiece], Fill), bar: BarrierId, ranks: &[u32], site: Site) {
    let name = "multicast_async";
    for (number, rank) in ranks.iter().enumerate() {
        sim::with(name, |context| context.check_rank(*rank, site));
        if ranks[..number].contains(rank) {
            sim::fail_at(Cause::RepeatedReceiver { rank: *rank }, site);
        }
    }
    for rank in ranks {
        let there = |to: CopyEnd| CopyEnd { memory: to.memory.of_block(*rank), ..to };
        let pieces: Vec<CopyPiece> =
            pieces.iter().map(|piece| CopyPiece { to: piece.to.map(there), ..*piece }).collect();
        let completion = Completion::Barrier { barrier: bar.of_block(*rank), expect: false };
        begin::<Tile>(name, &pieces, (None, fill), completion, site);
    }
}

fn begin<Tile: TensorTile>(
    name: &'static str,
    pieces: &[CopyPiece],
    (combine, fill): (Option<Combine>, Fill),
    completion: Completion,
    site: Site,
) {
    let counted = size_of::<Tile>();
    let (fill, type_name) = (fill.bits(), type_name::<Tile::Element>());
    let copy = TileCopy { name, pieces, fill, counted, combine, completion, site, type_name };
    sim::with(name, |context| context.begin_tile_copy(copy));
}

/// Returns the pieces of a copy between a tile and the tensor's elements from these coordinates on. Where there are none, a
/// tile gets what fills it, and a tensor nothing.
fn pieces<Tile: TensorTile>(
    tensor: &TensorShape,
    at: Tile::Coordinates,
    tile: CopyEnd,
    memory: CopyEnd,
    direction: Direction,
) -> Vec<CopyPiece> {
    let shape = Tile::SHAPE;
    let (inner, row) = (shape.rank - 1, shape.row());
    let at: Vec<i64> = at.as_ref().iter().map(|at| i64::from(*at)).collect();
    let inside = |dimension: usize, index: i64| (0..tensor.dims[dimension] as i64).contains(&index);
    // The bytes of a row that the tensor has.
    let clipped = |end: i64| (end - at[inner]).clamp(0, shape.dims[inner] as i64) as usize * shape.element;
    let (low, high) = (clipped(0), clipped(tensor.dims[inner] as i64));
    let mut found = Vec::new();
    for number in 0..shape.dims[..inner].iter().product::<usize>() {
        let start = tile.start + number * row;
        let (mut offset, mut rest, mut exists) = (at[inner] * shape.element as i64, number, low < high);
        for dimension in (0..inner).rev() {
            let index = at[dimension] + (rest % shape.dims[dimension]) as i64;
            rest /= shape.dims[dimension];
            exists &= inside(dimension, index);
            offset += index.wrapping_mul(tensor.strides[dimension] as i64);
        }
        let end = |byte: usize| CopyEnd {
            memory: tile.memory,
            start: start + if shape.swizzled { exchanged(byte, start, row) } else { byte },
        };
        let mut push = |from: usize, to: usize, is_inside: bool| {
            for (from, to) in units(from..to, shape.swizzled) {
                let elements =
                    || CopyEnd { memory: memory.memory, start: memory.start + (offset + from as i64) as usize };
                let len = to - from;
                match direction {
                    Direction::Load => {
                        found.push(CopyPiece { to: Some(end(from)), from: is_inside.then(elements), len });
                    }
                    Direction::Store if is_inside => {
                        found.push(CopyPiece { to: Some(elements()), from: Some(end(from)), len });
                    }
                    Direction::Store => {}
                }
            }
        };
        match exists {
            true => {
                push(0, low, false);
                push(low, high, true);
                push(high, row, false);
            }
            false => push(0, row, false),
        }
    }
    found
}

/// Splits bytes of a row into parts that lie next to each other in shared memory.
fn units(bytes: std::ops::Range<usize>, swizzled: bool) -> impl Iterator<Item = (usize, usize)> {
    let unit = if swizzled { UNIT } else { usize::MAX };
    let mut next = bytes.start;
    std::iter::from_fn(move || {
        let start = next;
        next = bytes.end.min((start / unit).saturating_add(1).saturating_mul(unit));
        (start < bytes.end).then_some((start, next))
    })
}

/// Combines the element of the first bytes with that of the second.
fn combine<T: TensorElement>(old: &mut [u8], new: &[u8], combined: fn(T, T) -> T) {
    combined(T::of_bytes(old), T::of_bytes(new)).write_bytes(old);
}
