//! Text: patterns, words, line breaks.

use phalanx::prelude::*;

use super::below;
use crate::{Module, Outcome, check_list, kernel_list, read, same};

const BLOCK: usize = 128;
const LONGEST: usize = 32;

/// The first and the number of occurrences of a pattern, from a tile with a halo (the naive search of Kouzinopoulos and
/// Margaritis, "String Matching on a Multicore GPU Using CUDA", 2009).
#[cluster_kernel(block = 128)]
fn find(text: &[u8], pattern: &[u8], found: &mut [u32]) {
    let block = this_thread_block();
    let tile = shared_array::<u8, { BLOCK + LONGEST }>();
    let i = block.thread_rank() as usize;
    let base = this_grid().block_rank() * BLOCK;
    assert!(pattern.len() <= LONGEST, "a pattern of {} bytes is longer than {}", pattern.len(), LONGEST);
    for k in (i..BLOCK + LONGEST).step_by(BLOCK) {
        tile[k] = if base + k < text.len() { text[base + k] } else { 0 };
    }
    block.sync();
    if base + i + pattern.len() > text.len() {
        return;
    }
    for k in 0..pattern.len() {
        if tile[i + k] != pattern[k] {
            return;
        }
    }
    found.atomic(0).fetch_min((base + i) as u32, Relaxed);
    found.atomic(1).fetch_add(1, Relaxed);
}

/// The longest word of a dictionary at each place: an automaton without failure links, a thread a place (PFAC: Lin, Liu,
/// Chien and Chang, "Accelerating Pattern Matching Using a Novel Parallel Algorithm on GPUs", 2013). State 0 is none, 1
/// the start.
#[cluster_kernel(block = 128)]
fn dictionary(text: &[u8], next: &[u16], words: &[u16], out: &mut [u16]) {
    let start = this_grid().thread_rank();
    if start >= text.len() {
        return;
    }
    let mut state = 1u16;
    let mut longest = None;
    for at in start..text.len() {
        state = next[state as usize * 256 + text[at] as usize];
        match state {
            0 => break,
            state if words[state as u32] > 0 => longest = Some(words[state as u32]),
            _ => {}
        }
    }
    out[start] = longest.unwrap_or(0);
}

const NEWLINE: u8 = b'\n';
const UNDERSCORE: u8 = b'_';

#[device]
fn is_letter(byte: u8) -> bool {
    matches!(byte, 0x61..=0x7a | 0x41..=0x5a | 0x30..=0x39 | UNDERSCORE)
}

/// Lines, words and bytes that are not ASCII, as `wc` counts them (the word count of Thrust's examples).
#[cluster_kernel(block = 128)]
pub(super) fn count(text: &[u8], counts: &mut [u32]) {
    let block = this_thread_block();
    let grid = this_grid();
    let sums = shared_array::<u32, 3>();
    if block.thread_rank() < 3 {
        sums[block.thread_rank()] = 0;
    }
    block.sync();
    let (mut lines, mut words, mut others) = (0, 0, 0);
    for i in (grid.thread_rank()..text.len()).step_by(grid.num_threads()) {
        match text[i] {
            NEWLINE => lines += 1,
            128.. => others += 1,
            byte if is_letter(byte) && (i == 0 || !is_letter(text[i - 1])) => words += 1,
            _ => {}
        }
    }
    sums.atomic(0).fetch_add(lines, Relaxed);
    sums.atomic(1).fetch_add(words, Relaxed);
    sums.atomic(2).fetch_add(others, Relaxed);
    block.sync();
    if block.thread_rank() < 3 {
        counts.atomic(block.thread_rank()).fetch_add(sums[block.thread_rank()], Relaxed);
    }
}

/// Returns letters from a small alphabet, so that patterns occur.
fn letters(seed: u64, len: usize) -> Vec<u8> {
    below(3, seed, len).into_iter().map(|letter| b'a' + letter as u8).collect()
}

fn patterns(device: &Device) -> Outcome {
    for (len, pattern) in [(1000, &b"abca"[..]), (129, b"b"), (40, b"abcabcabcabcabcabcabcabcabcabcab"), (3, b"aaaa")] {
        let text = letters(131, len);
        let (input, wanted) = (device.upload(&text)?, device.upload(pattern)?);
        let mut found = device.upload(&[u32::MAX, 0])?;
        find(&input, &wanted, &mut found).grid(len.div_ceil(BLOCK) as u32).launch(device)?;
        let mut places = text.windows(pattern.len()).enumerate().filter(|(_, window)| *window == pattern);
        let first = places.next().map(|(at, _)| at as u32);
        let want = [first.unwrap_or(u32::MAX), first.map_or(0, |_| places.count() as u32 + 1)];
        same(&found.read()?, &want, |i| format!("{len} bytes, {i}"))?;
    }
    let long = device.upload(&[7u8; 33])?;
    let mut found = device.zeros(2)?;
    match find(&long, &long, &mut found).grid(1).launch(device) {
        Err(error) if error.to_string().contains("a pattern of 33 bytes is longer than 32") => Ok(()),
        other => Err(format!("a pattern that is too long: {other:?}").into()),
    }
}

fn dictionaries(device: &Device) -> Outcome {
    let words = ["ab", "abc", "c", "bcab", "aaaa"];
    let (mut next, mut ends) = (vec![0u16; 512], vec![0u16; 2]);
    for (number, word) in words.iter().enumerate() {
        let mut state = 1;
        for byte in word.bytes() {
            let edge = state * 256 + usize::from(byte);
            if next[edge] == 0 {
                next[edge] = ends.len() as u16;
                ends.push(0);
                next.resize(ends.len() * 256, 0);
            }
            state = usize::from(next[edge]);
        }
        ends[state] = number as u16 + 1;
    }
    let text = letters(132, 500);
    let (input, edges, states) = (device.upload(&text)?, device.upload(&next)?, device.upload(&ends)?);
    let got = read!(device, 500, |out| dictionary(&input, &edges, &states, out).grid(4));
    let longest = |at: usize| {
        let here = words.iter().enumerate().filter(|(_, word)| text[at..].starts_with(word.as_bytes()));
        here.max_by_key(|(_, word)| word.len()).map_or(0, |(number, _)| number as u16 + 1)
    };
    same(&got, &(0..500).map(longest).collect::<Vec<_>>(), |i| format!("place {i}"))
}

fn counts(device: &Device) -> Outcome {
    let text = format!("{} größte Zahl_1, 2\n\n", "some words,\nand lines; x".repeat(30));
    let input = device.upload(text.as_bytes())?;
    for grid in [1, 4] {
        let got = read!(device, 3, |out| count(&input, out).grid(grid));
        let words = text.as_bytes().split(|byte| !is_letter(*byte)).filter(|word| !word.is_empty()).count();
        let lines = text.matches('\n').count();
        let others = text.bytes().filter(|byte| !byte.is_ascii()).count();
        same(&got, &[lines, words, others].map(|count| count as u32), |i| format!("{grid} blocks, {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::text",
        checks: check_list![patterns, dictionaries, counts],
        kernels: kernel_list![find, dictionary, count],
    }
}
