//! The fence of an arrival that other blocks wait for, which a kernel's `barriers()` returns.

use std::collections::BTreeMap;
use std::fmt;

use phalanx_contract::fence::{ChosenFence, Fence};

/// The fence of each barrier of a program, by the file, the line and the column of its call.
pub(crate) type FencesByPlace = BTreeMap<(&'static str, u32, u32), Fence>;

/// An arrival at the cluster's barrier or at a peer's phase barrier, with the fence that the compiler chose for it. The marker of a kernel lists those of the
/// kernel and the functions that it calls.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::Fence;
///
/// #[cluster_kernel(cluster = 2, block = 32)]
/// fn swap(input: &[u32], output: &mut [u32]) {
///     let cluster = this_cluster();
///     let i = this_thread_block().thread_rank();
///     let array = shared_array::<u32, 32>();
///     array[i] = input[cluster.thread_rank()];
///     cluster.sync();
///     output[cluster.thread_rank()] = cluster.map_shared_rank(&array, 1 - cluster.block_rank())[i];
///     cluster.sync();
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let barriers = swap::barriers()?;
/// // The peer reads what the block wrote, and leaves only when that has been read.
/// assert_eq!(barriers.iter().map(|barrier| barrier.fence).collect::<Vec<_>>(), [Fence::Shared, Fence::Shared]);
/// assert!(barriers[1].to_string().contains("reads a peer's shared memory"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BarrierFence {
    /// The file of the source.
    pub file: &'static str,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
    /// The name of the method that arrives.
    pub method: &'static str,
    /// The fence.
    pub fence: Fence,
    /// The line that keeps the fence from being weaker, and what it does; `None` if the arrival is relaxed.
    pub cause: Option<(u32, &'static str)>,
}

impl BarrierFence {
    pub(crate) fn new(file: &'static str, chosen: &ChosenFence) -> BarrierFence {
        let ChosenFence { line, column, method, fence, cause, .. } = *chosen;
        BarrierFence { file, line, column, method, fence, cause: cause.map(|cause| (cause.line, cause.what)) }
    }

    /// Returns what the arrival orders and why.
    pub(crate) fn reason(&self) -> String {
        let orders = match self.fence {
            Fence::Relaxed => "orders no memory",
            Fence::Shared => "orders shared memory",
            Fence::Full => "orders all memory",
        };
        match self.cause {
            Some((line, what)) => format!("{orders}: line {line} {what}"),
            None => orders.to_owned(),
        }
    }
}

impl fmt::Display for BarrierFence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BarrierFence { file, line, column, method, .. } = self;
        write!(f, "{file}:{line}:{column}: `{method}` {}", self.reason())
    }
}
