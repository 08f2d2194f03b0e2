//! What a kernel's machine code takes of a device.

/// What a kernel's machine code takes of a GPU; [`Launch::attributes`](crate::Launch::attributes) returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct KernelAttributes {
    /// The number of 32-bit registers of a thread.
    pub registers: u32,
    /// The bytes of a thread's local memory, which is global memory behind the caches: arrays that are indexed by variables, and registers
    /// that were spilled.
    pub local_bytes: usize,
    /// The bytes of a block's shared memory: arrays and barriers of fixed size, and what the launch asks for.
    pub shared_bytes: usize,
    /// The bytes of constant memory, without the parameters.
    pub constant_bytes: usize,
    /// The largest number of threads of a block, which the registers allow.
    pub max_threads_per_block: u32,
    /// The number of blocks of this launch that a multiprocessor holds at once.
    pub blocks_per_multiprocessor: u32,
    /// The number of multiprocessors.
    pub multiprocessors: u32,
}
