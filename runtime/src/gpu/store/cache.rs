//! The user's cache of CUBINs: a folder that belongs to the user alone, of a bounded size. PHALANX_CACHE names another one, or is `off`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, io};

/// The size up to which the cache grows, in bytes.
const MOST_BYTES: u64 = 256 << 20;

/// Returns the folder, which exists, unless there is to be none or others could have written to it.
pub(super) fn folder() -> Option<PathBuf> {
    let folder = chosen(env::var_os("PHALANX_CACHE"), dirs::cache_dir())?;
    create(&folder).ok()?;
    is_private(&folder).ok()?.then_some(folder)
}

/// Returns the folder that the variable chooses, given the user's folder for caches.
fn chosen(variable: Option<OsString>, caches: Option<PathBuf>) -> Option<PathBuf> {
    match variable.filter(|value| !value.is_empty()) {
        Some(value) if value == "off" => None,
        Some(value) => Some(value.into()),
        None => caches.map(|caches| caches.join("phalanx")),
    }
}

#[cfg(unix)]
fn create(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// Returns whether the folder is the user's, and nobody else may write to it: what is in there runs on the GPU.
#[cfg(unix)]
fn is_private(folder: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::symlink_metadata(folder)?;
    // A new file belongs to the user of the process.
    let user = tempfile::tempfile()?.metadata()?.uid();
    Ok(found.is_dir() && found.uid() == user && found.mode() & 0o022 == 0)
}

/// Elsewhere, the user's folder for caches is theirs by default.
#[cfg(not(unix))]
fn is_private(folder: &Path) -> io::Result<bool> {
    Ok(fs::symlink_metadata(folder)?.is_dir())
}

/// Notes that a file was used, so that it is among the last to be removed.
pub(super) fn was_used(path: &Path) {
    let _ = File::options().append(true).open(path).and_then(|file| file.set_modified(SystemTime::now()));
}

/// Removes the files that were not used for the longest time, if the folder of `path` is larger than it may be.
pub(super) fn shrink(path: &Path) {
    if let Some(folder) = path.parent() {
        shrink_to(folder, MOST_BYTES);
    }
}

fn shrink_to(folder: &Path, most: u64) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let cubins = entries.filter(|entry| entry.path().extension().is_some_and(|ending| ending == "cubin"));
    let mut files: Vec<(SystemTime, u64, PathBuf)> = cubins
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            Some((metadata.modified().ok()?, metadata.len(), entry.path()))
        })
        .collect();
    files.sort();
    let mut bytes: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
    for (_, size, path) in files {
        if bytes <= most {
            break;
        }
        // Another process may have removed it.
        let _ = fs::remove_file(path);
        bytes -= size;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_variable_chooses_the_folder() {
        let of = |value: Option<&str>| chosen(value.map(OsString::from), Some("caches".into()));
        assert_eq!(of(None), Some(Path::new("caches").join("phalanx")));
        assert_eq!(of(Some("")), of(None));
        assert_eq!(of(Some("off")), None);
        assert_eq!(of(Some("elsewhere")), Some("elsewhere".into()));
        assert_eq!(chosen(None, None), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_may_write_to_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap().keep();
        let own = folder.join("a").join("b");
        create(&own).unwrap();
        assert!(is_private(&own).unwrap());
        fs::set_permissions(&own, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!is_private(&own).unwrap());
        std::os::unix::fs::symlink(folder.join("a"), folder.join("link")).unwrap();
        assert!(!is_private(&folder.join("link")).unwrap(), "a link");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_was_not_used_for_long_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, age: u64| {
            let path = folder.path().join(name);
            fs::write(&path, [0; 100]).unwrap();
            let then = SystemTime::now() - Duration::from_secs(age);
            File::options().append(true).open(&path).unwrap().set_modified(then).unwrap();
            path
        };
        let files = [file("a.cubin", 300), file("b.cubin", 400), file("c.cubin", 100), file("other", 900)];
        was_used(&files[0]);
        shrink_to(folder.path(), 250);
        assert_eq!(files.map(|file| file.exists()), [true, false, true, true]);
        shrink_to(folder.path(), 250);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
