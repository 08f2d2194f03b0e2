//! Dynamic programming: alignments by antidiagonals, shortest paths by tiles, the most likely states.

use phalanx::prelude::*;

use super::below;
use crate::{Module, Outcome, check_list, kernel_list, read, same};

const LONGEST: usize = 64;

/// The best local alignment of each pair of sequences of up to 64 letters: a block a pair, a thread a column, one
/// antidiagonal a step (Smith and Waterman 1981 as CUDASW++ runs it: Liu, Maskell and Schmidt 2009), with affine gaps.
#[cluster_kernel(block = 64)]
fn smith_waterman(queries: &[u8], targets: &[u8], lengths: &[u32], scores: &mut [i32], open: i32, extend: i32) {
    let block = this_thread_block();
    let best_of_columns = shared_array::<i32, LONGEST>();
    let diagonals = shared_array::<[i32; LONGEST], 3>();
    let gaps = shared_array::<[i32; LONGEST], 2>();
    let column = block.thread_rank();
    let pair = this_grid().block_rank() as u32;
    let (query_len, target_len) = (lengths[2 * pair], lengths[2 * pair + 1]);
    let base = pair * LONGEST as u32;
    let letter = if column < target_len { targets[base + column] } else { 0 };
    let mut best = 0;
    let mut up = 0; // the score above, of this column
    let mut down_gap = -1000;
    for k in 0..3 {
        diagonals[k as u32][column] = 0;
    }
    for k in 0..2 {
        gaps[k as u32][column] = -1000;
    }
    block.sync();
    for step in 0..query_len + target_len {
        let row = step.wrapping_sub(column);
        let (now, before, twice) = (step % 3, (step + 2) % 3, (step + 1) % 3);
        if row < query_len && column < target_len {
            let first = column == 0;
            let left = if first { 0 } else { diagonals[before][column - 1] };
            let corner = if first || row == 0 { 0 } else { diagonals[twice][column - 1] };
            let left_gap = if first { -1000 } else { gaps[(step + 1) % 2][column - 1] };
            let right_gap = (left - open).max(left_gap - extend);
            down_gap = (up - open).max(down_gap - extend);
            let pair_score = if queries[base + row] == letter { 2 } else { -1 };
            let score = (corner + pair_score).max(right_gap).max(down_gap).max(0);
            diagonals[now][column] = score;
            gaps[step % 2][column] = right_gap;
            up = score;
            best = best.max(score);
        }
        block.sync();
    }
    best_of_columns[column] = best;
    block.sync();
    if column == 0 {
        for k in 1..LONGEST {
            best = best.max(best_of_columns[k]);
        }
        scores[pair] = best;
    }
}

/// The edit distance of two texts of up to 512 letters, a column a thread of a cluster, an antidiagonal a step: the last
/// column of a block is read by the next block, between an early arrival and its wait.
#[cluster_kernel(cluster = 4, block = 128)]
fn edit_distance(a: &[u8], b: &[u8], out: &mut [u32]) {
    let cluster = this_cluster();
    let cells = shared_array::<[u32; 128], 3>();
    let thread = this_thread_block().thread_rank();
    let (rank, column) = (cluster.block_rank(), cluster.thread_rank());
    let previous = cluster.map_shared_rank(&cells, if rank > 0 { rank - 1 } else { 0 });
    let (rows, columns) = (a.len() as u32, b.len() as u32);
    let letter = if column < columns { b[column] } else { 0 };
    let mut up = column + 1;
    let mut corner = column; // above the cell to the left
    cluster.sync(); // all blocks run
    for step in 0..rows + columns {
        let row = step.wrapping_sub(column);
        let inside = row < rows && column < columns;
        if inside {
            let buffer = (step + 2) % 3;
            let left = match (column, thread) {
                (0, _) => row + 1,
                (_, 0) => previous[buffer][127u32],
                _ => cells[buffer][thread - 1],
            };
            let replaced = corner + (a[row] != letter) as u32;
            up = replaced.min(left + 1).min(up + 1);
            corner = left;
            cells[step % 3][thread] = up;
        }
        let token = cluster.barrier_arrive();
        if row + 1 == rows && column + 1 == columns {
            out[0] = up;
        }
        cluster.barrier_wait(token);
    }
    if (rows == 0 || columns == 0) && column == 0 {
        out[0] = rows + columns;
    }
}

const TILE: usize = 16;

/// Returns the shorter of a path and one through another vertex.
#[device]
fn shorter(way: u32, first: u32, second: u32) -> u32 {
    if first == u32::MAX || second == u32::MAX { way } else { way.min(first + second) }
}

/// All shortest paths, a phase of tiles (Katz and Kider, "All-Pairs Shortest-Paths for Large Graphs on the GPU", 2008):
/// `phase` 0 the tile on the diagonal, 1 its row and its column, 2 the rest.
#[cluster_kernel(block = (16, 16))]
fn floyd_warshall(distances: &mut [u32], size: u32, pivot: u32, phase: u32) {
    let block = this_thread_block();
    let rows = shared_array::<[u32; TILE], TILE>();
    let columns = shared_array::<[u32; TILE], TILE>();
    let (x, y) = (block.thread_index().x, block.thread_index().y);
    let at = this_grid().block_index();
    let (tile_x, tile_y) = match phase {
        0 => (pivot, pivot),
        1 if at.y == 0 => (at.x, pivot),
        1 => (pivot, at.x),
        _ => (at.x, at.y),
    };
    let done = match phase {
        0 => false,
        1 => at.x == pivot,
        _ => tile_x == pivot || tile_y == pivot,
    };
    if done {
        return;
    }
    let place = |tile_y: u32, tile_x: u32| (tile_y * 16 + y) * size + tile_x * 16 + x;
    let inside = |tile_y: u32, tile_x: u32| tile_y * 16 + y < size && tile_x * 16 + x < size;
    rows[y][x] = if inside(tile_y, pivot) { distances[place(tile_y, pivot)] } else { u32::MAX };
    columns[y][x] = if inside(pivot, tile_x) { distances[place(pivot, tile_x)] } else { u32::MAX };
    let mut way = if inside(tile_y, tile_x) { distances[place(tile_y, tile_x)] } else { u32::MAX };
    block.sync();
    for k in 0..TILE as u32 {
        way = shorter(way, rows[y][k], columns[k][x]);
        if phase < 2 {
            // This tile is among those that are read.
            block.sync();
            if tile_x == pivot {
                rows[y][x] = way;
            }
            if tile_y == pivot {
                columns[y][x] = way;
            }
            block.sync();
        }
    }
    if inside(tile_y, tile_x) {
        distances[place(tile_y, tile_x)] = way;
    }
}

/// The most likely states of a hidden Markov model of 64 states, costs as integers, a thread a state, with the way back
/// in global memory (Viterbi's algorithm as in HMMER3's and Kaldi's GPU decoders).
#[cluster_kernel(block = 64)]
fn viterbi(moves: &[u32], emits: &[u32], observed: &[u8], back: &mut [u8], path: &mut [u8], letters: u32) {
    let block = this_thread_block();
    let costs = shared_array::<[u32; 64], 2>();
    let state = block.thread_rank();
    let steps = observed.len() as u32;
    costs[0u32][state] = emits[state * letters + observed[0u32] as u32];
    block.sync();
    for step in 1..steps {
        let (from, to) = ((step + 1) % 2, step % 2);
        let mut best = (u32::MAX, 0);
        for before in 0..64 {
            let cost = costs[from][before] + moves[before * 64 + state];
            let (least, _) = best;
            if cost < least {
                best = (cost, before);
            }
        }
        let (cost, before) = best;
        costs[to][state] = cost + emits[state * letters + observed[step] as u32];
        back[step * 64 + state] = before as u8;
        block.sync();
    }
    if state == 0 {
        let last = (steps - 1) % 2;
        let mut current = 0;
        for k in 1..64 {
            if costs[last][k] < costs[last][current] {
                current = k;
            }
        }
        for step in (0..steps).rev() {
            path[step] = current as u8;
            if step > 0 {
                current = back[step * 64 + current] as u32;
            }
        }
    }
}

fn letters(seed: u64, len: usize) -> Vec<u8> {
    below(4, seed, len).into_iter().map(|letter| b'a' + letter as u8).collect()
}

fn alignments(device: &Device) -> Outcome {
    let pairs = 5;
    let (queries, targets) = (letters(181, pairs * LONGEST), letters(182, pairs * LONGEST));
    let lengths = [64, 64, 17, 50, 1, 1, 40, 3, 33, 64];
    let (a, b, c) = (device.upload(&queries)?, device.upload(&targets)?, device.upload(&lengths)?);
    let got = read!(device, pairs, |out| smith_waterman(&a, &b, &c, out, 3, 1).grid(pairs as u32));
    let score = |pair: usize| {
        let (query, target) = (&queries[pair * LONGEST..], &targets[pair * LONGEST..]);
        let (rows, columns) = (lengths[2 * pair] as usize, lengths[2 * pair + 1] as usize);
        let mut score = vec![vec![0i32; columns + 1]; rows + 1];
        let mut down = vec![-1000; columns + 1];
        let mut best = 0;
        for i in 1..=rows {
            let mut right = -1000;
            for j in 1..=columns {
                right = (score[i][j - 1] - 3).max(right - 1);
                down[j] = (score[i - 1][j] - 3).max(down[j] - 1);
                let pair_score = if query[i - 1] == target[j - 1] { 2 } else { -1 };
                score[i][j] = (score[i - 1][j - 1] + pair_score).max(right).max(down[j]).max(0);
                best = best.max(score[i][j]);
            }
        }
        best
    };
    same(&got, &(0..pairs).map(score).collect::<Vec<_>>(), |i| format!("pair {i}"))
}

fn edit_distances(device: &Device) -> Outcome {
    for (m, n) in [(60, 512), (200, 131), (1, 1), (7, 0)] {
        let (a, b) = (letters(183, m), letters(184, n));
        let (x, y) = (device.upload(&a)?, device.upload(&b)?);
        let got = read!(device, 1, |out| edit_distance(&x, &y, out).grid(4));
        let mut row: Vec<u32> = (0..=n as u32).collect();
        for i in 0..m {
            let mut corner = std::mem::replace(&mut row[0], i as u32 + 1);
            for j in 0..n {
                let cell = (corner + u32::from(a[i] != b[j])).min(row[j] + 1).min(row[j + 1] + 1);
                corner = std::mem::replace(&mut row[j + 1], cell);
            }
        }
        same(&got, &row[n..], |_| format!("{m} and {n} letters"))?;
    }
    Ok(())
}

fn all_paths(device: &Device) -> Outcome {
    for size in [32usize, 41] {
        let mut want: Vec<u32> = below(100, 185, size * size);
        want.iter_mut().for_each(|length| *length = if *length > 30 { u32::MAX } else { *length });
        (0..size).for_each(|i| want[i * size + i] = 0);
        let mut distances = device.upload(&want)?;
        let tiles = size.div_ceil(TILE) as u32;
        for pivot in 0..tiles {
            floyd_warshall(&mut distances, size as u32, pivot, 0).grid(1).launch(device)?;
            floyd_warshall(&mut distances, size as u32, pivot, 1).grid((tiles, 2)).launch(device)?;
            floyd_warshall(&mut distances, size as u32, pivot, 2).grid((tiles, tiles)).launch(device)?;
        }
        for (k, i, j) in (0..size.pow(3)).map(|n| (n / (size * size), n / size % size, n % size)) {
            let through = want[i * size + k].saturating_add(want[k * size + j]);
            want[i * size + j] = want[i * size + j].min(through);
        }
        same(&distances.read()?, &want, |i| format!("{size} vertices, {i}"))?;
    }
    Ok(())
}

fn likely_states(device: &Device) -> Outcome {
    let kinds = 7u32;
    for steps in [1, 40] {
        let (moves, emits) = (below(1000, 186, 64 * 64), below(1000, 187, 64 * kinds as usize));
        let observed: Vec<u8> = below(kinds, 188, steps).into_iter().map(|letter| letter as u8).collect();
        let (a, b, c) = (device.upload(&moves)?, device.upload(&emits)?, device.upload(&observed)?);
        let mut back = device.zeros(64 * steps)?;
        let got = read!(device, steps, |path| viterbi(&a, &b, &c, &mut back, path, kinds).grid(1));
        let emit = |state: usize, step: usize| emits[state * kinds as usize + usize::from(observed[step])];
        let mut costs: Vec<u32> = (0..64).map(|state| emit(state, 0)).collect();
        let mut ways: Vec<Vec<u8>> = (0..64).map(|state| vec![state]).collect();
        for step in 1..steps {
            let best = |state: usize| (0..64).map(|b| (costs[b] + moves[b * 64 + state], b)).min().expect("states");
            let all: Vec<(u32, usize)> = (0..64).map(best).collect();
            ways = (0..64).map(|state| [&ways[all[state].1][..], &[state as u8]].concat()).collect();
            costs = (0..64).map(|state| all[state].0 + emit(state, step)).collect();
        }
        let end = (0..64).min_by_key(|&state| costs[state]).expect("states");
        same(&got, &ways[end], |i| format!("state {i} of {steps}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::dynamic",
        checks: check_list![alignments, edit_distances, all_paths, likely_states],
        kernels: kernel_list![smith_waterman, edit_distance, floyd_warshall, viterbi],
    }
}
