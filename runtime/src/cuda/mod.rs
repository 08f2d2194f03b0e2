//! The prelude: CUDA C++ headers that give the generated text Rust's meaning. They are given to NVRTC in memory; this
//! is their one list.

/// A header of the prelude.
#[derive(Debug, Clone, Copy)]
pub struct Header {
    /// As generated text includes it: `phalanx/groups.cuh`.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! headers {
    ($($name:literal)*) => {
        &[$(Header { path: concat!("phalanx/", $name), text: include_str!(concat!("phalanx/", $name)) }),*]
    };
}

/// Every header, by path.
pub const HEADERS: &[Header] = headers! {
    "array.cuh"
    "atomic.cuh"
    "bits.cuh"
    "checked.cuh"
    "failure.cuh"
    "fast.cuh"
    "float_math.cuh"
    "floating.cuh"
    "groups.cuh"
    "half.cuh"
    "index.cuh"
    "integer.cuh"
    "math.cuh"
    "memory.cuh"
    "message.cuh"
    "operator.cuh"
    "option.cuh"
    "print.cuh"
    "range.cuh"
    "scalar.cuh"
    "sin_cos.cuh"
    "subslice.cuh"
    "tile.cuh"
    "transcendental.cuh"
    "tuple.cuh"
    "vector.cuh"
    "wrapping.cuh"
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_header_is_listed() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/cuda/phalanx");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let files: BTreeSet<String> = files.map(|file| format!("phalanx/{file}")).collect();
        assert_eq!(files, HEADERS.iter().map(|header| header.path.to_string()).collect());
    }
}
