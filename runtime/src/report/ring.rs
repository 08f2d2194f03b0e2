//! The phase barriers of a kernel with what the compiler knows of their rings, which a kernel's `rings()` returns.

use std::fmt;

/// A phase barrier of a kernel, or an array of them, and whether its ring is proved. The marker of a kernel lists those of the kernel.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::RingVerdict;
///
/// #[cluster_kernel(block = 64)]
/// fn doubled(input: &[u32], out: &mut [u32], rounds: u32) {
///     let block = this_thread_block();
///     let (i, lane) = (block.thread_rank(), block.thread_rank() % 32);
///     let rows = shared_array::<[u32; 32], 2>();
///     let full = shared_barriers::<2>();
///     let empty = shared_barriers::<2>();
///     full.init_collective(&block, 32);
///     empty.init_collective(&block, 32);
///     for round in 0..rounds {
///         let (stage, odd) = (round % 2, round / 2 % 2 == 1);
///         if i < 32 {
///             empty[stage].wait_parity(!odd);
///             rows[stage][lane] = input[round * 32 + lane];
///             let _ = full[stage].arrive();
///         } else {
///             full[stage].wait_parity(odd);
///             out[round * 32 + lane] = 2 * rows[stage][lane];
///             let _ = empty[stage].arrive();
///         }
///     }
/// }
///
/// let rings = doubled::rings();
/// assert_eq!(rings.iter().map(|ring| ring.name).collect::<Vec<_>>(), ["full", "empty"]);
/// assert_eq!(rings[0].verdict, RingVerdict::Proved { arrays: vec!["rows"] });
/// assert!(rings[0].to_string().ends_with("`full` is proved for every number of rounds, and so are the accesses of `rows`"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ring {
    /// The file of the source.
    pub file: &'static str,
    /// The line of the declaration, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: u32,
    /// The name of the barrier or the array of barriers.
    pub name: &'static str,
    /// What is known of it.
    pub verdict: RingVerdict,
}

/// What the compiler knows of a ring of phase barriers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RingVerdict {
    /// No run of the kernel has a deadlock, a wrong count or an overtaken wait at the barrier, for any number of rounds.
    Proved {
        /// The shared arrays of which no two accesses conflict.
        arrays: Vec<&'static str>,
    },
    /// Nothing wrong was found, and nothing is proved: the simulator checks the ring as it runs.
    NotProved {
        /// The line of what is not followed, counted from 1.
        line: u32,
        /// Why it is not followed.
        reason: &'static str,
    },
    /// The ring breaks a rule that the kernel switches off.
    Unchecked,
}

impl fmt::Display for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ring { file, line, column, name, .. } = self;
        write!(f, "{file}:{line}:{column}: `{name}` ")?;
        match &self.verdict {
            RingVerdict::Proved { arrays } => {
                f.write_str("is proved for every number of rounds")?;
                let names: Vec<String> = arrays.iter().map(|array| format!("`{array}`")).collect();
                match names.is_empty() {
                    true => Ok(()),
                    false => write!(f, ", and so are the accesses of {}", names.join(", ")),
                }
            }
            RingVerdict::NotProved { line, reason } => write!(f, "is not proved: line {line}: {reason}"),
            RingVerdict::Unchecked => f.write_str("breaks a rule that is switched off"),
        }
    }
}

/// Makes the list of a kernel's rings: each has its name, its line and its column.
#[doc(hidden)]
#[must_use]
pub fn rings(file: &'static str, barriers: &[(&'static str, u32, u32)], verdict: &RingVerdict) -> Vec<Ring> {
    let ring = |(name, line, column)| Ring { file, line, column, name, verdict: verdict.clone() };
    barriers.iter().copied().map(ring).collect()
}
