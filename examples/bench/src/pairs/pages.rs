//! Pages of columns: lines that a query keeps, sums of groups, runs of codes, rows of two tables in one order.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "pages", about: "queries on columns: filters, groups, runs, merges", cases };

/// The lines that a thread takes, and those of a page, which four blocks share.
const ITEMS: usize = 4;
const PAGE: usize = 4 * 256 * ITEMS;

/// A line of an order.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Line {
    price: f32,
    discount: f32,
    quantity: u32,
    day: u32,
}

/// The conditions of a query on lines.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy)]
struct Query {
    days: [u32; 2],
    discounts: [f32; 2],
    most: u32,
    unused: u32,
}

#[device]
impl Line {
    fn is_wanted(&self, query: &Query) -> bool {
        let [from, until] = query.days;
        let [least, most] = query.discounts;
        (from..until).contains(&self.day) && (least..=most).contains(&self.discount) && self.quantity < query.most
    }

    fn revenue(&self) -> f32 {
        self.price * self.discount
    }
}

/// The revenues of the lines that a query wants (as TPC-H's sixth does), closely packed in each page: a cluster for each.
#[cluster_kernel(cluster = 4, block = 256)]
fn kept(lines: &[Line], out: &mut [f32], counts: &mut [u32], query: Query) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let warp = tiled_partition::<32>(&block);
    let of_warps = shared_array::<u32, 8>();
    let of_block = shared_array::<u32, 1>();
    let page = this_grid().cluster_rank();
    let first = this_grid().thread_rank() * ITEMS;

    let own: [Line; ITEMS] = std::array::from_fn(|k| lines[first + k]);
    let count = own.iter().filter(|line| line.is_wanted(&query)).count() as u32;
    let end = warp.inclusive_scan(count, op::Plus);
    if warp.thread_rank() == 31 {
        of_warps[warp.meta_group_rank()] = end;
    }
    block.sync();
    if block.thread_rank() == 0 {
        of_block[0] = of_warps.iter().sum::<u32>();
    }
    cluster.sync();

    let of_blocks = (0..cluster.block_rank()).map(|peer| cluster.map_shared_rank(&of_block, peer)[0]).sum::<u32>();
    let before = of_blocks + of_warps.iter().take(warp.meta_group_rank() as usize).sum::<u32>();
    let mut place = page * PAGE + (before + end - count) as usize;
    for line in own.iter().filter(|line| line.is_wanted(&query)) {
        out[place] = line.revenue();
        place += 1;
    }
    if cluster.thread_rank() == cluster.num_threads() - 1 {
        counts[page] = (place - page * PAGE) as u32;
    }
    cluster.sync();
}

/// The groups that a block of four keeps.
const GROUPS: usize = 2048;

/// The sums, counts and maxima of amounts by groups, each of which belongs to a block of a cluster.
#[cluster_kernel(cluster = 4, block = 512)]
fn grouped(keys: &[u16], amounts: &[u32], out: &mut [[u32; 3]]) {
    let (grid, cluster, block) = (this_grid(), this_cluster(), this_thread_block());
    let sums = shared_array::<u32, GROUPS>();
    let counts = shared_array::<u32, GROUPS>();
    let maxima = shared_array::<u32, GROUPS>();
    let rank = block.thread_rank() as usize;
    for group in (rank..GROUPS).step_by(512) {
        sums[group] = 0;
        counts[group] = 0;
        maxima[group] = 0;
    }
    cluster.sync();

    for i in (grid.thread_rank()..keys.len()).step_by(grid.num_threads()) {
        let (key, amount) = (keys[i] as usize, amounts[i]);
        let (owner, group) = ((key / GROUPS) as u32, key % GROUPS);
        cluster.map_shared_rank(&sums, owner).atomic(group).fetch_add(amount, Relaxed);
        cluster.map_shared_rank(&counts, owner).atomic(group).fetch_add(1, Relaxed);
        cluster.map_shared_rank(&maxima, owner).atomic(group).fetch_max(amount, Relaxed);
    }
    cluster.sync();

    for group in (rank..GROUPS).step_by(512) {
        if counts[group] > 0 {
            let row = cluster.block_rank() as usize * GROUPS + group;
            out[row].atomic(0).fetch_add(sums[group], Relaxed);
            out[row].atomic(1).fetch_add(counts[group], Relaxed);
            out[row].atomic(2).fetch_max(maxima[group], Relaxed);
        }
    }
}

/// The runs of a page, and the values that they stand for.
const RUNS: usize = 256;
const VALUES: usize = 2048;

/// A code that occurs several times in a row.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Run {
    code: u16,
    length: u16,
}

/// The run in which a place lies.
#[device]
fn run_of(ends: &SharedSlice<u32>, place: u32) -> usize {
    ends.partition_point(|&end| end <= place)
}

/// A column whose pages are runs of codes of a dictionary: a block for each page.
#[cluster_kernel(block = RUNS)]
fn expanded(runs: &[Run], dictionary: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let of_warps = shared_array::<u32, { RUNS / 32 }>();
    let ends = shared_array::<u32, RUNS>();
    let values = shared_array::<f32, RUNS>();
    let rank = block.thread_rank() as usize;
    let page = &mut out[this_grid().block_rank() * VALUES..][..VALUES];

    let Run { code, length } = runs[this_grid().thread_rank()];
    let end = warp.inclusive_scan(u32::from(length), op::Plus);
    if warp.thread_rank() == 31 {
        of_warps[warp.meta_group_rank()] = end;
    }
    block.sync();
    let before = of_warps.iter().take(warp.meta_group_rank() as usize).sum::<u32>();
    ends[rank] = before + end;
    values[rank] = dictionary[code];
    block.sync();

    for place in (rank..VALUES).step_by(RUNS) {
        page[place] = values[run_of(&ends, place as u32)];
    }
}

/// The rows that a thread merges, and those of a block.
const ROWS: usize = 8;
const TILE: usize = 256 * ROWS;

/// A row of a table that is sorted by its key.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Row {
    key: u32,
    value: f32,
}

/// How many of the first `at` merged rows come from the left table (Odeh et al., "Merge path", 2012).
#[device]
fn from_left(left: usize, right: usize, at: usize, precedes: impl Fn(usize, usize) -> bool) -> usize {
    let (mut low, mut high) = (at.saturating_sub(right), at.min(left));
    while low < high {
        let middle = (low + high) / 2;
        if precedes(middle, at - 1 - middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// The values of two sorted tables, in the order of their keys.
#[cluster_kernel(block = 256)]
fn merged(left: &[Row], right: &[Row], out: &mut [f32]) {
    let block = this_thread_block();
    let tile = shared_array::<Row, TILE>();
    let values = shared_array::<f32, TILE>();
    let rank = block.thread_rank() as usize;

    // The rows of both tables that belong to this block.
    let first = this_grid().block_rank() * TILE;
    let begin = from_left(left.len(), right.len(), first, |i, j| left[i].key <= right[j].key);
    let end = from_left(left.len(), right.len(), first + TILE, |i, j| left[i].key <= right[j].key);
    let count = end - begin;
    for k in (rank..TILE).step_by(256) {
        tile[k] = if k < count { left[begin + k] } else { right[first - begin + k - count] };
    }
    block.sync();

    let (left, right) = tile.split_at(count);
    let at = rank * ROWS;
    let mut i = from_left(left.len(), right.len(), at, |i, j| left[i].key <= right[j].key);
    let mut j = at - i;
    for k in at..at + ROWS {
        values[k] = match (left.get(i).copied(), right.get(j).copied()) {
            (Some(x), Some(y)) if x.key <= y.key => {
                i += 1;
                x.value
            }
            (Some(x), None) => {
                i += 1;
                x.value
            }
            (_, Some(y)) => {
                j += 1;
                y.value
            }
            (None, None) => unreachable!(),
        };
    }
    block.sync();
    for k in (rank..TILE).step_by(256) {
        out[first + k] = values[k];
    }
}

const TWINS: &str = include_str!("../../twins/pages.cu");

/// Days from 1992 on, discounts in hundredths.
fn lines(count: usize) -> Vec<Line> {
    data::random(300, count, |bits| Line {
        price: 900.0 + (bits % 100_000) as f32,
        discount: (bits >> 20 & 0xffff) as f32 % 11.0 / 100.0,
        quantity: 1 + (bits >> 36 & 0xff) as u32 % 50,
        day: (bits >> 44) as u32 % 2557,
    })
}

/// Runs of pages: each page has as many values.
fn pages(count: usize, codes: u32) -> Vec<Run> {
    let mut runs = data::random(302, count * RUNS, |bits| Run { code: (bits % u64::from(codes)) as u16, length: 1 });
    let chosen = data::below(303, count * (VALUES - RUNS), RUNS as u32);
    for (page, chosen) in runs.chunks_mut(RUNS).zip(chosen.chunks(VALUES - RUNS)) {
        chosen.iter().for_each(|&run| page[run as usize].length += 1);
    }
    runs
}

fn table(seed: u64, count: usize) -> Vec<Row> {
    let mut rows =
        data::random(seed, count, |bits| Row { key: (bits >> 32) as u32 % (1 << 24), value: data::real(bits << 24) });
    rows.sort_by_key(|row| row.key);
    rows
}

fn cases(scale: Scale) -> Vec<Case> {
    let orders: usize = scale.pick(1 << 12, 2);
    let (amounts, clusters): (usize, usize) = scale.pick((1 << 24, 66), (1 << 13, 1));
    let (columns, codes): (usize, u32) = scale.pick((1 << 14, 1 << 13), (3, 500));
    let rows: usize = scale.pick(1 << 24, TILE);
    let pair =
        |entry, size: usize, unit, grid: usize, block| Pair::new(entry, TWINS, (size as u64, unit), grid as u32, block);
    let query = Query { days: [730, 1461], discounts: [0.045, 0.075], most: 40, unused: 0 };
    vec![
        pair("kept", orders, "pages", 4 * orders, 256).cluster(4).bytes(17 * orders * PAGE).adds().case(
            move || lines(orders * PAGE),
            orders * PAGE,
            move |device| {
                let mut counts = Memory::zeros(device, orders)?;
                let [from, until] = query.days.map(Argument::Number);
                let [least, most] = query.discounts.map(Argument::Real);
                let further =
                    vec![Argument::Word(counts.address()), from, until, least, most, Argument::Number(query.most)];
                launch(further, move |device, input, out| {
                    kept(input, out, &mut counts.buffer, query).grid(4 * orders as u32).enqueue(device)
                })?
                .like(move |lines| {
                    let page = |lines: &[Line]| {
                        let wanted = |line: &&Line| {
                            line.day >= 730
                                && line.day < 1461
                                && (5..=7).contains(&((line.discount * 100.0).round() as u32))
                                && line.quantity < 40
                        };
                        let wanted = lines.iter().filter(wanted);
                        let mut out: Vec<f64> =
                            wanted.map(|line| f64::from(line.price) * f64::from(line.discount)).collect();
                        out.resize(PAGE, 0.0);
                        out
                    };
                    lines.chunks(PAGE).flat_map(page).collect::<Vec<f64>>()
                })
            },
        ),
        pair("grouped", amounts, "rows", 4 * clusters, 512).cluster(4).bytes(6 * amounts).adds().case(
            move || data::random(304, amounts, |bits| (bits % (4 * GROUPS) as u64) as u16),
            3 * 4 * GROUPS,
            move |device| {
                let prices = data::below(305, amounts, 1000);
                let memory = Memory::upload(device, &prices)?;
                let further = [memory.address(), amounts as u64].map(Argument::Word);
                launch(further, move |device, input, out| {
                    let mut out = out.as_chunks_mut()?;
                    grouped(input, &memory.buffer, &mut out).grid(4 * clusters as u32).enqueue(device)
                })?
                .like(move |keys| {
                    let mut groups = vec![[0, 0, 0]; 4 * GROUPS];
                    for (&key, &price) in keys.iter().zip(&prices) {
                        let [sum, count, most] = groups[key as usize];
                        groups[key as usize] = [sum + price, count + 1, most.max(price)];
                    }
                    groups.concat()
                })
            },
        ),
        pair("expanded", columns, "pages", columns, RUNS).bytes(columns * (4 * RUNS + 4 * VALUES)).case(
            move || pages(columns, codes),
            columns * VALUES,
            move |device| {
                let dictionary = data::reals(306, codes as usize);
                let memory = Memory::upload(device, &dictionary)?;
                launch([Argument::Word(memory.address())], move |device, input, out| {
                    expanded(input, &memory.buffer, out).grid(columns as u32).enqueue(device)
                })?
                .like(move |runs| {
                    let values = |run: &Run| std::iter::repeat_n(dictionary[run.code as usize], run.length.into());
                    runs.iter().flat_map(values).collect()
                })
            },
        ),
        pair("merged", 2 * rows, "rows", 2 * rows / TILE, 256).bytes(24 * rows).case(
            move || table(307, rows),
            2 * rows,
            move |device| {
                let other = table(308, rows);
                let memory = Memory::upload(device, &other)?;
                let further = [memory.address(), rows as u64].map(Argument::Word);
                launch(further, move |device, input, out| {
                    merged(input, &memory.buffer, out).grid((2 * rows / TILE) as u32).enqueue(device)
                })?
                .like(move |left| {
                    let mut all: Vec<Row> = left.iter().chain(&other).copied().collect();
                    // Of equal keys, those of the left table come first, because the order is stable.
                    all.sort_by_key(|row| row.key);
                    all.into_iter().map(|row| row.value).collect()
                })
            },
        ),
    ]
}
