//! Places a program's shared arrays. ptxas rejects more than 48 KiB of static shared memory; dynamic shared
//! memory reaches the device's own limit (CUDA C++ Programming Guide, compute capability 9.x, Shared Memory). A program
//! that declares more has all its arrays at the start of the dynamic segment, and `dynamic_shared` begins behind them.

use super::template::SharedInfo;

/// The largest size of static shared memory that a kernel may declare, in bytes.
const STATIC_LIMIT: usize = 48 * 1024;

/// The smallest alignment of an array, which is that of the widest access.
const ALIGN: usize = 16;

/// The alignment of `phalanx_dynamic_shared`, which `dynamic_shared` guarantees, too.
const SEGMENT_ALIGN: usize = 128;

/// The alignment of that memory, and of larger arrays, in a program with tiles: the pattern of swizzled rows repeats after
/// so many bytes.
const TILE_ALIGN: usize = 1024;

/// The shared arrays of a program, by function.
#[derive(Debug)]
pub(super) struct SharedLayout {
    /// The size of all arrays in bytes, including alignment if they are placed in the dynamic segment.
    pub(super) bytes: usize,
    /// The offset of each array in the dynamic segment, if they are placed there.
    pub(super) offsets: Option<Vec<Vec<usize>>>,
}

/// The shared memory of block_barrier.cuh, as the array of one more function.
pub(super) const BLOCK_BARRIER: SharedInfo = SharedInfo { size: 16, align: 8 };

impl SharedLayout {
    /// Places the arrays of functions that declare these, in a program that may have tiles.
    pub(super) fn of<'a>(functions: impl Iterator<Item = &'a [SharedInfo]>, has_tiles: bool) -> SharedLayout {
        let least = |size: usize| match has_tiles {
            true if size < TILE_ALIGN => SEGMENT_ALIGN,
            true => TILE_ALIGN,
            false => ALIGN,
        };
        let (mut declared, mut end) = (0, 0usize);
        let mut place = |array: &SharedInfo| {
            let align = least(array.size);
            let start = end.next_multiple_of(array.align.max(align));
            declared += array.size.next_multiple_of(align);
            end = start + array.size;
            start
        };
        let offsets = functions.map(|arrays| arrays.iter().map(&mut place).collect()).collect();
        let segment = if has_tiles { TILE_ALIGN } else { SEGMENT_ALIGN };
        // The compiler needs no more padding between static arrays than there is between these.
        match end > STATIC_LIMIT {
            true => SharedLayout { bytes: end.next_multiple_of(segment), offsets: Some(offsets) },
            false => SharedLayout { bytes: declared, offsets: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn array(size: usize, align: usize) -> SharedInfo {
        SharedInfo { size, align }
    }

    #[test]
    fn up_to_48_kib_are_static() {
        let functions = [&[array(3, 1), array(49_132, 4)][..], &[]];
        let layout = SharedLayout::of(functions.into_iter(), false);
        assert_eq!((layout.bytes, layout.offsets), (49_152, None));
    }

    #[test]
    fn the_barrier_of_a_block_is_one_of_them() {
        let full = [array(STATIC_LIMIT, 4)];
        let layout = SharedLayout::of([&full[..], &[BLOCK_BARRIER]].into_iter(), false);
        assert_eq!(layout.offsets, Some(vec![vec![0], vec![STATIC_LIMIT]]));
        let layout = SharedLayout::of([&[array(STATIC_LIMIT - 16, 4)][..], &[BLOCK_BARRIER]].into_iter(), false);
        assert_eq!((layout.bytes, layout.offsets), (STATIC_LIMIT, None));
    }

    #[test]
    fn more_lie_in_the_dynamic_segment_in_order_and_aligned() {
        let functions = [&[array(3, 1), array(49_152, 4)][..], &[array(1, 1)]];
        let layout = SharedLayout::of(functions.into_iter(), false);
        assert_eq!(layout.offsets, Some(vec![vec![0, 16], vec![49_168]]));
        assert_eq!(layout.bytes, 49_280, "a multiple of 128");
    }

    #[test]
    fn tiles_are_aligned_as_their_patterns_repeat() {
        let functions = [&[array(16, 4), array(2048, 2), array(49_152, 2), array(512, 2)][..]];
        let layout = SharedLayout::of(functions.into_iter(), true);
        assert_eq!(layout.offsets, Some(vec![vec![0, 1024, 3072, 52_224]]));
        assert_eq!(layout.bytes, 53_248, "a multiple of 1024");
    }
}
