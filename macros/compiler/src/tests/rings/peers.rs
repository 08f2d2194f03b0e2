//! Blocks that take turns: what they write to each other's shared memory is ordered by the proof of their phase barriers alone.

use crate::tests::session;

/// Two blocks hand 64 numbers to each other.
const PING_PONG: &str = "const BLOCK: usize = 64;
#[device] fn hit(number: u32, turn: u32) -> u32 { (number ^ turn) * 3 }
#[cluster_kernel(cluster = 2, block = BLOCK)]
fn ping_pong(input: &[u32], output: &mut [u32], turns: u32) {
    let cluster = this_cluster();
    let rank = cluster.block_rank();
    let court = shared_array::<u32, BLOCK>();
    let ball = shared_cluster_barrier();
    ball.init_collective(&cluster, BLOCK as u32);
    let other_court = cluster.map_shared_rank(&court, 1 - rank);
    let other_ball = cluster.map_shared_rank(&ball, 1 - rank);
    let i = this_thread_block().thread_rank() as usize;
    let at = this_grid().cluster_rank() * BLOCK + i;
    let mut number = input[at];
    for turn in 0..turns {
        if turn % 2 == rank {
            if turn > 0 {
                ball.wait_parity((turn - 1) / 2 % 2 == 1);
                number = court[(i + 1) % BLOCK];
            }
            other_court[i] = hit(number, turn);
            other_ball.arrive();
        }
    }
    if turns % 2 == rank && turns > 0 {
        ball.wait_parity((turns - 1) / 2 % 2 == 1);
        output[at] = court[i];
    }
    cluster.sync();
}";

/// Changes of it that break the turns.
const WRONG: [(&str, &str); 13] = [
    ("(turn - 1) / 2 % 2 == 1", "(turn - 1) / 2 % 2 == 0"),
    ("(turns - 1) / 2 % 2 == 1", "(turns - 1) / 2 % 2 == 0"),
    ("(turns - 1) / 2 % 2 == 1", "turns / 2 % 2 == 1"),
    ("ball.wait_parity((turn - 1) / 2 % 2 == 1);", ""),
    ("ball.wait_parity((turns - 1) / 2 % 2 == 1);", ""),
    ("other_court[i] = hit(number, turn);", "other_ball.arrive(); other_court[i] = hit(number, turn); continue;"),
    ("&cluster, BLOCK as u32", "&cluster, BLOCK as u32 - 1"),
    ("&cluster, BLOCK as u32", "&cluster, BLOCK as u32 + 1"),
    ("turn % 2 == rank", "turn % 4 == rank"),
    ("turn > 0", "turn > 1"),
    ("other_ball.arrive", "ball.arrive"),
    ("turns % 2 == rank &&", "turns % 2 != rank &&"),
    ("turns % 2 == rank &&", ""),
];

#[track_caller]
fn broken(file: &str) -> Vec<String> {
    session().check_file(file).iter().map(|fault| fault.rule().to_string()).collect()
}

#[test]
fn turns() {
    assert!(broken(PING_PONG).is_empty(), "{:?}", broken(PING_PONG));
    // The proof does not depend on how the loop is written, or on which block begins.
    for (from, to) in [
        ("turn % 2 == rank", "turn & 1 == rank"),
        ("for turn in 0..turns {", "for half in 0..turns { let turn = half;"),
        ("number = court[(i + 1) % BLOCK];", "number = court[i] + court[(i + 1) % BLOCK];"),
        ("output[at] = court[i];", "output[at] = court[(i + 3) % BLOCK];"),
    ] {
        let file = PING_PONG.replace(from, to);
        assert!(file != PING_PONG && broken(&file).is_empty(), "{from} {to}: {:?}", broken(&file));
    }
}

#[test]
fn wrong_turns() {
    for (from, to) in WRONG {
        let file = PING_PONG.replacen(from, to, 1);
        assert!(file != PING_PONG && !broken(&file).is_empty(), "{from} {to}");
        // What the rules of pairs do not see is a fault of the ring, too.
        let waived = file.replace("const BLOCK: usize = 64;", "").replace("BLOCK", "64");
        let waived = waived.replace("block = 64", "block = 64, unchecked(unordered_remote_write)");
        assert!(!broken(&waived).is_empty(), "waived: {from} {to}");
    }
}

/// One array is followed and proved, and another one is not.
#[test]
fn another_array() {
    for (more, accessed) in [
        (
            "let other = shared_array::<u32, BLOCK>();",
            "cluster.map_shared_rank(&other, 1 - rank)[i] = turn; number += other[i];",
        ),
        (
            "let other = shared_array::<u32, BLOCK>();",
            "number += cluster.map_shared_rank(&other, 1 - rank)[i]; other[i] = turn;",
        ),
        ("", "other_court[(i + 1) % BLOCK] = turn; number += court[i];"),
    ] {
        let file = PING_PONG.replace("let ball =", &format!("{more} let ball ="));
        let file = file.replace("if turn % 2 == rank {", &format!("{accessed} if turn % 2 == rank {{"));
        assert!(!broken(&file).is_empty(), "{accessed}");
    }
}
