#define PHALANX_LAUNCH "message_param_4"
#define PHALANX_BLOCK 32, 1, 1
#define PHALANX_CLUSTER 2, 1, 1
#define PHALANX_PEERS
#include <phalanx/atomic.cuh>
#include <phalanx/groups.cuh>
#include <phalanx/launch.cuh>
#include <phalanx/launch_checks.cuh>
#include <phalanx/memory.cuh>
#include <phalanx/range.cuh>
#include <phalanx/range_values.cuh>
#include <phalanx/scalar.cuh>
#include <phalanx/stepped_range.cuh>
#include <phalanx/within.cuh>

using namespace phalanx;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32)
message(slice_mut<u32> data, slice_mut<u32> flag, slice_mut<u32> out, u32 rounds, const __grid_constant__ launch_block phalanx_launch) {
#line 185 "ui-tests/conformance/src/kernels/orders.rs"
    auto cluster = this_cluster();
    __shared__ shared_array<u32, 4> letter; keep_address(letter);
    __shared__ shared_array<u32, 1> posted; keep_address(posted);
    auto i = this_thread_block().thread_rank();
    if (i == 0) {
        posted[0] = 0;
    }
    cluster.sync(); // orders all memory: line 192 is in a kernel with an `unchecked` rule
    auto sends = cluster.block_rank() == 0;
    if (i == 0) {
        auto peer = cluster.map_shared_rank(letter, 1 - cluster.block_rank());
        auto arrived = cluster.map_shared_rank(posted, 1 - cluster.block_rank());
        const auto steps = range_inclusive(1, rounds);
        const bool all_within = (holds_at_launch<0> && holds_at_launch<1> && holds_at_launch<2> && holds_at_launch<3> || (!sends || covers(data, values_of(0))) && (!sends || covers(data, values_of(1))) && (!(!sends) || covers(out, values_of(0))) && (!(!sends) || covers(data, values_of(0))) && (!(!sends) || covers(data, values_of(1))) && (!(!sends) || covers(out, values_of(1))));
        keep_test(all_within);
        for (auto round : steps) {
#line 198 "ui-tests/conformance/src/kernels/orders.rs"
            if (sends) {
                if (!all_within) {
                    require(at_launch<0>(within(data, 0)) & at_launch<1>(within(data, 1)));
                }
#line 199 "ui-tests/conformance/src/kernels/orders.rs"
                data.get_unchecked(0) = round * 3;
                data.get_unchecked(1) = round * 5;
                flag.atomic(0).scope(cluster_scope).store(round, release);
                peer[2] = round * 7;
                fence(release, cluster_scope);
                arrived.atomic(0).store(round, relaxed);

                while (posted.atomic(0).load(acquire) != round) {
                }
            } else {
#line 208 "ui-tests/conformance/src/kernels/orders.rs"
                while (flag.atomic(0).scope(cluster_scope).load(acquire) != round) {
                }
#line 209 "ui-tests/conformance/src/kernels/orders.rs"
                if (!all_within) {
                    require(at_launch<0>(within(data, 0)) & at_launch<1>(within(data, 1)) & at_launch<2>(within(out, 0)));
                }
#line 209 "ui-tests/conformance/src/kernels/orders.rs"
                out.get_unchecked(0) += data.get_unchecked(0) + data.get_unchecked(1);
                while (posted.atomic(0).load(relaxed) != round) {
                }
#line 211 "ui-tests/conformance/src/kernels/orders.rs"
                fence(acquire, cluster_scope);
                if (!all_within) {
                    require(within(letter, 2) & at_launch<3>(within(out, 1)));
                }
                require(within(letter, 2));
#line 212 "ui-tests/conformance/src/kernels/orders.rs"
                out.get_unchecked(1) += letter.get_unchecked(2);
                arrived.atomic(0).store(round, release);
            }
        }
    }
    cluster.sync(); // orders all memory: line 202 writes to a peer's shared memory
}
