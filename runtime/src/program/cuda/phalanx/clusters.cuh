// The place of a block in its cluster, and of that in the grid; and the shared memory of the cluster's blocks. On GPUs without clusters,
// each block is one, and knows its own memory only (CUDA C++ Programming Guide, Thread Block Clusters: compute capability 9.0).
#pragma once

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define PHALANX_HAS_CLUSTERS
// Tests whether a phase of an mbarrier has ended; the hardware may suspend the thread meanwhile (PTX ISA, mbarrier.test_wait,
// mbarrier.try_wait).
#define PHALANX_TRY_WAIT "mbarrier.try_wait"
#else
#define PHALANX_TRY_WAIT "mbarrier.test_wait"
#endif

namespace phalanx {
namespace detail {

#ifdef PHALANX_HAS_CLUSTERS
__device__ __forceinline__ dim3 extents_of_cluster() {
    const auto size = __clusterDim();
    return dim3(size.x, size.y, size.z);
}
__device__ __forceinline__ dim3 index_in_cluster() {
    const auto index = __clusterRelativeBlockIdx();
    return dim3(index.x, index.y, index.z);
}
__device__ __forceinline__ unsigned rank_in_cluster() {
    return __clusterRelativeBlockRank();
}
__device__ __forceinline__ unsigned size_of_cluster() {
    return __clusterSizeInBlocks();
}
__device__ __forceinline__ dim3 index_of_cluster() {
    const auto index = __clusterIdx();
    return dim3(index.x, index.y, index.z);
}
__device__ __forceinline__ dim3 extents_in_clusters() {
    const auto size = __clusterGridDimInClusters();
    return dim3(size.x, size.y, size.z);
}
// These use the builtins and not inline PTX, so that the compiler does not assume that the result is the block's own memory.
template <class T>
__device__ __forceinline__ T* memory_of_rank(T* local, unsigned rank) {
    return static_cast<T*>(__cluster_map_shared_rank(local, rank));
}
template <class T>
__device__ __forceinline__ unsigned rank_of_memory(const T* memory) {
    return __cluster_query_shared_rank(memory);
}
#else
__device__ __forceinline__ dim3 extents_of_cluster() {
    return dim3(1, 1, 1);
}
__device__ __forceinline__ dim3 index_in_cluster() {
    return dim3(0, 0, 0);
}
__device__ __forceinline__ unsigned rank_in_cluster() {
    return 0;
}
__device__ __forceinline__ unsigned size_of_cluster() {
    return 1;
}
__device__ __forceinline__ dim3 index_of_cluster() {
    return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
}
__device__ __forceinline__ dim3 extents_in_clusters() {
    return dim3(gridDim.x, gridDim.y, gridDim.z);
}
template <class T>
__device__ __forceinline__ T* memory_of_rank(T* local, unsigned) {
    return local;
}
template <class T>
__device__ __forceinline__ unsigned rank_of_memory(const T*) {
    return 0;
}
#endif

} // namespace detail
} // namespace phalanx
