//! The place of all that needs a driver, in a program without the feature `gpu`. There are no values of these types, so that nothing
//! here is ever called but what opens a GPU.

use std::any::TypeId;
use std::convert::Infallible;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::caps::Caps;
use super::mode::{Access, Asked, Mode, Started};
use super::variant::Variant;
use crate::program::Program;
use crate::program::tensor::{TensorShape, TileShape};
use crate::program::types::DeviceCopy;
use crate::report::attributes::KernelAttributes;
use crate::report::error::{Error, Result};
use crate::report::nccl::{Collective, ElementKind, UniqueId};
use crate::report::output::Output;
use crate::shape::Shape;

pub(crate) enum Gpu {}

pub(crate) enum Queue {}

pub(crate) enum Ready {}

pub(crate) enum GpuMemory {}

pub(crate) enum GpuEvent {}

pub(crate) enum Mark {}

impl Mark {
    pub(crate) fn has_come(&self) -> bool {
        match *self {}
    }
}

pub(crate) struct Pinned<T>(PhantomData<T>, Infallible);

pub(crate) struct GpuCopy<T>(PhantomData<T>, Infallible);

pub(crate) enum Recording {}

pub(crate) enum GpuGraph {}

impl Recording {
    pub(crate) fn copy(
        &mut self,
        _from: (&Arc<GpuMemory>, usize),
        _to: (&Arc<GpuMemory>, usize),
        _bytes: usize,
    ) -> Result<()> {
        match *self {}
    }

    pub(crate) fn record(&mut self) -> Result<Arc<GpuEvent>> {
        match *self {}
    }

    pub(crate) fn wait(&mut self, _event: &Arc<GpuEvent>) -> Result<()> {
        match *self {}
    }

    pub(crate) fn finish(self) -> Result<GpuGraph> {
        match self {}
    }
}

impl Gpu {
    pub(crate) fn open(_ordinal: usize) -> Result<Arc<Gpu>> {
        Err(Error::NoGpuSupport)
    }

    pub(crate) fn count() -> Result<usize> {
        Err(Error::NoGpuSupport)
    }

    pub(crate) fn ordinal(&self) -> usize {
        match *self {}
    }

    pub(crate) fn caps(&self) -> &Caps {
        match *self {}
    }

    pub(crate) fn deadline(&self) -> &Mutex<Option<Duration>> {
        match *self {}
    }

    pub(crate) fn output(&self) -> &Output {
        match *self {}
    }

    pub(crate) fn default_queue(&self) -> &Arc<Queue> {
        match *self {}
    }

    pub(crate) fn new_queue(&self) -> Result<Arc<Queue>> {
        match *self {}
    }

    pub(crate) fn synchronize(&self) -> Result<()> {
        match *self {}
    }

    pub(crate) fn synchronize_queue(&self, _queue: &Queue) -> Result<()> {
        match *self {}
    }

    pub(crate) fn mark(&self, _queue: &Arc<Queue>) -> Result<Arc<Mark>> {
        match *self {}
    }

    pub(crate) fn finish_at(&self, _mark: &Mark, _own: Option<u64>) -> Result<()> {
        match *self {}
    }

    pub(crate) fn wait(&self, _queue: &Queue, _launch: u64) -> Result<()> {
        match *self {}
    }

    pub(crate) fn prepare_on(
        &self,
        _queue: &Queue,
        _kernel: TypeId,
        _program: &Arc<Program>,
        _shape: &Shape,
        _variant: Variant,
    ) -> Result<Arc<Ready>> {
        match *self {}
    }

    pub(crate) unsafe fn launch(
        &self,
        _queue: &Arc<Queue>,
        _ready: &Ready,
        _parameters: &mut [*mut c_void],
        _uses: &[(Arc<GpuMemory>, Access)],
        _mode: Mode,
        _asked: Asked<'_, Arc<GpuMemory>>,
    ) -> Result<Started> {
        match *self {}
    }

    pub(crate) fn max_active_clusters(
        &self,
        _kernel: TypeId,
        _program: &Arc<Program>,
        _shape: &Shape,
        _variant: Variant,
    ) -> Result<usize> {
        match *self {}
    }

    pub(crate) fn attributes(
        &self,
        _kernel: TypeId,
        _program: &Arc<Program>,
        _shape: &Shape,
        _variant: Variant,
    ) -> Result<KernelAttributes> {
        match *self {}
    }

    pub(crate) fn largest_cluster(
        &self,
        _kernel: TypeId,
        _program: &Arc<Program>,
        _shape: &Shape,
        _variant: Variant,
    ) -> Result<u32> {
        match *self {}
    }

    pub(crate) fn upload<T: DeviceCopy>(&self, _data: &[T]) -> Result<GpuMemory> {
        match *self {}
    }

    pub(crate) fn zeros(&self, _bytes: usize) -> Result<GpuMemory> {
        match *self {}
    }

    pub(crate) fn managed(&self, _bytes: usize) -> Result<GpuMemory> {
        match *self {}
    }

    pub(crate) fn host_slice<'a, T: DeviceCopy>(
        &self,
        _memory: &'a mut GpuMemory,
        _start: usize,
        _len: usize,
    ) -> Result<&'a mut [T]> {
        match *self {}
    }

    pub(crate) fn write<T: DeviceCopy>(&self, _memory: &GpuMemory, _offset: usize, _data: &[T]) -> Result<()> {
        match *self {}
    }

    pub(crate) fn copy(
        &self,
        _queue: &Arc<Queue>,
        _from: (&GpuMemory, usize),
        _to: (&GpuMemory, usize),
        _bytes: usize,
    ) -> Result<()> {
        match *self {}
    }

    pub(crate) fn pinned<T: DeviceCopy>(&self, _len: usize) -> Result<Pinned<T>> {
        match *self {}
    }

    pub(crate) fn finish_copy<T: DeviceCopy>(&self, _copy: GpuCopy<T>) -> Result<Pinned<T>> {
        match *self {}
    }

    pub(crate) fn recording(&self) -> Result<Recording> {
        match *self {}
    }

    #[expect(clippy::too_many_arguments, reason = "a launch has these parts, and one caller passes them")]
    pub(crate) unsafe fn record_launch(
        &self,
        _recording: &mut Recording,
        _kernel: TypeId,
        _program: &Arc<Program>,
        _shape: &Shape,
        _variant: Variant,
        _parameters: &mut [*mut c_void],
        _uses: &[(Arc<GpuMemory>, Access)],
        _early: Option<&[Arc<GpuMemory>]>,
    ) -> Result<()> {
        match *self {}
    }

    pub(crate) fn launch_graph(&self, _graph: &GpuGraph, _queue: &Arc<Queue>) -> Result<u64> {
        match *self {}
    }

    pub(crate) fn update_graph(&self, _graph: &mut GpuGraph, _recording: Recording) -> Result<()> {
        match *self {}
    }

    pub(crate) fn read<T: DeviceCopy>(&self, _memory: &GpuMemory, _start: usize, _len: usize) -> Result<Vec<T>> {
        match *self {}
    }
}

impl Gpu {
    pub(crate) fn can_access(&self, _peer: &Gpu) -> Result<bool> {
        match *self {}
    }

    pub(crate) fn enable_access(&self, _peer: &Gpu) -> Result<()> {
        match *self {}
    }

    pub(crate) fn accesses(&self, _peer: &Gpu) -> bool {
        match *self {}
    }

    pub(crate) fn copy_between(
        &self,
        _queue: &Arc<Queue>,
        _from: (&Gpu, &GpuMemory, usize),
        _to: (&Gpu, &GpuMemory, usize),
        _bytes: usize,
    ) -> Result<()> {
        match *self {}
    }
}

/// The ranks of a communicator, of which there are none.
pub(crate) enum GpuCommunicator {}

/// What a rank brings to a collective.
pub(crate) struct Part<'a> {
    pub(crate) queue: &'a Arc<Queue>,
    pub(crate) memory: &'a GpuMemory,
    pub(crate) start: usize,
    pub(crate) bytes: usize,
    pub(crate) count: usize,
}

impl GpuCommunicator {
    pub(crate) fn of_gpus(_gpus: &[&Arc<Gpu>]) -> Result<GpuCommunicator> {
        Err(Error::NoGpuSupport)
    }

    pub(crate) fn of_rank(gpu: &Gpu, _rank: usize, _size: usize, _id: UniqueId) -> Result<GpuCommunicator> {
        match *gpu {}
    }

    pub(crate) fn enqueue(&self, _collective: Collective, _kind: ElementKind, parts: &[Part<'_>]) -> Result<()> {
        for Part { queue, memory, start, bytes, count } in parts {
            let _ = (queue, memory, start, bytes, count);
        }
        match *self {}
    }
}

/// Makes no identity, because there is nothing to join.
pub(crate) fn unique_id() -> Result<UniqueId> {
    Err(Error::NoGpuSupport)
}

impl std::fmt::Display for Gpu {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {}
    }
}

/// Makes no map, because there is no memory to make one of.
pub(crate) fn tensor_map(_address: u64, _tensor: &TensorShape, _tile: &TileShape) -> Result<[u64; 16]> {
    Err(Error::NoGpuSupport)
}

impl Queue {
    pub(crate) fn record(self: &Arc<Self>) -> Result<GpuEvent> {
        match **self {}
    }

    pub(crate) fn wait(&self, _event: &GpuEvent) -> Result<()> {
        match *self {}
    }

    pub(crate) fn release(&self, _launch: u64) {
        match *self {}
    }

    pub(crate) fn upload<T: DeviceCopy>(
        self: &Arc<Self>,
        _host: Pinned<T>,
        _to: (&GpuMemory, usize),
    ) -> Result<GpuCopy<T>> {
        match **self {}
    }

    pub(crate) fn download<T: DeviceCopy>(
        self: &Arc<Self>,
        _from: (&GpuMemory, usize),
        _host: Pinned<T>,
    ) -> Result<GpuCopy<T>> {
        match **self {}
    }
}

impl<T: DeviceCopy> Pinned<T> {
    pub(crate) fn as_slice(&self) -> &[T] {
        match self.1 {}
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        match self.1 {}
    }
}

impl<T: DeviceCopy> GpuCopy<T> {
    pub(crate) fn ended(&self) -> &Arc<Mark> {
        match self.1 {}
    }

    pub(crate) fn is_complete(&self) -> Result<bool> {
        match self.1 {}
    }
}

impl GpuMemory {
    pub(crate) fn at(gpu: &Gpu, _address: u64, _bytes: usize) -> Result<GpuMemory> {
        match *gpu {}
    }

    pub(crate) fn is_borrowed(&self) -> bool {
        match *self {}
    }

    pub(crate) fn address(&self) -> u64 {
        match *self {}
    }
}

impl GpuEvent {
    pub(crate) fn synchronize(&self) -> Result<()> {
        match *self {}
    }

    pub(crate) fn is_complete(&self) -> Result<bool> {
        match *self {}
    }

    pub(crate) fn elapsed(&self, _later: &GpuEvent) -> Result<Duration> {
        match *self {}
    }
}
