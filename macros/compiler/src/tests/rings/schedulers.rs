//! Rings of persistent kernels whose tiles a scheduler hands out one by one, and rings whose stage is kept in an `Option` or whose position is
//! lent to a function.

use super::verdict;

const SCHEDULER: &str = "#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub struct Work { tile: u32, parts: u32 }
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub struct Scheduler { next: u32, stride: u32, tiles: u32 }
#[device]
impl Scheduler {
    fn next(&mut self) -> Option<u32> {
        if self.next >= self.tiles { return None; }
        let tile = self.next;
        self.next += self.stride;
        Some(tile)
    }
    fn after(&mut self) -> Option<u32> {
        let tile = self.next;
        self.next += self.stride;
        (tile < self.tiles).then_some(tile)
    }
    fn chosen(&mut self) -> Option<u32> {
        if self.next < self.tiles { let tile = self.next; self.next += self.stride; Some(tile) } else { None }
    }
    fn work(&mut self) -> Option<Work> {
        if self.next >= self.tiles { return None; }
        let work = Work { tile: self.next, parts: 1 };
        self.next += self.stride;
        Some(work)
    }
    fn valid(&self) -> bool { self.next < self.tiles }
    fn advance(&mut self) { self.next += self.stride; }
}
#[device]
fn following(next: &mut u32, stride: u32, tiles: u32) -> Option<u32> {
    let tile = *next;
    *next += stride;
    (tile < tiles).then_some(tile)
}";

/// How a loop begins, and how the last statement of a round goes on.
const LOOPS: [(&str, &str); 8] = [
    (
        "let mut s = Scheduler { next: first, stride, tiles };
        while let Some(work) = s.work() { for _ in 0..work.parts { let tile = work.tile;",
        "}",
    ),
    ("let mut s = Scheduler { next: first, stride, tiles }; while let Some(tile) = s.next() {", ""),
    ("let mut s = Scheduler { next: first, stride, tiles }; while let Some(tile) = s.after() {", ""),
    ("let mut s = Scheduler { next: first, stride, tiles }; while let Some(tile) = s.chosen() {", ""),
    ("let mut next = first; while let Some(tile) = following(&mut next, stride, tiles) {", ""),
    ("let mut s = Scheduler { next: first, stride, tiles }; loop { let Some(tile) = s.next() else { break; };", ""),
    (
        "let mut s = Scheduler { next: first, stride, tiles }; let mut work = s.next(); while let Some(tile) = work {",
        "work = s.next();",
    ),
    ("let mut s = Scheduler { next: first, stride, tiles }; while s.valid() { let tile = s.next;", "s.advance();"),
];

fn persistent((begin, next): (&str, &str)) -> String {
    format!(
        "#[cluster_kernel(block = 64)]
        fn persistent(input: &[u32], out: &mut [u32], tiles: u32) {{
            let (grid, block) = (this_grid(), this_thread_block());
            let i = block.thread_rank();
            let smem = shared_array::<[u32; 32], 2>();
            let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
            full.init_collective(&block, 1);
            empty.init_collective(&block, 32);
            let (first, stride) = (grid.block_rank() as u32, grid.num_blocks() as u32);
            let mut k = 0;
            if i == 32 {{
                {begin}
                    empty[k % 2].wait_parity(k / 2 % 2 == 0);
                    full[k % 2].expect_tx(128);
                    bulk_copy_async(&smem[k % 2], &input[tile * 32..tile * 32 + 32], &full[k % 2]);
                    let _ = full[k % 2].arrive();
                    k += 1; {next}
                }}
            }} else if i < 32 {{
                {begin}
                    full[k % 2].wait_parity(k / 2 % 2 == 1);
                    out[tile * 32 + i] = smem[k % 2][i];
                    let _ = empty[k % 2].arrive();
                    k += 1; {next}
                }}
            }}
        }}"
    )
}

const WRONG: [(&str, &str); 6] = [
    ("empty[k % 2].wait_parity(k / 2 % 2 == 0);", ""),
    ("k / 2 % 2 == 0", "k / 2 % 2 == 1"),
    ("k / 2 % 2 == 1", "k / 2 % 2 == 0"),
    ("let _ = empty[k % 2].arrive();", ""),
    ("expect_tx(128)", "expect_tx(64)"),
    ("&block, 32", "&block, 31"),
];

#[test]
fn tiles_of_a_scheduler() {
    for form in LOOPS {
        let right = persistent(form);
        let found = verdict(SCHEDULER, &right);
        assert!(found == "proved" || found.starts_with("open"), "{found}: {form:?}");
        for (from, to) in WRONG {
            let wrong = right.replacen(from, to, 1);
            let found = verdict(SCHEDULER, &wrong);
            assert!(wrong != right && found.starts_with("ring_"), "{from}: {found}: {form:?}");
        }
    }
}

/// The stage of the round before is released in the next one.
const LAGGED: &str = "#[cluster_kernel(block = 64)]
fn lagged(input: &[u32], out: &mut [u32], tiles: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let smem = shared_array::<[u32; 32], 3>();
    let (full, empty) = (shared_barriers::<3>(), shared_barriers::<3>());
    full.init_collective(&block, 1);
    empty.init_collective(&block, 32);
    if i == 32 {
        for k in 0..tiles {
            empty[k % 3].wait_parity(k / 3 % 2 == 0);
            full[k % 3].expect_tx(128);
            bulk_copy_async(&smem[k % 3], &input[k * 32..k * 32 + 32], &full[k % 3]);
            let _ = full[k % 3].arrive();
        }
    } else if i < 32 {
        let (mut sum, mut last) = (0, None);
        for k in 0..tiles {
            full[k % 3].wait_parity(k / 3 % 2 == 1);
            sum += smem[k % 3][i];
            if let Some(before) = last { let _ = empty[before].arrive(); }
            last = Some(k % 3);
        }
        if let Some(before) = last { let _ = empty[before].arrive(); }
        out[i] = sum;
    }
}";

#[test]
fn a_stage_in_an_option() {
    assert_eq!(verdict("", LAGGED), "proved");
    for (from, to) in [
        ("last = Some(k % 3);", "last = Some((k + 1) % 3);"),
        ("if let Some(before) = last { let _ = empty[before].arrive(); }\n            last", "last"),
        ("sum += smem[k % 3][i];", "sum += smem[(k + 2) % 3][i];"),
        ("empty[k % 3].wait_parity(k / 3 % 2 == 0);", ""),
    ] {
        let wrong = LAGGED.replacen(from, to, 1);
        let found = verdict("", &wrong);
        assert!(wrong != LAGGED && found.starts_with("ring_"), "{from}: {found}");
    }
}

const OF_FUNCTIONS: &str = "#[device]
fn produce(pipe: &mut Pipeline<3>, full: &Barriers<3>, empty: &Barriers<3>, rows: &SharedArray<[u32; 32], 3>, source: &[u32]) {
    let stage = pipe.producer_acquire(empty);
    full[stage].expect_tx(128);
    bulk_copy_async(&rows[stage], source, &full[stage]);
    pipe.producer_commit(full);
}
#[device]
fn consume(pipe: &mut Pipeline<3>, full: &Barriers<3>, empty: &Barriers<3>, rows: &SharedArray<[u32; 32], 3>, i: u32) -> u32 {
    let stage = pipe.consumer_wait(full);
    let x = rows[stage][i];
    pipe.consumer_release(empty);
    x
}";

const CALLS: &str = "#[cluster_kernel(block = 64)]
fn sums(input: &[u32], out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let rows = shared_array::<[u32; 32], 3>();
    let (full, empty) = (shared_barriers::<3>(), shared_barriers::<3>());
    full.init_collective(&block, 1);
    empty.init_collective(&block, 32);
    let mut pipe = Pipeline::<3>::new();
    if i == 32 {
        for k in 0..rounds {
            produce(&mut pipe, &full, &empty, &rows, &input[k * 32..(k + 1) * 32]);
        }
        return;
    }
    if i > 32 { return; }
    let mut sum = 0;
    for _ in 0..rounds { sum = sum * 5 + consume(&mut pipe, &full, &empty, &rows, i); }
    out[i] = sum;
}";

#[test]
fn a_pipeline_lent_to_functions() {
    assert_eq!(verdict(OF_FUNCTIONS, CALLS), "proved");
    for (from, to) in [
        ("pipe.consumer_release(empty);", "pipe.advance();"),
        (
            "let x = rows[stage][i];\n    pipe.consumer_release(empty);",
            "pipe.consumer_release(empty);\n    let x = rows[stage][i];",
        ),
        ("full[stage].expect_tx(128);\n", ""),
        ("pipe.consumer_wait(full)", "pipe.producer_acquire(full)"),
    ] {
        let wrong = OF_FUNCTIONS.replacen(from, to, 1);
        let found = verdict(&wrong, CALLS);
        assert!(wrong != OF_FUNCTIONS && found.starts_with("ring_"), "{from}: {found}");
    }
}

/// Blocks that share tiles: what one of them does wrong shows beside others.
#[test]
fn tiles_of_several_blocks() {
    let kernel = |loads: &str, reads: &str, stage: &str| {
        format!(
            "#[cluster_kernel(block = 64)]
            fn shared_tiles(input: &[u32], out: &mut [u32], tiles: u32) {{
                let (grid, block) = (this_grid(), this_thread_block());
                let i = block.thread_rank();
                let smem = shared_array::<[u32; 32], 2>();
                let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
                full.init_collective(&block, 1);
                empty.init_collective(&block, 32);
                let (first, stride) = (grid.block_rank() as u32, grid.num_blocks() as u32);
                if i == 32 {{
                    for (k, tile) in ({loads}).enumerate() {{
                        let s = {stage};
                        empty[s].wait_parity(k / 2 % 2 == 0);
                        full[s].expect_tx(128);
                        bulk_copy_async(&smem[s], &input[tile * 32..(tile + 1) * 32], &full[s]);
                        let _ = full[s].arrive();
                    }}
                }} else if i < 32 {{
                    for (k, tile) in ({reads}).enumerate() {{
                        let s = k % 2;
                        full[s].wait_parity(k / 2 % 2 == 1);
                        out[tile * 32 + i] = smem[s][i];
                        let _ = empty[s].arrive();
                    }}
                }}
            }}"
        )
    };
    let own = "(first..tiles).step_by(stride)";
    assert_eq!(verdict("", &kernel(own, own, "k % 2")), "proved");
    for (loads, reads, stage) in [
        (own, "0..tiles", "k % 2"),
        ("0..tiles", own, "k % 2"),
        (own, "first..tiles", "k % 2"),
        (own, "(first..tiles).step_by(stride * 2)", "k % 2"),
        (own, own, "tile % 2"),
    ] {
        let found = verdict("", &kernel(loads, reads, stage));
        assert!(found.starts_with("ring_"), "{loads}; {reads}; {stage}: {found}");
    }
}
