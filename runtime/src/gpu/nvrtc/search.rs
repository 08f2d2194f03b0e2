//! Where NVRTC may be, in the order of NVIDIA's cuda.pathfinder: a library that the process has loaded, the wheels of the running virtual
//! environment, conda, the loader's own folders, the toolkit that the environment names, and the usual folders of toolkits.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// How the names of the library and of its built-ins begin.
pub(super) const LIBRARY: &str = if cfg!(windows) { "nvrtc64_" } else { "libnvrtc.so" };
pub(super) const BUILTINS: &str = if cfg!(windows) { "nvrtc-builtins64_" } else { "libnvrtc-builtins.so" };

/// The names by which the loader knows the library, the newest first.
pub(super) const NAMES: &[&str] = if cfg!(windows) {
    &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"]
} else {
    &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
};

/// A place to look for the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// What the process has loaded already.
    Loaded,
    /// The folders that the loader searches.
    Loader,
    /// A folder, and why it is looked at.
    Folder { why: &'static str, path: PathBuf },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Loaded => f.write_str("loaded by the process"),
            Place::Loader => f.write_str("the loader's folders"),
            Place::Folder { why, path } => write!(f, "{why}: {}", path.display()),
        }
    }
}

/// Returns the places to look at, for these variables of the environment and this folder in which toolkits are installed.
pub(super) fn places(variable: impl Fn(&str) -> Option<OsString>, toolkits: &Path) -> Vec<Place> {
    let folder = |name: &str| variable(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let mut places = vec![Place::Loaded];
    let mut add = |why, path| places.push(Place::Folder { why, path });
    if let Some(environment) = folder("VIRTUAL_ENV") {
        wheels(&environment).into_iter().for_each(|path| add("the wheel in VIRTUAL_ENV", path));
    }
    if let Some(environment) = folder("CONDA_PREFIX") {
        let own = if cfg!(windows) { environment.join("Library/bin") } else { environment.join("lib") };
        add("CONDA_PREFIX", own);
        wheels(&environment).into_iter().for_each(|path| add("the wheel in CONDA_PREFIX", path));
    }
    places.push(Place::Loader);
    let mut add = |why, path| places.push(Place::Folder { why, path });
    for name in ["CUDA_HOME", "CUDA_PATH"] {
        if let Some(toolkit) = folder(name) {
            libraries(&toolkit).into_iter().for_each(|path| add(name, path));
        }
    }
    let mut found = children(toolkits);
    found.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("cuda")));
    // `cuda` itself is the one that was chosen, if it is there.
    found.sort_by_key(|path| (path.file_name().is_some_and(|name| name != "cuda"), std::cmp::Reverse(path.clone())));
    found.iter().flat_map(|toolkit| libraries(toolkit)).for_each(|path| add("a toolkit", path));
    places
}

/// Returns the folders of NVIDIA's wheels in a Python environment. Those of CUDA 13 have one folder for all libraries.
fn wheels(environment: &Path) -> Vec<PathBuf> {
    let sites: Vec<PathBuf> = match cfg!(windows) {
        true => vec![environment.join("Lib/site-packages")],
        false => children(&environment.join("lib"))
            .into_iter()
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python3")))
            .map(|python| python.join("site-packages"))
            .collect(),
    };
    let inside: &[&str] = if cfg!(windows) {
        &["nvidia/cu13/bin/x86_64", "nvidia/cuda_nvrtc/bin"]
    } else {
        &["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"]
    };
    let all = sites.iter().flat_map(|site| inside.iter().map(|folder| site.join(folder)));
    all.filter(|path| path.is_dir()).collect()
}

/// Returns the folders of a toolkit that may hold its libraries.
fn libraries(toolkit: &Path) -> Vec<PathBuf> {
    let inside: &[&str] =
        if cfg!(windows) { &["bin/x64", "bin"] } else { &["lib64", "targets/x86_64-linux/lib", "lib"] };
    inside.iter().map(|folder| toolkit.join(folder)).filter(|path| path.is_dir()).collect()
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Returns the file of `folder` whose name begins with `name`, or the last one if there are several versions.
pub(super) fn newest(folder: &Path, name: &str) -> Option<PathBuf> {
    let named = |path: &PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        // An alternative that links the C library in another way.
        file.starts_with(name) && !file.contains(".alt.")
    };
    children(folder).into_iter().rfind(named)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn places_come_in_the_order_of_pathfinder() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for folder in [
            "venv/lib/python3.12/site-packages/nvidia/cu13/lib",
            "venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib",
            "conda/lib",
            "home/lib64",
            "usr/local/cuda/lib64",
            "usr/local/cuda-12.9/lib64",
            "usr/local/cuda-13.0/lib64",
            "usr/local/lib64",
        ] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        let variable = |name: &str| match name {
            "VIRTUAL_ENV" => Some(at("venv").into()),
            "CONDA_PREFIX" => Some(at("conda").into()),
            "CUDA_HOME" => Some(at("home").into()),
            _ => Some(OsString::new()),
        };
        let shown: Vec<String> = places(variable, &at("usr/local")).iter().map(ToString::to_string).collect();
        let folder = |why: &str, path: &str| format!("{why}: {}", at(path).display());
        assert_eq!(
            shown,
            [
                "loaded by the process".to_string(),
                folder("the wheel in VIRTUAL_ENV", "venv/lib/python3.12/site-packages/nvidia/cu13/lib"),
                folder("the wheel in VIRTUAL_ENV", "venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib"),
                folder("CONDA_PREFIX", "conda/lib"),
                "the loader's folders".to_string(),
                folder("CUDA_HOME", "home/lib64"),
                folder("a toolkit", "usr/local/cuda/lib64"),
                folder("a toolkit", "usr/local/cuda-13.0/lib64"),
                folder("a toolkit", "usr/local/cuda-12.9/lib64"),
            ]
        );
        assert_eq!(places(|_| None, &at("nothing")), [Place::Loaded, Place::Loader]);
    }

    #[test]
    fn the_newest_version_of_a_folder_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.alt.so.13", "libnvrtc-builtins.so.13.0"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let name = |name| newest(folder.path(), name).map(|path| path.file_name().unwrap().to_owned());
        assert_eq!(name(LIBRARY), Some("libnvrtc.so.13".into()));
        assert_eq!(name(BUILTINS), Some("libnvrtc-builtins.so.13.0".into()));
        assert_eq!(name("libcuda.so"), None);
    }
}
