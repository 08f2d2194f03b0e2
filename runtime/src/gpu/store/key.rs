//! The keys of CUBINs: everything that a CUBIN depends on, as a digest.

use sha2::{Digest, Sha256};

use super::super::nvrtc;
use super::super::variant::Variant;
use crate::program::Program;
use crate::program::cuda::replace;

/// The version of the keys, which changes when the same key no longer means the same CUBIN.
const VERSION: &str = "phalanx cubin 3";

/// The key of a program for an architecture, in all of its variants: the digest of its text, the prelude, and the compiler's options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(pub(super) [u8; Key::BYTES]);

impl Key {
    /// The size of a key.
    pub(super) const BYTES: usize = 32;

    /// Returns the key of a program.
    pub(super) fn of(program: &Program, architecture: &str) -> Key {
        let options = nvrtc::options(program, Variant::GENERAL);
        let headers = replace::headers().flat_map(|header| [header.path, header.text]);
        let text = replace::text(program.entry(), program.cuda_source());
        let parts = [VERSION, text, architecture].into_iter().chain(options.iter().map(AsRef::as_ref)).chain(headers);
        Key(digest(parts))
    }

    /// Returns the name of the file with a variant of the program. A store that was made elsewhere leaves out the version of NVRTC.
    pub(super) fn file(&self, program: &Program, variant: Variant, version: Option<(i32, i32)>) -> String {
        let options = nvrtc::options(program, variant);
        let version = version.map(|(major, minor)| format!("NVRTC {major}.{minor}"));
        let parts =
            options.iter().map(|option| option.as_bytes()).chain(version.as_ref().map(|version| version.as_bytes()));
        let name: String =
            digest([&self.0[..]].into_iter().chain(parts)).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{name}.cubin")
    }
}

fn digest(parts: impl Iterator<Item = impl AsRef<[u8]>>) -> [u8; Key::BYTES] {
    let mut hash = Sha256::new();
    for part in parts {
        // Each part is preceded by its length, so that no two lists of parts give the same text.
        hash.update((part.as_ref().len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::super::nvrtc::tests::copy_with;
    use super::*;
    use crate::program::options::KernelOptions;
    use crate::program::types::constant;

    #[test]
    fn options_of_the_compiler_are_part_of_the_key() {
        let none = KernelOptions::NONE;
        let kinds = [none, KernelOptions { fmad: true, ..none }, KernelOptions { fast_math: true, ..none }];
        let program = |options| copy_with(options, constant(&7u32));
        let versioned =
            |options, variant, version| Key::of(&program(options), "sm_90a").file(&program(options), variant, version);
        let of = |options, variant| versioned(options, variant, None);
        let mut files = kinds.map(|options| of(options, Variant::GENERAL)).to_vec();
        let flat_grid = Variant { flat_grid: true, ..Variant::GENERAL };
        let short_slices = Variant { short_slices: true, ..Variant::GENERAL };
        let short_integers = Variant { short_integers: true, ..Variant::GENERAL };
        let deadline = Variant::GENERAL.with_deadline(true);
        let multiples = Variant { multiples: 1, ..Variant::GENERAL };
        let variants =
            [flat_grid, short_slices, short_integers, Variant { flat_grid: true, ..short_slices }, multiples, deadline];
        files.extend(variants.map(|variant| of(none, variant)));
        files.extend([(13, 0), (13, 5)].map(|version| versioned(none, Variant::GENERAL, Some(version))));
        let other = Key::of(&program(none), "sm_100a").file(&program(none), Variant::GENERAL, None);
        files.push(other);
        let different: BTreeSet<_> = files.iter().collect();
        assert_eq!(different.len(), files.len(), "the texts are equal, and the CUBINs are not");
        assert_eq!(files[0], of(none, Variant::GENERAL));
    }
}
