//! Archives of CUBINs inside the program: the code of several kernels for several architectures as one file, which `phalanx::embed!` has
//! rustc include. Reading one takes no NVRTC and no file. An archive that does not fit the program, because a kernel has changed since,
//! is not used: its keys are those of folders.

use std::sync::{Mutex, PoisonError};

use super::super::variant::Variant;
use super::key::Key;
use crate::program::Program;
use crate::report::error::Error;

/// The beginning of an archive, with the version of the format.
const MAGIC: [u8; 16] = *b"phalanx cubins 1";
/// The magic, the size of the archive, and the number of its entries.
const HEAD_BYTES: usize = 16 + 8 + 8;
/// The room for the name of an architecture, and for the part of a kernel's name that errors show.
const ARCHITECTURE_BYTES: usize = 16;
const NAME_BYTES: usize = 64;
const ENTRY_BYTES: usize = Key::BYTES + ARCHITECTURE_BYTES + NAME_BYTES + 5 * size_of::<u64>();

/// The archives of this process.
static ARCHIVES: Mutex<Vec<Embedded>> = Mutex::new(Vec::new());

/// An archive that is part of the program.
#[derive(Debug, Clone, Copy)]
pub struct Embedded(&'static [u8]);

/// The code of a variant of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    key: Key,
    architecture: &'a str,
    kernel: &'a str,
    variant: Variant,
    cubin: &'a [u8],
}

/// An archive that is being made.
#[derive(Default)]
pub(crate) struct Contents {
    entries: Vec<(Key, String, &'static str, Variant, Vec<u8>)>,
}

impl Embedded {
    /// Checks a file at compile time.
    #[track_caller]
    pub const fn new(bytes: &'static [u8]) -> Embedded {
        let mut at = 0;
        while at < MAGIC.len() {
            if bytes.len() < HEAD_BYTES || bytes[at] != MAGIC[at] {
                panic!(
                    "this file is no archive of CUBINs of this version of phalanx\n\
                     help: a build script writes one by `phalanx::Archive`"
                )
            }
            at += 1;
        }
        let size = [bytes[16], bytes[17], bytes[18], bytes[19], bytes[20], bytes[21], bytes[22], bytes[23]];
        if u64::from_le_bytes(size) != bytes.len() as u64 {
            panic!("this archive of CUBINs is cut short\nhelp: run the build script again that wrote it")
        }
        Embedded(bytes)
    }

    fn entries(self) -> impl Iterator<Item = Entry<'static>> {
        let table = self.0.get(HEAD_BYTES..).unwrap_or_default().chunks_exact(ENTRY_BYTES);
        let count = word(self.0, 24).unwrap_or(0);
        table.take(count as usize).filter_map(move |entry| Entry::read(entry, self.0))
    }
}

/// Adds an archive to those that launches consult.
pub fn embed(archive: Embedded) {
    let mut archives = ARCHIVES.lock().unwrap_or_else(PoisonError::into_inner);
    if !archives.iter().any(|known| std::ptr::eq(known.0, archive.0)) {
        archives.push(archive);
    }
}

/// Returns the code for a launch of which `launch` holds: of all that is right for it, that which assumes most.
pub(super) fn find(key: &Key, launch: Variant) -> Option<&'static [u8]> {
    let archives = ARCHIVES.lock().unwrap_or_else(PoisonError::into_inner);
    let all = archives.iter().flat_map(|archive| archive.entries());
    best(all, key, launch)
}

fn best<'a>(entries: impl Iterator<Item = Entry<'a>>, key: &Key, launch: Variant) -> Option<&'a [u8]> {
    let right = entries.filter(|entry| entry.key == *key && entry.variant.is_right_for(launch));
    right.max_by_key(|entry| entry.variant.assumptions()).map(|entry| entry.cubin)
}

/// Returns whether an archive has code of `program` for every launch on `architecture`.
pub(crate) fn has(program: &Program, architecture: &str) -> bool {
    find(&Key::of(program, architecture), Variant::GENERAL).is_some()
}

/// Says what the archives have in place of code that was looked for, if NVRTC is what is missing.
pub(super) fn explain(error: Error, kernel: &str, architecture: &str) -> Error {
    match error {
        Error::NvrtcMissing { tried } => {
            let archives = ARCHIVES.lock().unwrap_or_else(PoisonError::into_inner);
            if archives.is_empty() {
                return Error::NvrtcMissing { tried };
            }
            let all = archives.iter().flat_map(|archive| archive.entries());
            Error::NotEmbedded {
                kernel: kernel.into(),
                architecture: architecture.into(),
                found: what_there_is(all, kernel, architecture),
                tried,
            }
        }
        error => error,
    }
}

fn what_there_is<'a>(entries: impl Iterator<Item = Entry<'a>>, kernel: &str, architecture: &str) -> String {
    let shown = shown(kernel);
    let mut architectures: Vec<&str> =
        entries.filter(|entry| entry.kernel == shown).map(|entry| entry.architecture).collect();
    architectures.sort_unstable();
    architectures.dedup();
    match architectures[..] {
        [] => "no kernel of this name".into(),
        _ if architectures.contains(&architecture) => {
            "an earlier text of it, another instance, or no code for such a launch".into()
        }
        _ => format!("its code for {}", architectures.join(", ")),
    }
}

/// Returns as much of a kernel's name as an archive has.
fn shown(kernel: &str) -> &str {
    let end = (0..=kernel.len().min(NAME_BYTES)).rev().find(|&end| kernel.is_char_boundary(end));
    &kernel[..end.unwrap_or(0)]
}

impl<'a> Entry<'a> {
    /// Reads an entry of an archive; `None` if it is damaged.
    fn read(entry: &'a [u8], archive: &'a [u8]) -> Option<Entry<'a>> {
        let (key, rest) = entry.split_first_chunk::<{ Key::BYTES }>()?;
        let (architecture, rest) = rest.split_first_chunk::<ARCHITECTURE_BYTES>()?;
        let (kernel, rest) = rest.split_first_chunk::<NAME_BYTES>()?;
        let (flags, multiples, held_checks) = (word(rest, 0)?, word(rest, 8)?, word(rest, 16)?);
        let (start, length) = (usize::try_from(word(rest, 24)?).ok()?, usize::try_from(word(rest, 32)?).ok()?);
        Some(Entry {
            key: Key(*key),
            architecture: text(architecture)?,
            kernel: text(kernel)?,
            variant: Variant {
                flat_grid: flags & 1 != 0,
                short_slices: flags & 2 != 0,
                short_integers: flags & 4 != 0,
                multiples,
                held_checks,
                deadline: flags & 8 != 0,
            },
            cubin: archive.get(start..start.checked_add(length)?)?,
        })
    }
}

impl Contents {
    /// Adds the code of a variant, unless it is there, and returns the error of making it.
    pub(crate) fn add<E>(
        &mut self,
        program: &Program,
        architecture: &str,
        variant: Variant,
        cubin: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<(), E> {
        let key = Key::of(program, architecture);
        if !self.entries.iter().any(|(known, _, _, of, _)| *known == key && *of == variant) {
            self.entries.push((key, architecture.into(), program.name(), variant, cubin()?));
        }
        Ok(())
    }

    /// Returns the number of CUBINs.
    pub(crate) fn count(&self) -> usize {
        self.entries.len()
    }

    /// Returns the archive as a file.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut start = HEAD_BYTES + self.entries.len() * ENTRY_BYTES;
        let size = start + self.entries.iter().map(|(.., cubin)| cubin.len()).sum::<usize>();
        let mut bytes = Vec::with_capacity(size);
        bytes.extend(MAGIC);
        bytes.extend((size as u64).to_le_bytes());
        bytes.extend((self.entries.len() as u64).to_le_bytes());
        for (key, architecture, kernel, variant, cubin) in &self.entries {
            let Variant { flat_grid, short_slices, short_integers, multiples, held_checks, deadline } = *variant;
            let flags = [flat_grid, short_slices, short_integers, deadline];
            let flags = flags.iter().rev().fold(0, |flags, &flag| flags << 1 | u64::from(flag));
            bytes.extend(key.0);
            bytes.extend(padded::<ARCHITECTURE_BYTES>(architecture));
            bytes.extend(padded::<NAME_BYTES>(shown(kernel)));
            let words = [flags, multiples, held_checks, start as u64, cubin.len() as u64];
            bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            start += cubin.len();
        }
        self.entries.iter().for_each(|(.., cubin)| bytes.extend(cubin));
        bytes
    }
}

/// Returns the number at an offset.
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

/// Returns a text in a field, which zeros follow.
fn text(field: &[u8]) -> Option<&str> {
    std::str::from_utf8(field).ok().map(|text| text.trim_end_matches('\0'))
}

/// Returns a text as a field of so many bytes, which it fits.
fn padded<const N: usize>(text: &str) -> [u8; N] {
    let mut field = [0; N];
    field[..text.len()].copy_from_slice(text.as_bytes());
    field
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::{env, fs};

    use super::super::super::nvrtc::{self, tests::copy_with};
    use super::super::cubin;
    use super::*;
    use crate::program::options::KernelOptions;
    use crate::program::types::constant;

    const SHORT: Variant = Variant { short_slices: true, ..Variant::GENERAL };

    fn program(value: u32) -> Program {
        copy_with(KernelOptions::NONE, constant(&value))
    }

    fn archive() -> Vec<u8> {
        let mut contents = Contents::default();
        for (architecture, variant, code) in
            [("sm_90a", SHORT, "short"), ("sm_90a", Variant::GENERAL, "general"), ("sm_100a", SHORT, "other")]
        {
            contents.add(&program(7), architecture, variant, || Ok::<_, ()>(code.into())).unwrap();
        }
        contents.add(&program(7), "sm_90a", SHORT, || Err(())).expect("it is there");
        contents.to_bytes()
    }

    fn entries(bytes: &[u8]) -> impl Iterator<Item = Entry<'static>> + use<> {
        Embedded(Box::leak(bytes.to_vec().into_boxed_slice())).entries()
    }

    #[test]
    fn a_launch_takes_the_code_that_assumes_most_of_what_holds() {
        let bytes = archive();
        let found = |value, architecture, launch| {
            let key = Key::of(&program(value), architecture);
            best(entries(&bytes), &key, launch).map(|code| String::from_utf8_lossy(code).into_owned())
        };
        assert_eq!(found(7, "sm_90a", SHORT).as_deref(), Some("short"));
        assert_eq!(found(7, "sm_90a", Variant { multiples: 5, ..SHORT }).as_deref(), Some("short"));
        assert_eq!(found(7, "sm_90a", Variant { flat_grid: true, ..Variant::GENERAL }).as_deref(), Some("general"));
        assert_eq!(found(7, "sm_100a", SHORT).as_deref(), Some("other"));
        assert_eq!(found(7, "sm_100a", Variant::GENERAL), None, "the code that is there assumes more");
        assert_eq!(found(8, "sm_90a", SHORT), None, "another text");
    }

    #[test]
    fn what_is_damaged_is_not_read() {
        let whole = archive();
        assert_eq!(entries(&whole).count(), 3);
        for length in 0..whole.len() {
            entries(&whole[..length]).for_each(drop);
            assert!(std::panic::catch_unwind(|| Embedded::new(whole[..length].to_vec().leak())).is_err());
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] = !changed[at];
            for entry in entries(&changed) {
                assert!(entry.cubin.len() <= whole.len());
            }
        }
    }

    #[test]
    fn an_error_says_what_there_is() {
        let bytes = archive();
        let said = |kernel, architecture| what_there_is(entries(&bytes), kernel, architecture);
        assert_eq!(said("copy", "sm_103a"), "its code for sm_100a, sm_90a");
        assert_eq!(said("copy", "sm_90a"), "an earlier text of it, another instance, or no code for such a launch");
        assert_eq!(said("scale", "sm_90a"), "no kernel of this name");
        let long = "é".repeat(100);
        assert_eq!(shown(&long), "é".repeat(NAME_BYTES / 2));
        let other = explain(Error::DriverMissing, "copy", "sm_90a");
        assert!(matches!(other, Error::DriverMissing));
    }

    /// The second process has NVRTC at hand, as the first, and loads it only for a kernel that the archive does not have.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_with_an_archive_asks_for_no_nvrtc() {
        const ARCHIVE: &str = "PHALANX_TEST_ARCHIVE";
        let code = |value| cubin(&program(value), "sm_90a", SHORT).map(std::borrow::Cow::into_owned);
        let has_loaded = || fs::read_to_string("/proc/self/maps").unwrap().contains("libnvrtc");
        if let Some(path) = env::var_os(ARCHIVE) {
            embed(Embedded::new(fs::read(path).unwrap().leak()));
            assert!(has(&program(7), "sm_90a") && !has(&program(8), "sm_90a") && !has(&program(7), "sm_100a"));
            assert!(code(7).unwrap().starts_with(b"\x7fELF"));
            assert!(!has_loaded(), "NVRTC is in this process");
            match env::var_os("PHALANX_NVRTC").is_some_and(|folder| folder == "none") {
                true => {
                    let error = code(8).unwrap_err().to_string();
                    let expected = "the program carries no code of kernel `copy` for sm_90a: its archive has an earlier text of it, \
                                    another instance, or no code for such a launch; add the kernel and the architecture to the build script";
                    assert!(error.starts_with(expected), "{error}");
                }
                false => {
                    assert!(code(8).unwrap().starts_with(b"\x7fELF"));
                    assert!(has_loaded(), "it was loaded for the other kernel");
                }
            }
            return;
        }
        if !nvrtc::is_present() {
            eprintln!("skipped: no NVRTC");
            return;
        }
        let mut contents = Contents::default();
        for variant in [SHORT, Variant::GENERAL] {
            contents.add(&program(7), "sm_90a", variant, || program(7).compile_variant("sm_90a", variant)).unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive");
        fs::write(&path, contents.to_bytes()).unwrap();
        let name = "gpu::store::archive::tests::a_program_with_an_archive_asks_for_no_nvrtc";
        let mut again = Command::new(env::current_exe().unwrap());
        again.args(["--exact", name]).env(ARCHIVE, &path).env("PHALANX_CACHE", "off").env_remove("PHALANX_CUBINS");
        assert!(again.status().unwrap().success(), "with NVRTC at hand");
        assert!(again.env("PHALANX_NVRTC", "none").status().unwrap().success(), "without");
    }
}
