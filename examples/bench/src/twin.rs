//! The kernels written by hand: CUDA C++ that the same NVRTC compiles with the options that Phalanx gives it, and that is
//! launched through cudarc alone. `PHALANX_CUBINS` names a folder of compiled kernels, as for Phalanx's own.

use std::ffi::{CString, c_void};
use std::path::PathBuf;
use std::sync::Arc;
use std::{env, fs};

use cudarc::driver::sys::{
    CUfunction_attribute as Attribute, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue,
    CUlaunchAttributeValue_union__bindgen_ty_1 as ClusterDim, CUlaunchConfig, cuLaunchKernelEx,
};
use cudarc::driver::{CudaFunction, CudaStream};
use cudarc::nvrtc::{Ptx, result as nvrtc, sys};
use sha2::{Digest, Sha256};

use crate::Result;

/// The header that is put before each twin's text.
const COMMON: &str = include_str!("../twins/common.cuh");

/// The options of Phalanx for a kernel without options of its own (`runtime/src/gpu/nvrtc.rs`).
const OPTIONS: [&str; 8] = [
    "--gpu-architecture=sm_90a",
    "--std=c++20",
    "--fmad=false",
    "--device-as-default-execution-space",
    "--device-int128",
    "--generate-line-info",
    "--ptxas-options=--register-usage-level=10",
    "--minimal",
];

/// Returns whether NVRTC can be loaded.
pub fn compiler_is_present() -> bool {
    // SAFETY: loads a library without reading anything in it.
    unsafe { sys::is_culib_present() }
}

/// A kernel in CUDA C++.
#[derive(Debug, Clone)]
pub struct Twin {
    /// The `extern "C"` function.
    pub entry: &'static str,
    source: &'static str,
    /// The constants of this instance, as macros.
    constants: Vec<(&'static str, u64)>,
}

impl Twin {
    /// Returns the kernel `entry` of a text.
    pub fn new(entry: &'static str, source: &'static str) -> Twin {
        Twin { entry, source, constants: Vec::new() }
    }

    /// Defines a constant.
    pub fn with(mut self, name: &'static str, value: impl TryInto<u64>) -> Twin {
        self.constants.push((name, value.try_into().unwrap_or(u64::MAX)));
        self
    }

    fn text(&self) -> String {
        let constants: String =
            self.constants.iter().map(|(name, value)| format!("constexpr unsigned {name} = {value};\n")).collect();
        format!("{COMMON}{constants}{}", self.source)
    }

    /// Returns the compiled kernel, from the store or from NVRTC.
    pub fn cubin(&self) -> Result<Vec<u8>> {
        let text = self.text();
        let Some(folder) = env::var_os("PHALANX_CUBINS").filter(|folder| !folder.is_empty()) else {
            return self.compile(&text);
        };
        let mut hash = Sha256::new();
        hash.update(&text);
        OPTIONS.iter().for_each(|option| hash.update(option));
        let name: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let path = PathBuf::from(folder).join(format!("twin-{name}.cubin"));
        if let Ok(cubin) = fs::read(&path) {
            return Ok(cubin);
        }
        let cubin = self.compile(&text)?;
        fs::write(&path, &cubin).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(cubin)
    }

    fn compile(&self, text: &str) -> Result<Vec<u8>> {
        if !compiler_is_present() {
            return Err("NVRTC was not found, and the twin is not in PHALANX_CUBINS".into());
        }
        let name = CString::new(format!("{}.cu", self.entry))?;
        let program = nvrtc::create_program(&CString::new(text)?, Some(&name)).map_err(|error| format!("{error:?}"))?;
        // SAFETY: the program was created above, and is destroyed below after its last use.
        let cubin = unsafe {
            let cubin = match nvrtc::compile_program(program, &OPTIONS) {
                Ok(()) => {
                    let mut size = 0;
                    sys::nvrtcGetCUBINSize(program, &mut size).result().map_err(|error| format!("{error:?}"))?;
                    let mut cubin = vec![0u8; size];
                    let got = sys::nvrtcGetCUBIN(program, cubin.as_mut_ptr().cast());
                    got.result().map_err(|error| format!("{error:?}"))?;
                    Ok(cubin)
                }
                Err(_) => {
                    let log = nvrtc::get_program_log(program).unwrap_or_default();
                    let log: Vec<u8> = log.into_iter().map(|c| c as u8).collect();
                    Err(format!("{}: {}", self.entry, String::from_utf8_lossy(&log)))
                }
            };
            nvrtc::destroy_program(program).map_err(|error| format!("{error:?}"))?;
            cubin
        };
        Ok(cubin?)
    }
}

/// An argument of a twin.
#[derive(Debug, Clone, Copy)]
pub enum Argument {
    /// A pointer, or a 64-bit number.
    Word(u64),
    /// A 32-bit number.
    Number(u32),
    /// An `f32`.
    Real(f32),
}

/// A launch of a twin.
#[derive(Debug, Clone)]
pub struct Call {
    /// The number of blocks.
    pub grid: u32,
    /// The number of threads in a block.
    pub block: u32,
    /// The number of blocks in a cluster. One means a launch without the attribute, as a person would write it.
    pub cluster: u32,
    /// The bytes of dynamic shared memory.
    pub shared_bytes: u32,
    /// The arguments, in the order of the parameters.
    pub arguments: Vec<Argument>,
}

/// Launches twins on a GPU's stream.
pub struct Twins {
    stream: Arc<CudaStream>,
}

impl Twins {
    /// Launches on this stream.
    pub fn new(stream: Arc<CudaStream>) -> Twins {
        Twins { stream }
    }

    /// Loads a twin, which may then use all shared memory and clusters of any size.
    pub fn load(&self, twin: &Twin) -> Result<CudaFunction> {
        let module = self.stream.context().load_module(Ptx::from_binary(twin.cubin()?))?;
        let function = module.load_function(twin.entry)?;
        function.set_attribute(Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)?;
        Ok(function)
    }

    /// Prepares a launch of a twin, which then costs no more than the driver's call.
    pub fn prepare(&self, function: &CudaFunction, call: &Call) -> Result<Ready> {
        if call.shared_bytes > 48 << 10 {
            let most = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            function.set_attribute(most, call.shared_bytes as i32)?;
        }
        self.stream.context().bind_to_thread()?;
        let word = |argument: &Argument| match *argument {
            Argument::Word(word) => word,
            Argument::Number(number) => number.into(),
            Argument::Real(real) => real.to_bits().into(),
        };
        let mut words: Vec<u64> = call.arguments.iter().map(word).collect();
        let parameters = words.iter_mut().map(|word| std::ptr::from_mut(word).cast()).collect();
        let (stream, function) = (self.stream.clone(), function.clone());
        let attribute = cluster_attribute(call.cluster);
        let (grid, block, shared_bytes) = (call.grid, call.block, call.shared_bytes);
        Ok(Ready {
            stream,
            function,
            grid,
            block,
            shared_bytes,
            cluster: call.cluster,
            attribute,
            _words: words,
            parameters,
        })
    }
}

/// A launch of a twin that is ready for the driver, in the thread that prepared it.
pub struct Ready {
    stream: Arc<CudaStream>,
    function: CudaFunction,
    grid: u32,
    block: u32,
    shared_bytes: u32,
    cluster: u32,
    attribute: CUlaunchAttribute,
    /// The arguments, to which the parameters point.
    _words: Vec<u64>,
    parameters: Vec<*mut c_void>,
}

impl Ready {
    /// Enqueues the launch.
    pub fn launch(&mut self) -> Result<()> {
        let config = CUlaunchConfig {
            gridDimX: self.grid,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: self.block,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: self.shared_bytes,
            hStream: self.stream.cu_stream(),
            attrs: &mut self.attribute,
            numAttrs: u32::from(self.cluster > 1),
        };
        let (function, parameters) = (self.function.cu_function(), self.parameters.as_mut_ptr());
        // SAFETY: the configuration lives to the end of the call, which copies the parameters. That they are those that
        // the twin declares is what the showcase states; each lies at the start of a word, as on every little-endian
        // machine.
        unsafe { cuLaunchKernelEx(&config, function, parameters, std::ptr::null_mut()) }.result()?;
        Ok(())
    }
}

impl Call {
    /// Returns a launch without clusters and without dynamic shared memory.
    pub fn new(grid: u32, block: usize, arguments: impl Into<Vec<Argument>>) -> Call {
        Call { grid, block: block as u32, cluster: 1, shared_bytes: 0, arguments: arguments.into() }
    }

    /// Sets the number of blocks in a cluster.
    pub fn cluster(self, cluster: u32) -> Call {
        Call { cluster, ..self }
    }

    /// Sets the size of the dynamic shared memory.
    pub fn shared_bytes(self, bytes: usize) -> Call {
        Call { shared_bytes: bytes as u32, ..self }
    }
}

fn cluster_attribute(blocks: u32) -> CUlaunchAttribute {
    let value = CUlaunchAttributeValue { clusterDim: ClusterDim { x: blocks, y: 1, z: 1 } };
    CUlaunchAttribute { id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, pad: [0; 4], value }
}
