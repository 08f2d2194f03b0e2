//! Hash tables, filters and hashes.

use phalanx::prelude::*;

use super::random;
use crate::{Module, Outcome, check_list, kernel_list, read, same};

/// MurmurHash3's finaliser.
#[device]
fn mix(key: u32) -> u32 {
    let mut hash = key ^ key >> 16;
    hash = hash.wrapping_mul(0x85eb_ca6b);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

const EMPTY: u64 = u64::MAX;

/// Returns where a key is, or would be, in an open-addressing table with a power of two of slots: linear probing.
#[device]
fn probe(table: &mut [u64], key: u32) -> (u32, Option<u32>) {
    let mask = table.len() as u32 - 1;
    let mut slot = mix(key) & mask;
    loop {
        let entry = table.atomic(slot).load(Relaxed);
        if entry == EMPTY {
            return (slot, None);
        }
        if (entry >> 32) as u32 == key {
            return (slot, Some(entry as u32));
        }
        slot = (slot + 1) & mask;
    }
}

/// Inserts pairs by compare-exchanges; a key's largest value stays (cuCollections' `static_map`).
#[cluster_kernel(block = 64)]
fn insert(table: &mut [u64], keys: &[u32], values: &[u32]) {
    let grid = this_grid();
    for i in (grid.thread_rank()..keys.len()).step_by(grid.num_threads()) {
        let entry = (keys[i] as u64) << 32 | values[i] as u64;
        loop {
            match probe(table, keys[i]) {
                (slot, None) => {
                    if table.atomic(slot).compare_exchange(EMPTY, entry, Relaxed, Relaxed).is_ok() {
                        break;
                    }
                }
                (slot, Some(_)) => {
                    table.atomic(slot).fetch_max(entry, Relaxed);
                    break;
                }
            }
        }
    }
}

/// Looks keys up; the result is `missing` if there is none.
#[cluster_kernel(block = 64)]
fn look_up(table: &mut [u64], keys: &[u32], out: &mut [u32], missing: u32) {
    let i = this_grid().thread_rank();
    if i < keys.len() {
        let (_, found) = probe(table, keys[i]);
        out[i] = found.unwrap_or(missing);
    }
}

const FILTER: u32 = 1024;

/// A Bloom filter whose bits are spread over the blocks of a cluster: filled by one half of the keys, asked for the other
/// (a distributed-memory form of Costa and others, "Efficient Bloom filters on GPUs").
#[cluster_kernel(cluster = 4, block = 64)]
fn bloom(present: &[u32], asked: &[u32], out: &mut [bool]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let words = shared_array::<u32, 1024>();
    for word in (block.thread_rank()..FILTER).step_by(64) {
        words[word] = 0;
    }
    cluster.sync();
    let bits = FILTER * 32 * cluster.num_blocks();
    for i in (cluster.thread_rank()..present.len() as u32).step_by(256) {
        let (first, second) = (mix(present[i]), mix(present[i] ^ 0x9e37_79b9) | 1);
        for k in 0..3 {
            let bit = first.wrapping_add(second.wrapping_mul(k)) % bits;
            let owner = cluster.map_shared_rank(&words, bit / 32 / FILTER);
            owner.atomic(bit / 32 % FILTER).fetch_or(1 << bit % 32, Relaxed);
        }
    }
    cluster.sync();
    for i in (cluster.thread_rank()..asked.len() as u32).step_by(256) {
        let (first, second) = (mix(asked[i]), mix(asked[i] ^ 0x9e37_79b9) | 1);
        let mut all = true;
        for k in 0..3 {
            let bit = first.wrapping_add(second.wrapping_mul(k)) % bits;
            let owner = cluster.map_shared_rank(&words, bit / 32 / FILTER);
            all &= owner[bit / 32 % FILTER] >> bit % 32 & 1 == 1;
        }
        out[i] = all;
    }
    cluster.sync();
}

/// xxHash32 of strings that lie one after the other, a thread a string (RAPIDS cuDF's `hash` of a column of strings).
#[cluster_kernel(block = 64)]
fn hash_strings(text: &[u8], starts: &[u32], out: &mut [u32], seed: u32) {
    const PRIME1: u32 = 0x9e37_79b1;
    const PRIME2: u32 = 0x85eb_ca77;
    const PRIME3: u32 = 0xc2b2_ae3d;
    const PRIME4: u32 = 0x27d4_eb2f;
    const PRIME5: u32 = 0x1656_67b1;
    let i = this_grid().thread_rank() as u32;
    if i >= out.len() as u32 {
        return;
    }
    let (start, end) = (starts[i], starts[i + 1]);
    let word = |at: u32| {
        let mut word = 0;
        for k in (0..4).rev() {
            word = word << 8 | text[at + k] as u32;
        }
        word
    };
    let round =
        |lane: u32, input: u32| lane.wrapping_add(input.wrapping_mul(PRIME2)).rotate_left(13).wrapping_mul(PRIME1);
    let mut at = start;
    let mut hash = if end - start >= 16 {
        let mut lanes = [
            seed.wrapping_add(PRIME1).wrapping_add(PRIME2),
            seed.wrapping_add(PRIME2),
            seed,
            seed.wrapping_sub(PRIME1),
        ];
        while at + 16 <= end {
            for k in 0..4 {
                lanes[k] = round(lanes[k], word(at + 4 * k as u32));
            }
            at += 16;
        }
        let [a, b, c, d] = lanes;
        a.rotate_left(1).wrapping_add(b.rotate_left(7)).wrapping_add(c.rotate_left(12)).wrapping_add(d.rotate_left(18))
    } else {
        seed.wrapping_add(PRIME5)
    };
    hash = hash.wrapping_add(end - start);
    while at + 4 <= end {
        hash = hash.wrapping_add(word(at).wrapping_mul(PRIME3)).rotate_left(17).wrapping_mul(PRIME4);
        at += 4;
    }
    for k in at..end {
        hash = hash.wrapping_add((text[k] as u32).wrapping_mul(PRIME5)).rotate_left(11).wrapping_mul(PRIME1);
    }
    hash = (hash ^ hash >> 15).wrapping_mul(PRIME2);
    hash = (hash ^ hash >> 13).wrapping_mul(PRIME3);
    out[i] = hash ^ hash >> 16;
}

fn tables(device: &Device) -> Outcome {
    for (len, slots) in [(300, 1024), (900, 1024)] {
        let keys: Vec<u32> = random(161, len).into_iter().map(|key| key % 700).collect();
        let values = random(162, len);
        let mut table = device.upload(&vec![EMPTY; slots])?;
        let (a, b) = (device.upload(&keys)?, device.upload(&values)?);
        insert(&mut table, &a, &b).grid(3).launch(device)?;
        let asked: Vec<u32> = (0..750).collect();
        let wanted = device.upload(&asked)?;
        let got = read!(device, 750, |out| look_up(&mut table, &wanted, out, 12345).grid(12));
        let value = |key: &u32| keys.iter().zip(&values).filter(|pair| pair.0 == key).map(|pair| *pair.1).max();
        let want: Vec<u32> = asked.iter().map(|key| value(key).unwrap_or(12345)).collect();
        same(&got, &want, |i| format!("key {i} of {len}"))?;
    }
    Ok(())
}

fn filters(device: &Device) -> Outcome {
    let (present, mut asked) = (random(163, 700), random(164, 500));
    asked.extend(&present[..77]);
    let (a, b) = (device.upload(&present)?, device.upload(&asked)?);
    let got = read!(device, asked.len(), |out| bloom(&a, &b, out).grid(4));
    let bits = |key: u32| {
        let (first, second) = (mix(key), mix(key ^ 0x9e37_79b9) | 1);
        (0..3u32).map(move |k| first.wrapping_add(second.wrapping_mul(k)) % (FILTER * 128))
    };
    let set: std::collections::BTreeSet<u32> = present.iter().flat_map(|&key| bits(key)).collect();
    let want: Vec<bool> = asked.iter().map(|&key| bits(key).all(|bit| set.contains(&bit))).collect();
    same(&got, &want, |i| format!("key {i}"))?;
    if want[500..].iter().all(|&there| there) { Ok(()) } else { Err("a key that is present was not found".into()) }
}

/// Compares with the hashes that the author's own program computes.
fn strings(device: &Device) -> Outcome {
    let (empty, short, long) = ("", "a", "Nobody inspects the spammish repetition");
    let text = [empty, short, "abc", long].concat();
    let starts = [0, 0, 1, 4, 4 + long.len() as u32];
    let (input, offsets) = (device.upload(text.as_bytes())?, device.upload(&starts)?);
    let got = read!(device, 4, |out| hash_strings(&input, &offsets, out, 0).grid(1));
    same(&got, &[0x02cc_5d05, 0x550d_7456, 0x32d1_53ff, 0xe229_3b2f], |i| format!("string {i}"))
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::hashing",
        checks: check_list![tables, filters, strings],
        kernels: kernel_list![insert, look_up, bloom, hash_strings],
    }
}
