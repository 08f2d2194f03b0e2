//! The arguments of a kernel in both forms: as bytes for a GPU's parameters, and as values for the host body. A
//! launcher creates both from the same borrows of the same buffers.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::buffer::{Buffer, HostMemory, Memory};
use super::device::Device;
use super::tensor::Ranked;
use crate::gpu::variant::{Known, Variant};
use crate::gpu::{self, Access, FEW, GpuMemory, Pointers};
use crate::kernel::memory::{Addressed, Global, GlobalMut};
use crate::kernel::tensor::{TensorTile, tensor_tile};
use crate::program::Program;
use crate::program::template::Slot;
use crate::program::tensor::TensorShape;
use crate::program::types::{DeviceCopy, bytes_of};
use crate::program::visitor::Visitor;
use crate::report::error::{Error, LaunchError};
use crate::shape::Shape;
use crate::sim::{MemoryId, NamedBuffer};

/// The parameters of a kernel, in order, as a GPU takes them. They borrow nothing, so the owner must keep the buffers
/// alive.
#[derive(Default)]
pub struct Arguments(Box<List>);

/// What is kept of the arguments.
#[derive(Default)]
struct List {
    /// The values, each at a multiple of 16 bytes, which is the largest alignment of any type.
    words: SmallVec<[u128; FEW]>,
    /// The index of the word at which each value begins.
    starts: SmallVec<[usize; FEW]>,
    buffers: SmallVec<[Bound; FEW]>,
    /// The devices of the buffers, each with the position of the first of its buffers, in their order. One follows another that differs.
    devices: SmallVec<[(usize, Device); 1]>,
    /// The memory of the buffers on a GPU, and whether the kernel may write it.
    uses: SmallVec<[(Arc<GpuMemory>, Access); FEW]>,
    /// The memory of the buffers in the simulator, and whether the kernel may write it.
    host: Vec<(Arc<HostMemory>, Access)>,
    /// The addresses of the buffers in the simulator and the sizes of their elements, with the positions.
    memory: Vec<(usize, usize, usize)>,
    known: Known,
    /// The error of the driver if it refused to make a tensor's map.
    refused: Option<Box<Error>>,
}

/// A buffer that is an argument.
struct Bound {
    /// The position of the argument, counted from 1.
    position: usize,
    /// The addresses of the elements on its device.
    addresses: Range<u64>,
    access: Access,
}

impl Arguments {
    /// Returns an empty list.
    pub fn new() -> Self {
        Arguments::default()
    }

    /// Adds a `&[T]` parameter.
    pub fn slice<T: DeviceCopy>(self, buffer: &Buffer<T>) -> Self {
        self.buffer(buffer, Access::Read)
    }

    /// Adds a `&mut [T]` parameter.
    pub fn slice_mut<T: DeviceCopy>(self, buffer: &mut Buffer<T>) -> Self {
        self.buffer(buffer, Access::Write)
    }

    /// Adds an `Option<&[T]>` parameter.
    pub fn optional_slice<T: DeviceCopy>(self, buffer: Option<&Buffer<T>>) -> Self {
        self.optional(buffer, Access::Read)
    }

    /// Adds an `Option<&mut [T]>` parameter.
    pub fn optional_slice_mut<T: DeviceCopy>(self, buffer: Option<&Buffer<T>>) -> Self {
        self.optional(buffer, Access::Write)
    }

    fn optional<T: DeviceCopy>(mut self, buffer: Option<&Buffer<T>>, access: Access) -> Self {
        // The layout is that of `option` in option.cuh: the slice, and then a byte that tells whether there is one.
        let (address, length) = buffer.map_or((0, 0), |buffer| (buffer.address(), buffer.len() as u64));
        self.push(bytes_of(&[address, length, u64::from(buffer.is_some())]));
        if let Some(buffer) = buffer {
            self.note(buffer, access);
        }
        self
    }

    /// Adds a `&TensorMap<Tile>` parameter.
    pub fn tensor<'t, Tile: TensorTile>(self, tensor: &<Tile::Coordinates as Ranked>::Tensor<'t, Tile::Element>) -> Self
    where
        Tile::Coordinates: Ranked,
    {
        let (buffer, shape) = <Tile::Coordinates as Ranked>::parts(tensor);
        self.map::<Tile>(buffer, shape, Access::Read)
    }

    /// Adds a `&mut TensorMap<Tile>` parameter.
    pub fn tensor_mut<'t, Tile: TensorTile>(
        self,
        tensor: &<Tile::Coordinates as Ranked>::TensorMut<'t, Tile::Element>,
    ) -> Self
    where
        Tile::Coordinates: Ranked,
    {
        let (buffer, shape) = <Tile::Coordinates as Ranked>::parts_mut(tensor);
        self.map::<Tile>(buffer, shape, Access::Write)
    }

    /// Adds the map of a tensor for tiles of this type.
    fn map<Tile: TensorTile>(mut self, buffer: &Buffer<Tile::Element>, shape: &TensorShape, access: Access) -> Self {
        const { tensor_tile::<Tile>() };
        // The simulator needs no map.
        let map = match buffer.gpu_memory() {
            Some(_) => gpu::tensor_map(buffer.address(), shape, &Tile::SHAPE),
            None => Ok([0; 16]),
        };
        match map {
            Ok(map) => self.push(bytes_of(&map)),
            Err(error) => self.0.refused = Some(Box::new(error)),
        }
        self.note(buffer, access);
        self
    }

    /// Returns the error of a map that the driver refused.
    pub(super) fn refused(&mut self) -> Option<Error> {
        self.0.refused.take().map(|error| *error)
    }

    /// Adds an integer by value, of 32 or 64 bits.
    pub fn integer<T: DeviceCopy>(mut self, value: T) -> Self {
        let mut word = [0; 8];
        // An alias of the name of an integer may be a longer type.
        let of_value = bytes_of(std::slice::from_ref(&value)).iter();
        word.iter_mut().zip(of_value).for_each(|(byte, of_value)| *byte = *of_value);
        self.0.known.integer(u64::from_le_bytes(word));
        self.scalar(value)
    }

    /// Adds a parameter by value.
    pub fn scalar<T: DeviceCopy>(mut self, value: T) -> Self {
        self.push(bytes_of(&[value]));
        self
    }

    fn buffer<T: DeviceCopy>(mut self, buffer: &Buffer<T>, access: Access) -> Self {
        self.0.known.slice(buffer.address(), buffer.len() as u64);
        // The layout is that of `slice` and `slice_mut` in memory.cuh: the pointer, and then the length.
        self.push(bytes_of(&[buffer.address(), buffer.len() as u64]));
        self.note(buffer, access);
        self
    }

    /// Notes the buffer of the last argument.
    fn note<T: DeviceCopy>(&mut self, buffer: &Buffer<T>, access: Access) {
        let list = &mut *self.0;
        let position = list.starts.len();
        list.known.length(buffer.len() as u64);
        let mut first = buffer.first_byte();
        match buffer.memory() {
            Memory::Gpu(memory) => list.uses.push((memory.clone(), access)),
            Memory::Host(memory) => {
                list.host.push((memory.clone(), access));
                if let MemoryId::Constant(base) = buffer.global().id() {
                    list.memory.push((position, base.addr().get(), size_of::<T>()));
                    first += base.addr().get() as u64;
                }
            }
        }
        if list.devices.last().is_none_or(|(_, device)| !device.shares_memory(buffer.device())) {
            list.devices.push((position, buffer.device().clone()));
        }
        let addresses = first..first.saturating_add((buffer.len() * size_of::<T>()) as u64);
        list.buffers.push(Bound { position, addresses, access });
    }

    /// Returns the memory of the arguments at these positions, on a GPU.
    pub(super) fn early(&self, positions: &[usize]) -> Vec<Arc<GpuMemory>> {
        let of_arguments = self.0.buffers.iter().zip(&self.0.uses);
        let early = of_arguments.filter(|(buffer, _)| positions.contains(&(buffer.position - 1)));
        early.map(|(_, (memory, _))| memory.clone()).collect()
    }

    /// Returns the buffers under the names of the kernel's parameters, of which some may be read early.
    pub(super) fn named(&self, parameters: &[String], early: &[usize]) -> Vec<NamedBuffer> {
        let named = |&(position, address, element_bytes): &(usize, usize, usize)| {
            let name = parameters.get(position - 1)?.clone();
            Some(NamedBuffer { name, address, element_bytes, is_early: early.contains(&(position - 1)) })
        };
        self.0.memory.iter().filter_map(named).collect()
    }

    // Inlined where the number of bytes is known.
    #[inline]
    fn push(&mut self, bytes: &[u8]) {
        let List { starts, words, .. } = &mut *self.0;
        starts.push(words.len());
        let (whole, rest) = bytes.as_chunks();
        whole.iter().for_each(|word| words.push(u128::from_ne_bytes(*word)));
        if !rest.is_empty() {
            let mut word = [0; 16];
            word[..rest.len()].copy_from_slice(rest);
            words.push(u128::from_ne_bytes(word));
        }
    }

    /// Returns the memory on a GPU that the kernel may use.
    pub(super) fn uses(&self) -> &[(Arc<GpuMemory>, Access)] {
        &self.0.uses
    }

    /// Returns whether another user of cudarc owns the memory of an argument.
    pub(super) fn are_borrowed(&self) -> bool {
        self.0.uses.iter().any(|(memory, _)| memory.is_borrowed())
    }

    /// Returns the memory of the buffers in the simulator.
    pub(super) fn into_host_memory(self) -> Vec<(Arc<HostMemory>, Access)> {
        self.0.host
    }

    /// Returns the variant of a program for a launch with these arguments.
    pub(super) fn variant(&self, program: &Program, shape: &Shape) -> Variant {
        let List { words, starts, known, .. } = &*self.0;
        let bytes = |index: usize| words.get(*starts.get(index)?..).map(bytes_of);
        Variant::of(program, shape, *known, program.launch_checks().holding(shape, bytes))
    }

    /// Returns the addresses of the values, which are valid while `self` is not changed, and a place for the one that each launch on a GPU
    /// adds.
    pub(super) fn pointers(&mut self) -> Pointers {
        let List { starts, words, .. } = &mut *self.0;
        let base = words.as_mut_ptr();
        let mut pointers = Pointers::new();
        starts.iter().for_each(|&start| pointers.push(base.wrapping_add(start).cast()));
        pointers.push(std::ptr::null_mut());
        pointers
    }

    /// Returns an error if the kernel may write what another argument has, too: safe programs can move the buffer out of a
    /// [`ViewMut`](crate::ViewMut), and then have two buffers of one memory.
    pub(super) fn check_overlap(&self) -> Result<(), LaunchError> {
        for (at, buffer) in self.0.buffers.iter().enumerate() {
            let Bound { position: first, addresses, access, .. } = buffer;
            let shares = |other: &&Bound| {
                (*access == Access::Write || other.access == Access::Write)
                    && addresses.start.max(other.addresses.start) < addresses.end.min(other.addresses.end)
            };
            if let Some(other) = self.0.buffers[at + 1..].iter().find(shares) {
                return Err(LaunchError::Overlap { first: *first, second: other.position });
            }
        }
        Ok(())
    }

    /// Returns an error unless `device` accesses the memory of all buffers.
    pub(super) fn check_device(&self, device: &Device) -> Result<(), LaunchError> {
        match self.0.devices.iter().find(|(_, found)| !device.accesses(found)) {
            None => Ok(()),
            Some((argument, found)) => Err(LaunchError::WrongDevice {
                argument: *argument,
                found: found.to_string(),
                device: device.to_string(),
            }),
        }
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arguments({})", self.0.starts.len())
    }
}

/// Returns a `&[T]` parameter as the host body sees it.
pub fn global<T: DeviceCopy>(buffer: &Buffer<T>) -> Global<'_, T> {
    buffer.global()
}

/// Returns a `&mut [T]` parameter as the host body sees it.
pub fn global_mut<T: DeviceCopy>(buffer: &mut Buffer<T>) -> GlobalMut<'_, T> {
    buffer.global_mut()
}

/// The visitor that makes the function of a simulated thread from a kernel's body and its arguments.
#[derive(Debug)]
pub struct Threads<Args>(pub Args);

impl<'a, Args: Copy + Send + Sync + 'a, R> Visitor<'a, Args, R> for Threads<Args> {
    type Output = Box<dyn Fn() + Send + Sync + 'a>;
    fn visit<S, F, D>(self, body: F, _describe: D) -> Self::Output
    where
        S: Default,
        F: Fn(Args) -> (R, S) + Copy + Send + Sync + 'a,
        D: Fn(&S, &mut Vec<Slot>),
    {
        let arguments = self.0;
        Box::new(move || {
            body(arguments);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_laid_out_as_the_kernel_reads_them() {
        let device = Device::simulator();
        let buffer = device.upload(&[1u8, 2, 3]).unwrap();
        let mut arguments = Arguments::new().scalar(7u32).slice(&buffer).scalar([1.5f32; 5]);
        let options = Arguments::new().optional_slice(Some(&buffer)).optional_slice::<u8>(None);
        assert_eq!(bytes_of(&options.0.words)[..24], bytes_of(&[0u64, 3, 1])[..]);
        assert_eq!(bytes_of(&options.0.words)[32..56], bytes_of(&[0u64, 0, 0])[..]);
        assert_eq!(arguments.0.starts[..], [0, 1, 2]);
        assert_eq!(bytes_of(&arguments.0.words)[..4], 7u32.to_ne_bytes());
        assert_eq!(bytes_of(&arguments.0.words)[16..32], bytes_of(&[0u64, 3])[..]);
        assert_eq!(bytes_of(&arguments.0.words)[32..52], bytes_of(&[1.5f32; 5])[..]);
        assert!(arguments.pointers().iter().all(|pointer| pointer.addr().is_multiple_of(16)));
        let mut known = Known::default();
        known.integer(u64::from(u32::MAX));
        known.slice(buffer.address(), 3);
        known.integer(5);
        let arguments = Arguments::new().integer(-1i32).scalar(0.5f32).slice(&buffer).integer(5u64);
        assert_eq!(arguments.0.known, known);
        known = Known::default();
        known.length(3);
        assert_eq!(options.0.known, known);
        assert_eq!(arguments.check_device(&Device::simulator()), Ok(()), "simulators share the host's memory");
    }
}
