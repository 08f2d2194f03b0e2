//! The kernels of the table, a file each.

use std::ops::Range;

use phalanx::{Buffer, Device, DeviceCopy};

use crate::Result;
use crate::case::{Prepared, Showcase};
use crate::memory::{self, Memory};
use crate::twin::Call;

mod attention;
mod blocks;
mod elementwise;
mod histogram;
mod layer_norm;
mod reduce;
mod rms_norm;
mod rms_norm_bulk;
mod scan;
mod softmax;
mod softmax_bulk;
mod softmax_registers;
mod spmv;
mod stencil;
mod tile_sort;
mod top_k;
mod transpose;

/// All showcases, in the order of the table.
pub const ALL: &[Showcase] = &[
    elementwise::SHOWCASE,
    softmax::SHOWCASE,
    rms_norm::SHOWCASE,
    layer_norm::SHOWCASE,
    histogram::SHOWCASE,
    reduce::SHOWCASE,
    scan::SHOWCASE,
    transpose::SHOWCASE,
    stencil::SHOWCASE,
    spmv::SHOWCASE,
    tile_sort::SHOWCASE,
    top_k::SHOWCASE,
    attention::SHOWCASE,
];

/// The contents of a kernel's output before a launch whose result is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// Bytes that are no result.
    Spoiled,
    /// Zeros, which the kernel adds to.
    Zeros,
}

pub(crate) type Enqueue<I, O> = dyn FnMut(&Device, &Buffer<I>, &mut Buffer<O>) -> phalanx::Result<()>;
/// Reads a part of the output.
type ReadPart<'a, O> = dyn Fn(Range<usize>) -> Result<Vec<O>> + 'a;
type Check<I, O> = dyn Fn(&[I], &ReadPart<'_, O>) -> Result<()>;

/// A kernel that computes one array from another.
pub(crate) struct Map<I: DeviceCopy, O: DeviceCopy> {
    host: Vec<I>,
    sets: Vec<(Memory<I>, Memory<O>)>,
    before: Before,
    ours: Box<Enqueue<I, O>>,
    /// The launch of the twin for the addresses of both arrays.
    twin: Box<dyn Fn(u64, u64) -> Call>,
    /// Compares the output, of which it can read parts, with what the input says.
    check: Box<Check<I, O>>,
}

impl<I: DeviceCopy + Default + 'static, O: DeviceCopy + Default + 'static> Map<I, O> {
    pub(crate) fn prepared(
        device: &Device,
        host: Vec<I>,
        output_len: usize,
        before: Before,
        ours: impl FnMut(&Device, &Buffer<I>, &mut Buffer<O>) -> phalanx::Result<()> + 'static,
        twin: impl Fn(u64, u64) -> Call + 'static,
        check: impl Fn(&[I], &ReadPart<'_, O>) -> Result<()> + 'static,
    ) -> Result<Box<dyn Prepared>> {
        let bytes = size_of_val(&host[..]) + output_len * size_of::<O>();
        let set = |_| Ok((Memory::upload(device, &host)?, Memory::zeros(device, output_len)?));
        let sets = (0..memory::sets(device, bytes)).map(set).collect::<Result<_>>()?;
        Ok(Box::new(Map { host, sets, before, ours: Box::new(ours), twin: Box::new(twin), check: Box::new(check) }))
    }
}

impl<I: DeviceCopy + Default, O: DeviceCopy + Default> Prepared for Map<I, O> {
    fn sets(&self) -> usize {
        self.sets.len()
    }

    fn ours(&mut self, device: &Device, set: usize) -> phalanx::Result<()> {
        let (input, output) = &mut self.sets[set];
        (self.ours)(device, &input.buffer, &mut output.buffer)
    }

    fn twin(&self, set: usize) -> Call {
        let (input, output) = &self.sets[set];
        (self.twin)(input.address(), output.address())
    }

    fn clear(&mut self) -> Result<()> {
        let output = &mut self.sets[0].1;
        match self.before {
            Before::Spoiled => output.spoil(),
            Before::Zeros => output.zero(),
        }
    }

    fn check(&self) -> Result<()> {
        let output = &self.sets[0].1;
        (self.check)(&self.host, &|part| output.read(part))
    }
}
