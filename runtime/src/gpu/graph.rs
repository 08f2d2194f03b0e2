//! A CUDA graph of launches, copies and events, while it is recorded (`Recording`) and when it can be launched (`GpuGraph`). A node
//! comes after the earlier ones that it must not overtake, by the memory that they use, so that the others may run at the same
//! time. All launches of a graph share one failure record, which is copied to that of the graph's launch when it has ended.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::CudaContext;

use super::block::LaunchBlock;
use super::context::Gpu;
use super::ffi;
use super::ffi::graph::{Executable, Graph, Node};
use super::mode::Access;
use super::queue::{GpuEvent, GpuMemory, Queue, Unfinished, counted_blocks};
use super::record::Record;
use super::variant::Variant;
use crate::program::Program;
use crate::report::error::Result;
use crate::report::graph::GraphError;
use crate::shape::Shape;

/// A graph that is being recorded.
pub(crate) struct Recording {
    graph: Graph,
    context: Arc<CudaContext>,
    /// The record of a failure, and then the word that the first failing thread claims.
    record: Arc<GpuMemory>,
    /// What comes before all later nodes: that which clears the record, or the last event.
    base: Node,
    /// All nodes since.
    since: Vec<Node>,
    /// The memory that each kernel may write.
    kernels: BTreeMap<Node, Unfinished>,
    /// The memory that nodes use, by the address of its handle.
    memory: BTreeMap<usize, Used>,
    /// The events that a launch records, and the others that it waits for.
    events: Vec<Arc<GpuEvent>>,
    waits: Vec<Arc<GpuEvent>>,
}

/// The use of some memory, by the nodes after the last event.
struct Used {
    memory: Arc<GpuMemory>,
    /// What the whole graph does to it.
    access: Access,
    write: Option<Node>,
    /// Those that read since.
    reads: Vec<Node>,
}

/// A graph that can be launched.
pub(crate) struct GpuGraph {
    executable: Mutex<Executable>,
    uses: Vec<(Arc<GpuMemory>, Access)>,
    record: Arc<GpuMemory>,
    /// The events that a launch records.
    events: Vec<Arc<GpuEvent>>,
    /// Those that it waits for, which live as long.
    _waits: Vec<Arc<GpuEvent>>,
}

impl Recording {
    /// Returns the nodes that one which uses this memory must not overtake.
    fn before(&self, uses: &[(Arc<GpuMemory>, Access)]) -> Vec<Node> {
        let mut nodes = Vec::new();
        for (memory, access) in uses {
            if let Some(used) = self.memory.get(&key(memory)) {
                let reads = if *access == Access::Write { &used.reads[..] } else { &[] };
                nodes.extend(used.write.iter().chain(reads));
            }
        }
        self.distinct(nodes)
    }

    /// Returns each of the nodes once, as the driver wants them, or the base if there is none.
    fn distinct(&self, mut nodes: Vec<Node>) -> Vec<Node> {
        nodes.sort_unstable();
        nodes.dedup();
        if nodes.is_empty() {
            nodes.push(self.base);
        }
        nodes
    }

    /// Takes the kernel out of the nodes before one that reads `early` before it waits, and may begin before that kernel has ended:
    /// the only kernel among them, if it does not write what is read early.
    fn overlapped(&self, after: &mut Vec<Node>, early: &[Arc<GpuMemory>]) -> Option<Node> {
        let mut kernels = after.iter().filter_map(|node| Some((*node, self.kernels.get(node)?)));
        let (Some((node, unfinished)), None) = (kernels.next(), kernels.next()) else { return None };
        // Each kernel of a graph has counts of its own.
        let overlaps = unfinished.allows(early, false);
        drop(kernels);
        overlaps.then(|| {
            after.retain(|other| *other != node);
            node
        })
    }

    fn note(&mut self, node: Node, uses: &[(Arc<GpuMemory>, Access)]) {
        self.since.push(node);
        for (memory, access) in uses {
            let used = self.memory.entry(key(memory)).or_insert_with(|| Used {
                memory: memory.clone(),
                access: *access,
                write: None,
                reads: Vec::new(),
            });
            match access {
                Access::Write => {
                    used.access = Access::Write;
                    (used.write, used.reads) = (Some(node), Vec::new());
                }
                Access::Read if used.write == Some(node) || used.reads.contains(&node) => {}
                Access::Read => used.reads.push(node),
            }
        }
    }

    /// Puts a node between all that came before and all that comes after it.
    fn divide(&mut self, node: Node) {
        (self.base, self.since) = (node, Vec::new());
        self.memory.values_mut().for_each(|used| (used.write, used.reads) = (None, Vec::new()));
    }

    fn all(&self) -> Vec<Node> {
        self.distinct(self.since.clone())
    }

    /// Records a copy of bytes from one memory to another.
    pub(crate) fn copy(
        &mut self,
        (from, from_offset): (&Arc<GpuMemory>, usize),
        (to, to_offset): (&Arc<GpuMemory>, usize),
        bytes: usize,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let uses = [(from.clone(), Access::Read), (to.clone(), Access::Write)];
        let after = self.before(&uses);
        let (source, target) = (from.region().part(from_offset, bytes), to.region().part(to_offset, bytes));
        let node = self.graph.copy(&after, source, target)?;
        self.note(node, &uses);
        Ok(())
    }

    /// Records an event, which each launch of the graph records anew.
    pub(crate) fn record(&mut self) -> Result<Arc<GpuEvent>> {
        let event = Arc::new(GpuEvent::captured(&self.context)?);
        let node = self.graph.record(&self.all(), event.event())?;
        self.divide(node);
        self.events.push(event.clone());
        Ok(event)
    }

    /// Makes later nodes wait for an event as it is when the graph is launched.
    pub(crate) fn wait(&mut self, event: &Arc<GpuEvent>) -> Result<()> {
        // What comes after it in this graph waits for it already.
        if !self.events.iter().any(|own| Arc::ptr_eq(own, event)) {
            let node = self.graph.wait(&self.all(), event.event())?;
            self.divide(node);
            self.waits.push(event.clone());
        }
        Ok(())
    }

    fn uses(&self) -> Vec<(Arc<GpuMemory>, Access)> {
        let recorded = [(self.record.clone(), Access::Write)].into_iter();
        recorded.chain(self.memory.values().map(|used| (used.memory.clone(), used.access))).collect()
    }

    /// Returns the graph for launches.
    pub(crate) fn finish(self) -> Result<GpuGraph> {
        let executable = Mutex::new(self.graph.instantiate()?);
        Ok(GpuGraph { executable, uses: self.uses(), record: self.record, events: self.events, _waits: self.waits })
    }
}

fn key(memory: &Arc<GpuMemory>) -> usize {
    Arc::as_ptr(memory).addr()
}

impl Gpu {
    /// Begins to record a graph.
    pub(crate) fn recording(&self) -> Result<Recording> {
        let context = self.context().clone();
        let record = Arc::new(self.zeros(size_of::<Record>() + size_of::<u64>())?);
        let mut graph = Graph::new(&context)?;
        let base = graph.clear(&[], record.region())?;
        Ok(Recording {
            graph,
            context,
            record,
            base,
            since: Vec::new(),
            kernels: BTreeMap::new(),
            memory: BTreeMap::new(),
            events: Vec::new(),
            waits: Vec::new(),
        })
    }

    /// Records the launch of `program`, which is the kernel with this id, and loads it if this is its first here.
    ///
    /// # Safety
    /// As for [`Gpu::launch`].
    #[expect(clippy::too_many_arguments, reason = "a launch has these parts, and one caller passes them")]
    pub(crate) unsafe fn record_launch(
        &self,
        recording: &mut Recording,
        kernel: TypeId,
        program: &Arc<Program>,
        shape: &Shape,
        variant: Variant,
        parameters: &mut [*mut c_void],
        uses: &[(Arc<GpuMemory>, Access)],
        early: Option<&[Arc<GpuMemory>]>,
    ) -> Result<()> {
        let launch = self.prepare(kernel, program, shape, variant)?;
        let record = recording.record.address();
        let mut block = LaunchBlock {
            record,
            claim: record + size_of::<Record>() as u64,
            number: 1,
            kernel: launch.number as u32,
            ..LaunchBlock::default()
        };
        let mut after = recording.before(uses);
        let overlapped = early.and_then(|early| recording.overlapped(&mut after, early));
        // The words of the kernel alone, which each launch of the graph finds cleared.
        let blocks = counted_blocks(&launch.shape);
        if blocks > 0 || launch.attributes.cooperative {
            let counts = blocks as usize * size_of::<u64>();
            let words = Arc::new(self.zeros(counts + size_of::<u64>())?);
            let node = recording.graph.clear(&[], words.region())?;
            recording.note(node, &[(words.clone(), Access::Write)]);
            after.push(node);
            (block.failed_threads, block.blocks) = (words.address(), blocks);
            block.grid_barrier = words.address() + counts as u64;
        }
        block.set_last(parameters);
        // SAFETY: the last parameter of each kernel is its block; the rest is passed on to the caller. The graph's launches keep the
        // memory and the loaded kernels.
        let node =
            unsafe { recording.graph.kernel(&after, &launch.function, &launch.shape, parameters, launch.attributes) }?;
        if let Some(overlapped) = overlapped {
            recording.graph.overlap(overlapped, node)?;
        }
        let mut unfinished = Unfinished::default();
        unfinished.add(uses, false);
        recording.kernels.insert(node, unfinished);
        recording.note(node, uses);
        Ok(())
    }

    /// Launches a graph on a stream, after its earlier launches, and returns the number of this one.
    pub(crate) fn launch_graph(&self, graph: &GpuGraph, queue: &Arc<Queue>) -> Result<u64> {
        if queue.is_capturing()? {
            return Err(GraphError::Capturing.into());
        }
        let mut executable = graph.executable.lock().unwrap_or_else(PoisonError::into_inner);
        let number = queue.enqueue_launch(&graph.uses, |state| {
            state.unfinished().clear();
            let block = state.slot(queue.stream())?;
            // SAFETY: the graph has all memory that its nodes use, and each use is noted.
            unsafe { executable.launch(queue.stream()) }?;
            ffi::copy_record(queue.stream(), graph.record.region().part(0, size_of::<Record>()), block.record)?;
            state.keep(block.number);
            Ok(block.number)
        })?;
        graph.events.iter().for_each(|event| event.has_launched());
        Ok(number)
    }

    /// Replaces a graph by another. If both have the same nodes, only their parameters change.
    pub(crate) fn update_graph(&self, graph: &mut GpuGraph, recording: Recording) -> Result<()> {
        let executable = graph.executable.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the graph gets all memory that the nodes use, below.
        if !unsafe { executable.update(&recording.graph) }? {
            *executable = recording.graph.instantiate()?;
        }
        // What earlier launches use is freed behind them.
        (graph.uses, graph.record) = (recording.uses(), recording.record);
        (graph.events, graph._waits) = (recording.events, recording.waits);
        Ok(())
    }
}
