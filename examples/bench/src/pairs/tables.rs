//! Tables and columns as databases have them: hash tables, packed integers, digits to sort by, checksums.

use phalanx::prelude::*;

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "tables", about: "hash tables, packed integers, sorting by digits, checksums", cases };

/// A place of a hash table.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Entry {
    key: u32,
    value: u32,
}

/// The key of a free place.
const FREE: u32 = 0;

/// A hash (Appleby's MurmurHash3).
#[device]
fn hash(key: u32) -> u32 {
    let mut x = key;
    x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

/// The value of a key in a table whose length is a power of two, where what does not fit lies in the places behind.
#[device]
fn look_up(table: &[Entry], key: u32) -> Option<u32> {
    let mask = table.len() - 1;
    let mut place = hash(key) as usize & mask;
    loop {
        match table[place] {
            Entry { key: found, value } if found == key => return Some(value),
            Entry { key: FREE, .. } => return None,
            _ => place = (place + 1) & mask,
        }
    }
}

/// The values of keys, or the largest number where there is none.
#[cluster_kernel(block = 256)]
fn probed(keys: &[u32], table: &[Entry], values: &mut [u32]) {
    let i = this_grid().thread_rank();
    let Some(&key) = keys.get(i) else {
        return;
    };
    values[i] = look_up(table, key).unwrap_or(u32::MAX);
}

/// The integers of a packed block.
const PACKED: usize = 128;

/// Where a block begins, how many bits its integers have, and what is added to each.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy, Default)]
struct Header {
    start: u32,
    bits: u16,
    unused: u16,
    least: i32,
}

/// Integers of few bits, which each block has chosen: a warp takes a block, a lane four integers.
#[cluster_kernel(block = 256)]
fn unpacked(words: &[u32], headers: &[Header], out: &mut [i32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let chosen = this_grid().thread_rank() / 32;
    let Header { start, bits, least, .. } = headers[chosen];
    let bits = u32::from(bits);
    let mask = (1 << bits) - 1;
    let first = 4 * warp.thread_rank();
    let values = std::array::from_fn(|k| {
        let bit = (first + k as u32) * bits;
        let word = start + bit / 32;
        let both = u64::from(words[word]) | u64::from(words[word + 1]) << 32;
        least + ((both >> (bit % 32)) as u32 & mask) as i32
    });
    out.store_vec(chosen * PACKED + first as usize, i32x4::new(values));
}

/// The warps of a block, the keys of a thread, and the values of a digit.
const WARPS: usize = 8;
const ITEMS: usize = 8;
const DIGITS: usize = 256;

/// A pass of a radix sort in blocks: each orders its own keys by a digit, and keeps the order of those with the same.
#[cluster_kernel(block = WARPS * 32)]
fn digits(keys: &[u32], out: &mut [u32], shift: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let counts = shared_array::<[u32; DIGITS], WARPS>();
    let of_warps = shared_array::<u32, WARPS>();
    let sorted = shared_array::<u32, { WARPS * 32 * ITEMS }>();
    let (rank, lane) = (block.thread_rank() as usize, warp.thread_rank() as usize);
    let own = warp.meta_group_rank() as usize;
    for k in 0..WARPS {
        counts[k][rank] = 0;
    }
    block.sync();

    // How many keys of the warp before this one have its digit.
    let first = this_grid().block_rank() * sorted.len();
    let mine: [u32; ITEMS] = std::array::from_fn(|k| keys[first + (own * ITEMS + k) * 32 + lane]);
    let mut places = [0; ITEMS];
    for (&key, place) in mine.iter().zip(places.iter_mut()) {
        let digit = (key >> shift) as usize % DIGITS;
        let same = warp.match_any(digit as u32);
        let before = counts[own][digit];
        let lower = (same & ((1 << lane) - 1)).count_ones();
        warp.sync();
        if lower == 0 {
            counts[own][digit] = before + same.count_ones();
        }
        warp.sync();
        *place = before + lower;
    }
    block.sync();

    // Where the keys of each warp with the digit of this thread begin.
    let mut total = 0;
    for k in 0..WARPS {
        let count = counts[k][rank];
        counts[k][rank] = total;
        total += count;
    }
    let end = warp.inclusive_scan(total, op::Plus);
    if lane == 31 {
        of_warps[own] = end;
    }
    block.sync();
    let start = of_warps.iter().take(own).sum::<u32>() + end - total;
    for k in 0..WARPS {
        counts[k][rank] += start;
    }
    block.sync();

    for (&key, &place) in mine.iter().zip(&places) {
        let digit = (key >> shift) as usize % DIGITS;
        sorted[counts[own][digit] + place] = key;
    }
    block.sync();
    for k in (rank..sorted.len()).step_by(WARPS * 32) {
        out[first + k] = sorted[k];
    }
}

/// The bytes of a message.
const LENGTH: usize = 512;

/// The checksum of each byte with `k` zeros behind it, in table `k`.
const TABLES: [[u32; 256]; 4] = {
    let mut tables = [[0; 256]; 4];
    let mut byte = 0;
    while byte < 256 {
        let (mut x, mut zeros) = (byte as u32, 0);
        while zeros < 4 {
            let mut bit = 0;
            while bit < 8 {
                x = if x & 1 == 1 { x >> 1 ^ 0xedb8_8320 } else { x >> 1 };
                bit += 1;
            }
            tables[zeros][byte] = x;
            zeros += 1;
        }
        byte += 1;
    }
    tables
};

/// Ethernet's checksums of messages, four bytes at a time: a thread for each.
#[cluster_kernel(block = 256)]
fn checksums(bytes: &[u8], sums: &mut [u32]) {
    let block = this_thread_block();
    let tables = shared_array::<[u32; 256], 4>();
    for (k, table) in TABLES.iter().enumerate() {
        tables[k][block.thread_rank()] = table[block.thread_rank() as usize];
    }
    block.sync();

    let i = this_grid().thread_rank();
    let message = &bytes[i * LENGTH..][..LENGTH];
    let mut sum = u32::MAX;
    for four in message.chunks_exact(4) {
        sum ^= u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        let [a, b, c, d] = sum.to_le_bytes();
        sum = tables[3][a as usize] ^ tables[2][b as usize] ^ tables[1][c as usize] ^ tables[0][d as usize];
    }
    sums[i] = !sum;
}

const TWINS: &str = include_str!("../../twins/tables.cu");

/// A table, half of it free, with the values of the keys that hashes of numbers below `len / 2` give.
fn table(len: usize) -> Vec<Entry> {
    let mut table = vec![Entry { key: FREE, value: 0 }; len];
    for value in 0..len as u32 / 2 {
        let key = key_of(value);
        let mut place = hash(key) as usize & (len - 1);
        while table[place].key != FREE {
            place = (place + 1) & (len - 1);
        }
        table[place] = Entry { key, value };
    }
    table
}

/// A key for each number, none of them twice.
fn key_of(number: u32) -> u32 {
    number.wrapping_add(1).wrapping_mul(0x9e37_79b1)
}

/// Packs blocks of random integers; a word follows the last one.
fn packed(blocks: usize) -> (Vec<u32>, Vec<Header>, Vec<i32>) {
    let kinds = data::random(212, blocks, |bits| bits);
    let (mut words, mut headers, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for (block, kind) in kinds.into_iter().enumerate() {
        let (bits, least) = (3 + (kind % 15) as u16, (kind >> 40) as i32 - (1 << 23));
        headers.push(Header { start: words.len() as u32, bits, unused: 0, least });
        let (mut rest, mut filled) = (0u64, 0);
        for k in 0..PACKED {
            let value = hash((block * PACKED + k) as u32) & ((1 << bits) - 1);
            all.push(least + value as i32);
            rest |= u64::from(value) << filled;
            filled += u32::from(bits);
            if filled >= 32 {
                words.push(rest as u32);
                (rest, filled) = (rest >> 32, filled - 32);
            }
        }
    }
    words.push(0);
    (words, headers, all)
}

fn checked(message: &[u8]) -> u32 {
    let step = |sum: u32, &byte: &u8| {
        let low = |x: u32, _| if x & 1 == 1 { x >> 1 ^ 0xedb8_8320 } else { x >> 1 };
        (0..8).fold(sum ^ u32::from(byte), low)
    };
    !message.iter().fold(u32::MAX, step)
}

fn cases(scale: Scale) -> Vec<Case> {
    let (queries, places): (usize, usize) = scale.pick((1 << 24, 1 << 24), (512, 1024));
    let blocks: usize = scale.pick(1 << 19, 16);
    let keys: usize = scale.pick(1 << 25, 4096);
    let messages: usize = scale.pick(1 << 19, 256);
    let tile = WARPS * 32 * ITEMS;
    let pair =
        |entry, size: usize, unit, grid: usize, block| Pair::new(entry, TWINS, (size as u64, unit), grid as u32, block);
    vec![
        pair("probed", queries, "keys", queries / 256, 256).bytes(8 * queries + 8 * places).case(
            // Every fourth key is in no table.
            move || data::below(210, queries, places as u32 / 3 * 2).into_iter().map(key_of).collect(),
            queries,
            move |device| {
                let table = Memory::upload(device, &table(places))?;
                let words = [table.address(), queries as u64, places as u64].map(Argument::Word);
                launch(words, move |device, input, out| {
                    probed(input, &table.buffer, out).grid((queries / 256) as u32).enqueue(device)
                })?
                .like(move |_| {
                    let numbers = data::below(210, queries, places as u32 / 3 * 2);
                    let value = |number: u32| if number < places as u32 / 2 { number } else { u32::MAX };
                    numbers.into_iter().map(value).collect()
                })
            },
        ),
        pair("unpacked", blocks, "blocks", blocks / 8, 256).bytes((12 + 10 * PACKED / 8 + 4 * PACKED) * blocks).case(
            move || packed(blocks).0,
            PACKED * blocks,
            move |device| {
                let (_, headers, all) = packed(blocks);
                let headers = Memory::upload(device, &headers)?;
                launch([Argument::Word(headers.address())], move |device, input, out| {
                    unpacked(input, &headers.buffer, out).grid((blocks / 8) as u32).enqueue(device)
                })?
                .like(move |_| all.clone())
            },
        ),
        pair("digits", keys, "keys", keys / tile, 256).bytes(8 * keys).case(
            move || data::random(213, keys, |bits| (bits >> 32) as u32),
            keys,
            move |_| {
                launch([Argument::Number(8)], move |device, input, out| {
                    digits(input, out, 8).grid((keys / tile) as u32).enqueue(device)
                })?
                .like(move |keys| {
                    let ordered = |tile: &[u32]| {
                        let mut tile = tile.to_vec();
                        tile.sort_by_key(|key| key >> 8 & 255);
                        tile
                    };
                    keys.chunks(tile).flat_map(ordered).collect()
                })
            },
        ),
        pair("checksums", messages, "messages", messages / 256, 256).bytes((LENGTH + 4) * messages).case(
            move || data::random(214, LENGTH * messages, |bits| bits as u8),
            messages,
            move |_| {
                launch([], move |device, input, out| {
                    checksums(input, out).grid((messages / 256) as u32).enqueue(device)
                })?
                .like(|bytes| bytes.chunks(LENGTH).map(checked).collect())
            },
        ),
    ]
}
