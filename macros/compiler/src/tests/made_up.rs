//! Tests of the facts of operations: each table has a made-up entry, which lookups find in tests only, and which the
//! checks judge by its facts, not by its name. `tests/facts` shows that an entry without one of its facts does not
//! compile.

use crate::model::atomic::{AtomicAccess, AtomicMethod, MemoryOrder};
use crate::model::barrier::{PhaseAction, PhaseMethod, PhaseOperand, PhaseResult};
use crate::model::group::Group;
use crate::model::group_barrier::{BarrierMethod, BarrierOperation};
use crate::model::kind::Kind;
use crate::model::method::ValueMethod;
use crate::model::query::{Answer, Query, UniformAt};
use crate::model::warp::{WarpMethod, WarpOperand, WarpResult};

use super::{expand, rules};

pub(crate) static QUERIES: [Query; 8] = [
    Query { name: "made_up_of_thread", answer: Answer::Number, uniform_at: UniformAt::Thread },
    Query { name: "made_up_of_group", answer: Answer::Number, uniform_at: UniformAt::Group },
    Query { name: "made_up_of_block", answer: Answer::Number, uniform_at: UniformAt::Block },
    Query { name: "made_up_of_cluster", answer: Answer::Number, uniform_at: UniformAt::Cluster },
    Query { name: "made_up_of_grid", answer: Answer::Number, uniform_at: UniformAt::Grid },
    Query { name: "made_up_rank", answer: Answer::ThreadRank, uniform_at: UniformAt::Thread },
    Query { name: "made_up_index", answer: Answer::ThreadIndex, uniform_at: UniformAt::Thread },
    Query { name: "made_up_extent", answer: Answer::Extent, uniform_at: UniformAt::Thread },
];

pub(crate) static WARP_METHODS: [WarpMethod; 4] = [
    WarpMethod {
        name: "made_up_agreed",
        operands: &[WarpOperand::FixedType],
        tiles_only: false,
        result: WarpResult::Agreed,
    },
    WarpMethod {
        name: "made_up_of_one",
        operands: &[WarpOperand::AnyType, WarpOperand::FixedType],
        tiles_only: false,
        result: WarpResult::OfOneThread,
    },
    WarpMethod {
        name: "made_up_own",
        operands: &[WarpOperand::FixedType],
        tiles_only: false,
        result: WarpResult::PerThread,
    },
    WarpMethod {
        name: "made_up_of_tiles",
        operands: &[WarpOperand::FixedType],
        tiles_only: true,
        result: WarpResult::Agreed,
    },
];

pub(crate) static ATOMIC_METHODS: [AtomicMethod; 3] = [
    AtomicMethod {
        name: "made_up_load",
        operands: 0,
        orders: &[&[MemoryOrder::Relaxed]],
        access: AtomicAccess::Load,
        result: Kind::Value,
    },
    AtomicMethod {
        name: "made_up_store",
        operands: 1,
        orders: &[&[MemoryOrder::Relaxed]],
        access: AtomicAccess::Store,
        result: Kind::Unit,
    },
    AtomicMethod {
        name: "made_up_update",
        operands: 1,
        orders: &[&[MemoryOrder::Relaxed]],
        access: AtomicAccess::Update,
        result: Kind::Value,
    },
];

pub(crate) static PHASE_METHODS: [PhaseMethod; 3] = [
    PhaseMethod { name: "made_up_arrive", operands: &[], result: PhaseResult::Token, action: PhaseAction::Arrive },
    PhaseMethod { name: "made_up_test", operands: &[], result: PhaseResult::Bool, action: PhaseAction::TryWait },
    PhaseMethod {
        name: "made_up_begin",
        operands: &[PhaseOperand::Count],
        result: PhaseResult::Nothing,
        action: PhaseAction::Init,
    },
];

pub(crate) static BARRIER_METHODS: [BarrierMethod; 5] = {
    const GROUPS: &[Group] = &[Group::ThreadBlock, Group::Cluster];
    const SYNC: BarrierMethod = BarrierMethod {
        name: "made_up_sync",
        groups: GROUPS,
        operation: BarrierOperation::Sync,
        relaxed: false,
        aligned: false,
    };
    [
        SYNC,
        BarrierMethod { name: "made_up_aligned", aligned: true, ..SYNC },
        BarrierMethod { name: "made_up_arrive", operation: BarrierOperation::Arrive, ..SYNC },
        BarrierMethod { name: "made_up_relaxed", operation: BarrierOperation::Arrive, relaxed: true, ..SYNC },
        BarrierMethod { name: "made_up_wait", operation: BarrierOperation::Wait, ..SYNC },
    ]
};

pub(crate) static VALUE_METHODS: [ValueMethod; 2] = [
    ValueMethod { name: "made_up_total", arguments: 1, header: "math.cuh", fails: None },
    ValueMethod { name: "made_up_partial", arguments: 1, header: "bits.cuh", fails: Some("made up") },
];

/// Returns the rules that a kernel of two blocks of 64 threads with this body breaks.
#[track_caller]
fn broken(body: &str) -> Vec<String> {
    let source = format!(
        "#[cluster_kernel(cluster = 2, block = 64)]
        fn made_up(output: &mut [u32]) {{
            let grid = this_grid();
            let cluster = this_cluster();
            let block = this_thread_block();
            let tile = tiled_partition::<8>(&block);
            {body}
        }}"
    );
    rules(&source)
}

/// Returns which collectives, of the tile, of the block and of the cluster, are refused in a branch on the value.
#[track_caller]
fn divergent(value: &str) -> [bool; 3] {
    ["tile", "block", "cluster"].map(|group| {
        let broken = broken(&format!("let value = {value}; if value == 0 {{ {group}.sync(); }}"));
        assert!(broken.iter().all(|rule| rule == "divergent_collective"), "{value}, {group}: {broken:?}");
        !broken.is_empty()
    })
}

const NOWHERE: [bool; 3] = [true, true, true];
const IN_THE_TILE: [bool; 3] = [false, true, true];
const IN_THE_BLOCK: [bool; 3] = [false, false, true];
const EVERYWHERE: [bool; 3] = [false, false, false];

#[test]
fn a_query_is_uniform_where_its_entry_says() {
    for group in ["tile", "block", "cluster", "grid"] {
        let of = |name: &str| divergent(&format!("{group}.made_up_of_{name}()"));
        assert_eq!(of("thread"), NOWHERE, "{group}");
        assert_eq!(of("block"), IN_THE_BLOCK, "{group}");
        assert_eq!(of("cluster"), EVERYWHERE, "{group}");
        assert_eq!(of("grid"), EVERYWHERE, "{group}");
    }
    let of_group = |group: &str| divergent(&format!("{group}.made_up_of_group()"));
    assert_eq!(of_group("tile"), IN_THE_TILE);
    assert_eq!(of_group("block"), IN_THE_BLOCK);
    assert_eq!(of_group("cluster"), EVERYWHERE);
}

/// A rank divided by a tile's size is uniform in the tile, an extent's axis is as uniform as the extent, and a thread's
/// index is its rank if the block has one dimension.
#[test]
fn a_rank_is_one_where_its_entry_says() {
    assert_eq!(divergent("block.made_up_rank()"), NOWHERE);
    assert_eq!(divergent("block.made_up_rank() / 8"), IN_THE_TILE);
    assert_eq!(divergent("cluster.made_up_rank() / 8"), IN_THE_TILE);
    // The ranks of a tile of eight threads are below 8.
    assert_eq!(divergent("tile.made_up_rank() / 8"), IN_THE_TILE);
    assert_eq!(divergent("tile.made_up_rank() / 4"), NOWHERE);
    assert_eq!(divergent("block.made_up_of_thread() / 8"), NOWHERE);
    assert_eq!(divergent("block.made_up_index().x / 8"), IN_THE_TILE);
    assert_eq!(divergent("block.made_up_index().y"), EVERYWHERE);
    assert_eq!(divergent("block.made_up_extent().y"), NOWHERE);
}

#[test]
fn a_warp_method_gives_what_its_entry_says() {
    let rank = "block.thread_rank() as u32";
    assert_eq!(divergent(&format!("tile.made_up_agreed({rank})")), IN_THE_TILE);
    assert_eq!(divergent(&format!("tile.made_up_of_one({rank}, 0)")), IN_THE_TILE);
    assert_eq!(divergent(&format!("tile.made_up_of_one({rank}, {rank})")), NOWHERE);
    assert_eq!(divergent(&format!("tile.made_up_own({rank})")), NOWHERE);
    assert_eq!(divergent("tile.made_up_own(7)"), NOWHERE);
    assert_eq!(broken("let here = coalesced_threads(); here.made_up_of_tiles(7);"), ["unknown_method"]);
    // All of them are collectives.
    assert_eq!(broken("if tile.thread_rank() == 0 { tile.made_up_own(7); }"), ["divergent_collective"]);
}

/// A peer's atomic load does not conflict with a load of the owner's; a store or an update does.
#[test]
fn an_atomic_accesses_as_its_entry_says() {
    let kernel = |own: &str, peers: &str| {
        broken(&format!(
            "let array = shared_array::<u32, 4>();
            let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
            if block.thread_rank() == 0 {{ array[0] = 1; }}
            cluster.sync();
            {own}
            {peers}
            cluster.sync();"
        ))
    };
    let (load, store) =
        ("output[0] = peer.atomic(0).made_up_load(Relaxed);", "array.atomic(0).made_up_store(1, Relaxed);");
    assert!(kernel("output[1] = array[0];", load).is_empty());
    assert!(!kernel(store, "output[0] = peer[0];").is_empty());
    assert!(!kernel("array.atomic(0).made_up_update(1, Relaxed);", "output[0] = peer[0];").is_empty());
    // Only the calling thread knows the result of an atomic.
    assert_eq!(divergent("output.atomic(0).made_up_load(Relaxed)"), NOWHERE);
    assert_eq!(divergent("output.atomic(0).made_up_update(1, Relaxed)"), NOWHERE);
}

#[test]
fn a_barrier_s_method_does_what_its_entry_says() {
    let of = |body: &str| broken(&format!("let bar = shared_barrier(); {body}"));
    assert_eq!(of("let token = bar.made_up_arrive(); bar.wait(token);"), ["barrier_uninitialized"]);
    assert_eq!(of("bar.made_up_begin(64); block.sync(); bar.arrive_and_wait();"), ["barrier_init_not_elected"]);
    assert!(
        of("if block.thread_rank() == 0 { bar.made_up_begin(64); } block.sync(); bar.arrive_and_wait();").is_empty()
    );
    assert!(of("bar.made_up_begin(0);").iter().any(|rule| rule == "barrier_count"));
    let test = "bar.init_collective(&block, 64); let over = bar.made_up_test(); if over { block.sync(); }";
    assert_eq!(of(test), ["divergent_collective"]);
}

#[test]
fn a_group_s_barrier_does_what_its_entry_says() {
    assert!(broken("block.made_up_sync(); cluster.made_up_sync();").is_empty());
    assert_eq!(broken("tile.made_up_sync();"), ["unknown_method"]);
    for group in ["block", "cluster"] {
        let of = |body: &str| broken(&body.replace("group", group));
        assert_eq!(of("if block.thread_rank() == 0 { group.made_up_sync(); }"), ["divergent_collective"]);
        assert!(of("let token = group.made_up_arrive(); group.made_up_wait(token);").is_empty());
        assert_eq!(of("let token = group.made_up_arrive();"), ["token_never_waited"]);
        assert_eq!(
            of("let token = group.made_up_arrive(); group.made_up_sync(); group.made_up_wait(token);"),
            ["collective_while_pending"]
        );
    }
}

/// An arrival publishes what its thread wrote if its entry does not say that it is relaxed.
#[test]
fn an_arrival_publishes_if_its_entry_says_so() {
    let kernel = |arrive: &str| {
        broken(&format!(
            "let array = shared_array::<u32, 4>();
            let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
            if block.thread_rank() == 0 {{ array[0] = 1; }}
            let token = cluster.{arrive}();
            cluster.made_up_wait(token);
            output[0] = peer[0];
            cluster.made_up_sync();"
        ))
    };
    assert!(kernel("made_up_arrive").is_empty());
    assert_eq!(kernel("made_up_relaxed"), ["relaxed_publishes"]);
}

/// Switched off or not, the rules of convergence hold for what is aligned.
#[test]
fn a_barrier_is_aligned_if_its_entry_says_so() {
    let kernel = |sync: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 2, block = 64, unchecked(divergent_collective))]
            fn made_up() {{
                let cluster = this_cluster();
                let block = this_thread_block();
                if block.thread_rank() < 8 {{ cluster.{sync}(); }}
            }}"
        ))
    };
    assert!(kernel("made_up_sync").is_empty());
    assert_eq!(kernel("made_up_aligned"), ["divergent_aligned"]);
}

/// A method that can fail has a place in the source for its failure, with its message, and one that cannot has none;
/// either needs the header that its entry names.
#[test]
fn a_value_s_method_is_printed_as_its_entry_says() {
    let text = |method: &str| {
        let source = format!(
            "#[cluster_kernel]
            fn made_up(output: &mut [u32], n: u32) {{
                output[0] = n.{method}(3);
            }}"
        );
        expand(&source).to_string()
    };
    let total = text("made_up_total");
    assert!(total.contains("math.cuh") && !total.contains("bits.cuh") && !total.contains("\"made up\""), "{total}");
    let partial = text("made_up_partial");
    assert!(partial.contains("bits.cuh") && !partial.contains("math.cuh") && partial.contains("made up"), "{partial}");
    // Its result is as uniform as its operands.
    assert_eq!(divergent("(block.thread_rank() as u32).made_up_total(3)"), NOWHERE);
    assert_eq!(divergent("3u32.made_up_total(3)"), EVERYWHERE);
    assert_eq!(broken("let value = 3u32.made_up_total();").len(), 1);
}
