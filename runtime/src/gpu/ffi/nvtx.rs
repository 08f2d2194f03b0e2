//! NVTX: ranges of the host's threads, which Nsight Systems shows beside the device's work. The library is loaded when the first range
//! begins; where there is none, ranges are nothing.

use std::ffi::{CString, c_char, c_int};
use std::sync::OnceLock;

use libloading::Library;

/// The names under which the loader may know the library: that of CUDA 13, and the older one.
const NAMES: [&str; 4] = ["libnvtx3interop.so.1", "libnvtx3interop.so", "libnvToolsExt.so.1", "libnvToolsExt.so"];

/// The functions, by the names and types of nvToolsExt.h.
struct Nvtx {
    push: unsafe extern "C" fn(*const c_char) -> c_int,
    pop: unsafe extern "C" fn() -> c_int,
    _library: Library,
}

fn nvtx() -> Option<&'static Nvtx> {
    static NVTX: OnceLock<Option<Nvtx>> = OnceLock::new();
    NVTX.get_or_init(|| NAMES.iter().find_map(|name| Nvtx::open(name))).as_ref()
}

impl Nvtx {
    fn open(name: &str) -> Option<Nvtx> {
        // SAFETY: the initializers of the library set up its own state only; the types are those of nvToolsExt.h.
        unsafe {
            let library = Library::new(name).ok()?;
            let push = *library.get::<unsafe extern "C" fn(*const c_char) -> c_int>(b"nvtxRangePushA").ok()?;
            let pop = *library.get::<unsafe extern "C" fn() -> c_int>(b"nvtxRangePop").ok()?;
            Some(Nvtx { push, pop, _library: library })
        }
    }
}

/// A range, which ends when it is dropped, in the thread in which it began.
pub(in crate::gpu) struct Range {
    nvtx: Option<&'static Nvtx>,
    /// Ranges of a thread are nested.
    _of_thread: std::marker::PhantomData<*const ()>,
}

impl Range {
    /// Begins a range.
    pub(in crate::gpu) fn begin(stage: &str, name: &str) -> Range {
        let nvtx = nvtx();
        if let Some(nvtx) = nvtx
            && let Ok(text) = CString::new(format!("phalanx {stage} {name}"))
        {
            // SAFETY: the text ends with a zero, and the call copies it.
            unsafe { (nvtx.push)(text.as_ptr()) };
            return Range { nvtx: Some(nvtx), _of_thread: std::marker::PhantomData };
        }
        Range { nvtx: None, _of_thread: std::marker::PhantomData }
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        if let Some(nvtx) = self.nvtx {
            // SAFETY: it is the range that this thread began last.
            unsafe { (nvtx.pop)() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With and without the library.
    #[test]
    fn ranges_are_nested() {
        let outer = Range::begin("launch", "outer");
        let inner = Range::begin("copy", "a\0b");
        assert!(inner.nvtx.is_none(), "no text has a zero");
        assert_eq!(outer.nvtx.is_some(), nvtx().is_some());
    }
}
