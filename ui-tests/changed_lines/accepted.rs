//! The changes of `changes` that the compiler accepts, with what finds each of them.

/// What finds a change that the compiler accepts.
pub(crate) enum Net {
    /// The simulator, in a message with this text.
    Simulator(&'static str),
    /// rustc, in a constant that the compiler has it evaluate, with this text.
    Rustc(&'static str),
}

/// A change that the compiler accepts: the kernel, its line, and what was done to it.
pub(crate) struct Accepted {
    pub(crate) kernel: &'static str,
    pub(crate) line: &'static str,
    pub(crate) what: &'static str,
    pub(crate) net: Net,
}

pub(crate) const ACCEPTED: [Accepted; 18] = [
    Accepted {
        kernel: "gemm",
        line: "a.load_async([matrix[0] as i32, row[0] as i32, start], &a_tiles[stage], &full[stage]);",
        what: "removed",
        net: Net::Simulator("was never written"),
    },
    Accepted {
        kernel: "gemm",
        line: "b.load_async([matrix[1] as i32, row[1] as i32, start], &b_tiles[stage], &full[stage]);",
        what: "removed",
        net: Net::Simulator("was never written"),
    },
    Accepted { kernel: "gemm", line: "warp.sync();", what: "removed", net: Net::Simulator("data race") },
    Accepted {
        kernel: "gemm",
        line: "bulk_wait_group_read::<0>(); // the block exits after its memory has been read",
        what: "one copy more in flight",
        net: Net::Rustc("this copy must be waited for, but no thread waits"),
    },
    Accepted {
        kernel: "gemm",
        line: "bulk_wait_group_read::<0>(); // the block exits after its memory has been read",
        what: "removed",
        net: Net::Rustc("this copy must be waited for, but no thread waits"),
    },
    Accepted {
        kernel: "normed",
        line: "let _ = empty[stage].arrive(); // by each thread, which has read for itself",
        what: "another stage",
        net: Net::Simulator("deadlock: no thread can make progress"),
    },
    Accepted {
        kernel: "normed",
        line: "there[side].store_async(half + lane / 4 + lane % 4 * 8, factor, &told);",
        what: "the factors of the other block",
        net: Net::Simulator("data race"),
    },
    Accepted {
        kernel: "normed",
        line: "sent.wait_parity(turn % 2 == 1);",
        what: "removed",
        net: Net::Rustc("`factors` is read while a peer's copy to it is in flight"),
    },
    Accepted {
        kernel: "normed",
        line: "cluster.map_shared_rank(&used, number as u32).arrive();",
        what: "another block",
        net: Net::Simulator("data race"),
    },
    Accepted { kernel: "normed", line: "warp.sync();", what: "removed", net: Net::Simulator("data race") },
    Accepted {
        kernel: "normed",
        line: "bulk_wait_group_read::<0>(); // the block exits after its memory has been read",
        what: "one copy more in flight",
        net: Net::Rustc("this copy must be waited for, but no thread waits"),
    },
    Accepted {
        kernel: "normed",
        line: "bulk_wait_group_read::<0>(); // the block exits after its memory has been read",
        what: "removed",
        net: Net::Rustc("this copy must be waited for, but no thread waits"),
    },
    Accepted { kernel: "multicast", line: "warp.sync();", what: "removed", net: Net::Simulator("data race") },
    Accepted {
        kernel: "multicast",
        line: "bulk_wait_group_read::<0>(); // the block exits after its memory has been read",
        what: "one copy more in flight",
        net: Net::Rustc("this copy must be waited for, but no thread waits"),
    },
    Accepted {
        kernel: "multicast",
        line: "bulk_wait_group_read::<0>(); // the block exits after its memory has been read",
        what: "removed",
        net: Net::Rustc("this copy must be waited for, but no thread waits"),
    },
    Accepted {
        kernel: "attention",
        line: "warp.sync(); // the part before has been read",
        what: "removed",
        net: Net::Simulator("data race"),
    },
    Accepted {
        kernel: "attention",
        line: "warp.sync(); // the part is complete",
        what: "removed",
        net: Net::Simulator("was never written"),
    },
    Accepted { kernel: "product", line: "warp.sync();", what: "removed", net: Net::Simulator("data race") },
];
