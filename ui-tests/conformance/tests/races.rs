//! Kernels that race, each with the closest that does not: the simulator's report on them, in its words and with both
//! sites, under several schedules. The compiler accepts them, or would with a rule switched off. They do not run on a
//! GPU, which reports no races.

use phalanx::prelude::*;
use phalanx::{Cause, Error, RaceMemory, Result};

const SCHEDULES: [Schedule; 6] = [
    Schedule::RoundRobin,
    Schedule::Random { seed: 1 },
    Schedule::Random { seed: 2 },
    Schedule::Priority { seed: 1, changes: 2 },
    Schedule::Priority { seed: 2, changes: 2 },
    Schedule::Lockstep { seed: 1 },
];

/// Returns the lines of this file that end with this comment.
fn lines(name: &str) -> Vec<u32> {
    let comment = format!("// {name}");
    let all = (1..).zip(include_str!("races.rs").lines());
    all.filter(|(_, text)| text.ends_with(&comment)).map(|(line, _)| line).collect()
}

/// Checks that `launch` with true is right, and with false races between the lines with this comment.
#[track_caller]
fn check(name: &str, launch: impl Fn(&Device, bool) -> Result<()>) {
    for schedule in SCHEDULES {
        let device = Device::simulator_with(Simulator::new().schedule(schedule.clone()));
        if let Err(error) = launch(&device, true) {
            panic!("{name}, right, under {schedule}: {error}");
        }
        let failure = match launch(&device, false) {
            Err(Error::Kernel(failure)) => failure,
            other => panic!("{name} under {schedule}: {other:?}"),
        };
        let Cause::Race(race) = &failure.cause else { panic!("{name} under {schedule}: {failure}") };
        let mut found = vec![race.first.location.line, race.second.location.line];
        found.sort();
        found.dedup();
        assert_eq!(found, lines(name), "{name} under {schedule}: {failure}");
        // Clusters run in parallel under round robin, so no schedule replays a race between them.
        let is_global = matches!(race.memory, RaceMemory::Global { .. });
        let in_parallel = is_global && race.first.block != race.second.block && schedule == Schedule::RoundRobin;
        assert_eq!(failure.schedule, (!in_parallel).then_some(schedule));
    }
}

#[test]
fn shared_memory() {
    check("a_missing_barrier", |device, right| {
        let mut data = device.upload(&Vec::from_iter(0..64))?;
        missing_barrier(&mut data, right).grid(1).launch(device)
    });
}

/// A buffer is written again before all have read it.
#[cluster_kernel(block = 64)]
fn missing_barrier(data: &mut [u32], right: bool) {
    let block = this_thread_block();
    let staged = shared_array::<u32, 64>();
    let i = block.thread_rank();
    for round in 0..3 {
        staged[i] = data[i] + round; // a_missing_barrier
        block.sync();
        data[i] = staged[63 - i]; // a_missing_barrier
        if right {
            block.sync();
        }
    }
}

/// The rule that would report it is off.
///
/// # Safety
/// `right` is true.
#[cluster_kernel(cluster = 2, block = 32, unchecked(unpublished_remote_read))]
fn unpublished(out: &mut [u32], right: bool) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    array[i] = 0;
    cluster.sync();
    array[i] = i; // unpublished
    if right {
        cluster.sync();
    }
    out[this_grid().thread_rank()] = peer[i]; // unpublished
    cluster.sync();
}

/// A value is written after the arrival that should publish it.
///
/// # Safety
/// `right` is true.
#[cluster_kernel(cluster = 2, block = 32, unchecked(write_after_arrive))]
fn after_the_arrival(out: &mut [u32], right: bool) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    array[i] = 0;
    if right {
        array[i] = i;
    }
    let token = cluster.barrier_arrive();
    if !right {
        array[i] = i; // after_the_arrival
    }
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = peer[i]; // after_the_arrival
    cluster.sync();
}

/// A read is not fenced before an arrival that orders nothing.
///
/// # Safety
/// `right` is true.
#[cluster_kernel(cluster = 2, block = 32, unchecked(relaxed_publishes))]
fn relaxed(out: &mut [u32], right: bool) {
    let cluster = this_cluster();
    let array = shared_array::<u32, 32>();
    let i = this_thread_block().thread_rank();
    let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    array[i] = i; // relaxed
    if right {
        fence(AcqRel, Scope::Cluster);
    }
    let token = cluster.barrier_arrive_relaxed();
    cluster.barrier_wait(token);
    out[this_grid().thread_rank()] = peer[i]; // relaxed
    cluster.sync();
}

#[test]
fn distributed_shared_memory() {
    check("unpublished", |device, right| {
        let mut out = device.zeros(64)?;
        // SAFETY: the simulator reports what is wrong, and no GPU runs it.
        unsafe { unpublished(&mut out, right) }.grid(2).launch(device)
    });
    check("after_the_arrival", |device, right| {
        let mut out = device.zeros(64)?;
        // SAFETY: as above.
        unsafe { after_the_arrival(&mut out, right) }.grid(2).launch(device)
    });
    check("relaxed", |device, right| {
        let mut out = device.zeros(64)?;
        // SAFETY: as above.
        unsafe { relaxed(&mut out, right) }.grid(2).launch(device)
    });
}

/// The last block adds up what the others left, which is right only if their tickets release it.
#[cluster_kernel(block = 32)]
fn last_block(parts: &mut [u32], ticket: &mut [u32], total: &mut [u32], right: bool) {
    let grid = this_grid();
    if this_thread_block().thread_rank() == 0 {
        parts[grid.block_rank()] = 1; // last_block
        let order = if right { ticket.atomic(0).fetch_add(1, AcqRel) } else { ticket.atomic(0).fetch_add(1, Relaxed) };
        if order as usize == grid.num_blocks() - 1 {
            let mut sum = 0;
            for block in 0..grid.num_blocks() {
                sum += parts[block]; // last_block
            }
            total[0] = sum;
        }
    }
}

#[cluster_kernel(block = 32)]
fn overlapping(out: &mut [u32], right: bool) {
    let at = this_grid().thread_rank();
    let at = if right { at } else { at / 2 };
    out[at] = this_grid().thread_rank() as u32; // overlapping
}

#[test]
fn global_memory() {
    check("last_block", |device, right| {
        let (mut parts, mut ticket, mut total) = (device.zeros(8)?, device.zeros(1)?, device.zeros(1)?);
        last_block(&mut parts, &mut ticket, &mut total, right).grid(8).launch(device)
    });
    check("overlapping", |device, right| {
        let mut out = device.zeros(64)?;
        overlapping(&mut out, right).grid(2).launch(device)
    });
}

#[test]
fn matrices() {
    check("loaded_early", |device, right| {
        let mut out = device.zeros(32)?;
        loaded_early(&mut out, right).grid(1).launch(device)
    });
    check("stored_late", |device, right| {
        let mut out = device.zeros(32)?;
        stored_late(&mut out, right).grid(1).launch(device)
    });
}

/// A matrix is loaded before the other lanes have written its rows.
#[cluster_kernel(block = 32)]
fn loaded_early(out: &mut [f32], right: bool) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let lane = warp.thread_rank();
    let tile = shared_array::<[f16; 16], 16>();
    tile[lane / 2].store_vec(lane % 2 * 8, f16x8::splat(f16::ONE)); // loaded_early
    if right {
        warp.sync();
    }
    let a: MatrixA<f16, 16, 16> = warp.load_matrix(&tile, 0, 0); // loaded_early
    out[lane] = a[0].to_f32();
}

/// A row is read before the lanes that hold it have stored it.
#[cluster_kernel(block = 32)]
fn stored_late(out: &mut [f32], right: bool) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let lane = warp.thread_rank();
    let tile = shared_array::<[bf16; 16], 16>();
    tile[lane / 2].store_vec(lane % 2 * 8, bf16x8::splat(bf16::ONE));
    warp.sync();
    warp.store_matrix(&tile, 0, 0, Accumulator::<bf16, 16, 16>::splat(bf16::ONE)); // stored_late
    if right {
        warp.sync();
    }
    out[lane] = tile[lane / 2][lane % 2 * 8].to_f32(); // stored_late
}

/// The report shows the source.
#[test]
fn the_report() {
    let device = Device::simulator_with(Simulator::new().schedule(Schedule::Random { seed: 4 }));
    let mut data = device.upload(&Vec::from_iter(0..64)).unwrap();
    let error = missing_barrier(&mut data, false).grid(1).launch(&device).unwrap_err();
    let text = error.to_string();
    for part in [
        "error: kernel `missing_barrier` at ui-tests/conformance/tests/races.rs:",
        ": data race: bytes ",
        " of the shared array at ui-tests/conformance/tests/races.rs:",
        "staged[i] = data[i] + round; // a_missing_barrier",
        "data[i] = staged[63 - i]; // a_missing_barrier",
        "`block.sync()` between them would order them",
        "set PHALANX_SCHEDULE=random:4 in the environment to replay this",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn tiles() {
    check("another_tile", |device, right| {
        let input = device.upload(&Vec::from_iter(1..=128))?;
        let mut out = device.zeros(32)?;
        another_tile(&input.tensor([16, 8])?, &mut out, u32::from(right)).grid(1).launch(device)
    });
    check("combined_and_written", |device, right| {
        let mut out = device.zeros::<u32>(128)?;
        let stores = !right;
        combined_and_written(&mut out.tensor_mut([16, 8])?, stores).grid(2).launch(device)
    });
    check("overwritten_source", |device, right| {
        let mut out = device.zeros::<u32>(128)?;
        overwritten_source(&mut out.tensor_mut([16, 8])?, u32::from(right)).grid(1).launch(device)
    });
}

type Rows = [[u32; 8]; 8];

/// A tile is read while another, or itself, is loaded. It had other values before.
#[cluster_kernel(block = 32)]
fn another_tile(input: &TensorMap<Rows>, out: &mut [u32], which: u32) {
    let block = this_thread_block();
    let tiles = shared_array::<Rows, 2>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    let i = block.thread_rank();
    tiles[0][i / 8][i % 8] = i;
    tiles[1][i / 8][i % 8] = i;
    block.sync();
    if i == 0 {
        input.load_async([4, 0], &tiles[which], &full); // another_tile
        let _ = full.arrive();
    }
    #[unchecked(ring_read)]
    unsafe {
        out[i] = tiles[0][i / 8][i % 8]; // another_tile
    }
    full.wait_parity(false);
}

#[test]
fn products_and_multicasts() {
    check("read_by_a_product", |device, right| {
        let mut out = device.zeros(128)?;
        read_by_a_product(&mut out, right).grid(1).launch(device)
    });
    check("sent_while_read", |device, right| {
        let input = device.upload(&Vec::from_iter(1..=128))?;
        let mut out = device.zeros(64)?;
        sent_while_read(&input.tensor([16, 8])?, &mut out, right).grid(2).launch(device)
    });
}

/// A warp writes to the tile when it has waited for its own part of a product: the other warps may still read it.
#[cluster_kernel(block = 128)]
fn read_by_a_product(out: &mut [i32], right: bool) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tile = shared_array::<Swizzled<u8, 32>, 64>();
    for i in 0..16 {
        tile[rank / 2][rank % 2 * 16 + i] = 1;
    }
    block.sync();
    let product = warpgroup.mma_async(Accumulator::<i32, 64, 64>::splat(0), &tile, &tile); // read_by_a_product
    let sum = warpgroup.wait_mma(product);
    if right {
        block.sync();
    }
    if rank == 0 {
        tile[63][0] = 2; // read_by_a_product
    }
    out[rank] = sum[0];
}

/// The first block sends a tile while the second one reads what it had there.
#[cluster_kernel(cluster = 2, block = 32)]
fn sent_while_read(input: &TensorMap<Rows>, out: &mut [u32], right: bool) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let i = block.thread_rank();
    let tiles = shared_array::<Rows, 1>();
    let full = shared_cluster_barrier();
    full.init_collective(&cluster, 1);
    for row in (i / 8..8).step_by(4) {
        tiles[0][row][i % 8] = i;
    }
    cluster.sync();
    if cluster.block_rank() == 1 {
        #[unchecked(ring_read)]
        unsafe {
            out[i] = tiles[0][i / 8][i % 8]; // sent_while_read
        }
    }
    if right {
        cluster.sync();
    }
    if i == 0 {
        input.expect_multicast(&tiles[0], &full);
        if cluster.block_rank() == 0 {
            #[unchecked(unordered_remote_write)]
            unsafe {
                input.multicast_async([8, 0], &tiles[0], &full, &cluster); // sent_while_read
            }
        }
        let _ = full.arrive();
    }
    full.wait_parity(false);
    if cluster.block_rank() == 1 {
        out[32 + i] = tiles[0][i / 8][i % 8];
    }
    cluster.sync();
}

/// Copies that combine elements may meet, and one that replaces them may not.
#[cluster_kernel(block = 32)]
fn combined_and_written(out: &mut TensorMap<Rows>, stores: bool) {
    let block = this_thread_block();
    let tiles = shared_array::<Rows, 1>();
    let i = block.thread_rank();
    for row in (i / 8..8).step_by(4) {
        tiles[0][row][i % 8] = this_grid().block_rank() as u32 + 1;
    }
    block.sync();
    if i == 0 {
        if stores && this_grid().block_rank() == 1 {
            out.store_async([4, 0], &tiles[0]); // combined_and_written
        } else {
            out.reduce_max_async([0, 0], &tiles[0]); // combined_and_written
        }
        bulk_wait_group::<0>();
    }
}

/// Another thread writes to one of two tiles while the second is stored.
#[cluster_kernel(block = 32)]
fn overwritten_source(out: &mut TensorMap<Rows>, which: u32) {
    let block = this_thread_block();
    let tiles = shared_array::<Rows, 2>();
    let i = block.thread_rank();
    for row in (i / 8..8).step_by(4) {
        tiles[0][row][i % 8] = i;
        tiles[1][row][i % 8] = i;
    }
    block.sync();
    if i == 0 {
        out.store_async([0, 0], &tiles[0]); // overwritten_source
        bulk_wait_group_read::<0>();
    } else if i == 9 {
        tiles[which][1][1] = 77; // overwritten_source
    }
}
