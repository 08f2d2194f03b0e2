//! Compiles a program and the prelude's headers to a CUBIN with NVRTC, CUDA's run-time compiler. It never produces PTX,
//! because an older driver rejects that of a newer NVRTC. It needs no GPU and no toolkit, only libnvrtc, which is
//! loaded here on first use (`search`); cudarc's own loader prefers a system's library to the one that PHALANX_NVRTC names, and
//! panics if there is none. `store` and `context` keep the CUBINs.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{env, ptr};

use libloading::Library;

use self::search::Place;
use super::library;
use super::observe::{self, Stage};
use super::variant::Variant;
use crate::program::Program;
use crate::program::cuda::{self, Header, replace};
use crate::program::options::KernelOptions;
use crate::program::parameters;
use crate::report::error::{Error, Result};

mod search;

/// Lets the assembler keep loads in flight where that takes registers. By default it saves registers for more blocks on a
/// multiprocessor first, and so waited for each load of a product's inner loop.
const REGISTERS: &str = "--ptxas-options=--register-usage-level=10";

/// The oldest version that the tests are run with.
const OLDEST: (i32, i32) = (13, 0);

/// Returns the compiler's options for `program`: unmarked helpers of the prelude; Rust lines in profilers; `i128`; and
/// Rust's float semantics, unless its attribute asks for less. `--use_fast_math` enables contraction by itself, which
/// `--fmad=false` would prevent. Without textures and surfaces, which only handwritten CUDA C++ can name, each
/// compilation is some milliseconds shorter.
pub(super) fn options(program: &Program, variant: Variant) -> Vec<Cow<'static, str>> {
    let floats = match program.options() {
        KernelOptions { fast_math: true, .. } => "--use_fast_math",
        KernelOptions { fmad: true, .. } => "--fmad=true",
        _ => "--fmad=false",
    };
    let mut options: Vec<Cow<'static, str>> = vec![
        "--std=c++20".into(),
        floats.into(),
        "--device-as-default-execution-space".into(),
        "--device-int128".into(),
        "--generate-line-info".into(),
        REGISTERS.into(),
    ];
    if !["tex1D", "tex2D", "tex3D", "texCube", "surf", "cuda"].iter().any(|name| program.cuda_source().contains(name)) {
        options.push("--minimal".into());
    }
    if variant.flat_grid {
        options.push("--define-macro=PHALANX_FLAT_GRID".into());
    }
    if variant.short_slices {
        options.push("--define-macro=PHALANX_SHORT_SLICES".into());
    }
    if variant.short_integers {
        options.push("--define-macro=PHALANX_SHORT_INTEGERS".into());
    }
    if variant.deadline {
        options.push("--define-macro=PHALANX_DEADLINE".into());
        if cuda::only_arrivals_end_phases(program.cuda_source()) {
            options.push("--define-macro=PHALANX_ARRIVALS_ALONE".into());
        }
    }
    if variant.held_checks != 0 {
        options.push(format!("--define-macro=PHALANX_HELD_CHECKS={:#x}ull", variant.held_checks).into());
    }
    if variant.multiples != 0 {
        options.push(format!("--define-macro=PHALANX_MULTIPLES={:#x}ull", variant.multiples).into());
    }
    options
}

impl Program {
    /// Compiles with NVRTC, which needs no GPU, for `architecture` (`sm_90a`), to a CUBIN. A launch does this
    /// implicitly. This CUBIN works for every launch; that of a launch may assume a grid of one dimension, and slices of fewer
    /// than 2^31 elements.
    pub fn compile(&self, architecture: &str) -> Result<Vec<u8>> {
        self.compile_variant(architecture, Variant::GENERAL)
    }

    /// Compiles for launches with a grid of one dimension, and short slices and integers that are multiples of 16, as most are.
    #[doc(hidden)]
    pub fn compile_for_most_launches(&self, architecture: &str) -> Result<Vec<u8>> {
        let short = Variant {
            flat_grid: true,
            short_slices: true,
            short_integers: true,
            multiples: u64::MAX,
            held_checks: self.launch_checks().all(),
            ..Variant::GENERAL
        };
        self.compile_variant(architecture, short)
    }

    /// Compiles for launches with a deadline.
    #[doc(hidden)]
    pub fn compile_with_deadline(&self, architecture: &str) -> Result<Vec<u8>> {
        self.compile_variant(architecture, Variant::GENERAL.with_deadline(true))
    }

    /// Compiles for the launches of a variant.
    pub(super) fn compile_variant(&self, architecture: &str, variant: Variant) -> Result<Vec<u8>> {
        let nvrtc = Nvrtc::get()?;
        let _span = observe::span(Stage::Compile, self.name());
        let arch = format!("--gpu-architecture={architecture}");
        let more = replace::options().iter().map(String::as_str);
        let own = options(self, variant);
        let own = own.iter().map(AsRef::as_ref);
        let options: Vec<&str> = [arch.as_str()].into_iter().chain(own).chain(more).collect();
        let text = replace::text(self.entry(), self.cuda_source());
        let timed = variant.deadline.then(|| parameters::timed(self.entry(), text));
        match nvrtc.cubin(timed.as_deref().unwrap_or(text), &format!("{}.cu", self.name()), &options)? {
            Ok(cubin) => {
                count(self, architecture);
                Ok(cubin)
            }
            Err(log) => Err(Error::Compile {
                kernel: self.name().into(),
                location: rust_location(&log),
                source_file: keep_source(self),
                log: log + &age(version()),
            }),
        }
    }
}

/// Returns what to add to a log if it is that of an NVRTC which is older than those that kernels are for.
fn age(version: Option<(i32, i32)>) -> String {
    match version.filter(|version| *version < OLDEST) {
        Some((major, minor)) => format!(
            "\nnote: this NVRTC is one of CUDA {major}.{minor}, and kernels are for 13.0 or newer: install a newer one, or set PHALANX_NVRTC to its folder"
        ),
        None => String::new(),
    }
}

/// Returns the version of NVRTC, if it can be loaded.
pub(super) fn version() -> Option<(i32, i32)> {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: writes two ints.
    let status = unsafe { (Nvrtc::get().ok()?.version)(&mut major, &mut minor) };
    (status == 0).then_some((major, minor))
}

/// Returns whether NVRTC can be loaded.
pub(crate) fn is_present() -> bool {
    Nvrtc::get().is_ok()
}

/// Appends a line for each compilation to the file that PHALANX_NVRTC_COUNT names, so that a test run can show that it
/// compiled something.
fn count(program: &Program, architecture: &str) {
    let Some(path) = env::var_os("PHALANX_NVRTC_COUNT") else { return };
    let file = OpenOptions::new().create(true).append(true).open(path);
    // A single write, so that lines of several processes do not mix. A count that cannot be written is no reason to
    // fail.
    let _ = file.and_then(|mut file| file.write_all(format!("{} {architecture}\n", program.name()).as_bytes()));
}

/// Returns `src/k.rs:42` of `src/k.rs(42): error: ..`, the first position in the log that is not in the prelude.
fn rust_location(log: &str) -> Option<String> {
    let errors =
        log.lines().filter_map(|line| line.split_once("): error").or_else(|| line.split_once("): catastrophic")));
    let mut places = errors.filter_map(|(place, _)| place.rsplit_once('('));
    places.find(|(file, _)| file.ends_with(".rs")).map(|(file, line)| format!("{file}:{line}"))
}

/// Writes the text to a temporary file that is kept.
fn keep_source(program: &Program) -> Option<PathBuf> {
    let prefix = format!("phalanx-{}-", program.name());
    let mut file = tempfile::Builder::new().prefix(&prefix).suffix(".cu").tempfile().ok()?;
    file.write_all(program.cuda_source().as_bytes()).ok()?;
    file.keep().ok().map(|(_, path)| path)
}

type Handle = *mut c_void;

/// The functions of libnvrtc that are called. Statuses are plain ints, because a newer library may return unknown
/// codes.
struct Nvrtc {
    create: unsafe extern "C" fn(
        *mut Handle,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> c_int,
    destroy: unsafe extern "C" fn(*mut Handle) -> c_int,
    compile: unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> c_int,
    log_size: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
    log: unsafe extern "C" fn(Handle, *mut c_char) -> c_int,
    cubin_size: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
    cubin: unsafe extern "C" fn(Handle, *mut c_char) -> c_int,
    error_string: unsafe extern "C" fn(c_int) -> *const c_char,
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int,
    /// The libraries that hold the functions. The second is loaded by name when the first compiles.
    _libraries: (Library, Option<Library>),
}

/// The status NVRTC_ERROR_COMPILATION: the text is wrong, and the log says why.
const COMPILATION: c_int = 6;

impl Nvrtc {
    /// Returns the library, which is searched for once.
    fn get() -> Result<&'static Nvrtc> {
        static NVRTC: OnceLock<Result<Nvrtc, String>> = OnceLock::new();
        let nvrtc = NVRTC.get_or_init(Nvrtc::load).as_ref();
        nvrtc.map_err(|tried| Error::NvrtcMissing { tried: tried.clone() })
    }

    fn load() -> Result<Nvrtc, String> {
        if let Some(folder) = env::var_os("PHALANX_NVRTC") {
            return Nvrtc::in_folder(Path::new(&folder)).map_err(|error| format!("PHALANX_NVRTC: {error}"));
        }
        let mut tried = Vec::new();
        for place in search::places(|name| env::var_os(name), Path::new("/usr/local")) {
            let found = match &place {
                Place::Loaded => Nvrtc::loaded(),
                Place::Loader => Nvrtc::by_name(),
                Place::Folder { path, .. } => Nvrtc::in_folder(path),
            };
            match found {
                Ok(nvrtc) => return Ok(nvrtc),
                Err(error) => tried.push(format!("{place}: {error}")),
            }
        }
        Err(tried.join("; "))
    }

    /// Returns the library that another part of the process has loaded.
    #[cfg(target_os = "linux")]
    fn loaded() -> Result<Nvrtc, String> {
        use libloading::os::unix::{Library, RTLD_NOW};
        /// The flag of Linux's dlopen that asks for what is there.
        const RTLD_NOLOAD: c_int = 4;
        // SAFETY: nothing is loaded, so that no initializer runs.
        let open = |name: &&str| unsafe { Library::open(Some(*name), RTLD_NOW | RTLD_NOLOAD) }.ok();
        let library = search::NAMES.iter().find_map(open).ok_or("none")?;
        Nvrtc::of(library.into(), None)
    }

    /// Elsewhere, a library that is loaded is found by its name.
    #[cfg(not(target_os = "linux"))]
    fn loaded() -> Result<Nvrtc, String> {
        Err("not looked at".into())
    }

    fn by_name() -> Result<Nvrtc, String> {
        let mut tried = Vec::new();
        for name in search::NAMES {
            match Nvrtc::open(Path::new(name), None) {
                Ok(nvrtc) => return Ok(nvrtc),
                Err(error) => tried.push(error),
            }
        }
        Err(tried.join(", "))
    }

    fn in_folder(folder: &Path) -> Result<Nvrtc, String> {
        let none = || format!("no {}* in {}", search::LIBRARY, folder.display());
        let library = search::newest(folder, search::LIBRARY).ok_or_else(none)?;
        // NVRTC loads its built-ins by name only, from the system's folders; a library that is already loaded is found.
        Nvrtc::open(&library, search::newest(folder, search::BUILTINS).as_deref())
    }

    fn open(path: &Path, builtins: Option<&Path>) -> Result<Nvrtc, String> {
        let open = |path: &Path| {
            // SAFETY: the initializers of NVIDIA's libraries set up their own state only.
            unsafe { Library::new(path) }.map_err(|error| library::reason(&error))
        };
        let builtins = builtins.map(open).transpose()?;
        Nvrtc::of(open(path)?, builtins)
    }

    fn of(library: Library, builtins: Option<Library>) -> Result<Nvrtc, String> {
        macro_rules! symbol {
            ($name:literal) => {
                // SAFETY: nvrtc.h declares the function with the field's type, for every version since 11.1.
                *unsafe { library.get($name) }.map_err(|error| library::reason(&error))?
            };
        }
        Ok(Nvrtc {
            create: symbol!("nvrtcCreateProgram"),
            destroy: symbol!("nvrtcDestroyProgram"),
            compile: symbol!("nvrtcCompileProgram"),
            log_size: symbol!("nvrtcGetProgramLogSize"),
            log: symbol!("nvrtcGetProgramLog"),
            cubin_size: symbol!("nvrtcGetCUBINSize"),
            cubin: symbol!("nvrtcGetCUBIN"),
            error_string: symbol!("nvrtcGetErrorString"),
            version: symbol!("nvrtcVersion"),
            _libraries: (library, builtins),
        })
    }

    /// Returns the CUBIN, or the compiler's log if the text is wrong.
    fn cubin(&self, source: &str, name: &str, options: &[&str]) -> Result<Result<Vec<u8>, String>> {
        // The text is printed from Rust source, and a zero byte is not a token of Rust.
        let c_string = |text: &str| CString::new(text).expect("no zero byte in the text");
        let pointers = |strings: &[CString]| strings.iter().map(|text| text.as_ptr()).collect::<Vec<_>>();
        let (source, name) = (c_string(source), c_string(name));
        let headers: Vec<&Header> = replace::headers().collect();
        let texts: Vec<CString> = headers.iter().map(|header| c_string(header.text)).collect();
        let paths: Vec<CString> = headers.iter().map(|header| c_string(header.path)).collect();
        let options: Vec<CString> = options.iter().map(|option| c_string(option)).collect();
        let (texts, paths, options) = (pointers(&texts), pointers(&paths), (pointers(&options), options));

        let mut program = OwnedProgram { nvrtc: self, handle: ptr::null_mut() };
        // SAFETY: the strings and arrays live to the end of this function, longer than the program; the counts are
        // theirs.
        let status = unsafe {
            let count = headers.len() as c_int;
            (self.create)(&mut program.handle, source.as_ptr(), name.as_ptr(), count, texts.as_ptr(), paths.as_ptr())
        };
        self.check("nvrtcCreateProgram", status)?;
        // SAFETY: as above, and the program was created.
        let status = unsafe { (self.compile)(program.handle, options.0.len() as c_int, options.0.as_ptr()) };
        if status == COMPILATION {
            let log = program.bytes(("nvrtcGetProgramLogSize", self.log_size), ("nvrtcGetProgramLog", self.log))?;
            let text = String::from_utf8_lossy(&log);
            return Ok(Err(text.trim_end_matches('\0').to_string()));
        }
        self.check("nvrtcCompileProgram", status)?;
        program.bytes(("nvrtcGetCUBINSize", self.cubin_size), ("nvrtcGetCUBIN", self.cubin)).map(Ok)
    }

    fn check(&self, call: &'static str, status: c_int) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: returns a static string for every status.
        let description = unsafe { CStr::from_ptr((self.error_string)(status)) };
        let description = description.to_string_lossy().into_owned();
        Err(Error::Nvrtc { call, code: status, description })
    }
}

/// A program of the library, destroyed on drop.
struct OwnedProgram<'a> {
    nvrtc: &'a Nvrtc,
    handle: Handle,
}

impl OwnedProgram<'_> {
    /// Returns the bytes that a pair of functions yields, of which the first returns the size and the second the bytes.
    fn bytes(
        &self,
        size: (&'static str, unsafe extern "C" fn(Handle, *mut usize) -> c_int),
        get: (&'static str, unsafe extern "C" fn(Handle, *mut c_char) -> c_int),
    ) -> Result<Vec<u8>> {
        let mut len = 0;
        // SAFETY: the program was created and compiled; writes one size.
        self.nvrtc.check(size.0, unsafe { (size.1)(self.handle, &mut len) })?;
        let mut bytes = vec![0u8; len];
        // SAFETY: writes as many bytes as the first call returned.
        self.nvrtc.check(get.0, unsafe { (get.1)(self.handle, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }
}

impl Drop for OwnedProgram<'_> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: created by this library and not destroyed before. A failure here cannot be reported.
            unsafe { (self.nvrtc.destroy)(&mut self.handle) };
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;

    use super::*;
    use crate::program::constant::Constant;
    use crate::program::launch_terms::LaunchTerms;
    use crate::program::options::KernelOptions;
    use crate::program::template::{Definition, Fragment, Role, Site, SiteMessage, Slot, Template};
    use crate::program::types::{DeviceType, constant};

    #[test]
    fn a_log_names_the_first_rust_line() {
        let log = "phalanx/scalar.cuh(12): error: this\n          detected during\nsrc/k.rs(42): error: that\n";
        assert_eq!(rust_location(log).as_deref(), Some("src/k.rs:42"));
        assert_eq!(rust_location("k.cu(1): warning #1: x"), None);
        assert!(age(Some((12, 4))).contains("this NVRTC is one of CUDA 12.4"), "{}", age(Some((12, 4))));
        assert_eq!([age(Some((13, 0))), age(None)], ["", ""]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_loader_names_what_it_did_not_find() {
        let error = Nvrtc::open(Path::new("libnvrtc-none.so.7"), None).err().unwrap();
        assert!(error.contains("libnvrtc-none.so.7: cannot open shared object file"), "{error}");
    }

    static COPY: Template = Template {
        name: "copy",
        module: "demo",
        file: "src/demo.rs",
        role: Role::Kernel,
        signature: &[
            Fragment::Line(3),
            Fragment::Text("extern \"C\" __global__ void "),
            Fragment::Name,
            Fragment::Text(
                "(slice<u32> input, slice_mut<u32> output, const __grid_constant__ launch_block phalanx_launch)",
            ),
        ],
        body: &[
            Fragment::Text("{"),
            Fragment::Line(4),
            Fragment::Text("    output"),
            Fragment::Site(0),
            Fragment::Text("["),
            Fragment::Literal { slot: 0, digits: "0" },
            Fragment::Text("] = "),
            Fragment::Digits(0),
            Fragment::Text(";"),
            Fragment::Line(5),
            Fragment::Text("}"),
        ],
        sites: &[Site { line: 4, column: 5, message: SiteMessage::None }],
        headers: &["memory.cuh"],
        locals: &["input", "output"],
        constants: &[],
        collective: false,
        converged: true,
        fences: phalanx_contract::fence::FunctionFences::NONE,
        needs: &[],
        launch: LaunchTerms::NONE,
        continued: false,
    };

    pub(in super::super) fn copy(value: Constant) -> Program {
        copy_with(KernelOptions::NONE, value)
    }

    pub(in crate::gpu) fn copy_with(options: KernelOptions, value: Constant) -> Program {
        let slots = vec![Slot::Type(usize::info())];
        let (types, values) = (vec![], vec![value]);
        let template = &COPY;
        let definition = Definition { template, options, instance: "copy", slots, types, values, shared: vec![] };
        Program::assemble(definition).unwrap()
    }

    #[test]
    fn a_program_becomes_a_cubin() {
        if !is_present() {
            eprintln!("skipped: no NVRTC");
            return;
        }
        let cubin = copy(constant(&7u32)).compile("sm_90a").unwrap();
        assert!(cubin.starts_with(b"\x7fELF"));
        let contains = |name: &[u8]| cubin.windows(name.len()).any(|window| window == name);
        assert!(contains(b"demo.rs"), "Rust's lines");
    }

    #[test]
    fn the_attribute_chooses_the_arithmetic() {
        let of = |options| options_of(&copy_with(options, constant(&7u32)));
        let none = KernelOptions::NONE;
        assert_eq!(of(none), "--fmad=false");
        assert_eq!(of(KernelOptions { fmad: true, ..none }), "--fmad=true");
        assert_eq!(of(KernelOptions { fast_math: true, ..none }), "--use_fast_math");
    }

    fn options_of(program: &Program) -> String {
        let options = options(program, Variant::GENERAL).into_iter();
        options.filter(|option| option.contains("math") || option.contains("fmad")).collect()
    }

    #[test]
    fn a_text_that_nvrtc_refuses_is_kept_and_its_rust_line_named() {
        if !is_present() {
            eprintln!("skipped: no NVRTC");
            return;
        }
        // A `bool` is no `u32`, which rustc would have rejected.
        let error = copy(constant(&true)).compile("sm_90a").unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("NVRTC refused the CUDA C++ of kernel `copy` at src/demo.rs:4;"), "{text}");
        let Error::Compile { source_file: Some(path), .. } = error else { panic!("{text}") };
        assert!(fs::read_to_string(&path).unwrap().contains("#line 3 \"src/demo.rs\""));
        fs::remove_file(path).unwrap();
    }
}
