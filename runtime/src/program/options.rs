//! The options of a kernel in `#[cluster_kernel(...)]`: their values, their limits, and how the kernel's head states
//! them. The macro checks literals itself; constants reach the functions here, which rustc evaluates, so that both are
//! subject to one list of limits at compile time. `launch` checks launches, and `gpu::nvrtc` has the compiler's
//! options.

use crate::program::refusal::Message;

/// The options that the attribute fixed; `None` is left to the launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelOptions {
    /// The number of blocks in a cluster.
    pub cluster: Option<[u32; 3]>,
    /// The number of threads in a block.
    pub block: Option<[u32; 3]>,
    /// The number of blocks that a multiprocessor should hold at once.
    pub min_blocks: Option<u32>,
    /// The largest number of registers of a thread.
    pub max_registers: Option<u32>,
    /// The size of dynamic shared memory in bytes.
    pub shared_bytes: Option<usize>,
    /// Whether clusters of more than eight blocks are allowed.
    pub non_portable: bool,
    /// Whether floats are as fast as the hardware allows, and less exact.
    pub fast_math: bool,
    /// Whether `a * b + c` may be rounded once.
    pub fmad: bool,
    /// Whether barriers are recorded on a GPU, for a timeline.
    pub profile: bool,
    /// The positions of the parameters that may be read before `wait_previous()`.
    pub early: &'static [usize],
    /// Whether the body uses `dynamic_shared`, so that a launch must give its size.
    pub dynamic_shared: bool,
}

impl KernelOptions {
    /// The options of a kernel whose attribute fixes nothing.
    pub const NONE: KernelOptions = KernelOptions {
        cluster: None,
        block: None,
        min_blocks: None,
        max_registers: None,
        shared_bytes: None,
        non_portable: false,
        fast_math: false,
        fmad: false,
        profile: false,
        early: &[],
        dynamic_shared: false,
    };

    /// Returns the attributes between `void` and the kernel's name (CUDA C++ Programming Guide, launch bounds and
    /// maximum number of registers per thread). `__launch_bounds__` and `__maxnreg__` exclude each other, and the
    /// second is more specific.
    pub(super) fn bounds(&self) -> String {
        let mut text = String::new();
        // Blocks alone are launched as such, which is faster; the attribute here would make them clusters again.
        if let Some([x, y, z]) = self.cluster
            && [x, y, z] != [1, 1, 1]
        {
            text += &format!(" __cluster_dims__({x}, {y}, {z})");
        }
        match (self.max_registers, self.block, self.min_blocks) {
            (Some(registers), ..) => text += &format!(" __maxnreg__({registers})"),
            (None, Some(block), Some(blocks)) => text += &format!(" __launch_bounds__({}, {blocks})", threads(block)),
            (None, Some(block), None) => text += &format!(" __launch_bounds__({})", threads(block)),
            (None, None, _) => {}
        }
        text
    }
}

/// Checks a constant rank against a cluster whose size the attribute fixes. Other ranks are checked at run time.
#[track_caller]
pub const fn rank_of_cluster(rank: u32, cluster: Option<[u32; 3]>) {
    if let Some([x, y, z]) = cluster
        && rank >= x * y * z
    {
        let message = Message::new().text("rank ").number(rank as usize);
        let message = message.text(" is out of range: the cluster has ").number((x * y * z) as usize);
        let message = message.text(" blocks [rank_out_of_range]");
        message.text(see_page!("rank_out_of_range")).panic();
    }
}

/// Returns the number of threads of a block whose size has been checked.
const fn threads([x, y, z]: [u32; 3]) -> u32 {
    x * y * z
}

/// The type in which limits are compared, which holds the values of all integer types.
type Wide = i128;

const fn within(value: Wide, least: Wide, most: Wide) -> bool {
    least <= value && value <= most
}

/// Returns the extents if their product is at most `most`. Each is compared first, so that the product does not
/// overflow.
const fn extents([x, y, z]: [Wide; 3], most: Wide) -> Option<[u32; 3]> {
    let each = within(x, 1, most) && within(y, 1, most) && within(z, 1, most);
    if each && x * y * z <= most { Some([x as u32, y as u32, z as u32]) } else { None }
}

/// Reports `launch_limit` where rustc evaluates the constant.
macro_rules! refuse {
    ($text:literal) => {
        panic!(concat!($text, see_page!("launch_limit")))
    };
}

/// Checks the value of `cluster = ..`.
#[track_caller]
pub const fn cluster(blocks: [i128; 3], non_portable: bool) -> [u32; 3] {
    let Some([x, y, z]) = extents(blocks, 16) else {
        refuse!("`cluster` must be 1 to 16 blocks, with each extent at least 1 [launch_limit]")
    };
    if x * y * z > 8 && !non_portable {
        refuse!(
            "a cluster of more than 8 blocks does not run on every device [launch_limit]\n\
             help: add `non_portable` to the attribute to ask for up to 16"
        )
    }
    [x, y, z]
}

/// Checks the value of `block = ..`.
#[track_caller]
pub const fn block(threads: [i128; 3]) -> [u32; 3] {
    let Some([x, y, z]) = extents(threads, 1024) else {
        refuse!("`block` must be 1 to 1024 threads, with each extent at least 1 [launch_limit]")
    };
    if z > 64 {
        refuse!("a block can be at most 64 threads deep [launch_limit]")
    }
    [x, y, z]
}

/// Checks the value of `min_blocks = ..`, with the attribute's block.
#[track_caller]
pub const fn min_blocks(blocks: i128, block: Option<[u32; 3]>) -> u32 {
    if !within(blocks, 1, 32) {
        refuse!("`min_blocks` must be 1 to 32: no multiprocessor holds more blocks [launch_limit]")
    }
    if let Some(block) = block
        && blocks * threads(block) as i128 > 2048
    {
        refuse!("`min_blocks` blocks of this size are more than the 2048 threads of a multiprocessor [launch_limit]")
    }
    blocks as u32
}

/// Checks the value of `max_registers = ..`, with the attribute's block.
#[track_caller]
pub const fn max_registers(registers: i128, block: Option<[u32; 3]>) -> u32 {
    if !within(registers, 24, 255) {
        refuse!("`max_registers` must be 24 to 255 registers per thread [launch_limit]")
    }
    if let Some(block) = block
        && registers * threads(block) as i128 > 65536
    {
        refuse!(
            "a block of this size with `max_registers` registers a thread is more than the 65536 registers of a \
             multiprocessor [launch_limit]"
        )
    }
    registers as u32
}

/// Checks the number of registers of `increase_registers::<N>()` and its opposite against those that a thread has at the start.
#[track_caller]
pub const fn register_change(count: usize, increases: bool, options: &KernelOptions) {
    if count < 24 || count > 256 || !count.is_multiple_of(8) {
        let message =
            Message::new().text("the registers of a thread are a multiple of 8 from 24 to 256, not ").number(count);
        message.text(" [launch_limit]").text(see_page!("launch_limit")).panic();
    }
    let Some(block) = options.block else {
        refuse!("the number of registers changes only in blocks of a known size: `block = ..` [launch_limit]")
    };
    if !threads(block).is_multiple_of(128) {
        refuse!(
            "a warpgroup that changes its registers has all of its warps: `block` must be a multiple of 128 [launch_limit]"
        )
    }
    let at_start = registers_at_start(threads(block), options);
    if increases && count < at_start {
        let message = Message::new()
            .text("`increase_registers::<")
            .number(count)
            .text(">` gives a thread fewer registers than the ");
        message
            .number(at_start)
            .text(" that it has at the start [launch_limit]")
            .text(see_page!("launch_limit"))
            .panic();
    }
    let warpgroups = (threads(block) / 128) as usize;
    if increases && count + (warpgroups - 1) * 24 > warpgroups * at_start {
        let message = Message::new()
            .text("`increase_registers::<")
            .number(count)
            .text(">` asks for more registers than the block has: ");
        message
            .number(warpgroups * at_start)
            .text(" for each thread of a warpgroup, of which others keep 24 [launch_limit]")
            .text(see_page!("launch_limit"))
            .panic();
    }
    if !increases && count > at_start {
        let message = Message::new()
            .text("`decrease_registers::<")
            .number(count)
            .text(">` leaves a thread more registers than the ");
        message
            .number(at_start)
            .text(" that it has at the start [launch_limit]")
            .text(see_page!("launch_limit"))
            .panic();
    }
}

/// Returns the registers that a thread has at the start: those that the bounds of the launch allow, in steps of 8.
const fn registers_at_start(threads: u32, options: &KernelOptions) -> usize {
    let blocks = match options.min_blocks {
        Some(blocks) => blocks,
        None => 1,
    };
    let allowed = match options.max_registers {
        Some(registers) => registers,
        None => 65536 / (threads * blocks),
    };
    let allowed = if allowed > 256 { 256 } else { allowed };
    (allowed / 8 * 8) as usize
}

/// Checks the value of `shared_bytes = ..`.
#[track_caller]
pub const fn shared_bytes(bytes: i128) -> usize {
    if !within(bytes, 0, 232_448) {
        refuse!("`shared_bytes` must be at most 232448: no device supports more [launch_limit]")
    }
    bytes as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads() {
        let none = KernelOptions::NONE;
        assert_eq!(none.bounds(), "");
        let sized = KernelOptions { cluster: Some([2, 1, 1]), block: Some([32, 8, 1]), ..none };
        assert_eq!(sized.bounds(), " __cluster_dims__(2, 1, 1) __launch_bounds__(256)");
        assert_eq!(
            KernelOptions { min_blocks: Some(4), ..sized }.bounds(),
            " __cluster_dims__(2, 1, 1) __launch_bounds__(256, 4)"
        );
        assert_eq!(KernelOptions { cluster: Some([1, 1, 1]), ..none }.bounds(), "");
        // NVRTC rejects both at once.
        assert_eq!(
            KernelOptions { max_registers: Some(64), ..sized }.bounds(),
            " __cluster_dims__(2, 1, 1) __maxnreg__(64)"
        );
    }

    #[test]
    fn constants_are_held_to_the_limits() {
        assert_eq!(cluster([2, 4, 1], false), [2, 4, 1]);
        assert_eq!(cluster([16, 1, 1], true), [16, 1, 1]);
        assert_eq!(block([16, 1, 64]), [16, 1, 64]);
        assert_eq!(min_blocks(2, Some([1024, 1, 1])), 2);
        assert_eq!(max_registers(64, Some([1024, 1, 1])), 64);
        assert_eq!(shared_bytes(232_448), 232_448);
        let refused: [fn(); 13] = [
            || _ = cluster([0, 1, 1], true),
            || _ = cluster([-1, -1, 1], true),
            || _ = cluster([9, 1, 1], false),
            || _ = cluster([17, 1, 1], true),
            || _ = block([i128::MAX, 2, 2]),
            || _ = block([1, 1, 65]),
            || _ = min_blocks(0, None),
            || _ = min_blocks(3, Some([1024, 1, 1])),
            || _ = max_registers(23, None),
            || _ = max_registers(256, None),
            || _ = max_registers(65, Some([1024, 1, 1])),
            || _ = shared_bytes(232_449),
            || rank_of_cluster(4, Some([2, 2, 1])),
        ];
        rank_of_cluster(3, Some([2, 2, 1]));
        rank_of_cluster(16, None);
        for (index, refused) in refused.into_iter().enumerate() {
            assert!(std::panic::catch_unwind(refused).is_err(), "{index}");
        }
    }
}
