//! Folders of CUBINs, which are consulted before NVRTC and store what NVRTC compiled. The user's cache (`cache`) is for the
//! next process. The folder that PHALANX_CUBINS names takes its place, and lets a machine with a GPU run CUBINs that another machine
//! compiled: its keys leave out the version of NVRTC, the simulator fills it, and nothing is removed from it. A store never makes a
//! launch fail: a kernel is compiled if its CUBIN cannot be read or is damaged, and it runs even if its CUBIN cannot be written.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use sha2::{Digest, Sha256};

use super::nvrtc;
use super::variant::Variant;
use crate::program::Program;
use crate::program::cuda::replace;
use crate::report::error::Result;

mod cache;

/// The version of the format, which changes when the same key no longer means the same CUBIN.
const VERSION: &str = "phalanx cubin 2";

/// The size of the digest that ends a file.
const DIGEST_BYTES: usize = 32;

/// Returns the CUBIN of a variant of `program` for `architecture`, from the store or from NVRTC.
pub(crate) fn cubin(program: &Program, architecture: &str, variant: Variant) -> Result<Vec<u8>> {
    let store = folder();
    let named = store.as_ref().map(|folder| path(folder, program, architecture, variant, None));
    let is_cache = named.is_none();
    let cached = || {
        // Without a compiler nothing says which version's CUBINs are asked for.
        let version = nvrtc::version()?;
        Some(path(&cache::folder()?, program, architecture, variant, Some(version)))
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
        && let Some(cubin) = for_any_sizes(&store, program, architecture, variant)
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

/// Returns the CUBIN in a store that was made elsewhere for arguments of other sizes.
fn for_any_sizes(folder: &Path, program: &Program, architecture: &str, variant: Variant) -> Option<Vec<u8>> {
    read(&path(folder, program, architecture, variant.of_any_sizes(), None))
}

/// Puts the CUBINs of a variant of `program` into the store, if there are a store and a compiler: that for these arguments, and that
/// for arguments of other sizes. The simulator calls this, because it needs no CUBIN itself.
pub(crate) fn precompile(program: &Program, architecture: &str, variant: Variant) -> Result<()> {
    if folder().is_some() && nvrtc::is_present() {
        cubin(program, architecture, variant)?;
        let of_any_sizes = variant.of_any_sizes();
        if of_any_sizes != variant {
            cubin(program, architecture, of_any_sizes)?;
        }
    }
    Ok(())
}

fn folder() -> Option<PathBuf> {
    env::var_os("PHALANX_CUBINS").filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// Returns the file of a CUBIN. Its name depends on everything that the CUBIN depends on. A store that was made elsewhere leaves
/// out the version of NVRTC.
fn path(
    folder: &Path,
    program: &Program,
    architecture: &str,
    variant: Variant,
    version: Option<(i32, i32)>,
) -> PathBuf {
    let options = nvrtc::options(program, variant);
    let headers = replace::headers().flat_map(|header| [header.path, header.text]);
    let text = replace::text(program.entry(), program.cuda_source());
    let parts = [VERSION, text, architecture].into_iter().chain(options.iter().map(AsRef::as_ref));
    let version = version.map(|(major, minor)| format!("NVRTC {major}.{minor}"));
    let mut hash = Sha256::new();
    for part in parts.chain(headers).chain(version.as_deref()) {
        // Each part is preceded by its length, so that no two lists of parts give the same text.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let name: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    folder.join(format!("{name}.cubin"))
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
    fn options_of_the_compiler_are_part_of_the_key() {
        let none = KernelOptions::NONE;
        let kinds = [none, KernelOptions { fmad: true, ..none }, KernelOptions { fast_math: true, ..none }];
        let program = |options| copy_with(options, constant(&7u32));
        let versioned =
            |options, variant, version| path(Path::new("store"), &program(options), "sm_90a", variant, version);
        let of = |options, variant| versioned(options, variant, None);
        let mut paths = kinds.map(|options| of(options, Variant::GENERAL)).to_vec();
        let flat_grid = Variant { flat_grid: true, ..Variant::GENERAL };
        let short_slices = Variant { short_slices: true, ..Variant::GENERAL };
        let short_integers = Variant { short_integers: true, ..Variant::GENERAL };
        let multiples = Variant { multiples: 1, ..Variant::GENERAL };
        let variants =
            [flat_grid, short_slices, short_integers, Variant { flat_grid: true, ..short_slices }, multiples];
        paths.extend(variants.map(|variant| of(none, variant)));
        paths.extend([(13, 0), (13, 5)].map(|version| versioned(none, Variant::GENERAL, Some(version))));
        let different: std::collections::BTreeSet<_> = paths.iter().collect();
        assert_eq!(different.len(), paths.len(), "the texts are equal, and the CUBINs are not");
        assert_eq!(paths[0], of(none, Variant::GENERAL));
    }

    #[test]
    fn a_store_has_code_for_arguments_of_other_sizes() {
        let store = tempfile::tempdir().unwrap();
        let program = copy_with(KernelOptions::NONE, constant(&7u32));
        let variant = Variant { short_slices: true, multiples: 0b101, ..Variant::GENERAL };
        let found = || for_any_sizes(store.path(), &program, "sm_90a", variant);
        assert_eq!(found(), None);
        let any = Variant { multiples: 0, ..variant };
        write(&path(store.path(), &program, "sm_90a", any, None), b"\x7fELF").unwrap();
        assert_eq!(found().as_deref(), Some(&b"\x7fELF"[..]));
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
