//! Codes of bytes and words: hashes, ciphers and encodings, whose work is bits.

use phalanx::prelude::*;
use sha2::{Digest, Sha256};

use super::{Pair, launch};
use crate::case::{Case, Scale, Showcase};
use crate::data;
use crate::memory::Memory;
use crate::twin::Argument;

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "codes", about: "hashes, ciphers, base64, UTF-8 and numbers of varying length", cases };

/// The constants of SHA-256's rounds.
#[rustfmt::skip]
const ROUNDS: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// SHA-256's state before the first message.
const START: [u32; 8] =
    [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/// One step of SHA-256: the state after a message of 64 bytes (FIPS 180-4, 6.2).
#[device]
fn compressed(mut state: [u32; 8], message: [u32; 16]) -> [u32; 8] {
    let mut words = message;
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
    for (t, &constant) in ROUNDS.iter().enumerate() {
        if t >= 16 {
            let (early, late) = (words[(t + 1) % 16], words[(t + 14) % 16]);
            let s0 = early.rotate_right(7) ^ early.rotate_right(18) ^ (early >> 3);
            let s1 = late.rotate_right(17) ^ late.rotate_right(19) ^ (late >> 10);
            words[t % 16] = words[t % 16].wrapping_add(s0).wrapping_add(words[(t + 9) % 16]).wrapping_add(s1);
        }
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let chosen = (e & f) ^ (!e & g);
        let first = h.wrapping_add(s1).wrapping_add(chosen).wrapping_add(constant).wrapping_add(words[t % 16]);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        let second = s0.wrapping_add(majority);
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
    }
    for (sum, &x) in state.iter_mut().zip(&[a, b, c, d, e, f, g, h]) {
        *sum = sum.wrapping_add(x);
    }
    state
}

/// The states of SHA-256 after one message each.
#[cluster_kernel(block = 256)]
fn sha256(messages: &[[u32; 16]], digests: &mut [[u32; 8]]) {
    let i = this_grid().thread_rank();
    if i < messages.len() {
        digests[i] = compressed(START, messages[i]);
    }
}

/// "expand 32-byte k"
const SIGMA: [u32; 4] = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574];

/// The words that the quarter rounds of ChaCha mix: columns, then diagonals.
const QUARTERS: [[usize; 4]; 8] = [
    [0, 4, 8, 12],
    [1, 5, 9, 13],
    [2, 6, 10, 14],
    [3, 7, 11, 15],
    [0, 5, 10, 15],
    [1, 6, 11, 12],
    [2, 7, 8, 13],
    [3, 4, 9, 14],
];

/// Mixes four words of the state (RFC 8439, 2.1).
#[device]
fn quarter_round(state: &mut [u32; 16], [a, b, c, d]: [usize; 4]) {
    state[a] = state[a].wrapping_add(state[b]);
    state[d] = (state[d] ^ state[a]).rotate_left(16);
    state[c] = state[c].wrapping_add(state[d]);
    state[b] = (state[b] ^ state[c]).rotate_left(12);
    state[a] = state[a].wrapping_add(state[b]);
    state[d] = (state[d] ^ state[a]).rotate_left(8);
    state[c] = state[c].wrapping_add(state[d]);
    state[b] = (state[b] ^ state[c]).rotate_left(7);
}

/// Text encrypted by ChaCha20: a thread for each block of 64 bytes.
#[cluster_kernel(block = 128)]
fn chacha(text: &[[u32; 16]], key: &[u32], nonce: &[u32], cipher: &mut [[u32; 16]]) {
    let i = this_grid().thread_rank();
    let start: [u32; 16] = std::array::from_fn(|k| match k {
        0..4 => SIGMA[k],
        4..12 => key[k - 4],
        12 => i as u32 + 1,
        _ => nonce[k - 13],
    });
    let mut state = start;
    for _ in 0..10 {
        for places in QUARTERS {
            quarter_round(&mut state, places);
        }
    }
    cipher[i] = std::array::from_fn(|k| text[i][k] ^ state[k].wrapping_add(start[k]));
}

/// The digits of base64.
const DIGITS: [u8; 64] = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes in base64: a thread writes sixteen digits of twelve bytes.
#[cluster_kernel(block = 256)]
fn base64(bytes: &[u8], text: &mut [u8]) {
    let i = this_grid().thread_rank();
    if i >= bytes.len() / 12 {
        return;
    }
    let mut digits = u8x16::splat(0);
    for (k, triple) in bytes[12 * i..12 * (i + 1)].chunks_exact(3).enumerate() {
        let bits = u32::from_be_bytes([0, triple[0], triple[1], triple[2]]);
        for digit in 0..4 {
            digits[4 * k + digit] = DIGITS[((bits >> (18 - 6 * digit)) & 63) as usize];
        }
    }
    text.store_vec(16 * i, digits);
}

/// How many bytes of UTF-8 a character has that begins with this byte, if one can.
#[device]
fn announced(byte: u8) -> Option<usize> {
    match byte {
        0..=0x7f => Some(1),
        0xc2..=0xdf => Some(2),
        0xe0..=0xef => Some(3),
        0xf0..=0xf4 => Some(4),
        _ => None,
    }
}

#[device]
fn continues(byte: u8) -> bool {
    matches!(byte, 0x80..=0xbf)
}

/// Whether the bytes begin a well-formed character (Unicode, table 3-7).
#[device]
fn well_formed(bytes: [u8; 4]) -> bool {
    let Some(length) = announced(bytes[0]) else {
        return false;
    };
    let second = match bytes[0] {
        0xe0 => matches!(bytes[1], 0xa0..=0xbf),
        0xed => matches!(bytes[1], 0x80..=0x9f),
        0xf0 => matches!(bytes[1], 0x90..=0xbf),
        0xf4 => matches!(bytes[1], 0x80..=0x8f),
        _ => continues(bytes[1]),
    };
    length == 1 || (second && bytes.iter().take(length).skip(2).all(|&byte| continues(byte)))
}

/// The characters of a text and its mistakes: a thread looks at the characters that begin in its sixteen bytes.
#[cluster_kernel(block = 256)]
fn utf8(text: &[u8], counts: &mut [[u16; 2]]) {
    let i = this_grid().thread_rank();
    let own: [u8; 19] = std::array::from_fn(|k| text.get(16 * i + k).copied().unwrap_or(0));
    let [mut characters, mut mistakes] = [0; 2];
    for start in (0..16).filter(|&k| !continues(own[k])) {
        if well_formed(std::array::from_fn(|k| own[start + k])) {
            characters += 1;
        } else {
            mistakes += 1;
        }
    }
    counts[i] = [characters, mistakes];
}

/// The values of a block, and the most bytes of a value in LEB128.
const VALUES: usize = 256;
const LONGEST: usize = 5;

/// Numbers in LEB128: each block packs its own closely, and says how many bytes they have.
#[cluster_kernel(block = VALUES)]
fn leb128(values: &[u32], bytes: &mut [u8], sizes: &mut [u32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let of_warps = shared_array::<u32, { VALUES / 32 }>();
    let mut value = values[this_grid().thread_rank()];
    let length = (32 - value.leading_zeros()).div_ceil(7).max(1);

    let end = warp.inclusive_scan(length, op::Plus);
    if warp.thread_rank() == 31 {
        of_warps[warp.meta_group_rank()] = end;
    }
    block.sync();
    let before: u32 = of_warps.iter().take(warp.meta_group_rank() as usize).sum();
    let first = (before + end - length) as usize;

    let chosen = this_grid().block_rank();
    let packed = &mut bytes[chosen * VALUES * LONGEST..(chosen + 1) * VALUES * LONGEST];
    for k in 0..length as usize {
        let more = value >= 0x80;
        packed[first + k] = (value & 0x7f) as u8 | if more { 0x80 } else { 0 };
        value >>= 7;
    }
    if block.thread_rank() as usize == VALUES - 1 {
        sizes[chosen] = before + end;
    }
}

const TWINS: &str = include_str!("../../twins/codes.cu");

/// Messages of 52 random bytes, padded as SHA-256 pads them.
fn messages(count: usize) -> Vec<[u32; 16]> {
    let words = data::random(130, 13 * count, |bits| (bits >> 32) as u32);
    let padded = |message: &[u32]| {
        std::array::from_fn(|k| match k {
            0..13 => message[k],
            13 => 0x8000_0000,
            14 => 0,
            _ => 8 * 52,
        })
    };
    words.chunks(13).map(padded).collect()
}

/// What the `sha2` crate says of the messages.
fn hashed(messages: &[[u32; 16]]) -> Vec<u32> {
    let digest = |message: &[u32; 16]| {
        let bytes: Vec<u8> = message[..13].iter().flat_map(|word| word.to_be_bytes()).collect();
        let digest = Sha256::digest(bytes);
        let words = digest.as_chunks::<4>().0.iter().map(|&word| u32::from_be_bytes(word));
        words.collect::<Vec<u32>>()
    };
    messages.iter().flat_map(digest).collect()
}

/// ChaCha20 as RFC 8439 states it.
fn encrypted(text: &[u32], key: &[u32], nonce: &[u32]) -> Vec<u32> {
    let block = |(i, text): (usize, &[u32])| {
        let start = [&SIGMA[..], key, &[i as u32 + 1], nonce].concat();
        let mut s = start.clone();
        for round in 0..20 {
            for column in 0..4 {
                let turn = if round % 2 == 0 { 0 } else { 1 };
                let [a, b, c, d] = std::array::from_fn(|row| 4 * row + (column + turn * row) % 4);
                for (x, y, z, by) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
                    s[x] = s[x].wrapping_add(s[y]);
                    s[z] = (s[z] ^ s[x]).rotate_left(by);
                }
            }
        }
        (0..16).map(|k| text[k] ^ s[k].wrapping_add(start[k])).collect::<Vec<u32>>()
    };
    text.chunks(16).enumerate().flat_map(block).collect()
}

/// Characters of one to four bytes, and some bytes that are none.
fn prose(len: usize) -> Vec<u8> {
    let mut text = Vec::new();
    let wanted = data::random(134, len, |bits| bits);
    for bits in wanted {
        let letter = match bits % 16 {
            0..8 => (bits >> 8) % 0x80,
            8..12 => (bits >> 8) % 0x800,
            12..14 => (bits >> 8) % 0x10000,
            _ => (bits >> 8) % 0x11_0000,
        };
        match char::from_u32(letter as u32) {
            Some(letter) if bits >> 60 > 0 => text.extend(letter.encode_utf8(&mut [0; 4]).bytes()),
            _ => text.push((bits >> 8) as u8),
        }
        if text.len() >= len {
            break;
        }
    }
    text.truncate(len);
    text
}

fn cases(scale: Scale) -> Vec<Case> {
    let count: usize = scale.pick(1 << 20, 512);
    let bytes: usize = scale.pick(96 << 20, 12 * 512);
    let letters: usize = scale.pick(1 << 26, 1 << 13);
    let values: usize = scale.pick(1 << 24, 1024);
    let pair =
        |entry, size: usize, unit, grid: usize, block| Pair::new(entry, TWINS, (size as u64, unit), grid as u32, block);
    let word = |bits: u64| (bits >> 32) as u32;
    vec![
        pair("sha256", count, "messages", count / 256, 256).bytes(96 * count).case(
            move || messages(count),
            8 * count,
            move |_| {
                launch([Argument::Word(count as u64)], move |device, input, out| {
                    sha256(input, &mut *out.as_chunks_mut()?).grid((count / 256) as u32).enqueue(device)
                })?
                .like(hashed)
            },
        ),
        pair("chacha", count, "blocks", count / 128, 128).bytes(128 * count).case(
            move || data::random(131, 16 * count, word),
            16 * count,
            move |device| {
                let (key, nonce) = (data::random(132, 8, word), data::random(133, 3, word));
                let (k, n) = (Memory::upload(device, &key)?, Memory::upload(device, &nonce)?);
                launch([k.address(), n.address()].map(Argument::Word), move |device, input, out| {
                    let (text, mut cipher) = (input.as_chunks()?, out.as_chunks_mut()?);
                    chacha(&text, &k.buffer, &n.buffer, &mut cipher).grid((count / 128) as u32).enqueue(device)
                })?
                .like(move |text| encrypted(text, &key, &nonce))
            },
        ),
        pair("base64", bytes, "bytes", bytes / (12 * 256), 256).bytes(bytes / 3 * 7).case(
            move || data::random(135, bytes, |bits| bits as u8),
            bytes / 3 * 4,
            move |_| {
                launch([Argument::Word(bytes as u64)], move |device, input, out| {
                    base64(input, out).grid((bytes / (12 * 256)) as u32).enqueue(device)
                })?
                .like(|bytes| {
                    let digits =
                        |b: &[u8]| [b[0] >> 2, (b[0] & 3) << 4 | b[1] >> 4, (b[1] & 15) << 2 | b[2] >> 6, b[2] & 63];
                    bytes.chunks(3).flat_map(digits).map(|digit| DIGITS[digit as usize]).collect()
                })
            },
        ),
        pair("utf8", letters, "bytes", letters / (16 * 256), 256).bytes(letters / 4 * 5).case(
            move || prose(letters),
            letters / 8,
            move |_| {
                launch([Argument::Word(letters as u64)], move |device, input, out| {
                    utf8(input, &mut *out.as_chunks_mut()?).grid((letters / (16 * 256)) as u32).enqueue(device)
                })?
                .like(|text| {
                    let begins = |at: &usize| text[*at] & 0xc0 != 0x80;
                    let good = |at: &usize| {
                        let rest = &text[*at..(at + 4).min(text.len())];
                        std::str::from_utf8(rest).map_or_else(|error| error.valid_up_to() > 0, |_| true)
                    };
                    let counts = |piece: usize| {
                        let starts = || (16 * piece..16 * (piece + 1)).filter(begins);
                        let characters = starts().filter(good).count();
                        [characters as u16, (starts().count() - characters) as u16]
                    };
                    (0..text.len() / 16).flat_map(counts).collect()
                })
            },
        ),
        pair("leb128", values, "values", values / VALUES, VALUES).bytes(8 * values).case(
            move || data::random(136, values, |bits| (bits >> 32) as u32 >> (bits % 32)),
            LONGEST * values,
            move |device| {
                let mut sizes = Memory::zeros(device, values / VALUES)?;
                launch([Argument::Word(sizes.address())], move |device, input, out| {
                    leb128(input, out, &mut sizes.buffer).grid((values / VALUES) as u32).enqueue(device)
                })?
                .like(|values| {
                    let digits = |value: &u32| {
                        let length = (0..4).take_while(|k| value >> (7 * k + 7) > 0).count();
                        let value = *value;
                        (0..=length).map(move |k| (value >> (7 * k)) as u8 & 127 | if k < length { 128 } else { 0 })
                    };
                    let packed = |values: &[u32]| {
                        let mut bytes: Vec<u8> = values.iter().flat_map(digits).collect();
                        bytes.resize(LONGEST * VALUES, 0);
                        bytes
                    };
                    values.chunks(VALUES).flat_map(packed).collect()
                })
            },
        ),
    ]
}
