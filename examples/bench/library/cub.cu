// CUB's functions for `baselines.py`: each takes CUB's scratch memory and its size, then its own arguments as 64-bit words.
#include <cub/cub.cuh>

using word = unsigned long long;

extern "C" int histogram(word memory, size_t* bytes, word keys, word counts, word bins, word len, word stream) {
    return cub::DeviceHistogram::HistogramEven(
        reinterpret_cast<void*>(memory), *bytes, reinterpret_cast<const unsigned*>(keys),
        reinterpret_cast<unsigned*>(counts), int(bins) + 1, 0u, unsigned(bins), size_t(len),
        reinterpret_cast<cudaStream_t>(stream));
}

extern "C" int sum(word memory, size_t* bytes, word in, word out, word len, word stream) {
    return cub::DeviceReduce::Sum(
        reinterpret_cast<void*>(memory), *bytes, reinterpret_cast<const float*>(in), reinterpret_cast<float*>(out),
        size_t(len), reinterpret_cast<cudaStream_t>(stream));
}

extern "C" int scan(word memory, size_t* bytes, word in, word out, word len, word stream) {
    return cub::DeviceScan::InclusiveSum(
        reinterpret_cast<void*>(memory), *bytes, reinterpret_cast<const unsigned*>(in), reinterpret_cast<unsigned*>(out),
        size_t(len), reinterpret_cast<cudaStream_t>(stream));
}
