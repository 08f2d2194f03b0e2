// What the kernels written by hand share: names of types, the cluster's barrier and its memory in PTX, reductions over WIDTH
// threads of a warp, pairs of bf16 in a word.
using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long long;
#define KERNEL extern "C" __global__ void

__device__ inline u32 cluster_rank() {
    u32 rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
__device__ inline void cluster_arrive() {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ inline void cluster_arrive_relaxed() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ inline void cluster_wait() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ inline void cluster_sync() {
    cluster_arrive();
    cluster_wait();
}
__device__ inline u32 shared_address(const void* pointer) {
    return static_cast<u32>(__cvta_generic_to_shared(pointer));
}
// The address, in the cluster's shared memory, of what a peer has at the address of our own.
__device__ inline u32 map_shared(u32 address, u32 rank) {
    u32 mapped;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
    return mapped;
}
__device__ inline float load_remote(u32 address) {
    float value;
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
    return value;
}
__device__ inline u32 load_remote_u32(u32 address) {
    u32 value;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
    return value;
}
__device__ inline float2 load_remote2(u32 address) {
    float2 value;
    asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];" : "=f"(value.x), "=f"(value.y) : "r"(address) : "memory");
    return value;
}
__device__ inline void add_remote(u32 address, u32 value) {
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

// mbarriers, bulk copies and asynchronous stores. Addresses are those of shared memory.
__device__ inline void barrier_init(u32 barrier, u32 count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
// After the initialisation, before a barrier of the block or the cluster.
__device__ inline void barrier_init_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ inline void arrive_expect(u32 barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ inline void wait_parity(u32 barrier, u32 parity) {
    asm volatile(
        "{\n.reg .pred done;\n"
        "AGAIN_%=:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra AGAIN_%=;\n}" ::"r"(barrier), "r"(parity)
        : "memory");
}
// The same for a barrier that peers complete.
__device__ inline void wait_parity_cluster(u32 barrier, u32 parity) {
    asm volatile(
        "{\n.reg .pred done;\n"
        "AGAIN_%=:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra AGAIN_%=;\n}" ::"r"(barrier), "r"(parity)
        : "memory");
}
__device__ inline void bulk_load(u32 to, const void* from, u32 bytes, u32 barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
}
__device__ inline void store_async(u32 to, u64 value, u32 barrier) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(to), "l"(value), "r"(barrier) : "memory");
}
__device__ inline void store_async(u32 to, float value, u32 barrier) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to), "r"(__float_as_uint(value)), "r"(barrier) : "memory");
}

template <u32 WIDTH> __device__ inline float reduced(float v) {
#pragma unroll
    for (u32 mask = WIDTH / 2; mask; mask /= 2) v += __shfl_xor_sync(~0u, v, mask);
    return v;
}
// The maximum and the sum of a part of a row, of a softmax.
struct Pair {
    float max, sum;
};
__device__ inline Pair joined(Pair a, Pair b) {
    float max = fmaxf(a.max, b.max);
    return {max, fmaf(a.sum, __expf(a.max - max), b.sum * __expf(b.max - max))};
}
template <u32 WIDTH> __device__ inline Pair reduced(Pair v) {
#pragma unroll
    for (u32 mask = WIDTH / 2; mask; mask /= 2)
        v = joined(v, {__shfl_xor_sync(~0u, v.max, mask), __shfl_xor_sync(~0u, v.sum, mask)});
    return v;
}

__device__ inline float rsqrt_approx(float x) {
    float y;
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ inline float low(u32 pair) { return __uint_as_float(pair << 16); }
__device__ inline float high(u32 pair) { return __uint_as_float(pair & 0xffff0000u); }
__device__ inline float square_sum(u32 pair, float sum) {
    return fmaf(low(pair), low(pair), fmaf(high(pair), high(pair), sum));
}
__device__ inline u32 packed(float low, float high) {
    u32 pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
