//! The products of a warpgroup, four warps whose tensor cores multiply tiles of shared memory while its threads go on (PTX
//! ISA, Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions). In the simulator, the sums are calculated when
//! the product begins; the reads of the tiles last until a wait, as those of a copy (`sim::copy`). The device's implementation
//! is `warpgroup.cuh`.

use std::any::{TypeId, type_name};
use std::panic::Location;

use super::Tile;
use super::members::{Call, Members};
use crate::kernel::matrix::{
    ElementOfA, InFlight, Matrix, MatrixA, MatrixElement, OperandElement, OperandTile, Summed, WarpgroupOperand,
};
use crate::kernel::memory::bits;
use crate::program::refusal::Message;
use crate::report::failure::Cause;
use crate::sim::{self, CopyEnd, LANES, MemoryId, ProductCall, Site, WarpCall};

/// The bytes of a line that one instruction multiplies.
const STEP: usize = 32;

/// The rows of the left operand, and those of one warp.
const ROWS: usize = 64;
const ROWS_OF_WARP: usize = 16;

/// An operand's tile, as the simulator reads it.
#[derive(Debug, Clone, Copy)]
struct Operand {
    tile: OperandTile,
    site: Site,
    type_name: &'static str,
}

impl Operand {
    fn of<S: WarpgroupOperand>(operand: &S, site: Site) -> Operand {
        let tile = operand.tile();
        let pattern = 8 * tile.row;
        let past = tile.end.start % pattern;
        if past != 0 {
            sim::fail_at(Cause::MisalignedOperand { past: past as u64, pattern: pattern as u64 }, site);
        }
        Operand { tile, site, type_name: type_name::<S::Scalar>() }
    }

    /// Returns the allocation and the first byte, which no other tile has.
    fn identity(self) -> [u64; 2] {
        let allocation = match self.tile.end.memory {
            MemoryId::Shared(shared) => u64::from(shared.allocation),
            // Shared memory has no address.
            MemoryId::Own(_) | MemoryId::Constant(_) | MemoryId::Global(_) => u64::MAX,
        };
        [allocation, self.tile.end.start as u64]
    }

    /// Returns the memory that has these lines.
    fn piece(self, first: usize, count: usize) -> (CopyEnd, usize) {
        let (start, len) = self.tile.bytes_of_lines(first, count);
        (CopyEnd { start: self.tile.end.start + start, ..self.tile.end }, len)
    }

    /// Returns the elements of some lines, one line after the other.
    fn elements<T: OperandElement>(self, first: usize, count: usize) -> Vec<T> {
        let (end, len) = self.piece(first, count);
        let bytes = sim::with("a product", |context| context.bytes_of(end, len, self.site, self.type_name));
        let (size, depth) = (size_of::<T>(), self.tile.depth);
        let element = |at: usize| {
            let place = self.tile.end.start + self.tile.place(first + at / depth, at % depth, size) - end.start;
            T::of_bytes(&bytes[place..place + size]).multiplied()
        };
        (0..count * depth).map(element).collect()
    }
}

/// Checks that the operands fit the sums and each other; the left one has this many rows and this depth.
fn check_shape<S: OperandElement>((rows, depth): (usize, usize), right: Operand, columns: usize, site: Site) {
    let (expected, rows) = ([ROWS as u64, columns as u64], [rows as u64, right.tile.lines as u64]);
    if rows != expected {
        sim::fail_at(Cause::ProductRows { rows, expected }, site);
    }
    let step = STEP / size_of::<S>();
    if depth != right.tile.depth || !depth.is_multiple_of(step) {
        sim::fail_at(Cause::ProductDepth { depths: [depth as u64, right.tile.depth as u64], step: step as u64 }, site);
    }
}

impl Tile<128> {
    /// Begins to add the product of two tiles to `sum`, by the tensor cores, and does not wait: `wgmma.mma_async`. Element
    /// `[i, j]` of the sum gets the products of row `i` of `a` with row `j` of `b`: the columns of the right operand are the rows
    /// of its tile. All threads of the warpgroup begin it together, with the same tiles.
    ///
    /// `sum` is an [`Accumulator`](crate::Accumulator) of 64 rows and `N` columns, or a product in flight, to which this one
    /// is added without a wait. `a` has 64 rows and `b` has `N`, both of [`Swizzled`](crate::Swizzled) elements, in as many
    /// columns. Until [`wait_mma`](Tile::wait_mma), the tiles must be left alone (rule `mma_in_flight`).
    ///
    /// A tile of 16-bit elements may also be taken by its transpose, [`b.transposed()`](crate::Transposed): its rows then go in the
    /// direction of the sum, as those of a row-major right operand do.
    ///
    /// `a` may also be a [`MatrixA`] of 64 rows, `warpgroup.mma_async(sum, a, &b)`, as attention makes it of sums
    /// by [`MatrixA::from_accumulator`](crate::MatrixA::from_accumulator). Its elements of [`tf32`](crate::tf32) are rounded to nearest.
    ///
    /// The order in which products of floats are added, and how sums are rounded on the way, are not specified; the simulator
    /// adds them one after the other in `f32`, as it does for [`mma`](Tile::mma). Integers are exact, and wrap around.
    ///
    /// Only architecture `sm_90a`, of compute capability 9.0, has these instructions.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// type Rows = [Swizzled<bf16, 64>; 64];
    ///
    /// /// Multiplies 64 rows by the transpose of 64 rows.
    /// #[cluster_kernel(block = 128)]
    /// fn multiply(a: &TensorMap<Rows>, b: &TensorMap<Rows>, c: &mut [f32]) {
    ///     let block = this_thread_block();
    ///     let warpgroup = tiled_partition::<128>(&block);
    ///     let tiles = shared_array::<Rows, 2>();
    ///     let full = shared_barrier();
    ///     full.init_collective(&block, 1);
    ///     if block.thread_rank() == 0 {
    ///         a.load_async([0, 0], &tiles[0], &full);
    ///         b.load_async([0, 0], &tiles[1], &full);
    ///         let _ = full.arrive();
    ///     }
    ///     full.wait_parity(false);
    ///     let zeros = Accumulator::<f32, 64, 64>::splat(0.0);
    ///     let product = warpgroup.mma_async(zeros, &tiles[0], &tiles[1]);
    ///     let sum = warpgroup.wait_mma(product);
    ///     let rank = warpgroup.thread_rank();
    ///     for i in 0..32 {
    ///         c[sum.row(rank, i) * 64 + sum.column(rank, i)] = sum[i];
    ///     }
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator();
    /// let number = |i: usize| bf16::from_f32((i % 7) as f32);
    /// let a = device.upload(&Vec::from_iter((0..64 * 64).map(number)))?;
    /// let mut c = device.zeros(64 * 64)?;
    /// multiply(&a.tensor([64, 64])?, &a.tensor([64, 64])?, &mut c).grid(1).launch(&device)?;
    /// let sum = |i: usize, j: usize| (0..64).map(|k| (i * 64 + k) % 7 * ((j * 64 + k) % 7)).sum::<usize>();
    /// assert_eq!(c.read()?, Vec::from_iter((0..64 * 64).map(|i| sum(i / 64, i % 64) as f32)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Failures
    /// The launch fails if a tile has other rows than these, if a transposed one has another number of rows than the other operand has
    /// elements in the direction of the sum, or if a tile does not start where the pattern of its rows does, at a multiple of 8 rows.
    #[track_caller]
    pub fn mma_async<S, A, B>(&self, sum: S, a: &A, b: &B) -> InFlight<S::Sum, A::Factor, B::Factor>
    where
        A: WarpgroupOperand,
        B: WarpgroupOperand,
        S: Summed<A::Factor, B::Factor>,
    {
        const {
            if let (Some(left), Some(right)) = (A::DEPTH, B::DEPTH)
                && left * size_of::<A::Scalar>() != right * size_of::<B::Scalar>()
            {
                let message = Message::new()
                    .text("the rows of both operands of a product have as many elements, but these have ");
                message.number(left).text(" and ").number(right).panic();
            }
        }
        let site = Location::caller();
        let (left, right) = (Operand::of(a, site), Operand::of(b, site));
        let shape = (left.tile.lines, left.tile.depth);
        check_shape::<B::Scalar>(shape, right, <S::Sum as Matrix>::COLUMNS, site);
        let lane = self.thread_rank() as usize;
        let first = lane / LANES as usize * ROWS_OF_WARP;
        let tiles = [left.identity(), right.identity()];
        let pieces = [left.piece(first, ROWS_OF_WARP), right.piece(0, right.tile.lines)];
        sim::with("mma_async", |context| {
            context.check_warpgroup("the tiles of `mma_async()`", bits(&tiles), site);
            let call = WarpCall { name: "mma_async", lanes: u32::MAX, value: TypeId::of::<()>(), barrier: false, site };
            drop(context.exchange(call, &[]));
            // A warp reads its tiles once.
            if lane.is_multiple_of(LANES as usize) {
                context.begin_product(ProductCall {
                    name: "mma_async",
                    pieces: &pieces,
                    site,
                    type_name: left.type_name,
                });
            }
        });
        let mut sum = sum.into_sum();
        let depth = left.tile.depth;
        let left = left.elements::<A::Scalar>(first, ROWS_OF_WARP);
        let right = right.elements::<B::Scalar>(0, right.tile.lines);
        for (index, element) in sum.registers_mut().iter_mut().enumerate() {
            let (row, column) = <S::Sum as Matrix>::LAYOUT.position(lane, index);
            let row = &left[row % ROWS_OF_WARP * depth..][..depth];
            *element = S::added(*element, row, &right[column * depth..][..depth]);
        }
        InFlight::new(sum, next_product())
    }

    /// Executes `warpgroup.mma_async(sum, a, &b)`, whose left operand is in registers.
    #[doc(hidden)]
    #[track_caller]
    pub fn mma_async_of_registers<T, S, B, const K: usize>(
        &self,
        sum: S,
        a: MatrixA<T, 64, K>,
        b: &B,
    ) -> InFlight<S::Sum, T, B::Factor>
    where
        T: ElementOfA<64, K>,
        B: WarpgroupOperand,
        S: Summed<T, B::Factor>,
    {
        const {
            if let Some(depth) = B::DEPTH
                && K != depth
            {
                let message = Message::new().text("the left operand of a product has as many columns as the rows of the right one have elements, but these have ");
                message.number(K).text(" and ").number(depth).panic();
            }
        }
        let site = Location::caller();
        let right = Operand::of(b, site);
        check_shape::<B::Scalar>((ROWS, K), right, <S::Sum as Matrix>::COLUMNS, site);
        let lane = self.thread_rank() as usize;
        sim::with("mma_async", |context| {
            context.check_warpgroup("the tile of `mma_async()`", bits(&right.identity()), site);
        });
        let of_lane = Members { lanes: u32::MAX }.exchanged(Call { name: "mma_async", site }, a);
        sim::with("mma_async", |context| {
            if lane.is_multiple_of(LANES as usize) {
                let (name, pieces, type_name) = ("mma_async", &[right.piece(0, right.tile.lines)], right.type_name);
                context.begin_product(ProductCall { name, pieces, site, type_name });
            }
        });
        // The lane's two rows are in the registers of its group of four.
        let mut rows = [[<T as MatrixElement>::Value::default(); K]; 2];
        let group = lane % LANES as usize / 4 * 4;
        for other in group..group + 4 {
            for (index, value) in of_lane(other).registers().iter().enumerate() {
                let (row, column) = MatrixA::<T, 64, K>::LAYOUT.position(other, index);
                rows[row / 8][column] = *value;
            }
        }
        let mut sum = sum.into_sum();
        let right = right.elements::<B::Scalar>(0, right.tile.lines);
        for (index, element) in sum.registers_mut().iter_mut().enumerate() {
            let (row, column) = <S::Sum as Matrix>::LAYOUT.position(lane, index);
            *element = S::added(*element, &rows[row % ROWS_OF_WARP / 8], &right[column * K..][..K]);
        }
        InFlight::new(sum, next_product())
    }

    /// Gives each thread of the warpgroup `N` registers in all, more than before: `setmaxnreg.inc`. The warpgroup waits until so many are
    /// free, because others of its block have [given them back](Tile::decrease_registers). All of its threads come to it together.
    ///
    /// `N` is a multiple of 8 from 24 to 256. At the start, a thread has as many registers as the attribute's `block` leaves it: 168 where
    /// `block = 384`, which is what the block's warpgroups share. One that loads needs few, so that two that multiply get more:
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 384)]
    /// fn specialised(out: &mut [f32]) {
    ///     let warpgroup = tiled_partition::<128>(&this_thread_block());
    ///     if warpgroup.meta_group_rank() == 2 {
    ///         warpgroup.decrease_registers::<40>();
    ///         // loads
    ///     } else {
    ///         warpgroup.increase_registers::<232>(); // 40 + 2 * 232 is 3 * 168
    ///         out[this_grid().thread_rank()] = 1.0; // multiplies
    ///     }
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let mut out = Device::simulator().zeros(384)?;
    /// specialised(&mut out).grid(1).launch(&Device::simulator())?;
    /// # assert_eq!((out.read()?[255], out.read()?[256]), (1.0, 0.0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A warpgroup changes its registers at most once, in the kernel itself. That the registers suffice for all is checked at compile time, unless
    /// data decide which warpgroup changes what; where they do not, the launch waits forever, until its
    /// [deadline](crate::Launch::deadline). The simulator counts no registers.
    #[track_caller]
    pub fn increase_registers<const N: usize>(&self) {
        self.change_registers(Location::caller(), "increase_registers");
    }

    /// Leaves each thread of the warpgroup `N` registers in all, fewer than before: `setmaxnreg.dec`. The others are free for
    /// [`increase_registers`](Tile::increase_registers) of another warpgroup of the block. All of its threads come to it together.
    #[track_caller]
    pub fn decrease_registers<const N: usize>(&self) {
        self.change_registers(Location::caller(), "decrease_registers");
    }

    fn change_registers(&self, site: Site, name: &'static str) {
        sim::with(name, |context| {
            context.check_warpgroup("the change of registers", &[], site);
            let call = WarpCall { name, lanes: u32::MAX, value: TypeId::of::<()>(), barrier: false, site };
            drop(context.exchange(call, &[]));
        });
    }

    /// Waits until all products that the warpgroup has begun are complete, and returns the sums of this one:
    /// `wgmma.wait_group`. All threads of the warpgroup wait together.
    #[track_caller]
    pub fn wait_mma<C: Matrix, T: MatrixElement, U: MatrixElement>(&self, product: InFlight<C, T, U>) -> C {
        wait(0, Location::caller());
        product.sum()
    }

    /// Waits until all products that the warpgroup has begun but the last one are complete, and returns the sums of this one, after which
    /// another has begun (rule `mma_in_flight`): the threads work on sums while the tensor cores multiply. All threads of the warpgroup wait
    /// together.
    #[track_caller]
    pub fn wait_mma_except_last<C: Matrix, T: MatrixElement, U: MatrixElement>(&self, product: InFlight<C, T, U>) -> C {
        let site = Location::caller();
        sim::with("wait_mma_except_last", |context| {
            if product.number() == context.thread.products.get() {
                let sentence = "`wait_mma_except_last()` must return the sums of a product after which another has begun, but this one is the last";
                context.fail(Cause::Protocol(sentence.into()), site);
            }
        });
        wait(1, site);
        product.sum()
    }

    /// Waits until all products that the warpgroup has begun but the last `N` are complete: their tiles may be filled again.
    /// All threads of the warpgroup wait together.
    #[track_caller]
    pub fn wait_mma_prior<const N: usize>(&self) {
        wait(N, Location::caller());
    }
}

/// Returns the number of the product that the thread begins.
fn next_product() -> u64 {
    sim::with("mma_async", |context| {
        let products = &context.thread.products;
        products.set(products.get() + 1);
        products.get()
    })
}

/// Waits for the products of the warp. Its threads wait together, so that each knows what the warp has waited for.
fn wait(prior: usize, site: Site) {
    sim::with("wait_mma", |context| {
        context.wait_for_products(prior, site);
        let call = WarpCall { name: "wait_mma", lanes: u32::MAX, value: TypeId::of::<()>(), barrier: true, site };
        drop(context.exchange(call, &[]));
    });
}
