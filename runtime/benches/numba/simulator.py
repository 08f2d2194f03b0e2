"""Runs the kernel `round_a_block` of `simulator.rs` in Numba's CUDA simulator, which has no clusters:

    python3 -m venv target/numba && target/numba/bin/pip install -r runtime/benches/numba/requirements.txt
    target/numba/bin/python runtime/benches/numba/simulator.py
    cargo bench -p phalanx --bench simulator -- numba
"""

import os
import statistics
import time

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import numpy as np
from numba import cuda, uint32

BLOCK = 64
# Per round and thread: two barriers, a read, a write and a loop iteration.
INSTRUCTIONS = 5


@cuda.jit
def round_a_block(out, rounds):
    array = cuda.shared.array(BLOCK, dtype=uint32)
    i = cuda.threadIdx.x
    array[i] = i
    for _ in range(rounds):
        cuda.syncthreads()
        value = array[(i + 1) % BLOCK]
        cuda.syncthreads()
        array[i] = value + 1
    out[cuda.grid(1)] = array[i]


def main():
    blocks, rounds = 2, 50
    out = np.zeros(blocks * BLOCK, dtype=np.uint32)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        round_a_block[blocks, BLOCK](out, rounds)
        times.append(time.perf_counter() - start)
    assert out[0] == (rounds % BLOCK) + rounds
    threads = blocks * BLOCK
    instructions, took = threads * rounds * INSTRUCTIONS, statistics.median(times)
    print(f"| numba | {threads} | {instructions} | {took:.3f} | {instructions / took / 1e6:.4f} |")


main()
