//! Extents in three dimensions, and the shape of a launch. `launch::check` and `gpu::caps` have the limits of a shape.

use std::fmt;

/// An extent or an index in three dimensions, with x varying fastest, like CUDA's `dim3`.
// Laid out like `extent` of groups.cuh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[repr(C)]
pub struct Dim3 {
    /// The first dimension.
    pub x: u32,
    /// The second dimension.
    pub y: u32,
    /// The third dimension.
    pub z: u32,
}

impl Dim3 {
    /// Returns `x` by `y` by `z`.
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Dim3 { x, y, z }
    }

    /// Returns `x * y * z`.
    pub const fn count(self) -> u64 {
        self.x as u64 * self.y as u64 * self.z as u64
    }

    /// Returns the index with this rank in an extent of `self`.
    ///
    /// ```
    /// # use phalanx::Dim3;
    /// assert_eq!(Dim3::new(4, 2, 1).index(5), Dim3::new(1, 1, 0));
    /// ```
    pub const fn index(self, rank: u64) -> Dim3 {
        let (x, y) = (self.x as u64, self.y as u64);
        Dim3::new((rank % x) as u32, (rank / x % y) as u32, (rank / x / y) as u32)
    }

    /// Returns the rank of an index in an extent of `self`.
    pub(crate) const fn rank(self, index: Dim3) -> u64 {
        index.x as u64 + self.x as u64 * (index.y as u64 + self.y as u64 * index.z as u64)
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Dim3::new(x, 1, 1)
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Dim3::new(x, y, 1)
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Dim3::new(x, y, z)
    }
}

impl From<[u32; 3]> for Dim3 {
    fn from([x, y, z]: [u32; 3]) -> Self {
        Dim3::new(x, y, z)
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({},{},{})", self.x, self.y, self.z)
    }
}

/// Everything that a launch fixes about its threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The number of blocks in the grid; a multiple of `cluster` in each dimension.
    pub grid: Dim3,
    /// The number of blocks in a cluster.
    pub cluster: Dim3,
    /// The number of threads in a block.
    pub block: Dim3,
    /// The size in bytes of a block's dynamic shared memory.
    pub dynamic_shared_bytes: usize,
}
