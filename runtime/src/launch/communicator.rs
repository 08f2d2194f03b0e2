//! Collectives of several devices, on buffers and streams of theirs: NCCL's for GPUs, and for simulators the same results. How the processes of
//! a communicator meet is in `meeting`.

use std::env;
use std::fmt;

use super::buffer::{Buffer, Memory};
use super::device::{Device, Target};
use super::meeting;
use super::stream::{Stream, StreamQueue};
use crate::gpu::{GpuCommunicator, Part};
use crate::program::types::DeviceCopy;
use crate::report::error::Result;
use crate::report::nccl::{Collective, CollectiveError, ElementKind, Reduction};

/// Devices that compute collectives together, each a rank: all GPUs of one process, or one GPU in each of several processes. NCCL does the
/// work on GPUs (`libnccl.so.2` is loaded when the first communicator is made); simulators have the same results.
///
/// A collective is work of its streams: it comes after earlier work on its buffers, and later work on them comes after it. The host does
/// not wait.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::{Communicator, Reduction};
///
/// #[cluster_kernel(block = 32)]
/// fn fill(out: &mut [f32], value: f32) {
///     out[this_grid().thread_rank()] = value;
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let devices = [Device::simulator(), Device::simulator()]; // or `Device::gpus()?`
/// let communicator = Communicator::new(&devices)?;
/// let streams = [devices[0].stream()?, devices[1].stream()?];
/// let (mut a, mut b) = (devices[0].zeros(64)?, devices[1].zeros(64)?);
/// fill(&mut a, 1.0).grid(2).on(&streams[0]).enqueue()?;
/// fill(&mut b, 2.0).grid(2).on(&streams[1]).enqueue()?;
/// communicator.all_reduce(&mut [&mut a, &mut b], Reduction::Sum, &[&streams[0], &streams[1]])?;
/// assert_eq!((a.read()?, b.read()?), (vec![3.0; 64], vec![3.0; 64]));
/// # Ok(())
/// # }
/// ```
pub struct Communicator {
    /// `None` for simulators. It comes first, because NCCL's part ends before the contexts of the devices may.
    gpus: Option<GpuCommunicator>,
    devices: Vec<Device>,
    /// The rank of the first device.
    first: usize,
    size: usize,
}

/// The type of a collective's elements. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "there are no collectives of `{Self}`",
    note = "the elements are i8, u8, i32, u32, i64, u64, f16, bf16, f32 or f64"
)]
pub trait CollectiveElement: DeviceCopy + sealed::Sealed {
    /// The type as NCCL names it.
    #[doc(hidden)]
    const KIND: ElementKind;
    /// Combines two elements.
    #[doc(hidden)]
    fn combined(self, other: Self, reduction: Reduction) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($t:ty: $kind:ident, $sum:expr, $product:expr, $less:expr;)*) => {$(
        impl sealed::Sealed for $t {}
        impl CollectiveElement for $t {
            const KIND: ElementKind = ElementKind::$kind;
            fn combined(self, other: Self, reduction: Reduction) -> Self {
                let is_less: fn(&$t, &$t) -> bool = $less;
                match reduction {
                    Reduction::Sum => $sum(self, other),
                    Reduction::Product => $product(self, other),
                    Reduction::Max => if is_less(&self, &other) { other } else { self },
                    Reduction::Min => if is_less(&other, &self) { other } else { self },
                }
            }
        }
    )*};
}

elements! {
    i8: I8, i8::wrapping_add, i8::wrapping_mul, |a, b| a < b;
    u8: U8, u8::wrapping_add, u8::wrapping_mul, |a, b| a < b;
    i32: I32, i32::wrapping_add, i32::wrapping_mul, |a, b| a < b;
    u32: U32, u32::wrapping_add, u32::wrapping_mul, |a, b| a < b;
    i64: I64, i64::wrapping_add, i64::wrapping_mul, |a, b| a < b;
    u64: U64, u64::wrapping_add, u64::wrapping_mul, |a, b| a < b;
    f32: F32, |a, b| a + b, |a, b| a * b, |a, b| a < b;
    f64: F64, |a, b| a + b, |a, b| a * b, |a, b| a < b;
    half::f16: F16, |a: half::f16, b: half::f16| half::f16::from_f32(a.to_f32() + b.to_f32()),
        |a: half::f16, b: half::f16| half::f16::from_f32(a.to_f32() * b.to_f32()), |a, b| a.to_f32() < b.to_f32();
    half::bf16: Bf16, |a: half::bf16, b: half::bf16| half::bf16::from_f32(a.to_f32() + b.to_f32()),
        |a: half::bf16, b: half::bf16| half::bf16::from_f32(a.to_f32() * b.to_f32()), |a, b| a.to_f32() < b.to_f32();
}

impl Communicator {
    /// Makes a communicator of devices of this process, in the order of their ranks: GPUs that are all different, or simulators.
    pub fn new(devices: &[Device]) -> Result<Communicator> {
        let gpus: Vec<_> = devices.iter().filter_map(gpu_of).collect();
        let is_twice = |at: usize| gpus[..at].iter().any(|gpu| gpu.ordinal() == gpus[at].ordinal());
        if devices.is_empty() || !gpus.is_empty() && (gpus.len() < devices.len() || (0..gpus.len()).any(is_twice)) {
            let given: Vec<String> = devices.iter().map(ToString::to_string).collect();
            let given = if given.is_empty() { "none".to_owned() } else { given.join(", ") };
            return Err(CollectiveError::Devices(given).into());
        }
        let made = (!gpus.is_empty()).then(|| GpuCommunicator::of_gpus(&gpus)).transpose()?;
        Ok(Communicator { devices: devices.to_vec(), first: 0, size: devices.len(), gpus: made })
    }

    /// Joins the communicator of several processes, with one GPU each. The environment says which of them this is, as `torchrun` and others
    /// set it: RANK, WORLD_SIZE, and MASTER_ADDR and MASTER_PORT for where they meet. Rank 0 listens at the port after MASTER_PORT, which is
    /// often taken. It waits for all of them, a minute at most.
    pub fn from_env(device: &Device) -> Result<Communicator> {
        let meeting = meeting::Meeting::of(&|name| env::var(name).ok())?;
        let Some(gpu) = gpu_of(device) else {
            return Err(CollectiveError::Devices(format!("{device}, in one of several processes")).into());
        };
        let id = meeting.exchange(crate::gpu::unique_id)?;
        let (rank, size) = (meeting.rank, meeting.size);
        let made = GpuCommunicator::of_rank(gpu, rank, size, id)?;
        Ok(Communicator { devices: vec![device.clone()], first: rank, size, gpus: Some(made) })
    }

    /// Returns the number of ranks, of all processes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the rank of this process's first device. Its others have the ranks behind it.
    pub fn first_rank(&self) -> usize {
        self.first
    }

    /// Gives each buffer, element by element, the combination of what the buffers of all ranks have. `buffers` and `streams` are those of
    /// this process's ranks, in their order. All processes call it, with buffers of one length.
    ///
    /// Sums and products of floats are rounded in NCCL's order, which may differ from one number of devices to another.
    pub fn all_reduce<T: CollectiveElement>(
        &self,
        buffers: &mut [&mut Buffer<T>],
        reduction: Reduction,
        streams: &[&Stream],
    ) -> Result<()> {
        self.enqueue(Collective::AllReduce(reduction), buffers, streams)
    }

    /// Gives each buffer what the one of rank `root` has, as [`Communicator::all_reduce`] does with the combination.
    ///
    /// ```
    /// # use phalanx::{Communicator, Device};
    /// # fn main() -> phalanx::Result<()> {
    /// let devices = [Device::simulator(), Device::simulator()];
    /// let communicator = Communicator::new(&devices)?;
    /// let (mut a, mut b) = (devices[0].upload(&[1, 2])?, devices[1].upload(&[3, 4])?);
    /// let streams = [devices[0].stream()?, devices[1].stream()?];
    /// communicator.broadcast(&mut [&mut a, &mut b], 1, &[&streams[0], &streams[1]])?;
    /// assert_eq!(a.read()?, [3, 4]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn broadcast<T: CollectiveElement>(
        &self,
        buffers: &mut [&mut Buffer<T>],
        root: usize,
        streams: &[&Stream],
    ) -> Result<()> {
        if root >= self.size {
            return Err(CollectiveError::NoSuchRank { root, size: self.size }.into());
        }
        self.enqueue(Collective::Broadcast { root }, buffers, streams)
    }

    fn enqueue<T: CollectiveElement>(
        &self,
        collective: Collective,
        buffers: &mut [&mut Buffer<T>],
        streams: &[&Stream],
    ) -> Result<()> {
        self.check(buffers, streams)?;
        let Some(gpus) = &self.gpus else { return simulate(collective, buffers) };
        let parts = buffers.iter().zip(streams).map(|(buffer, stream)| {
            let ((Memory::Gpu(memory), start), StreamQueue::Gpu(queue)) = (buffer.place(), &stream.queue) else {
                unreachable!("buffers and streams are on the GPUs, as checked")
            };
            Part { queue, memory, start, bytes: buffer.len() * size_of::<T>(), count: buffer.len() }
        });
        gpus.enqueue(collective, T::KIND, &parts.collect::<Vec<_>>())
    }

    fn check<T: DeviceCopy>(&self, buffers: &[&mut Buffer<T>], streams: &[&Stream]) -> Result<(), CollectiveError> {
        let ranks = self.devices.len();
        if buffers.len() != ranks || streams.len() != ranks {
            return Err(CollectiveError::Count { ranks, buffers: buffers.len(), streams: streams.len() });
        }
        for (at, device) in self.devices.iter().enumerate() {
            let (rank, buffer, stream) = (self.first + at, &buffers[at], streams[at]);
            if let StreamQueue::Capture(_) = stream.queue {
                return Err(CollectiveError::Captured);
            }
            for (what, found) in [("buffer", buffer.device()), ("stream", stream.device())] {
                if !device.shares_memory(found) {
                    let (expected, found) = (device.to_string(), found.to_string());
                    return Err(CollectiveError::WrongDevice { rank, what, expected, found });
                }
            }
            let (found, expected) = (buffer.len(), buffers[0].len());
            if found != expected {
                return Err(CollectiveError::Lengths { rank, found, expected });
            }
        }
        Ok(())
    }
}

fn gpu_of(device: &Device) -> Option<&std::sync::Arc<crate::gpu::Gpu>> {
    match &device.target {
        Target::Gpu(gpu) => Some(gpu),
        Target::Simulator(_) => None,
    }
}

/// The same in the memory of the host, where earlier work has ended.
fn simulate<T: CollectiveElement>(collective: Collective, buffers: &mut [&mut Buffer<T>]) -> Result<()> {
    let elements = |buffer: &Buffer<T>| {
        let (memory, start) = buffer.place();
        let Memory::Host(memory) = memory else { unreachable!("the buffers are a simulator's, as checked") };
        memory.memory.read_part::<T>(start, buffer.len())
    };
    let result = match collective {
        Collective::Broadcast { root } => elements(buffers[root]),
        Collective::AllReduce(reduction) => {
            let mut each = buffers.iter().map(|buffer| elements(buffer));
            let first = each.next().unwrap_or_default();
            each.fold(first, |sum, next| sum.into_iter().zip(next).map(|(a, b)| a.combined(b, reduction)).collect())
        }
    };
    for buffer in buffers {
        let (memory, start) = buffer.place();
        let Memory::Host(memory) = memory else { unreachable!("the buffers are a simulator's, as checked") };
        memory.memory.write(start, &result);
    }
    Ok(())
}

impl fmt::Debug for Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Communicator({} of {} from rank {} on)", self.devices.len(), self.size, self.first)
    }
}

#[cfg(test)]
mod tests;
