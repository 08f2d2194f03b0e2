//! The user's cache of CUBINs: a folder that belongs to the user alone, of a bounded size. PHALANX_CACHE names another one, or is `off`. A
//! folder that is not used, although it was asked for or others may write to it, is named on standard error, once.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, SystemTime};
use std::{env, io};

/// The size up to which the cache grows, in bytes.
const MOST_BYTES: u64 = 256 << 20;
/// The age at which nobody writes a temporary file any longer.
const UNFINISHED: Duration = Duration::from_secs(3600);

/// Returns the folder, which exists, unless there is to be none or others could have written to it.
pub(super) fn folder() -> Option<PathBuf> {
    static SAID: Once = Once::new();
    let variable = env::var_os("PHALANX_CACHE").filter(|value| !value.is_empty());
    let is_named = variable.is_some();
    let folder = chosen(variable, dirs::cache_dir())?;
    match usable(&folder) {
        Ok(()) => Some(folder),
        Err(unused) => {
            // Where there is no folder for caches, as in many containers, nobody has asked for one.
            if is_named || matches!(unused, Unused::Others(_)) {
                SAID.call_once(|| eprintln!("{}", unused.text(&folder)));
            }
            None
        }
    }
}

/// Why a folder is not used.
#[derive(Debug, PartialEq, Eq)]
enum Unused {
    /// Others may write to it, for this reason.
    Others(&'static str),
    /// The error of the file system.
    Failed(String),
}

impl Unused {
    fn text(&self, folder: &Path) -> String {
        let folder = folder.display();
        let (why, mend) = match self {
            Unused::Others(why) => (
                (*why).to_owned(),
                format!(
                    "what is in there would run on the GPU; run `chmod 700 {folder}` if it is yours, or name another folder"
                ),
            ),
            Unused::Failed(error) => (error.clone(), "name a folder that can be written to".to_owned()),
        };
        format!(
            "phalanx keeps no compiled kernels in {folder}, and compiles them in each process: {why}; {mend} in PHALANX_CACHE, or `off`"
        )
    }
}

/// Makes the folder, and returns why it is of no use.
fn usable(folder: &Path) -> Result<(), Unused> {
    let failed = |error: io::Error| Unused::Failed(error.to_string());
    create(folder).map_err(failed)?;
    check_private(folder).map_err(failed)?.map_or(Ok(()), |why| Err(Unused::Others(why)))
}

/// Returns the folder that the variable chooses, given the user's folder for caches.
fn chosen(variable: Option<OsString>, caches: Option<PathBuf>) -> Option<PathBuf> {
    match variable {
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

/// Returns why others than the user may write to the folder: what is in there runs on the GPU.
#[cfg(unix)]
fn check_private(folder: &Path) -> io::Result<Option<&'static str>> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() {
        return Ok(Some("it is a link"));
    }
    // A new file belongs to the user of the process.
    if found.uid() != tempfile::tempfile()?.metadata()?.uid() {
        return Ok(Some("it belongs to another user"));
    }
    Ok((found.mode() & 0o022 != 0).then_some("other users may write to it"))
}

/// Elsewhere, the user's folder for caches is theirs by default.
#[cfg(not(unix))]
fn check_private(folder: &Path) -> io::Result<Option<&'static str>> {
    Ok((!fs::symlink_metadata(folder)?.is_dir()).then_some("it is a link"))
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
    let (mut files, left): (Vec<(SystemTime, u64, PathBuf)>, Vec<_>) = entries
        .filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            Some((metadata.modified().ok()?, metadata.len(), entry.path()))
        })
        .partition(|(.., path)| path.extension().is_some_and(|ending| ending == "cubin"));
    // What a process was writing when it was ended.
    let is_unfinished = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp"));
    for (modified, _, path) in left {
        if is_unfinished(&path) && modified.elapsed().is_ok_and(|age| age > UNFINISHED) {
            let _ = fs::remove_file(path);
        }
    }
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
    use super::*;

    #[test]
    fn the_variable_chooses_the_folder() {
        let of = |value: Option<&str>| chosen(value.map(OsString::from), Some("caches".into()));
        assert_eq!(of(None), Some(Path::new("caches").join("phalanx")));
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
        assert_eq!(usable(&own), Ok(()));
        fs::set_permissions(&own, fs::Permissions::from_mode(0o777)).unwrap();
        let unused = usable(&own).unwrap_err();
        assert_eq!(unused, Unused::Others("other users may write to it"));
        let text = unused.text(&own);
        let at = own.display();
        for part in [format!("in {at}, "), format!("chmod 700 {at}"), "PHALANX_CACHE, or `off`".into()] {
            assert!(text.contains(&part), "no `{part}` in {text}");
        }
        std::os::unix::fs::symlink(folder.join("a"), folder.join("link")).unwrap();
        assert_eq!(usable(&folder.join("link")), Err(Unused::Others("it is a link")));
        fs::write(folder.join("file"), "").unwrap();
        let text = usable(&folder.join("file").join("sub")).unwrap_err().text(Path::new("x"));
        assert!(text.contains("Not a directory") && text.contains("name a folder that can be written to"), "{text}");
        fs::remove_dir_all(folder).unwrap();
    }

    /// A process compiles a kernel although its folder is of no use, and says so once.
    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_not_used_is_named_once() {
        use std::os::unix::fs::PermissionsExt;
        const IS_CHILD: &str = "PHALANX_TEST_CACHE";
        if env::var_os(IS_CHILD).is_some() {
            assert_eq!((folder(), folder()), (None, None));
            return;
        }
        let open = tempfile::tempdir().unwrap();
        fs::set_permissions(open.path(), fs::Permissions::from_mode(0o770)).unwrap();
        let name = "gpu::store::cache::tests::a_folder_that_is_not_used_is_named_once";
        let mut child = std::process::Command::new(env::current_exe().unwrap());
        child.args(["--exact", name, "--nocapture"]).env(IS_CHILD, "1").env("PHALANX_CACHE", open.path());
        let output = child.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.matches("other users may write to it").count() == 1, "{said}");
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
        let files = [file("a.cubin", 300), file("b.cubin", 400), file("c.cubin", 100), file("other", 9000)];
        let unfinished = [file(".tmpNow", 20), file(".tmpLong", 9000)];
        was_used(&files[0]);
        shrink_to(folder.path(), 250);
        assert_eq!(files.map(|file| file.exists()), [true, false, true, true]);
        assert_eq!(unfinished.map(|file| file.exists()), [true, false]);
        shrink_to(folder.path(), 250);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }
}
