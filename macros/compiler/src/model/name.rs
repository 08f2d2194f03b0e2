//! The names that the parser recognises by their spelling. An item of the user's may have such a name too, so the parser
//! claims what it takes each of them for, and the host body has rustc compare the claim with what the name means there.

use proc_macro2::{Ident, TokenStream};

/// What a name is in Rust, as far as the parser looks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    Type,
    Function,
    /// A function of `std::mem` or `std::array`, by its whole path or imported.
    Exchange,
    /// A variant of `Option` or `Result`.
    Variant,
    Macro,
    /// A memory order.
    Order,
    /// A memory scope.
    Scope,
}

impl Space {
    /// Whether names need an import, as Rust's own do not, nor `cuda!`.
    pub(crate) fn is_imported(self) -> bool {
        match self {
            Space::Type | Space::Function | Space::Exchange | Space::Order | Space::Scope => true,
            Space::Variant | Space::Macro => false,
        }
    }
}

/// The names that the parser recognises, apart from scalars.
pub(crate) const NAMES: [(Space, &[&str]); 7] = [
    (
        Space::Type,
        &[
            "ArrivalToken",
            "Barrier",
            "Barriers",
            "Cluster",
            "ClusterBarrier",
            "ClusterBarriers",
            "CoalescedGroup",
            "Grid",
            "Option",
            "RemoteArray",
            "RemoteBarrier",
            "RemoteSlice",
            "SharedArray",
            "SharedSlice",
            "TensorMap",
            "ThreadBlock",
            "Tile",
        ],
    ),
    (
        Space::Function,
        &[
            "binary_partition",
            "bulk_copy_async",
            "bulk_wait_group",
            "bulk_wait_group_read",
            "coalesced_threads",
            "dynamic_shared",
            "dynamic_shared_slice",
            "fence",
            "labeled_partition",
            "launch_dependents",
            "memcpy_async",
            "nanosleep",
            "shared_array",
            "shared_barrier",
            "shared_barriers",
            "shared_cluster_barrier",
            "shared_cluster_barriers",
            "this_cluster",
            "this_grid",
            "this_thread_block",
            "tiled_partition",
            "wait_previous",
        ],
    ),
    (Space::Exchange, &["from_fn", "replace", "swap", "take"]),
    (Space::Variant, &["Err", "None", "Ok", "Some"]),
    (
        Space::Macro,
        &[
            "assert",
            "assert_eq",
            "assert_ne",
            "cuda",
            "debug_assert",
            "debug_assert_eq",
            "debug_assert_ne",
            "matches",
            "panic",
            "print",
            "println",
            "todo",
            "unimplemented",
            "unreachable",
        ],
    ),
    (Space::Order, &["AcqRel", "Acquire", "Relaxed", "Release", "SeqCst"]),
    (Space::Scope, &["Block", "Cluster", "Device", "System"]),
];

/// A name that is not compared: the attribute resolves it, because the standard library has a `Barrier` too. The host
/// body writes the full path, so that a value of another type does not fit.
pub(crate) const RESOLVED: &str = "Barrier";

/// Returns the name that the parser recognises, if this is one.
pub(crate) fn known(name: &str, space: Space) -> Option<&'static str> {
    let names = NAMES.into_iter().filter(|(of, _)| *of == space).flat_map(|(_, names)| names);
    names.copied().find(|known| *known == name)
}

/// What the parser took a path for.
#[derive(Debug)]
pub(crate) struct Claim {
    /// The path without generic arguments, as the user wrote it.
    pub(crate) path: TokenStream,
    pub(crate) meaning: Meaning,
}

/// The meaning of a name that the parser recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The item of this name in phalanx or the standard library. A path has further names before it.
    Item { name: Ident, space: Space, in_path: bool },
    /// A type that holds all numbers of this scalar type, to which a value is cast.
    Cast(&'static str),
    /// The scalar type of this name, by whose size addresses are compared.
    Element(&'static str),
}
