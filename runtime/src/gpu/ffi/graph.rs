//! CUDA graphs: their nodes are added here, and they are made executable, updated and launched. Which node comes after which
//! others is decided by `graph`.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys::{
    self, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUgraphExecUpdateResult,
    CUgraphExecUpdateResultInfo, CUlaunchAttribute, CUmemorytype, CUresult,
};
use cudarc::driver::{CudaContext, CudaEvent, CudaFunction, CudaStream};

use super::{LaunchAttributes, Region, driver};
use crate::report::error::Result;
use crate::shape::Shape;

/// A graph that nodes are added to.
pub(in crate::gpu) struct Graph {
    graph: sys::CUgraph,
    context: Arc<CudaContext>,
}

// SAFETY: the driver's handles may be used by any thread, one at a time, as `&mut` and ownership ensure.
unsafe impl Send for Graph {}

/// A node of a graph.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::gpu) struct Node(sys::CUgraphNode);

// SAFETY: as for the graph, without which nothing is done to a node.
unsafe impl Send for Node {}

impl Graph {
    /// Creates a graph without nodes.
    pub(in crate::gpu) fn new(context: &Arc<CudaContext>) -> Result<Graph> {
        context.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        let mut graph = ptr::null_mut();
        // SAFETY: writes one handle.
        unsafe { sys::cuGraphCreate(&raw mut graph, 0) }.result().map_err(driver("cuGraphCreate"))?;
        Ok(Graph { graph, context: context.clone() })
    }

    /// Adds a node by a call that writes its handle, and takes the graph and the nodes that it comes after.
    fn add(
        &mut self,
        name: &'static str,
        call: impl FnOnce(*mut sys::CUgraphNode, sys::CUgraph) -> CUresult,
    ) -> Result<Node> {
        self.context.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        let mut node = ptr::null_mut();
        call(&raw mut node, self.graph).result().map_err(driver(name))?;
        Ok(Node(node))
    }

    /// Adds the launch of a kernel. The driver copies the parameters.
    ///
    /// # Safety
    /// The parameters have the types that the function declares, and what they point to lives as long as the graph and what was
    /// made of it can be launched.
    pub(in crate::gpu) unsafe fn kernel(
        &mut self,
        after: &[Node],
        function: &CudaFunction,
        shape: &Shape,
        parameters: &mut [*mut c_void],
        wanted: LaunchAttributes,
    ) -> Result<Node> {
        let node = CUDA_KERNEL_NODE_PARAMS {
            func: function.cu_function(),
            gridDimX: shape.grid.x,
            gridDimY: shape.grid.y,
            gridDimZ: shape.grid.z,
            blockDimX: shape.block.x,
            blockDimY: shape.block.y,
            blockDimZ: shape.block.z,
            sharedMemBytes: shape.dynamic_shared_bytes as u32,
            kernelParams: parameters.as_mut_ptr(),
            extra: ptr::null_mut(),
            kern: ptr::null_mut(),
            ctx: ptr::null_mut(),
        };
        let node = self.add("cuGraphAddKernelNode", |out, graph| {
            // SAFETY: `Node` is the driver's handle; the parameters are the caller's promise, and are copied by the call.
            unsafe { sys::cuGraphAddKernelNode_v2(out, graph, after.as_ptr().cast(), after.len(), &raw const node) }
        })?;
        for CUlaunchAttribute { id, value, .. } in wanted.of(shape, false) {
            // SAFETY: the node is one of a kernel, and the value has the field that `id` names.
            unsafe { sys::cuGraphKernelNodeSetAttribute(node.0, id, &raw const value) }
                .result()
                .map_err(driver("cuGraphKernelNodeSetAttribute"))?;
        }
        Ok(node)
    }

    /// Lets a kernel come after another one whose end it waits for by itself, so that it may begin before that.
    pub(in crate::gpu) fn overlap(&mut self, first: Node, second: Node) -> Result<()> {
        let edge = sys::CUgraphEdgeData {
            from_port: sys::CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC as u8,
            to_port: 0,
            type_: sys::CUgraphDependencyType::CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC as u8,
            reserved: [0; 5],
        };
        self.context.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        // SAFETY: both nodes are kernels of this graph, and each pointer is to one value.
        unsafe {
            sys::cuGraphAddDependencies_v2(self.graph, &raw const first.0, &raw const second.0, &raw const edge, 1)
        }
        .result()
        .map_err(driver("cuGraphAddDependencies"))
    }

    /// Adds a copy of a region to another of its size, which is not empty. Both live as long as what is made of the graph.
    pub(in crate::gpu) fn copy(&mut self, after: &[Node], from: Region<'_>, to: Region<'_>) -> Result<Node> {
        assert!(from.bytes == to.bytes && from.bytes > 0, "a copy has one size");
        let copy = CUDA_MEMCPY3D {
            srcXInBytes: 0,
            srcY: 0,
            srcZ: 0,
            srcLOD: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcHost: ptr::null(),
            srcDevice: from.address,
            srcArray: ptr::null_mut(),
            reserved0: ptr::null_mut(),
            srcPitch: 0,
            srcHeight: 0,
            dstXInBytes: 0,
            dstY: 0,
            dstZ: 0,
            dstLOD: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstHost: ptr::null_mut(),
            dstDevice: to.address,
            dstArray: ptr::null_mut(),
            reserved1: ptr::null_mut(),
            dstPitch: 0,
            dstHeight: 0,
            WidthInBytes: from.bytes,
            Height: 1,
            Depth: 1,
        };
        let context = self.context.cu_ctx();
        self.add("cuGraphAddMemcpyNode", |out, graph| {
            // SAFETY: as for a kernel; the regions have so many bytes.
            unsafe {
                let (nodes, count) = (after.as_ptr().cast(), after.len());
                sys::cuGraphAddMemcpyNode(out, graph, nodes, count, &raw const copy, context)
            }
        })
    }

    /// Adds a node that sets a region, which is not empty, to zero. It lives as long as what is made of the graph.
    pub(in crate::gpu) fn clear(&mut self, after: &[Node], region: Region<'_>) -> Result<Node> {
        let set = CUDA_MEMSET_NODE_PARAMS {
            dst: region.address,
            pitch: 0,
            value: 0,
            elementSize: 1,
            width: region.bytes,
            height: 1,
        };
        let context = self.context.cu_ctx();
        self.add("cuGraphAddMemsetNode", |out, graph| {
            // SAFETY: as for a copy.
            unsafe {
                let (nodes, count) = (after.as_ptr().cast(), after.len());
                sys::cuGraphAddMemsetNode(out, graph, nodes, count, &raw const set, context)
            }
        })
    }

    /// Adds a node that records an event, which lives as long as what is made of the graph.
    pub(in crate::gpu) fn record(&mut self, after: &[Node], event: &CudaEvent) -> Result<Node> {
        self.add("cuGraphAddEventRecordNode", |out, graph| {
            // SAFETY: as for a kernel; the event is one of this context.
            unsafe { sys::cuGraphAddEventRecordNode(out, graph, after.as_ptr().cast(), after.len(), event.cu_event()) }
        })
    }

    /// Adds a node that waits for an event, which lives as long as what is made of the graph.
    pub(in crate::gpu) fn wait(&mut self, after: &[Node], event: &CudaEvent) -> Result<Node> {
        self.add("cuGraphAddEventWaitNode", |out, graph| {
            // SAFETY: as for a kernel; the event is one of this context.
            unsafe { sys::cuGraphAddEventWaitNode(out, graph, after.as_ptr().cast(), after.len(), event.cu_event()) }
        })
    }

    /// Makes the graph executable.
    pub(in crate::gpu) fn instantiate(&self) -> Result<Executable> {
        self.context.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        let mut executable = ptr::null_mut();
        // SAFETY: the graph is valid.
        unsafe { sys::cuGraphInstantiateWithFlags(&raw mut executable, self.graph, 0) }
            .result()
            .map_err(driver("cuGraphInstantiate"))?;
        Ok(Executable { executable, context: self.context.clone() })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: nothing else has the handle. An error is one of the context, which the next call returns.
        let _ = unsafe { sys::cuGraphDestroy(self.graph) };
    }
}

/// A graph that can be launched.
pub(in crate::gpu) struct Executable {
    executable: sys::CUgraphExec,
    context: Arc<CudaContext>,
}

// SAFETY: as for a graph.
unsafe impl Send for Executable {}

impl Executable {
    /// Gives the nodes the parameters of another graph's for the next launches, and returns whether that graph has the same nodes,
    /// without which nothing is changed.
    ///
    /// # Safety
    /// What the nodes of `graph` use lives as long as this can be launched.
    pub(in crate::gpu) unsafe fn update(&mut self, graph: &Graph) -> Result<bool> {
        self.context.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        let mut info = CUgraphExecUpdateResultInfo {
            result: CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS,
            errorNode: ptr::null_mut(),
            errorFromNode: ptr::null_mut(),
        };
        // SAFETY: both handles are valid.
        match unsafe { sys::cuGraphExecUpdate_v2(self.executable, graph.graph, &raw mut info) } {
            CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE => Ok(false),
            result => result.result().map(|()| true).map_err(driver("cuGraphExecUpdate")),
        }
    }

    /// Launches the graph in stream order, and after its earlier launches.
    ///
    /// # Safety
    /// What the nodes use lives until they have run.
    pub(in crate::gpu) unsafe fn launch(&mut self, stream: &CudaStream) -> Result<()> {
        self.context.bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        // SAFETY: both handles are valid; the rest is the caller's promise.
        unsafe { sys::cuGraphLaunch(self.executable, stream.cu_stream()) }.result().map_err(driver("cuGraphLaunch"))
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        // The driver frees it when its launches have ended.
        // SAFETY: nothing else has the handle. An error is one of the context, which the next call returns.
        let _ = unsafe { sys::cuGraphExecDestroy(self.executable) };
    }
}
