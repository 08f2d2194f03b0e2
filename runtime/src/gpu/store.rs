//! CUBINs that are kept: in archives inside the program (`archive`), and in folders, which are consulted before NVRTC and store what
//! NVRTC compiled. The user's cache (`cache`) is for the next process. The folder that PHALANX_CUBINS names takes its place, and lets a
//! machine with a GPU run CUBINs that another machine compiled: its keys (`key`) leave out the version of NVRTC, the simulator fills it,
//! and nothing is removed from it. A folder never makes a launch fail: a kernel is compiled if its CUBIN cannot be read or is damaged, and it runs
//! even if its CUBIN cannot be written.

use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use sha2::{Digest, Sha256};

use self::key::Key;
use super::nvrtc;
use super::variant::Variant;
use crate::program::Program;
use crate::report::error::Result;

pub(crate) mod archive;
mod cache;
mod key;

/// The size of the digest that ends a file.
const DIGEST_BYTES: usize = 32;

/// Returns the CUBIN of a variant of `program` for `architecture`: from an archive of the program's, whose code may assume less of the
/// launch, or from a folder, or from NVRTC.
pub(crate) fn cubin(program: &Program, architecture: &str, variant: Variant) -> Result<Cow<'static, [u8]>> {
    let key = Key::of(program, architecture);
    match archive::find(&key, variant) {
        Some(cubin) => Ok(cubin.into()),
        None => compiled_with(&key, program, architecture, variant)
            .map(Cow::Owned)
            .map_err(|error| archive::explain(error, program.name(), architecture)),
    }
}

/// Returns the CUBIN of a variant of `program` for `architecture`, from a folder or from NVRTC.
pub(crate) fn compiled(program: &Program, architecture: &str, variant: Variant) -> Result<Vec<u8>> {
    compiled_with(&Key::of(program, architecture), program, architecture, variant)
}

fn compiled_with(key: &Key, program: &Program, architecture: &str, variant: Variant) -> Result<Vec<u8>> {
    let store = folder();
    let named = store.as_ref().map(|folder| folder.join(key.file(program, variant, None)));
    let is_cache = named.is_none();
    let cached = || {
        // Without a compiler nothing says which version's CUBINs are asked for.
        let version = nvrtc::version()?;
        Some(cache::folder()?.join(key.file(program, variant, Some(version))))
    };
    let Some(path) = named.or_else(cached) else {
        return program.compile_variant(architecture, variant);
    };
    if let Some(cubin) = read(&path) {
        if is_cache {
            cache::was_used(&path);
        }
        return Ok(cubin);
    }
    if let Some(store) = store
        && !nvrtc::is_present()
        && let Some(cubin) = for_other_launches(&store, key, program, variant)
    {
        return Ok(cubin);
    }
    let cubin = program.compile_variant(architecture, variant)?;
    // A missing store is not a failure.
    if write(&path, &cubin).is_ok() && is_cache {
        cache::shrink(&path);
    }
    Ok(cubin)
}

/// Returns the CUBIN in a store that was made elsewhere for launches of which less is known.
fn for_other_launches(folder: &Path, key: &Key, program: &Program, variant: Variant) -> Option<Vec<u8>> {
    variant.weaker().find_map(|weaker| read(&folder.join(key.file(program, weaker, None))))
}

/// Puts the CUBINs of a variant of `program` into the store, if there are a store and a compiler: that for these arguments, and that
/// for arguments of other sizes. The simulator calls this, because it needs no CUBIN itself.
pub(crate) fn precompile(program: &Program, architecture: &str, variant: Variant) -> Result<()> {
    if folder().is_some() && nvrtc::is_present() {
        compiled(program, architecture, variant)?;
        let of_any_sizes = variant.of_any_sizes();
        if of_any_sizes != variant {
            compiled(program, architecture, of_any_sizes)?;
        }
    }
    Ok(())
}

fn folder() -> Option<PathBuf> {
    env::var_os("PHALANX_CUBINS").filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// Returns the CUBIN in a file, unless the file was cut short or changed since it was written, or is another kernel's.
fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = fs::read(path).ok()?;
    let cubin = bytes.len().checked_sub(DIGEST_BYTES)?;
    if digest(path, &bytes[..cubin])[..] != bytes[cubin..] {
        return None;
    }
    bytes.truncate(cubin);
    Some(bytes)
}

/// Returns the digest of a CUBIN and of the name of its file. It follows the CUBIN, so that the file is still an ELF file.
fn digest(path: &Path, cubin: &[u8]) -> [u8; DIGEST_BYTES] {
    let name = path.file_name().unwrap_or_default();
    Sha256::new().chain_update(name.as_encoded_bytes()).chain_update(cubin).finalize().into()
}

/// Writes a file, under another name first, so that no reader sees half of it.
fn write(path: &Path, cubin: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(cubin)?;
    file.write_all(&digest(path, cubin))?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::nvrtc::tests::copy_with;
    use super::*;
    use crate::program::options::KernelOptions;
    use crate::program::types::constant;

    #[test]
    fn a_store_has_code_for_launches_of_which_less_is_known() {
        let store = tempfile::tempdir().unwrap();
        let program = copy_with(KernelOptions::NONE, constant(&7u32));
        let key = Key::of(&program, "sm_90a");
        let variant = Variant { short_slices: true, multiples: 0b101, ..Variant::GENERAL };
        let found = || for_other_launches(store.path(), &key, &program, variant);
        assert_eq!(found(), None);
        let general = store.path().join(key.file(&program, Variant::GENERAL, None));
        write(&general, b"general").unwrap();
        assert_eq!(found().as_deref(), Some(&b"general"[..]));
        let any = Variant { multiples: 0, ..variant };
        write(&store.path().join(key.file(&program, any, None)), b"any sizes").unwrap();
        assert_eq!(found().as_deref(), Some(&b"any sizes"[..]));
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("a.cubin");
        assert_eq!(read(&path), None);
        write(&path, b"\x7fELF and so on").unwrap();
        assert_eq!(read(&path).as_deref(), Some(&b"\x7fELF and so on"[..]));
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(read(&path), None, "cut to {length} bytes");
        }
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            fs::write(&path, &flipped).unwrap();
            assert_eq!(read(&path), None, "byte {at}");
        }
        let other = path.with_file_name("b.cubin");
        fs::write(&other, &whole).unwrap();
        assert_eq!(read(&other), None, "another kernel's");
        write(&path, b"\x7fELF and so on").unwrap();
        assert_eq!(read(&path).as_deref(), Some(&b"\x7fELF and so on"[..]), "written anew");
    }
}
