//! Rings whose slots are single elements, or hold structures; and the ways in which threads fill and read a row.

use super::verdict;

/// Two blocks of which one thread each hands a number to the other in each round.
const NUMBERS: &str = "#[cluster_kernel(cluster = 2, block = 32)]
fn numbers(input: &[u32], out: &mut [u32], n: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let a = shared_array::<u32, 2>();
    let ready = shared_cluster_barriers::<2>();
    ready.init_collective(&cluster, 1);
    let mut v = input[rank];
    if i == 0 {
        for k in 0..n {
            let (s, p) = (k % 2, k / 2 % 2 == 1);
            cluster.map_shared_rank(&a, rank ^ 1)[s] = v;
            cluster.map_shared_rank(&ready[s], rank ^ 1).arrive();
            ready[s].wait_parity(p);
            v += a[s];
        }
        out[rank] = v;
    }
    cluster.sync();
}";

#[test]
fn numbers_of_two_blocks() {
    assert_eq!(verdict("", NUMBERS), "proved");
    for (from, to) in [
        ("ready[s].wait_parity(p);", ""),
        ("ready[s].wait_parity(p);", "ready[s].wait_parity(!p);"),
        ("(k % 2, k / 2 % 2 == 1)", "(0, k % 2 == 1)"),
        ("v += a[s];", "v += a[1 - s];"),
        ("&cluster, 1)", "&cluster, 2)"),
    ] {
        let file = NUMBERS.replacen(from, to, 1);
        let found = verdict("", &file);
        assert!(
            file != NUMBERS && !found.is_empty() && found != "proved" && !found.starts_with("open"),
            "{to}: {found}"
        );
    }
}

/// The ends of rows, sent by neighbours and told by a barrier for each side.
const HALO: &str = "#[cluster_kernel(cluster = 3, block = 32)]
fn smooth(data: &mut [u32], steps: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let at = this_grid().block_rank() * 32 + i;
    let cells = shared_array::<u32, 32>();
    let halo = shared_array::<[u32; 2], 2>();
    let (from_left, from_right) = (shared_cluster_barriers::<2>(), shared_cluster_barriers::<2>());
    from_left.init_collective(&cluster, 1);
    from_right.init_collective(&cluster, 1);
    cells[i] = data[at];
    block.sync();
    for step in 0..steps {
        let (h, phase) = (step % 2, step / 2 % 2 == 1);
        if i == 0 {
            if rank > 0 {
                from_left[h].expect_tx(4);
                let _ = from_left[h].arrive();
                cluster.map_shared_rank(&halo, rank - 1)[h].store_async(1, cells[0], &cluster.map_shared_rank(&from_right[h], rank - 1));
            }
            if rank < 2 {
                from_right[h].expect_tx(4);
                let _ = from_right[h].arrive();
                cluster.map_shared_rank(&halo, rank + 1)[h].store_async(0, cells[31], &cluster.map_shared_rank(&from_left[h], rank + 1));
            }
        }
        let left = if i > 0 { cells[i - 1] } else if rank > 0 { from_left[h].wait_parity(phase); halo[h][0] } else { 0 };
        let right = if i + 1 < 32 { cells[i + 1] } else if rank < 2 { from_right[h].wait_parity(phase); halo[h][1] } else { 0 };
        let value = (left + right + 2 * cells[i]) / 4;
        block.sync();
        cells[i] = value;
        block.sync();
    }
    data[at] = cells[i];
    cluster.sync();
}";

#[test]
fn ends_of_rows() {
    assert_eq!(verdict("", HALO), "proved");
    for (from, to) in [
        ("from_left[h].wait_parity(phase); halo", "halo"),
        ("from_right[h].wait_parity(phase); halo[h][1]", "from_right[h].wait_parity(phase); halo[h][0]"),
        ("from_right[h].wait_parity(phase);", "from_right[h].wait_parity(!phase);"),
        ("store_async(1, cells[0]", "store_async(0, cells[0]"),
        ("(step % 2, step / 2 % 2 == 1)", "(0, step % 2 == 1)"),
    ] {
        let file = HALO.replacen(from, to, 1);
        let found = verdict("", &file);
        assert!(file != HALO && !found.is_empty() && found != "proved", "{to}: {found}");
    }
}

const STRUCTURE: &str = "#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub struct P { a: u32, b: u32 }
#[device]
impl P { fn total(&self) -> u32 { self.a + self.b } }";

/// A ring whose consumer reads a stage in some way.
fn ring(read: &str, fill: &str) -> String {
    format!(
        "#[cluster_kernel(block = 64)]
        fn ring(input: &[P], numbers: &[u32], out: &mut [u32], n: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let smem = shared_array::<[P; 32], 2>();
            let words = shared_array::<[u32; 32], 2>();
            let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
            full.init_collective(&block, 1);
            empty.init_collective(&block, 32);
            if i == 32 {{
                for k in 0..n {{
                    let (s, p) = (k % 2, k / 2 % 2 == 1);
                    empty[s].wait_parity(!p);
                    {fill}
                    let _ = full[s].arrive();
                }}
            }} else if i < 32 {{
                let mut sum = 0;
                for k in 0..n {{
                    let (s, p) = (k % 2, k / 2 % 2 == 1);
                    full[s].wait_parity(p);
                    {read}
                    let _ = empty[s].arrive();
                }}
                out[i] = sum;
            }}
        }}"
    )
}

const COPY_OF_STRUCTURES: &str =
    "full[s].expect_tx(256); bulk_copy_async(&smem[s], &input[k * 32..k * 32 + 32], &full[s]);";
const COPY_OF_WORDS: &str =
    "full[s].expect_tx(128); bulk_copy_async(&words[s], &numbers[k * 32..k * 32 + 32], &full[s]);";

#[track_caller]
fn check(read: &str, fill: &str) {
    let right = ring(read, fill);
    let found = verdict(STRUCTURE, &right);
    assert!(found == "proved", "{read} {fill}: {found}");
    let release = "let _ = empty[s].arrive();";
    let early = right.replacen(release, "", 1).replacen(read, &format!("{release} {read}"), 1);
    let no_parity = right.replacen("full[s].wait_parity(p);", "full[s].wait_parity(!p);", 1);
    let unasked = right.replacen("empty[s].wait_parity(!p);", "", 1);
    for wrong in [early, no_parity, unasked] {
        let found = verdict(STRUCTURE, &wrong);
        assert!(
            wrong != right && !found.is_empty() && found != "proved" && !found.starts_with("open"),
            "{found}: {wrong}"
        );
    }
}

#[test]
fn structures() {
    for read in
        ["sum += smem[s][i].a + smem[s][31 - i].b;", "let p = smem[s][i]; sum += p.a;", "sum += smem[s][i].total();"]
    {
        check(read, COPY_OF_STRUCTURES);
    }
}

#[test]
fn reads_in_loops() {
    for read in [
        "let mut d = i; while d < 32 { sum += words[s][d]; d += 7; }",
        "let mut d = 0; while d < 32 { sum += words[s][d]; d += 8; }",
        "let v = [1u32, 2, 3]; for (d, x) in v.iter().enumerate() { sum += x * words[s][d]; }",
        "let mut v = [0u32; 4]; for (d, x) in v.iter_mut().enumerate() { *x = words[s][d]; } sum += v[3];",
        "let mut v = [0.0f32; 4]; for d in 0..v.len() { v[d] = words[s][d] as f32; } sum += v[3] as u32;",
        "sum += words[s].atomic(i).load(Relaxed);",
    ] {
        check(read, COPY_OF_WORDS);
    }
}

#[test]
fn fills_by_threads() {
    for fill in [
        "words[s] = [numbers[k]; 32];",
        "for (d, x) in numbers[k * 32..k * 32 + 32].iter().enumerate() { words[s][d] = *x; }",
        "for d in 0..8 { words[s].store_vec(d * 4, numbers.load_vec::<4>(k * 32 + d * 4)); }",
    ] {
        let right = ring("sum += words[s][i];", fill);
        let arrival = "let _ = full[s].arrive();";
        let early = right.replacen(arrival, "", 1).replacen(fill, &format!("{arrival} {fill}"), 1);
        let unasked = right.replacen("empty[s].wait_parity(!p);", "", 1);
        assert_eq!(verdict(STRUCTURE, &right), "proved", "{fill}");
        for wrong in [early, unasked] {
            let found = verdict(STRUCTURE, &wrong);
            assert!(wrong != right && found.starts_with("ring_"), "{found}: {wrong}");
        }
    }
}
