//! The errors of the host, as one enum: everything that can fail before, around and after a launch. Each message says
//! what was asked for, what the limit is and how to fix it. Failures of a running kernel are in `failure`, the rules of launches in
//! `launch_error`.

use std::fmt;
use std::path::PathBuf;

use super::dlpack::DlpackError;
use super::driver;
use super::failure::Failure;
use super::graph::GraphError;
pub use super::launch_error::LaunchError;
use super::nccl::CollectiveError;
use super::tensor::TensorError;

/// The result of every operation on devices, buffers and launches; its error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An operation on a device, a buffer or a launch failed.
///
/// The driver's own error is the [`source`](std::error::Error::source), and [`cuda_code`](Error::cuda_code) is its
/// number. `Debug` shows the text of `Display`, so that a `main` that returns an error prints it as it is meant to be
/// read.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// libcuda was not found.
    #[error(
        "no CUDA driver: libcuda was not found; install NVIDIA's driver, or use `Device::simulator()`, which needs none"
    )]
    DriverMissing,

    /// The CUDA driver is older than the functions of it that are called.
    #[error(
        "the CUDA driver is too old: it supports CUDA {major}.{minor}, but a driver for 13.0 or newer is needed; update it"
    )]
    DriverTooOld {
        /// The major number of the CUDA version that the driver supports.
        major: i32,
        /// The minor number of the CUDA version that the driver supports.
        minor: i32,
    },

    /// A kernel had to be compiled, and libnvrtc was not found.
    #[error(
        "NVRTC, CUDA's run-time compiler, was not found ({tried}); install the CUDA toolkit, or `pip install \
         nvidia-cuda-nvrtc` in the active virtual environment, or set PHALANX_NVRTC to the folder that holds libnvrtc.so.13"
    )]
    NvrtcMissing {
        /// The places that were looked at, with what was found there.
        tried: String,
    },

    /// The program's archives of CUBINs have no code of a kernel for the GPU, and libnvrtc was not found, which would make it.
    #[error(
        "the program carries no code of kernel `{kernel}` for {architecture}: its archive has {found}; add the kernel and the \
         architecture to the build script that writes the archive. NVRTC, which would compile it, was not found ({tried})"
    )]
    NotEmbedded {
        /// The kernel's name.
        kernel: String,
        /// The GPU's architecture.
        architecture: String,
        /// What the archives have of it.
        found: String,
        /// The places in which NVRTC was looked for, with what was found there.
        tried: String,
    },

    /// No GPU asks for CUBINs of an architecture of this name.
    #[error(
        "`{0}` is no architecture that a launch asks for; write the compute capability of the GPUs, 8.0 or later, as `sm_80`, `sm_90a` or \
         `sm_100a`"
    )]
    UnknownArchitecture(String),

    /// An archive of CUBINs could not be written.
    #[error("the archive of CUBINs cannot be written to {}: {reason}", .path.display())]
    ArchiveNotWritten {
        /// The archive's file.
        path: PathBuf,
        /// The error of the file system, or what is missing.
        reason: String,
    },

    /// The driver reports fewer GPUs than the ordinal asks for.
    #[error(
        "no GPU {ordinal}: the driver reports {count} GPU(s), counted from 0; CUDA_VISIBLE_DEVICES in the environment may hide others"
    )]
    NoSuchDevice {
        /// The ordinal that was asked for, counted from 0.
        ordinal: usize,
        /// The number of GPUs.
        count: usize,
    },

    /// The GPU has no thread block clusters.
    #[error(
        "{name} has compute capability {major}.{minor}, and kernels need 8.0 (Ampere) or later; open another GPU, or use `Device::simulator()`"
    )]
    CapabilityTooLow {
        /// The GPU's name.
        name: String,
        /// The major number of its compute capability.
        major: i32,
        /// The minor number of its compute capability.
        minor: i32,
    },

    /// A text does not name a device.
    #[error("`{0}` names no device; write `auto`, `gpu`, `gpu:1` or `sim`")]
    UnknownDevice(String),

    /// A device function was used where a kernel is needed.
    #[error("`{0}` is a device function; only a `#[cluster_kernel]` can be launched")]
    NotAKernel(String),

    /// A device function calls itself, directly or through others.
    #[error("device functions cannot be recursive: {}", .cycle.join(" calls "))]
    Recursion {
        /// The names of the functions along the cycle of calls, which ends with the first one.
        cycle: Vec<String>,
    },

    /// NVRTC rejected the generated CUDA C++.
    #[error(
        "NVRTC refused the CUDA C++ of kernel `{kernel}`{}; unless it names a `cuda!` of yours, this is a \
         bug in phalanx\n{}\nthe CUDA C++ was written to {}",
        .location.as_ref().map(|at| format!(" at {at}")).unwrap_or_default(),
        indented(log),
        .source_file.as_ref().map_or("no file: no temporary folder".into(), |path| path.display().to_string())
    )]
    Compile {
        /// The kernel's name.
        kernel: String,
        /// The Rust file and line that NVRTC's first error names.
        location: Option<String>,
        /// NVRTC's log.
        log: String,
        /// The file to which the CUDA C++ was written, for inspection.
        source_file: Option<PathBuf>,
    },

    /// The launch asks for what the kernel or the device does not allow.
    #[error("kernel `{kernel}` cannot be launched: {reason}")]
    Launch {
        /// The kernel's name.
        kernel: String,
        /// The rule that the launch breaks, with the numbers.
        reason: LaunchError,
    },

    /// The kernel ran and stopped before its end.
    #[error(transparent)]
    Kernel(Box<Failure>),

    /// A buffer and the data for it differ in length.
    #[error("the buffer and the data must have the same length, but have {buffer} and {data} elements")]
    LengthMismatch {
        /// The number of elements in the buffer.
        buffer: usize,
        /// The number of elements in the data.
        data: usize,
    },

    /// The bytes that a kernel left in a buffer are no value of the element's type: a `bool` that is neither 0 nor 1,
    /// or an enum without such a variant. A `cuda!` may write them.
    #[error("element {index} of the buffer holds no value of `{ty}`; a `cuda!` may have written other bytes there")]
    InvalidValue {
        /// The index of the first such element.
        index: usize,
        /// The name of the element's type.
        ty: String,
    },

    /// A range is not in a buffer, or ends before it starts.
    #[error("elements {start}..{end} are not all in a buffer of {len}")]
    RangeOutOfBounds {
        /// The index of the first element.
        start: usize,
        /// The index behind the last element.
        end: usize,
        /// The number of elements in the buffer.
        len: usize,
    },

    /// The elements of a buffer are not as many as whole arrays or vectors have.
    #[error("{len} elements are no whole number of chunks of {chunk}; take a part of {} with `slice`", whole(*len, *chunk))]
    NoWholeChunks {
        /// The number of elements.
        len: usize,
        /// The number of elements of an array or a vector.
        chunk: usize,
    },

    /// The first element of a buffer lies where a value of the type cannot begin.
    #[error(
        "the first element lies {past} bytes past a multiple of {alignment}, where each `{ty}` must begin; begin the part at another \
         element"
    )]
    MisalignedElements {
        /// The type as which the elements were asked for.
        ty: String,
        /// The distance from the multiple before, in bytes.
        past: u64,
        /// The type's alignment, in bytes.
        alignment: usize,
    },

    /// Page-locked memory is that of another kind of device.
    #[error(
        "this needs page-locked memory for {expected}, but it was allocated for {found}; call `pinned` of the stream's device"
    )]
    ForeignPinned {
        /// The device of the stream.
        expected: String,
        /// The device that the memory was allocated for.
        found: String,
    },

    /// No tensor is made of a buffer with this shape and these strides.
    #[error(transparent)]
    Tensor(#[from] TensorError),

    /// A tensor of another library is no memory for a kernel.
    #[error(transparent)]
    Dlpack(#[from] DlpackError),

    /// A graph, or the stream that captures one, was used against its rules.
    #[error(transparent)]
    Graph(#[from] GraphError),

    /// A buffer was asked for that is larger than the address space.
    #[error("{len} elements of {size} bytes are more than a buffer can hold")]
    BufferTooLarge {
        /// The number of elements that was asked for.
        len: usize,
        /// The size of an element in bytes.
        size: usize,
    },

    /// The simulator has too little memory left for a buffer, of the host's or of the 80 GiB that it has as a device.
    #[error(
        "the simulator has no memory for a buffer of {bytes} bytes: all buffers of a device may have 80 GiB, as on an H100, and this machine may have \
         less; drop buffers, or make them smaller"
    )]
    OutOfMemory {
        /// The size of the buffer in bytes.
        bytes: usize,
    },

    /// The memory of a buffer cannot be handed out, because a view of it was leaked.
    #[error("the buffer's memory cannot be handed out, because a view of it was leaked by `std::mem::forget`")]
    Leaked,

    /// The host asked for a buffer's elements in place, which are the device's alone.
    #[error(
        "the host cannot access the buffer's elements in place; allocate it by `device.managed(len)`, or copy them by `read` and `write`"
    )]
    NotManaged,

    /// The host asked for a buffer's elements in place, which something else may use meanwhile.
    #[error(
        "the buffer's memory is shared: a graph uses it, or it is a part of another buffer; drop the graph, or ask for the whole buffer"
    )]
    SharedMemory,

    /// Managed memory was to be handed to cudarc as a slice.
    #[error("managed memory is no `CudaSlice`; copy it to a buffer of `device.zeros(len)` first")]
    ManagedMemory,

    /// The host must not access managed memory while kernels run.
    #[error(
        "this GPU has no managed memory that the host may access while kernels run, as under Windows; use `device.pinned(len)` and copies"
    )]
    NoManagedMemory,

    /// A buffer is in the memory of another device.
    #[error("this needs memory of {expected}, but the buffer is on {found}; allocate it there, or copy it")]
    WrongDevice {
        /// The device that the operation is for.
        expected: String,
        /// The device that the buffer is on.
        found: String,
    },

    /// A buffer was lent for a time, which is over.
    #[error(
        "the memory of the buffer was lent for a time, which is over: another user of cudarc lent it to a closure that has returned, or the \
         DLPack tensor that it belongs to is gone; use it before that"
    )]
    BorrowEnded,

    /// The program has been built without GPUs.
    #[error("this program was built without the feature `gpu` of phalanx; it has the simulator alone")]
    NoGpuSupport,

    /// A stream of cudarc's cannot be used on the device.
    #[error("this needs a stream of {expected}, but the stream is one of {found}; make it there")]
    ForeignStream {
        /// The device that the stream is for.
        expected: String,
        /// What the stream belongs to.
        found: String,
    },

    /// The stream is the default one of each thread of the host.
    #[error(
        "the stream is another one in each thread of the host (CU_STREAM_PER_THREAD); make one by `CudaContext::new_stream`, as candle's \
         `Device::new_cuda_with_stream` does, or lend memory to a stream from here, by `View::of_cuda` and `Buffer::with_cuda`"
    )]
    PerThreadStream,

    /// A kernel on the stream has ignored its deadline.
    #[error(
        "the stream is busy with a kernel that has ignored its deadline, and what waits for it would wait forever; use another stream and \
         other buffers, or end the process"
    )]
    StreamLost,

    /// An event was recorded on another device.
    #[error(
        "this needs an event of {expected}, but the event was recorded on {found}; record it on a stream of that device"
    )]
    WrongEvent {
        /// The device that the operation is on.
        expected: String,
        /// The device that the event was recorded on.
        found: String,
    },

    /// NCCL, which computes collectives of GPUs, was not found.
    #[error(
        "NCCL, which computes collectives of GPUs, was not found ({tried}); install it, or `pip install nvidia-nccl-cu13` in the active virtual \
         environment, or set PHALANX_NCCL to the path of libnccl.so.2"
    )]
    NcclMissing {
        /// The names that were tried, with what was found.
        tried: String,
    },

    /// A call of NCCL failed.
    #[error("{call} failed: {reason}; NCCL_DEBUG=WARN in the environment has it say more")]
    Nccl {
        /// The name of NCCL's function.
        call: &'static str,
        /// NCCL's text for the failure.
        reason: String,
    },

    /// A collective of several devices cannot be done.
    #[error(transparent)]
    Collective(#[from] CollectiveError),

    /// A GPU cannot access the memory of another one.
    #[error(
        "{device} cannot access the memory of {peer}: nothing connects them that would allow it; copy by `Stream::copy` instead"
    )]
    NoPeerAccess {
        /// The GPU whose kernels would access the memory.
        device: String,
        /// The GPU that has the memory.
        peer: String,
    },

    /// A call of the CUDA driver failed.
    #[error("{call} failed: {name} ({code}), {description}{}", driver::advice(*code))]
    Driver {
        /// The name of the driver's function.
        call: &'static str,
        /// The name of the `CUresult`, such as `CUDA_ERROR_OUT_OF_MEMORY`.
        name: String,
        /// The number of the `CUresult`.
        code: u32,
        /// The driver's description of it.
        description: String,
        /// The driver's error as cudarc returns it, a `cudarc::driver::DriverError`.
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    /// A call of NVRTC failed for a reason other than the text that it compiles.
    #[error(
        "{call} failed: nvrtcResult {code}, {description}; the folder of libnvrtc must also have the libnvrtc-builtins of its version: install NVRTC \
         anew, or set PHALANX_NVRTC to the folder of another one"
    )]
    Nvrtc {
        /// The name of NVRTC's function.
        call: &'static str,
        /// The number of the `nvrtcResult`.
        code: i32,
        /// NVRTC's description of it.
        description: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.to_string();
        // `main` writes `Error: ` in front of it.
        f.write_str(text.strip_prefix("error: ").unwrap_or(&text))
    }
}

impl Error {
    /// Returns the number of the driver's error (`CUresult`), if a call of the CUDA driver failed: 2 is
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    ///
    /// ```
    /// fn is_out_of_memory(error: &phalanx::Error) -> bool {
    ///     error.cuda_code() == Some(2)
    /// }
    /// ```
    pub fn cuda_code(&self) -> Option<u32> {
        match self {
            Error::Driver { code, .. } => Some(*code),
            Error::DriverMissing
            | Error::DriverTooOld { .. }
            | Error::NvrtcMissing { .. }
            | Error::NotEmbedded { .. }
            | Error::UnknownArchitecture(_)
            | Error::ArchiveNotWritten { .. }
            | Error::NoSuchDevice { .. }
            | Error::CapabilityTooLow { .. }
            | Error::UnknownDevice(_)
            | Error::NotAKernel(_)
            | Error::Recursion { .. }
            | Error::Compile { .. }
            | Error::Launch { .. }
            | Error::Kernel(_)
            | Error::LengthMismatch { .. }
            | Error::InvalidValue { .. }
            | Error::RangeOutOfBounds { .. }
            | Error::NoWholeChunks { .. }
            | Error::MisalignedElements { .. }
            | Error::ForeignPinned { .. }
            | Error::BufferTooLarge { .. }
            | Error::OutOfMemory { .. }
            | Error::Leaked
            | Error::NotManaged
            | Error::SharedMemory
            | Error::ManagedMemory
            | Error::NoManagedMemory
            | Error::BorrowEnded
            | Error::WrongDevice { .. }
            | Error::ForeignStream { .. }
            | Error::PerThreadStream
            | Error::StreamLost
            | Error::WrongEvent { .. }
            | Error::NoGpuSupport
            | Error::Tensor(_)
            | Error::Graph(_)
            | Error::Dlpack(_)
            | Error::NcclMissing { .. }
            | Error::Nccl { .. }
            | Error::Collective(_)
            | Error::NoPeerAccess { .. }
            | Error::Nvrtc { .. } => None,
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Error::Kernel(Box::new(failure))
    }
}

/// Returns the largest number of elements that are whole chunks.
fn whole(len: usize, chunk: usize) -> usize {
    len - len.checked_rem(chunk).unwrap_or(len)
}

/// Indents each line of the log, to set it apart from the sentence around it.
fn indented(log: &str) -> String {
    log.trim_end().lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
