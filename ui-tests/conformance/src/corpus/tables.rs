//! Kernels with tables in constant memory: hashes of blocks, checksums, ciphers.

use phalanx::prelude::*;

use super::random;
use crate::{Module, Outcome, check_list, kernel_list, read, same};

/// The fractions of the cube roots of the first 64 primes.
const ROUNDS: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
];

const START: [u32; 8] =
    [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/// One block of SHA-256 (FIPS 180-4), the message schedule in a ring of 16 words.
#[device]
fn compress(state: [u32; 8], block: [u32; 16]) -> [u32; 8] {
    let mut w = block;
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
    for t in 0..64 {
        if t >= 16 {
            let (x, y) = (w[(t + 1) % 16], w[(t + 14) % 16]);
            let s0 = x.rotate_right(7) ^ x.rotate_right(18) ^ x >> 3;
            let s1 = y.rotate_right(17) ^ y.rotate_right(19) ^ y >> 10;
            w[t % 16] = w[t % 16].wrapping_add(s0).wrapping_add(w[(t + 9) % 16]).wrapping_add(s1);
        }
        let big1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = e & f ^ !e & g;
        let first = h.wrapping_add(big1).wrapping_add(choice).wrapping_add(ROUNDS[t]).wrapping_add(w[t % 16]);
        let big0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = a & b ^ a & c ^ b & c;
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(big0).wrapping_add(majority));
    }
    let mut sum = [a, b, c, d, e, f, g, h];
    for k in 0..8 {
        sum[k] = sum[k].wrapping_add(state[k]);
    }
    sum
}

/// The smallest number whose hash of a message of 56 bits, it among them, begins with enough zeros (cgminer's and Hashcat's
/// search, a number a thread).
#[cluster_kernel(block = 64)]
fn mine(prefix: u32, zeros: u32, best: &mut [u32]) {
    let number = this_grid().thread_rank() as u32;
    let mut block = [0; 16];
    block[0] = prefix;
    block[1] = number;
    block[2] = 1 << 31;
    block[15] = 64;
    let hash = compress(START, block);
    if hash[0].leading_zeros() >= zeros {
        best.atomic(0).fetch_min(number, Relaxed);
    }
}

/// Computes the hashes of messages of 64 bytes.
#[cluster_kernel(block = 32)]
fn hashes(messages: &[u32], out: &mut [u32]) {
    let i = this_grid().thread_rank() as u32;
    if i >= out.len() as u32 / 8 {
        return;
    }
    let mut block = [0; 16];
    for k in 0..16 {
        block[k] = messages[i * 16 + k as u32];
    }
    let mut padding = [0; 16];
    padding[0] = 1 << 31;
    padding[15] = 512;
    let hash = compress(compress(START, block), padding);
    for k in 0..8 {
        out[i * 8 + k as u32] = hash[k];
    }
}

static CRC: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
            bit += 1;
        }
        table[byte] = value;
        byte += 1;
    }
    table
};

/// A checksum of each block of a file (rsync's and ZFS's use of CRC-32; Sarwate's table).
#[cluster_kernel(block = 64)]
pub(super) fn checksums(bytes: &[u8], out: &mut [u32], size: u32) {
    let i = this_grid().thread_rank();
    if i >= out.len() {
        return;
    }
    let start = i * size as usize;
    let end = (start + size as usize).min(bytes.len());
    let mut crc = u32::MAX;
    for at in start..end {
        crc = CRC[(crc ^ bytes[at] as u32) & 255] ^ crc >> 8;
    }
    out[i] = !crc;
}

/// The weights of a Gaussian filter of 5 by 5, whose sum is 256.
const GAUSS: [[u16; 5]; 5] =
    [[1, 4, 6, 4, 1], [4, 16, 24, 16, 4], [6, 24, 36, 24, 6], [4, 16, 24, 16, 4], [1, 4, 6, 4, 1]];

/// A blurred image, with the border repeated (the CUDA sample `imageDenoising`'s kind of filter, weights in constant
/// memory).
#[cluster_kernel(block = (32, 4))]
pub(super) fn blur(image: &[u8], out: &mut [u8], width: u32, height: u32) {
    let at = this_grid().block_index();
    let thread = this_thread_block().thread_index();
    let (x, y) = (at.x * 32 + thread.x, at.y * 4 + thread.y);
    if x >= width || y >= height {
        return;
    }
    let mut sum = 128u32;
    for dy in 0..5 {
        for dx in 0..5 {
            let from_x = (x + dx).max(2).min(width + 1) - 2;
            let from_y = (y + dy).max(2).min(height + 1) - 2;
            sum += GAUSS[dy][dx] as u32 * image[from_y * width + from_x] as u32;
        }
    }
    out[y * width + x] = (sum >> 8) as u8;
}

/// Compares with the hashes of "abc" and of the empty message in FIPS 180-4 and its examples.
fn sha_256(device: &Device) -> Outcome {
    let mut block = [0; 16];
    (block[0], block[15]) = (0x6162_6380, 24);
    let want = [0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223, 0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad];
    same(&compress(START, block), &want, |i| format!("word {i} of abc"))?;
    let messages = random(301, 16 * 40);
    let input = device.upload(&messages)?;
    let got = read!(device, 8 * 40, |out| hashes(&input, out).grid(2));
    let mut padding = [0; 16];
    (padding[0], padding[15]) = (1 << 31, 512);
    let hash = |message: &[u32]| compress(compress(START, message.try_into().expect("16 words")), padding);
    same(&got, &messages.chunks(16).flat_map(hash).collect::<Vec<_>>(), |i| format!("word {i}"))?;
    let mut best = device.upload(&[u32::MAX])?;
    mine(7, 6, &mut best).grid(8).launch(device)?;
    let zeros = |number: &u32| {
        let mut block = [0; 16];
        (block[0], block[1], block[2], block[15]) = (7, *number, 1 << 31, 64);
        compress(START, block)[0].leading_zeros() >= 6
    };
    same(&best.read()?, &[(0..512).find(zeros).unwrap_or(u32::MAX)], |_| "number".into())
}

fn crc(device: &Device) -> Outcome {
    let check = device.upload(b"123456789")?;
    let got = read!(device, 1, |out| checksums(&check, out, 9).grid(1));
    same(&got, &[0xcbf4_3926], |_| "the check value of CRC-32".into())?;
    let bytes: Vec<u8> = random(302, 1000).into_iter().map(|byte| byte as u8).collect();
    let input = device.upload(&bytes)?;
    let got = read!(device, 16, |out| checksums(&input, out, 64).grid(1));
    let crc = |block: &[u8]| {
        let bits = |crc: u32| (0..8).fold(crc, |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 });
        !block.iter().fold(u32::MAX, |crc, &byte| bits(crc ^ u32::from(byte)))
    };
    same(&got, &bytes.chunks(64).map(crc).collect::<Vec<_>>(), |i| format!("block {i}"))
}

fn blurred(device: &Device) -> Outcome {
    for (width, height) in [(32usize, 8usize), (45, 11)] {
        let image: Vec<u8> = random(303, width * height).into_iter().map(|byte| byte as u8).collect();
        let input = device.upload(&image)?;
        let grid = (width.div_ceil(32) as u32, height.div_ceil(4) as u32);
        let got = read!(device, image.len(), |out| blur(&input, out, width as u32, height as u32).grid(grid));
        let pixel = |i: usize| {
            let mut sum = 128;
            for (dy, dx) in (0..25).map(|k| (k / 5, k % 5)) {
                let (x, y) = ((i % width + dx).clamp(2, width + 1) - 2, (i / width + dy).clamp(2, height + 1) - 2);
                sum += u32::from(GAUSS[dy][dx]) * u32::from(image[y * width + x]);
            }
            (sum >> 8) as u8
        };
        same(&got, &(0..image.len()).map(pixel).collect::<Vec<_>>(), |i| format!("{width} wide, {i}"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::tables",
        checks: check_list![sha_256, crc, blurred],
        kernels: kernel_list![mine, hashes, checksums, blur],
    }
}
