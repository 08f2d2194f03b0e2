//! The prelude: CUDA C++ headers that implement Rust's semantics for the generated text. NVRTC gets them in memory;
//! this is their only list.

pub(crate) mod replace;

use std::collections::BTreeSet;

/// A header of the prelude.
#[derive(Debug, Clone, Copy)]
pub struct Header {
    /// The path by which generated text includes it: `phalanx/groups.cuh`.
    pub path: &'static str,
    /// The header's text.
    pub text: &'static str,
}

macro_rules! headers {
    ($($name:literal)*) => {
        &[$(Header { path: concat!("phalanx/", $name), text: include_str!(concat!("phalanx/", $name)) }),*]
    };
}

/// All headers, by path.
pub(crate) const HEADERS: &[Header] = headers! {
    "arguments.cuh"
    "array.cuh"
    "atomic.cuh"
    "barrier.cuh"
    "bits.cuh"
    "block_barrier.cuh"
    "checked.cuh"
    "clock.cuh"
    "clusters.cuh"
    "copy.cuh"
    "counting.cuh"
    "cuda.cuh"
    "deadline.cuh"
    "deferred.cuh"
    "division.cuh"
    "failure.cuh"
    "fast.cuh"
    "float_math.cuh"
    "floating.cuh"
    "fp8.cuh"
    "grid_barrier.cuh"
    "groups.cuh"
    "half.cuh"
    "index.cuh"
    "integer.cuh"
    "interval.cuh"
    "lanes.cuh"
    "launch.cuh"
    "launch_checks.cuh"
    "launch_dependents.cuh"
    "limits.cuh"
    "loads_ahead.cuh"
    "math.cuh"
    "matrix.cuh"
    "memory.cuh"
    "message.cuh"
    "nanosleep.cuh"
    "operator.cuh"
    "option.cuh"
    "packed.cuh"
    "peer_reads.cuh"
    "print.cuh"
    "profile.cuh"
    "range.cuh"
    "range_values.cuh"
    "range_within.cuh"
    "scalar.cuh"
    "search.cuh"
    "short_array.cuh"
    "sin_cos.cuh"
    "spread.cuh"
    "stepped_range.cuh"
    "subslice.cuh"
    "swizzled.cuh"
    "tensor.cuh"
    "tile.cuh"
    "timer.cuh"
    "transcendental.cuh"
    "tuple.cuh"
    "vector.cuh"
    "vector_interval.cuh"
    "vector_within.cuh"
    "wait_previous.cuh"
    "warpgroup.cuh"
    "within.cuh"
    "words.cuh"
    "wrapping.cuh"
};

/// The headers that a text needs if it contains one of these names. The macro derives the other headers from a body;
/// for these it would have to include too many, and each costs every compilation a millisecond.
const BY_NAME: &[(&str, &[&str])] = &[
    ("arguments.cuh", &["assume_arguments"]),
    ("atomic.cuh", &["atomic", "fence"]),
    (
        "counting.cuh",
        &["counting", "counting_through", "counted_below", "counted_through", "values_below", "values_through"],
    ),
    ("deferred.cuh", &["deferred", "deferred_vector"]),
    ("fp8.cuh", &["e4m3", "e5m2"]),
    ("half.cuh", &["f16", "bf16"]),
    ("interval.cuh", &["anything_like", "threads_of_warp", "values_in"]),
    ("launch.cuh", &["launch_block"]),
    ("launch_checks.cuh", &["at_launch", "holds_at_launch"]),
    ("limits.cuh", &["confined", "limited"]),
    ("loads_ahead.cuh", &["loaded_ahead"]),
    ("peer_reads.cuh", &["reads_of_peers"]),
    ("profile.cuh", &["profiled"]),
    (
        "range_values.cuh",
        &["values_of", "unclamped", "increased", "decreased", "increased_at_most", "decreased_at_most"],
    ),
    ("range_within.cuh", &["range_within", "row_range_within", "from_within"]),
    ("search.cuh", &["covers_below", "covers_next", "found_in", "middle_of"]),
    ("short_array.cuh", &["positions_of", "is_in"]),
    ("spread.cuh", &["spread_by", "hull"]),
    ("stepped_range.cuh", &["range_inclusive", "rev", "step_by", "stepped"]),
    ("tuple.cuh", &["tuple"]),
    ("vector_interval.cuh", &["covers_vectors", "covers_row_vectors"]),
    ("vector_within.cuh", &["vector_within", "row_vector_within"]),
    ("within.cuh", &["require", "require_of_warp", "all_of_warp", "holds"]),
    ("words.cuh", &["word_at_launch", "once_at_launch", "scattered_at_launch", "word_of"]),
];

/// Returns the headers for a text: those of `wanted` that are not chosen by name, and those that are.
pub(crate) fn needed(wanted: impl Iterator<Item = &'static str>, text: &str) -> BTreeSet<&'static str> {
    let words: BTreeSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let by_name = |header: &str| BY_NAME.iter().any(|(name, _)| *name == header);
    let named = BY_NAME.iter().filter(|(_, names)| names.iter().any(|name| words.contains(name)));
    wanted.filter(|header| !by_name(header)).chain(named.map(|(header, _)| *header)).collect()
}

/// Returns whether the text may use the shared memory of other blocks. A failing block must then stay until its peers
/// are done with its own (failure.cuh). Handwritten CUDA C++ uses PTX's names for it.
pub(crate) fn knows_peers(text: &str) -> bool {
    ["map_shared_rank", "mapa", "shared::cluster"].iter().any(|name| text.contains(name))
}

/// Returns whether the text may send to a peer asynchronously. Those instructions are illegal in a launch without the cluster
/// attribute, unlike all others of the cluster, which know a block without one as a cluster of one block. Handwritten CUDA C++ uses
/// PTX's names for them.
pub(crate) fn sends_to_peers(text: &str) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| text.contains(name));
    knows_peers(text)
        && has(&["store_async", "bulk_copy_async", "st.async", "red.async", "shared::cluster.shared::cta", "multicast"])
}

/// Returns whether nothing but arrivals ends the phases of the text's barriers: no bytes of copies, and no thread that leaves one.
/// Handwritten CUDA C++ uses PTX's names for what may.
pub(crate) fn only_arrivals_end_phases(text: &str) -> bool {
    !["expect_", "async", "arrive_and_drop", "mbarrier"].iter().any(|name| text.contains(name))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn what_may_end_a_phase_besides_arrivals() {
        assert!(only_arrivals_end_phases(
            "auto token = bar.arrive(); bar.wait(token); bar.arrive_n(4); next.arrive();"
        ));
        for other in [
            "bar.expect_tx(64);",
            "map.expect_multicast(tile, bar);",
            "bar.arrive_and_drop();",
            "bulk_copy_async(tile, x, bar);",
            "next.store_async(0, 1, bar);",
            "asm volatile(\"mbarrier.complete_tx.b64 [%0], 1;\" : : \"r\"(bar));",
        ] {
            assert!(!only_arrivals_end_phases(&format!("auto token = bar.arrive(); {other}")), "{other}");
        }
    }

    #[test]
    fn every_header_is_listed() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
        if !repository.exists() {
            // The bundle runs this without the repository.
            return eprintln!("skipped: {} is not here", repository.display());
        }
        let files = repository.join("src/program/cuda/phalanx").read_dir().expect("the prelude is in the repository");
        let names = files.map(|file| file.expect("a readable folder").file_name().into_string().expect("UTF-8"));
        let files: BTreeSet<String> =
            names.filter(|name| name.ends_with(".cuh")).map(|name| format!("phalanx/{name}")).collect();
        assert_eq!(files, HEADERS.iter().map(|header| header.path.to_string()).collect());
    }

    /// Whatever names the launch's block is inlined into the kernel, whose parameter it is (launch.cuh).
    #[test]
    fn every_function_of_the_prelude_is_inlined() {
        for Header { path, text } in HEADERS {
            let functions = text.match_indices("__device__ ").map(|(at, word)| &text[at + word.len()..]);
            let known = ["__forceinline__ ", "__noinline__ ", "PHALANX_RARELY "];
            let others = functions.filter(|rest| !known.iter().any(|how| rest.starts_with(how)));
            let lines: Vec<&str> = others.filter_map(|rest| rest.lines().next()).collect();
            assert!(lines.is_empty(), "{path}: {lines:#?}");
            // A function that is called cannot name it, so that it gets it, or cannot fail: it has no site.
            let out_of_line = ["__device__ __noinline__ ", "__device__ PHALANX_RARELY "];
            let out_of_line = out_of_line.into_iter().flat_map(|how| text.split(how).skip(1));
            for signature in out_of_line.filter_map(|rest| rest.split('{').next()) {
                let may_fail = signature.contains("site");
                assert!(signature.contains("const launch_block* launch") || !may_fail, "{path}: {signature}");
            }
        }
    }

    #[test]
    fn a_text_has_the_headers_that_it_names() {
        let text = "auto x = as<f16>(y); some_tuple(x); x.atomic(0)";
        let headers = needed(["tuple.cuh", "memory.cuh"].into_iter(), text);
        assert_eq!(headers, BTreeSet::from(["atomic.cuh", "half.cuh", "memory.cuh"]));
        assert!(BY_NAME.iter().all(|(name, _)| HEADERS.iter().any(|header| header.path.ends_with(name))));
        assert!(knows_peers("cluster.map_shared_rank(a, 1)") && !knows_peers("cluster.sync()"));
    }

    #[test]
    fn a_text_sends_to_peers_if_it_names_them_and_a_copy() {
        assert!(sends_to_peers("bulk_copy_async(cluster.map_shared_rank(a, 1), b, bar)"));
        assert!(sends_to_peers("asm(\"st.async.weak.shared::cluster.b32\")"));
        assert!(!sends_to_peers("bulk_copy_async(a, b, bar)") && !sends_to_peers("cluster.map_shared_rank(a, 1)[0]"));
    }
}
