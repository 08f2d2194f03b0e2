//! NCCL: the library, which is loaded when it is first used, and the calls that collectives make. cudarc's own loading knows no
//! `libnccl.so.2`, the only name that NVIDIA's wheels have, and panics where it finds none.

use std::ffi::{CStr, OsString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

use cudarc::driver::CudaStream;
use libloading::Library;

use super::super::library;
use super::Region;
use crate::report::error::{Error, Result};
use crate::report::nccl::{Collective, ElementKind, Reduction, UniqueId};

/// A handle of a communicator (nccl.h, `ncclComm_t`).
type Handle = *mut c_void;

/// The functions, by the names and types of nccl.h.
struct Nccl {
    get_unique_id: unsafe extern "C" fn(*mut UniqueId) -> c_int,
    init_all: unsafe extern "C" fn(*mut Handle, c_int, *const c_int) -> c_int,
    init_rank: unsafe extern "C" fn(*mut Handle, c_int, UniqueId, c_int) -> c_int,
    destroy: unsafe extern "C" fn(Handle) -> c_int,
    all_reduce: unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, c_int, Handle, *mut c_void) -> c_int,
    broadcast: unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, c_int, Handle, *mut c_void) -> c_int,
    group_start: unsafe extern "C" fn() -> c_int,
    group_end: unsafe extern "C" fn() -> c_int,
    error_string: unsafe extern "C" fn(c_int) -> *const c_char,
    _library: Library,
}

/// Returns the library, or says where it was looked for.
fn nccl() -> Result<&'static Nccl> {
    static NCCL: OnceLock<Result<Nccl, String>> = OnceLock::new();
    NCCL.get_or_init(Nccl::find).as_ref().map_err(|tried| Error::NcclMissing { tried: tried.clone() })
}

impl Nccl {
    fn find() -> Result<Nccl, String> {
        let mut tried = Vec::new();
        for name in names(&|name| std::env::var_os(name)) {
            // SAFETY: the initializers of the library set up its own state only.
            let found = unsafe { Library::new(&name) }.map_err(|error| library::reason(&error)).and_then(Nccl::of);
            match found {
                Ok(nccl) => return Ok(nccl),
                Err(error) => tried.push(error),
            }
        }
        Err(tried.join("; "))
    }

    fn of(library: Library) -> Result<Nccl, String> {
        /// Returns a function.
        ///
        /// # Safety
        /// `F` is the function's type.
        unsafe fn function<F: Copy>(library: &Library, name: &str) -> Result<F, String> {
            // SAFETY: passed on to the caller.
            unsafe { library.get::<F>(name.as_bytes()) }
                .map(|function| *function)
                .map_err(|error| library::reason(&error))
        }
        // SAFETY: the types are those of nccl.h, which are the same in all versions of NCCL 2.
        unsafe {
            Ok(Nccl {
                get_unique_id: function(&library, "ncclGetUniqueId")?,
                init_all: function(&library, "ncclCommInitAll")?,
                init_rank: function(&library, "ncclCommInitRank")?,
                destroy: function(&library, "ncclCommDestroy")?,
                all_reduce: function(&library, "ncclAllReduce")?,
                broadcast: function(&library, "ncclBroadcast")?,
                group_start: function(&library, "ncclGroupStart")?,
                group_end: function(&library, "ncclGroupEnd")?,
                error_string: function(&library, "ncclGetErrorString")?,
                _library: library,
            })
        }
    }

    /// Turns the status of a call into a result.
    fn check(&self, call: &'static str, status: c_int) -> Result<()> {
        match status {
            0 => Ok(()),
            status => {
                // SAFETY: NCCL returns a constant text for each status.
                let text = unsafe { CStr::from_ptr((self.error_string)(status)) };
                Err(Error::Nccl { call, reason: text.to_string_lossy().into_owned() })
            }
        }
    }
}

/// Returns the names under which the library may be found: the file that PHALANX_NCCL names, NVIDIA's wheel in the running virtual
/// environment or in conda's, and those that the loader knows.
fn names(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<OsString> {
    const LIBRARY: &str = "libnccl.so.2";
    let folder = |name: &str| variable(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let mut names: Vec<OsString> = folder("PHALANX_NCCL").into_iter().map(Into::into).collect();
    for environment in ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(folder) {
        let pythons = std::fs::read_dir(environment.join("lib")).into_iter().flatten().flatten();
        let files = pythons.map(|python| python.path().join("site-packages/nvidia/nccl/lib").join(LIBRARY));
        names.extend(files.filter(|file| file.is_file()).map(OsString::from));
    }
    names.extend([LIBRARY.into(), "libnccl.so".into()]);
    names
}

/// Returns a new identity of a communicator, which one process makes and all of its ranks use.
pub(in crate::gpu) fn unique_id() -> Result<UniqueId> {
    let nccl = nccl()?;
    let mut id = UniqueId { bytes: [0; 128] };
    // SAFETY: writes one identity.
    nccl.check("ncclGetUniqueId", unsafe { (nccl.get_unique_id)(&raw mut id) })?;
    Ok(id)
}

/// A rank of a communicator.
pub(in crate::gpu) struct Comm {
    handle: Handle,
    nccl: &'static Nccl,
}

// SAFETY: NCCL's handles may be used by any thread, one at a time, as `&mut` of the owner ensures.
unsafe impl Send for Comm {}

impl Comm {
    /// Makes a communicator of these GPUs of the process.
    pub(in crate::gpu) fn all(ordinals: &[usize]) -> Result<Vec<Comm>> {
        let nccl = nccl()?;
        let ordinals: Vec<c_int> = ordinals.iter().map(|ordinal| *ordinal as c_int).collect();
        let mut handles = vec![std::ptr::null_mut(); ordinals.len()];
        // SAFETY: both have as many elements as the call is told.
        let status = unsafe { (nccl.init_all)(handles.as_mut_ptr(), ordinals.len() as c_int, ordinals.as_ptr()) };
        nccl.check("ncclCommInitAll", status)?;
        Ok(handles.into_iter().map(|handle| Comm { handle, nccl }).collect())
    }

    /// Joins a communicator with the GPU whose context is current, and waits for the other ranks.
    pub(in crate::gpu) fn of_rank(rank: usize, size: usize, id: UniqueId) -> Result<Comm> {
        let nccl = nccl()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: writes one handle.
        let status = unsafe { (nccl.init_rank)(&raw mut handle, size as c_int, id, rank as c_int) };
        nccl.check("ncclCommInitRank", status)?;
        Ok(Comm { handle, nccl })
    }

    /// Enqueues this rank's part of a collective, in place.
    pub(in crate::gpu) fn enqueue(
        &mut self,
        stream: &CudaStream,
        memory: Region<'_>,
        (kind, count): (ElementKind, usize),
        collective: Collective,
    ) -> Result<()> {
        let place = memory.address as *mut c_void;
        let (kind, stream) = (kind as c_int, stream.cu_stream().cast());
        match collective {
            Collective::AllReduce(reduction) => {
                let reduction = match reduction {
                    Reduction::Sum => 0,
                    Reduction::Product => 1,
                    Reduction::Max => 2,
                    Reduction::Min => 3,
                };
                // SAFETY: the memory has so many elements, and lives until the stream has passed this.
                let status =
                    unsafe { (self.nccl.all_reduce)(place, place, count, kind, reduction, self.handle, stream) };
                self.nccl.check("ncclAllReduce", status)
            }
            Collective::Broadcast { root } => {
                // SAFETY: as above.
                let status =
                    unsafe { (self.nccl.broadcast)(place, place, count, kind, root as c_int, self.handle, stream) };
                self.nccl.check("ncclBroadcast", status)
            }
        }
    }
}

/// Makes calls for several ranks of one thread, which NCCL begins together.
pub(in crate::gpu) fn together(calls: impl FnOnce() -> Result<()>) -> Result<()> {
    let nccl = nccl()?;
    // SAFETY: both calls concern this thread alone, and each start has its end.
    nccl.check("ncclGroupStart", unsafe { (nccl.group_start)() })?;
    let result = calls();
    // SAFETY: as above.
    let ended = nccl.check("ncclGroupEnd", unsafe { (nccl.group_end)() });
    result.and(ended)
}

impl Drop for Comm {
    fn drop(&mut self) {
        // SAFETY: nothing else has the handle. An error is one of a peer, of which every later call of the others tells.
        let _ = unsafe { (self.nccl.destroy)(self.handle) };
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_wheel_of_the_environment_comes_before_the_loader() {
        let root = tempfile::tempdir().unwrap();
        let wheel = root.path().join("lib/python3.12/site-packages/nvidia/nccl/lib");
        std::fs::create_dir_all(&wheel).unwrap();
        std::fs::write(wheel.join("libnccl.so.2"), "").unwrap();
        let of = |name: &str| (name == "VIRTUAL_ENV").then(|| root.path().into());
        assert_eq!(
            names(&of),
            [wheel.join("libnccl.so.2").into_os_string(), "libnccl.so.2".into(), "libnccl.so".into()]
        );
        let named = |name: &str| (name == "PHALANX_NCCL").then(|| "/x/libnccl.so.2".into());
        assert_eq!(names(&named)[0], "/x/libnccl.so.2");
        assert_eq!(names(&|_| None).len(), 2);
    }
}
