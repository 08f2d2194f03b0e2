//! The corpus in launches of random grids, on data of random sizes: the device and the simulator must agree. Blocks and
//! clusters have the sizes that the kernels fix; `shapes` has kernels of which both are open. The other files check what the
//! results should be.
//!
//! Not here: kernels that are launched with one shape only (a cluster, or as many blocks as the algorithm has parts); those
//! that leave the order of their results open; and those whose functions are not rounded exactly, of which `shapes` has one.

use phalanx::prelude::*;

use super::shapes::agree;
use super::{below, random, reals};
use super::{
    bits, compaction, convolution, elementwise, gemm, histogram, image, matvec, memory, random_numbers, reduce, scan,
    search, sort, sparse, stencil, tables, text, topk, transpose, warps,
};
use crate::{Bits, Check, Module, read};

/// The sizes of a launch.
#[derive(Debug, Clone, Copy)]
struct Size {
    /// The length of lists.
    len: usize,
    /// The width of fields, and of rows.
    width: u32,
    height: u32,
    /// The number of blocks, or clusters, of a kernel that takes any number.
    blocks: u32,
    /// The number of blocks that have nothing to do.
    idle: u32,
}

impl Size {
    fn random(seed: u64) -> Size {
        let numbers = random(seed ^ 0x6121d, 5);
        Size {
            len: 1 + numbers[0] as usize % [40, 3000][seed as usize % 2],
            width: 1 + numbers[1] % 90,
            height: 1 + numbers[2] % 50,
            blocks: 1 + numbers[3] % 7,
            idle: numbers[4] % 3,
        }
    }

    /// Returns the number of elements of a field.
    fn area(self) -> usize {
        (self.width * self.height) as usize
    }

    /// Returns the number of blocks for the list, with so many elements each.
    fn over(self, block: usize) -> u32 {
        self.len.div_ceil(block) as u32 + self.idle
    }

    /// Returns the number of blocks for the field, each for a part of it.
    fn over_field(self, (width, height): (u32, u32)) -> (u32, u32) {
        (self.width.div_ceil(width) + self.idle, self.height.div_ceil(height) + self.idle)
    }
}

/// Random data on a device.
struct Data<'d>(&'d Device);

impl Data<'_> {
    fn of<T: DeviceCopy>(&self, values: impl Iterator<Item = T>) -> phalanx::Result<Buffer<T>> {
        self.0.upload(&values.collect::<Vec<T>>())
    }

    fn words(&self, seed: u64, len: usize) -> phalanx::Result<Buffer<u32>> {
        self.0.upload(&random(seed, len))
    }

    fn bytes(&self, seed: u64, len: usize) -> phalanx::Result<Buffer<u8>> {
        self.of(random(seed, len).into_iter().map(|value| value as u8))
    }

    fn reals(&self, seed: u64, len: usize) -> phalanx::Result<Buffer<f32>> {
        self.0.upload(&reals(seed, len))
    }

    fn small(&self, limit: u32, seed: u64, len: usize) -> phalanx::Result<Buffer<u32>> {
        self.0.upload(&below(limit, seed, len))
    }

    /// Returns sorted data.
    fn sorted(&self, seed: u64, len: usize) -> phalanx::Result<Buffer<i32>> {
        let mut values: Vec<i32> = below(500, seed, len).into_iter().map(|value| value as i32 - 200).collect();
        values.sort_unstable();
        self.0.upload(&values)
    }
}

/// Makes a check of each kernel: `kernel: |device, data, size| results`.
macro_rules! launches {
    ($($name:ident: |$device:ident, $data:ident, $size:ident| $got:expr;)*) => {
        vec![$(Check {
            name: stringify!($name),
            run: |device| {
                let run = |$device: &Device, $size: Size| {
                    let $data = Data($device);
                    Ok($got)
                };
                agree(device, Size::random, run, Bits::same)
            },
        }),*]
    };
}

/// Returns the checks of kernels with a value per thread, for any grid or as far as it goes.
fn of_lists() -> Vec<Check> {
    launches! {
        leaky_relu: |device, data, size| {
            let x = data.reals(1, size.len)?;
            read!(device, size.len, |y| elementwise::leaky_relu(&x, y, 0.125).grid(size.blocks))
        };
        hard_swish: |device, data, size| {
            let x = data.reals(2, size.len)?;
            read!(device, size.len, |y| elementwise::hard_swish(&x, y).grid(size.blocks))
        };
        adam: |device, data, size| {
            let (mut weights, gradients) = (data.reals(3, size.len)?, data.reals(4, size.len)?);
            let (mut first, mut second) = (device.zeros(size.len)?, device.zeros(size.len)?);
            let steps = device.upload(&[0.1, 0.001])?;
            elementwise::adam(&mut weights, &mut first, &mut second, &gradients, 0.01, &steps)
                .grid(size.blocks)
                .launch(device)?;
            weights.read()?
        };
        luma: |device, data, size| {
            let pixels = data.words(5, size.len)?;
            read!(device, size.len, |out| elementwise::luma(&pixels, out).grid(size.over(256)))
        };
        choose: |device, data, size| {
            let classes = data.of(below(12, 6, size.len).into_iter().map(|class| class as u8))?;
            let wide = |seed| data.of(random(seed, size.len).into_iter().map(i64::from));
            let (a, b) = (wide(7)?, wide(8)?);
            read!(device, size.len, |out| elementwise::choose(&classes, &a, &b, out).grid(size.over(64)))
        };
        morton: |device, data, size| {
            let (x, y, z) = (data.reals(9, size.len)?, data.reals(10, size.len)?, data.reals(11, size.len)?);
            read!(device, size.len, |codes| bits::morton(&x, &y, &z, codes).grid(size.over(128)))
        };
        unpack: |device, data, size| {
            let words = data.words(12, (size.len * 13).div_ceil(32))?;
            read!(device, size.len, |out| bits::unpack(&words, out, 13, 7).grid(size.over(128)))
        };
        transpose_bits: |device, data, size| {
            let words = data.words(13, 32 * size.len)?;
            read!(device, 32 * size.len, |out| bits::transpose_bits(&words, out).grid(size.over(64)))
        };
        saxpy: |device, data, size| {
            let (x, mut y) = (data.reals(14, size.len)?, data.reals(15, size.len)?);
            memory::saxpy(0.75, &x, &mut y).grid(size.blocks).launch(device)?;
            y.read()?
        };
        generate: |device, _data, size| {
            read!(device, size.len, |out| random_numbers::generate(out, 7, 8, 1 << 40).grid(size.over(256)))
        };
        dropout: |device, data, size| {
            let x = data.reals(16, size.len)?;
            read!(device, size.len, |y| random_numbers::dropout(&x, y, 1 << 40, 1 << 30, 1.5).grid(size.over(256)))
        };
        circle: |device, _data, size| {
            read!(device, 1, |inside| random_numbers::circle(inside, size.len as u32, 9).grid(size.blocks))
        };
        lower_bound: |device, data, size| {
            let (sorted, needles) = (data.sorted(17, size.area())?, data.sorted(18, size.len)?);
            read!(device, size.len, |out| search::lower_bound(&sorted, &needles, out).grid(size.over(128)))
        };
        merge: |device, data, size| {
            let (a, b) = (data.sorted(19, size.len)?, data.sorted(20, size.height as usize)?);
            let all = Size { len: size.len + size.height as usize, ..size };
            read!(device, all.len, |out| search::merge(&a, &b, out).grid(all.over(64 * 7)))
        };
        checksums: |device, data, size| {
            let bytes = data.bytes(21, size.len * 24)?;
            read!(device, size.len, |out| tables::checksums(&bytes, out, 24).grid(size.over(64)))
        };
    }
}

/// Returns the checks of kernels that add up, count, scan and sort.
fn of_sums() -> Vec<Check> {
    launches! {
        squared_error: |device, data, size| {
            let (a, b) = (data.reals(31, size.len)?, data.reals(32, size.len)?);
            read!(device, size.blocks as usize, |out| reduce::squared_error(&a, &b, out).grid(size.blocks))
        };
        extremes: |device, data, size| {
            let values = data.reals(33, size.len + 512 * size.blocks as usize)?;
            read!(device, 3 * size.blocks as usize, |out| reduce::extremes(&values, out).grid(4 * size.blocks))
        };
        column_sums: |device, data, size| {
            let columns = size.len % 150 + 1;
            let matrix = data.of(reals(34, columns * size.height as usize).into_iter().map(f64::from))?;
            let grid = Size { len: columns, ..size }.over(64);
            read!(device, columns, |out| reduce::column_sums(&matrix, out, columns as u32).grid(grid))
        };
        sum_by_the_last: |device, data, size| {
            let (values, mut total, mut ticket) = (data.words(35, size.len)?, device.zeros(1)?, device.zeros(1)?);
            read!(device, 1, |out| reduce::sum_by_the_last(&values, &mut total, &mut ticket, out).grid(size.blocks))
        };
        byte_counts: |device, data, size| {
            let words = data.words(36, size.len)?;
            read!(device, 256, |counts| histogram::bytes(&words, counts).grid(size.blocks))
        };
        joint_counts: |device, data, size| {
            let (a, b) = (data.bytes(37, size.len)?, data.bytes(38, size.len)?);
            read!(device, 1 << 14, |counts| histogram::joint(&a, &b, counts).grid(4 * size.blocks))
        };
        text_counts: |device, data, size| {
            let text = data.bytes(39, size.len)?;
            read!(device, 3, |counts| text::count(&text, counts).grid(size.blocks))
        };
        triplets: |device, data, size| {
            let small = |limit, seed| data.of(below(limit, seed, size.len).into_iter().map(|value| value as u16));
            let signed = |seed, len| data.of(random(seed, len).into_iter().map(|value| value as i32));
            let (rows, columns) = (small(size.height, 40)?, small(size.width, 41)?);
            let (values, x) = (signed(42, size.len)?, signed(43, size.width as usize)?);
            read!(device, size.height as usize, |y| {
                sparse::triplets(&rows, &columns, &values, &x, y).grid(size.blocks)
            })
        };
        blelloch: |device, data, size| {
            let values = data.of(below(1000, 44, size.len).into_iter().map(|value| value as i32))?;
            read!(device, size.len, |out| scan::blelloch(&values, out).grid(size.over(256)))
        };
        cluster_scan: |device, data, size| {
            let values = data.of(random(45, size.len).into_iter().map(u64::from))?;
            read!(device, size.len, |out| scan::cluster_scan(&values, out).grid(4 * size.over(512)))
        };
        decoupled_scan: |device, data, size| {
            let tiles = size.len.div_ceil(128);
            let (values, mut states, mut next) = (data.small(1 << 30, 46, size.len)?, device.zeros(tiles)?, device.zeros(1)?);
            read!(device, size.len, |out| scan::decoupled_scan(&values, out, &mut states, &mut next).grid(tiles as u32))
        };
        segmented_scan: |device, data, size| {
            let heads = data.of(below(9, 47, size.len).into_iter().map(|value| value == 0))?;
            let values = data.reals(48, size.len)?;
            read!(device, size.len, |out| scan::segmented_scan(&values, &heads, out).grid(size.over(128)))
        };
        scan_by_warps: |device, data, size| {
            let values = data.small(1 << 20, 49, size.len)?;
            read!(device, size.len, |out| warps::scan(&values, out).grid(4 * size.over(512)))
        };
        filter: |device, data, size| {
            let values = data.of(random(50, size.len).into_iter().map(|value| value as i32))?;
            let mut count = device.zeros(1)?;
            let mut kept = read!(device, size.len, |out| warps::filter(&values, out, &mut count).grid(size.blocks));
            // The order of the results is open.
            kept.sort_unstable();
            kept
        };
        digits: |device, data, size| {
            let (keys, mut ranks) = (data.small(1 << 16, 51, size.len)?, device.zeros(size.len)?);
            read!(device, 256, |counts| warps::digits(&keys, counts, &mut ranks, 4).grid(size.over(128)));
            ranks.read()?
        };
        deltas: |device, data, size| {
            let values = data.of(below(5000, 52, size.len).into_iter().map(|value| value as i32))?;
            let mut widths = device.zeros(size.len.div_ceil(128))?;
            let grid = size.len.div_ceil(128) as u32;
            read!(device, size.len, |out| compaction::deltas(&values, out, &mut widths).grid(grid))
        };
        bitonic: |device, data, size| {
            let (mut keys, mut values) = (data.words(53, size.len)?, data.words(54, size.len)?);
            sort::bitonic(&mut keys, &mut values).grid(size.len.div_ceil(256) as u32).launch(device)?;
            values.read()?
        };
        cluster_bitonic: |device, data, size| {
            let keys = data.of(random(55, size.len).into_iter().map(|key| key as i32))?;
            read!(device, size.len, |out| sort::cluster_bitonic(&keys, out, i32::MAX).grid(4 * size.over(512)))
        };
        radix_sort: |device, data, size| {
            let (keys, grid) = (data.small(1 << 12, 56, size.len)?, size.len.div_ceil(128) as u32);
            let (mut counts, mut out) = (device.zeros(16 * grid as usize)?, device.zeros(size.len)?);
            sort::radix_count(&keys, &mut counts, 4).grid(grid).launch(device)?;
            sort::radix_offsets(&mut counts).grid(1).launch(device)?;
            sort::radix_scatter(&keys, &counts, &mut out, 4).grid(grid).launch(device)?;
            out.read()?
        };
    }
}

/// Returns the checks of kernels on pixels and cells, in two dimensions.
fn of_fields() -> Vec<Check> {
    launches! {
        bias_relu: |device, data, size| {
            let (x, bias) = (data.reals(61, size.area())?, data.reals(62, size.width as usize)?);
            read!(device, size.area(), |y| {
                elementwise::bias_relu(&x, &bias, y, size.width, size.height, 1.5).grid(size.over_field((32, 8)))
            })
        };
        rows_of_a_filter: |device, data, size| {
            let (image, weights) = (data.reals(63, size.area())?, data.reals(64, 9)?);
            read!(device, size.area(), |out| {
                convolution::rows::<4>(&image, out, &weights, size.width, size.height).grid(size.over_field((64, 4)))
            })
        };
        columns_of_a_filter: |device, data, size| {
            let (image, weights) = (data.reals(65, size.area())?, data.reals(66, 9)?);
            read!(device, size.area(), |out| {
                convolution::columns::<4>(&image, out, &weights, size.width, size.height).grid(size.over_field((16, 16)))
            })
        };
        causal: |device, data, size| {
            let (sequence, weights) = (data.reals(67, size.len)?, data.reals(68, 4)?);
            // Each cluster has a part of it.
            let grid = 4 * size.len.div_ceil(256) as u32;
            read!(device, size.len, |out| convolution::causal(&sequence, &weights, out).grid(grid))
        };
        sobel: |device, data, size| {
            let image = data.bytes(69, size.area())?;
            let grid = size.over_field((32, 4));
            read!(device, size.area(), |out| image::sobel(&image, out, size.width, size.height).grid(grid))
        };
        denoise: |device, data, size| {
            let image = data.words(70, size.area())?;
            let grid = size.area().div_ceil(128) as u32 + size.idle;
            read!(device, size.area(), |out| image::denoise(&image, out, size.width, size.height).grid(grid))
        };
        resize: |device, data, size| {
            let image = data.words(71, 12 * 7)?;
            let grid = size.over_field((16, 8));
            read!(device, size.area(), |out| image::resize(&image, out, 12, 7, size.width, size.height).grid(grid))
        };
        mandelbrot: |device, _data, size| {
            let grid = size.over_field((16, 16));
            read!(device, size.area(), |out| {
                image::mandelbrot(out, size.width, size.height, -2.0, -1.2, 0.04, 100).grid(grid)
            })
        };
        integral_rows: |device, data, size| {
            let size = Size { height: size.blocks, ..size };
            let image = data.bytes(72, size.area())?;
            read!(device, size.area(), |out| image::integral_rows(&image, out, size.width).grid(2 * size.height))
        };
        heat: |device, data, size| {
            let field = data.reals(73, size.area())?;
            let grid = size.over_field((32, 8));
            read!(device, size.area(), |out| stencil::heat(&field, out, size.width, size.height, 0.2).grid(grid))
        };
        life: |device, data, size| {
            let field = data.words(74, size.area())?;
            let grid = size.area().div_ceil(64) as u32 + size.idle;
            read!(device, size.area(), |out| stencil::life(&field, out, size.width, size.height).grid(grid))
        };
        blur: |device, data, size| {
            let image = data.bytes(75, size.area())?;
            let grid = size.over_field((32, 4));
            read!(device, size.area(), |out| tables::blur(&image, out, size.width, size.height).grid(grid))
        };
        transposed: |device, data, size| {
            let matrix = data.reals(76, size.area())?;
            let grid = size.over_field((32, 32));
            read!(device, size.area(), |out| transpose::transpose(&matrix, out, size.width, size.height).grid(grid))
        };
        channels_last: |device, data, size| {
            let images = data.reals(77, size.blocks as usize * size.area())?;
            let (columns, rows) = size.over_field((32, 32));
            read!(device, size.blocks as usize * size.area(), |out| {
                transpose::channels_last(&images, out, size.height, size.width).grid((columns, rows, size.blocks))
            })
        };
    }
}

/// Returns the checks of kernels on matrices, and on rows one by one.
fn of_rows() -> Vec<Check> {
    launches! {
        product_of_tiles: |device, data, size| {
            let depth = size.blocks * 11;
            let (a, b) = (data.words(81, (size.height * depth) as usize)?, data.words(82, (depth * size.width) as usize)?);
            let grid = size.over_field((16, 16));
            read!(device, size.area(), |c| gemm::tiled(&a, &b, c, size.height, size.width, depth).grid(grid))
        };
        layer: |device, data, size| {
            let depth = size.blocks * 11;
            let (a, b) = (data.reals(83, (size.height * depth) as usize)?, data.reals(84, (depth * size.width) as usize)?);
            let (bias, grid) = (data.reals(85, size.width as usize)?, size.over_field((64, 64)));
            read!(device, size.area(), |c| gemm::layer(&a, &b, &bias, c, size.height, size.width, depth).grid(grid))
        };
        cluster_product: |device, data, size| {
            let depth = size.blocks * 11;
            let signed = |seed, len: u32| data.of(below(2000, seed, len as usize).into_iter().map(|x| x as i32 - 1000));
            let (a, b) = (signed(86, size.height * depth)?, signed(87, depth * size.width)?);
            let (columns, rows) = size.over_field((32, 32));
            let grid = (2 * columns, 2 * rows);
            read!(device, size.area(), |c| gemm::cluster_product(&a, &b, c, size.height, size.width, depth).grid(grid))
        };
        gemv: |device, data, size| {
            let (matrix, x) = (data.reals(88, size.area())?, data.reals(89, size.width as usize)?);
            read!(device, size.height as usize, |y| matvec::gemv(&matrix, &x, y).grid(size.height))
        };
        cluster_gemv: |device, data, size| {
            let (matrix, x) = (data.reals(90, size.area())?, data.reals(91, size.width as usize)?);
            read!(device, size.height as usize, |y| {
                matvec::cluster_gemv(&matrix, &x, y, size.height).grid(4 * size.blocks)
            })
        };
        quantise: |device, data, size| {
            let (values, mut scales) = (data.reals(92, size.area())?, device.zeros(size.height as usize)?);
            read!(device, size.area(), |out| matvec::quantise(&values, out, &mut scales, size.width).grid(size.height))
        };
        quantised_gemv: |device, data, size| {
            let (matrix, scales) = (data.words(93, size.area())?, data.reals(94, size.height as usize)?);
            let (x, grid) = (data.words(95, size.width as usize)?, size.height.div_ceil(4) + size.idle);
            read!(device, size.height as usize, |y| {
                matvec::quantised_gemv(&matrix, &scales, &x, 0.01, y).grid(grid)
            })
        };
        row_sums: |device, data, size| {
            let (matrix, grid) = (data.reals(96, size.area())?, size.height.div_ceil(4) + size.idle);
            read!(device, size.height as usize, |out| warps::row_sums(&matrix, out, size.width).grid(grid))
        };
        smallest: |device, data, size| {
            let k = 1 + size.idle.min(size.width - 1);
            let (matrix, grid) = (data.reals(97, size.area())?, size.height.div_ceil(2) + size.idle);
            read!(device, (size.height * k) as usize, |out| warps::smallest(&matrix, out, size.width, k).grid(grid))
        };
        top_k: |device, data, size| {
            let k = 1 + size.blocks.min(size.width - 1);
            let matrix = data.words(98, size.area())?;
            let mut top = read!(device, (size.height * k) as usize, |out| {
                topk::top_k(&matrix, out, size.width, k).grid(size.height)
            });
            // The order within a row is open.
            top.chunks_mut(k as usize).for_each(|row| row.sort_unstable());
            top
        };
        argmax: |device, data, size| {
            let size = Size { height: size.blocks, ..size };
            let matrix = data.reals(99, size.area())?;
            read!(device, size.height as usize, |out| topk::argmax(&matrix, out, size.width).grid(4 * size.height))
        };
    }
}

pub(super) fn module() -> Module {
    // The kernels are in the tables of their own files.
    Module {
        name: "corpus::grids",
        checks: [of_lists(), of_sums(), of_fields(), of_rows()].concat(),
        kernels: Vec::new(),
    }
}
