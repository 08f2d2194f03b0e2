//! Kernels with NVIDIA's own headers in place of ours: the prelude's files of groups, barriers and tiles are replaced
//! by others that define the same names by `<cooperative_groups.h>` and `<cuda/barrier>` (`toolkit/`). The text of a
//! kernel stays as it is, and so does its check, which compares with plain Rust: what holds with both holds of both.
//! Numbers, memory and failures stay ours; asynchronous copies, too, whose barriers are then the toolkit's.

use std::env;
use std::path::{Path, PathBuf};

use phalanx::__private::{Header, Replacement, replace};

use crate::{Check, Module};

macro_rules! headers {
    ($($name:literal)*) => {
        [$(Header { path: concat!("phalanx/", $name), text: include_str!(concat!("../toolkit/", $name)) }),*]
    };
}

const HEADERS: [Header; 5] = headers! { "barrier.cuh" "block_barrier.cuh" "grid_barrier.cuh" "groups.cuh" "tile.cuh" };

/// The kernels that are also written by hand, by their names here.
const KERNELS: [&str; 5] = ["block_stages", "cluster_stages", "grid_stages", "phase_stages", "remote_stages"];
const BY_HAND: &str = include_str!("../toolkit/by_hand.cu");

/// The modules whose kernels have groups and barriers.
const MODULES: [&str; 20] = [
    "async_copies",
    "async_copies::parts",
    "async_peers",
    "block_phases",
    "cluster_phases",
    "grid_barriers",
    "groups",
    "guide",
    "litmus",
    "memory",
    "phase_barriers",
    "phase_tokens",
    "pipelines",
    "pipelines::ring",
    "relaxed",
    "shuffles",
    "stages",
    "tiles",
    "tokens",
    "warp_values",
];

/// The checks of what the toolkit does not promise: a failing thread ends no wait for it.
const OURS_ALONE: [&str; 5] = [
    "block_phases::nobody_waits_for_who_failed",
    "cluster_phases::no_peer_waits_for_who_failed",
    "grid_barriers::nobody_waits_for_who_failed",
    "grid_barriers::the_next_launch_starts_anew",
    "phase_barriers::nobody_waits_for_who_failed",
];

/// Returns the folder of NVIDIA's headers, which `cargo xtask test` downloads.
pub fn folder() -> Option<PathBuf> {
    env::var_os("PHALANX_TOOLKIT").map(PathBuf::from)
}

/// Makes NVRTC use the toolkit's headers in this folder from now on. If everything is compiled already, there need be none.
pub fn use_headers(folder: Option<&Path>) {
    let include = |folder: &Path| format!("--include-path={}", folder.display());
    let options = folder.map(|folder| vec![include(folder), include(&folder.join("cccl"))]).unwrap_or_default();
    let kernels = KERNELS.map(|name| (name, BY_HAND)).to_vec();
    // SAFETY: the checks compare the handwritten kernels with ours, and they have the same parameters.
    unsafe { replace(Replacement { headers: HEADERS.to_vec(), kernels, options }) };
}

/// Returns what is compiled and run with the toolkit's headers.
pub fn modules() -> Vec<Module> {
    let mut modules = crate::modules();
    modules.retain(|module| MODULES.contains(&module.name));
    for module in &mut modules {
        let is_common = |check: &Check| !OURS_ALONE.contains(&&*format!("{}::{}", module.name, check.name));
        module.checks.retain(is_common);
    }
    modules
}
