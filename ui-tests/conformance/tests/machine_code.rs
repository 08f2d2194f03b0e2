//! Checks the machine code that NVRTC makes of vectors and of atomics: one instruction of 16 bytes, not four of 4; and
//! of split barriers, whose arrival is not a complete one. It needs NVRTC and no GPU. The encoding is that of sm_90
//! (`nvdisasm -hex`): the lowest 12 bits are the operation, three bits of the upper half the size.

use std::env;

use phalanx::Error;
use phalanx_conformance::machine_code::{self, ATOMIC_GLOBAL};
use phalanx_conformance::{Kernel, Module, corpus, kernels};

/// The operations, by the lowest 12 bits.
const LOAD_GLOBAL: u64 = 0x981;
const STORE_GLOBAL: u64 = 0x986;
const LOAD_SHARED: u64 = 0x984;
const STORE_SHARED: u64 = 0x388;
/// The operation `BAR`.
const BARRIER: u64 = 0xb1d;
/// The operation `SYNCS.ARRIVE`.
const ARRIVE: u64 = 0x9a7;
/// The operation `SYNCS.PHASECHK`.
const PHASE_CHECK: u64 = 0x5a7;
/// The operation `MEMBAR`.
const MEMORY_BARRIER: u64 = 0x992;
/// The scope of a `MEMBAR`, in the four bits from bit 76, and that of the device.
const SCOPE: u64 = 0xf << 12;
const OF_THE_DEVICE: u64 = 0xa << 12;
/// A load from a generic address: a peer's shared memory.
const LOAD: u64 = 0x980;
const STORE: u64 = 0x385;
/// The size `.128`, in the three bits from bit 73.
const BYTES_16: u64 = 6;
/// The size `.32`.
const BYTES_4: u64 = 4;
/// The modifier `.CONSTANT`, bit 79.
const CONSTANT: u64 = 1 << 15;

/// Returns the machine code of a kernel of `kernels`.
fn code(module: &str, name: &str) -> Option<Vec<[u64; 2]>> {
    let modules = kernels::modules();
    let module = modules.iter().find(|found| found.name == module).unwrap();
    code_of(module.kernels.iter().find(|kernel| kernel.name == name).unwrap())
}

fn code_of(kernel: &Kernel) -> Option<Vec<[u64; 2]>> {
    machine_code::without_records();
    let program = (kernel.program)().unwrap();
    let cubin = match program.compile("sm_90a") {
        Err(missing @ Error::NvrtcMissing { .. }) => {
            assert!(env::var_os("PHALANX_REQUIRE_NVRTC").is_none(), "{missing}");
            eprintln!("not compiled: {missing}");
            return None;
        }
        compiled => compiled.unwrap(),
    };
    Some(machine_code::of(&cubin, program.entry()))
}

/// The operation `REDUX`, by the lowest 12 bits: 32-bit integers, all lanes of a mask.
const REDUCE: u64 = 0x3c4;
/// The operation `SHFL` by constants, and by one whose last operand is the register of zeros.
const SHUFFLE: u64 = 0xf89;
const SHUFFLE_UP: u64 = 0x989;

/// The operation `HGMMA`, a product of a warpgroup, and the group on which a wait for it counts: in the three bits from bit 84, of which
/// all are set in an instruction that begins no group's end.
const PRODUCT: u64 = 0x9f0;
const GROUP: u64 = 7 << 20;

/// The last instruction of each `mma_async` ends a group, and no other: where the assembler does not know that all threads of a warp
/// leave a loop together if a check fails, it waits after each instruction (ptxas, C7518). It knows of a product's tiles, whose
/// indexes are the same in a warp.
#[test]
fn products_are_in_flight_together() {
    let (corpus, all) = (corpus::modules(), kernels::modules());
    let find = |modules: &[Module], module: &str, name: &str| {
        let module = modules.iter().find(|found| found.name == module).unwrap();
        code_of(module.kernels.iter().find(|kernel| kernel.name == name).unwrap())
    };
    for (code, instructions, groups) in [
        (find(&corpus, "corpus::warpgroups", "product"), 8, 2),
        (find(&all, "warpgroups", "steps"), 4, 1),
        (find(&all, "warpgroups", "two_sums"), 4, 2),
        // Warps that wait at phase barriers leave as one, and failing threads call nothing while peers need their block.
        (find(&corpus, "corpus::multicast", "product"), 8, 2),
        (find(&all, "persistent", "product"), 8, 2),
        // The product of registers is another operation.
        (find(&all, "warpgroup_transposed", "one_of_two"), 2, 1),
        (find(&all, "warpgroup_transposed", "both bf16_to_f32"), 8, 2),
    ] {
        let Some(code) = code else { return };
        let products: Vec<u64> = code.iter().filter(|[low, _]| low & 0xfff == PRODUCT).map(|[_, high]| *high).collect();
        let ends = products.iter().filter(|high| *high & GROUP != GROUP).count();
        assert_eq!((products.len(), ends), (instructions, groups));
    }
}

/// The operation `USETMAXREG`, whose number is in the eight bits from bit 32.
const CHANGE_REGISTERS: u64 = 0x9c8;

/// The assembler leaves changes of registers out where the code after them needs more than they leave (ptxas, C7507), or where it does
/// not know how many there are at the start.
#[test]
fn registers_are_changed() {
    let Some(code) = code("warpgroups", "specialised") else { return };
    let changes = code.iter().filter(|[low, _]| low & 0xfff == CHANGE_REGISTERS);
    let mut counts: Vec<u64> = changes.map(|[low, _]| low >> 32 & 0xff).collect();
    counts.sort_unstable();
    assert_eq!(counts, [40, 232]);
}

/// Whole warps reduce integers of up to 32 bits by one instruction, floats by shuffles.
#[test]
fn whole_warps_reduce_by_one_instruction() {
    for (name, reductions) in [("of_numbers<u32, 32>", 3), ("of_numbers<i8, 32>", 3), ("of_numbers<f32, 32>", 0)] {
        let Some(code) = code("folds", name) else { return };
        let found = code.iter().filter(|[low, _]| low & 0xfff == REDUCE).count();
        assert_eq!(found, reductions, "{name}: plus, min and max");
    }
}

/// Smaller tiles that whole warps reach use shuffles of all lanes: the assembler would check a mask that is known only at run
/// time by a `REDUX.OR`, before each collective.
#[test]
fn smaller_tiles_reduce_by_shuffles() {
    for name in ["of_numbers<u32, 8>", "of_numbers<f32, 8>"] {
        let Some(code) = code("folds", name) else { return };
        let found = code.iter().filter(|[low, _]| low & 0xfff == REDUCE).count();
        assert_eq!(found, 0, "{name}");
        assert!(code.iter().any(|[low, _]| low & 0xfff == SHUFFLE), "{name}");
    }
}

/// A loop with a condition on the lane stays one loop: 5 times 2 shuffles and one more, each once more for a warp whose threads do not
/// come together.
#[test]
fn a_condition_on_the_lane_makes_no_second_loop() {
    for name in ["segments_of_any_block", "segments_of_64", "segments_of_two_dimensions"] {
        let Some(code) = code("lanes_in_loops", name) else { return };
        let found = only(&code, [SHUFFLE, SHUFFLE_UP]).len();
        assert!((11..=22).contains(&found), "{name}: {found} shuffles");
    }
}

fn count(code: &[[u64; 2]], operation: u64, size: u64) -> usize {
    code.iter().filter(|[low, high]| low & 0xfff == operation && high >> 9 & 7 == size).count()
}

/// Returns the instructions of these operations, in order.
fn only<const N: usize>(code: &[[u64; 2]], operations: [u64; N]) -> Vec<u64> {
    code.iter().map(|[low, _]| low & 0xfff).filter(|operation| operations.contains(operation)).collect()
}

/// A kernel with only split barriers has one whole barrier, which initializes the block's; and shared memory needs no
/// fence.
#[test]
fn a_blocks_arrival_is_no_whole_barrier() {
    let Some(code) = code("block_phases", "go_round") else { return };
    let found = only(&code, [BARRIER, ARRIVE, PHASE_CHECK, MEMORY_BARRIER]);
    assert_eq!(found.iter().filter(|operation| **operation == BARRIER).count(), 1);
    assert_eq!(found[..3], [BARRIER, ARRIVE, PHASE_CHECK]);
    assert!(!found.contains(&MEMORY_BARRIER));
}

/// There is one fence, of the release: an acquire needs none. Sequentially consistent fences at both ends, as in CUDA's
/// own header, would be two.
#[test]
fn the_grids_barrier_has_one_fence() {
    let Some(code) = code("grid_barriers", "split") else { return };
    assert_eq!(
        only(&code, [BARRIER, MEMORY_BARRIER, ATOMIC_GLOBAL]),
        [BARRIER, MEMORY_BARRIER, ATOMIC_GLOBAL, BARRIER]
    );
}

/// The fence of the device's scope, which a full arrival waits for, is in no other.
#[test]
fn only_full_barriers_of_the_cluster_wait_for_all_memory() {
    for (name, all) in [("within_blocks", false), ("pull", false), ("push", true), ("through_global", true)] {
        let Some(code) = code("fences", name) else { return };
        let mut fences = code.iter().filter(|[low, _]| low & 0xfff == MEMORY_BARRIER);
        assert_eq!(fences.any(|[_, high]| high & SCOPE == OF_THE_DEVICE), all, "{name}");
    }
}

/// A slice that is never written is read past the coherent path in device functions, too; a reborrowed `&mut [T]` is not.
#[test]
fn device_functions_read_as_their_callers_may() {
    let (Some(read_only), Some(lent)) = (code("elements", "read_only"), code("elements", "read_lent")) else { return };
    let loads = |code: &[[u64; 2]]| -> Vec<bool> {
        let loads = code.iter().filter(|[low, _]| low & 0xfff == LOAD_GLOBAL);
        loads.map(|[_, high]| high & CONSTANT != 0).collect()
    };
    let (read_only, lent) = (loads(&read_only), loads(&lent));
    assert!(!read_only.is_empty() && read_only.iter().all(|constant| *constant), "{read_only:?}");
    assert!(!lent.is_empty() && !lent.contains(&true), "{lent:?}");
}

#[test]
fn a_copy_by_vectors_moves_16_bytes_at_once() {
    let Some(code) = code("vectors", "copy") else { return };
    let [vectors, rest] =
        [BYTES_16, BYTES_4].map(|size| [LOAD_GLOBAL, STORE_GLOBAL].map(|what| count(&code, what, size)));
    assert!(vectors[0] >= 2, "a load of a vector in the loop with checks and in that without: {}", vectors[0]);
    assert_eq!(vectors[0], vectors[1], "a store for each load");
    assert_eq!(rest[0], rest[1], "a store for each load of the rest");
}

/// Vectors of every scalar move at once: from global memory to shared memory, within it, to and from a peer's, and back.
#[test]
fn vectors_of_all_scalars_move_16_bytes_at_once() {
    let names = ["bool 16", "i8 16", "u8 16", "i16 8", "u16 8", "f16 8", "bf16 8", "i32 4", "u32 4", "f32 4"];
    for name in names.into_iter().chain(["i64 2", "u64 2", "f64 2", "isize 2", "usize 2", "i128 1", "u128 1"]) {
        let Some(code) = code("vectors", &format!("exchange {name}")) else { return };
        let moves = [LOAD_GLOBAL, STORE_GLOBAL, LOAD_SHARED, STORE_SHARED];
        let moves = moves.map(|operation| count(&code, operation, BYTES_16));
        // What a block has just stored is not loaded again.
        assert_eq!(moves, [1, 2, 1, 2], "{name}");
        assert!(count(&code, STORE, BYTES_16) > 0, "{name}");
        // The kernel replaces the last lane of what it loads from a peer: that lane of 4 or 8 bytes is not loaded.
        let from_peer = count(&code, LOAD, BYTES_16);
        let is_narrow = name
            .split(' ')
            .next()
            .is_some_and(|scalar| ["bool", "i8", "u8", "i16", "u16", "f16", "bf16"].contains(&scalar));
        assert!(from_peer == 1 || !is_narrow, "{name}");
    }
}
