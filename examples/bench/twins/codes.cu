// Codes of bytes and words: hashes, ciphers and encodings.
using u8 = unsigned char;

__constant__ const u32 ROUNDS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ inline u32 right(u32 x, u32 by) { return __funnelshift_r(x, x, by); }
__device__ inline u32 left(u32 x, u32 by) { return __funnelshift_l(x, x, by); }

KERNEL __launch_bounds__(256) sha256(const uint4* __restrict__ messages, uint4* __restrict__ digests, u64 count) {
    const u32 i = blockIdx.x * 256 + threadIdx.x;
    if (i >= count) return;
    u32 w[16];
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        const uint4 v = messages[i * 4 + k];
        w[4 * k] = v.x, w[4 * k + 1] = v.y, w[4 * k + 2] = v.z, w[4 * k + 3] = v.w;
    }
    constexpr u32 start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    u32 a = start[0], b = start[1], c = start[2], d = start[3], e = start[4], f = start[5], g = start[6], h = start[7];
#pragma unroll
    for (u32 t = 0; t < 64; t++) {
        if (t >= 16) {
            const u32 x = w[(t + 1) % 16], y = w[(t + 14) % 16];
            w[t % 16] += (right(x, 7) ^ right(x, 18) ^ (x >> 3)) + w[(t + 9) % 16] + (right(y, 17) ^ right(y, 19) ^ (y >> 10));
        }
        const u32 first = h + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[t] + w[t % 16];
        const u32 second = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    digests[i * 2] = {start[0] + a, start[1] + b, start[2] + c, start[3] + d};
    digests[i * 2 + 1] = {start[4] + e, start[5] + f, start[6] + g, start[7] + h};
}

__device__ inline void quarter_round(u32& a, u32& b, u32& c, u32& d) {
    a += b, d = left(d ^ a, 16);
    c += d, b = left(b ^ c, 12);
    a += b, d = left(d ^ a, 8);
    c += d, b = left(b ^ c, 7);
}

KERNEL __launch_bounds__(128) chacha(const uint4* __restrict__ text, uint4* __restrict__ cipher, const u32* __restrict__ key, const u32* __restrict__ nonce) {
    const u32 i = blockIdx.x * 128 + threadIdx.x;
    const u32 start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, key[0], key[1], key[2], key[3],
                           key[4], key[5], key[6], key[7], i + 1, nonce[0], nonce[1], nonce[2]};
    u32 s[16];
#pragma unroll
    for (u32 k = 0; k < 16; k++) s[k] = start[k];
#pragma unroll
    for (u32 round = 0; round < 10; round++) {
        quarter_round(s[0], s[4], s[8], s[12]);
        quarter_round(s[1], s[5], s[9], s[13]);
        quarter_round(s[2], s[6], s[10], s[14]);
        quarter_round(s[3], s[7], s[11], s[15]);
        quarter_round(s[0], s[5], s[10], s[15]);
        quarter_round(s[1], s[6], s[11], s[12]);
        quarter_round(s[2], s[7], s[8], s[13]);
        quarter_round(s[3], s[4], s[9], s[14]);
    }
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        const uint4 v = text[i * 4 + k];
        cipher[i * 4 + k] = {v.x ^ (s[4 * k] + start[4 * k]), v.y ^ (s[4 * k + 1] + start[4 * k + 1]), v.z ^ (s[4 * k + 2] + start[4 * k + 2]),
                             v.w ^ (s[4 * k + 3] + start[4 * k + 3])};
    }
}

__device__ const u8 DIGITS[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

KERNEL __launch_bounds__(256) base64(const u32* __restrict__ bytes, uint4* __restrict__ text, u64 len) {
    const u32 i = blockIdx.x * 256 + threadIdx.x;
    if (i >= len / 12) return;
    const u32 x = bytes[i * 3], y = bytes[i * 3 + 1], z = bytes[i * 3 + 2];
    // Three bytes each, the first one on top.
    const u32 triples[4] = {__byte_perm(x, 0, 0x4012), __byte_perm(x, y, 0x0345) & 0xffffff, __byte_perm(y, z, 0x0234) & 0xffffff,
                            __byte_perm(z, 0, 0x4123)};
    u32 words[4];
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        const u32 bits = triples[k];
        words[k] = DIGITS[bits >> 18] | DIGITS[bits >> 12 & 63] << 8 | DIGITS[bits >> 6 & 63] << 16 | u32(DIGITS[bits & 63]) << 24;
    }
    text[i] = {words[0], words[1], words[2], words[3]};
}

__device__ inline bool continues(u32 byte) { return (byte & 0xc0) == 0x80; }

KERNEL __launch_bounds__(256) utf8(const uint4* __restrict__ text, ushort2* __restrict__ counts, u64 len) {
    const u32 i = blockIdx.x * 256 + threadIdx.x;
    const uint4 own = text[i];
    // The bytes behind the thread's own belong to its last character.
    const u32 behind = (i + 1) * 16ull < len ? reinterpret_cast<const u32*>(text)[i * 4 + 4] : 0;
    const u32 words[5] = {own.x, own.y, own.z, own.w, behind};
    u32 characters = 0, mistakes = 0;
#pragma unroll
    for (u32 k = 0; k < 16; k++) {
        const u32 bits = __funnelshift_r(words[k / 4], words[k / 4 + 1], k % 4 * 8);
        const u32 first = bits & 255, second = bits >> 8 & 255;
        if (continues(first)) continue;
        bool good;
        if (first < 0x80) {
            good = true;
        } else if (first < 0xc2) {
            good = false;
        } else if (first < 0xe0) {
            good = continues(second);
        } else if (first < 0xf0) {
            good = second >= (first == 0xe0 ? 0xa0 : 0x80) && second <= (first == 0xed ? 0x9f : 0xbf) && continues(bits >> 16);
        } else if (first < 0xf5) {
            good = second >= (first == 0xf0 ? 0x90 : 0x80) && second <= (first == 0xf4 ? 0x8f : 0xbf) && continues(bits >> 16) && continues(bits >> 24);
        } else {
            good = false;
        }
        characters += good;
        mistakes += !good;
    }
    counts[i] = make_ushort2(characters, mistakes);
}

KERNEL __launch_bounds__(256) leb128(const u32* __restrict__ values, u8* __restrict__ bytes, u32* __restrict__ sizes) {
    __shared__ u32 of_warps[8];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 value = values[blockIdx.x * 256 + threadIdx.x];
    const u32 length = max((38 - __clz(value)) / 7, 1);
    u32 end = length;
#pragma unroll
    for (u32 by = 1; by < 32; by *= 2) {
        const u32 below = __shfl_up_sync(~0u, end, by);
        if (lane >= by) end += below;
    }
    if (lane == 31) of_warps[warp] = end;
    __syncthreads();
    u32 before = 0;
#pragma unroll
    for (u32 k = 0; k < 8; k++) before += k < warp ? of_warps[k] : 0;
    u8* to = bytes + blockIdx.x * 1280ull + (before + end - length);
    for (; value >= 0x80; value >>= 7) *to++ = value | 0x80;
    *to = value;
    if (threadIdx.x == 255) sizes[blockIdx.x] = before + end;
}
