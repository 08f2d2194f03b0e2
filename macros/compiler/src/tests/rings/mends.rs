//! What the messages about rings say to do, and what they name: the numbers of arrivals, the lane that arrives for its warp, the array
//! whose copy is in flight, warps and stages.

use super::super::faults;

/// A producer and four warps that read what it copies: a lane of each warp releases a stage.
const RING: &str = "#[cluster_kernel(block = 160)] fn sums(x: &[u32], out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let i = block.thread_rank();
    let stages = shared_array::<[u32; 128], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4);
    if i == 128 {
        for k in 0..n {
            empty[k % 2].wait_parity(k / 2 % 2 == 0);
            full[k % 2].expect_tx(512);
            bulk_copy_async(&stages[k % 2], &x[k * 128..(k + 1) * 128], &full[k % 2]);
            let _ = full[k % 2].arrive();
        }
    } else if i < 128 {
        let mut sum = 0;
        for k in 0..n {
            full[k % 2].wait_parity(k / 2 % 2 == 1);
            sum += stages[k % 2][127 - i];
            warp.sync();
            if warp.thread_rank() == 0 {
                let _ = empty[k % 2].arrive();
            }
        }
        out[i] = sum;
    }
}";

/// The one fault of a changed kernel.
#[track_caller]
fn changed(kernel: &str, from: &str, to: &str) -> (String, String, usize) {
    assert!(kernel.contains(from), "{from}");
    let found = faults(&kernel.replacen(from, to, 1));
    let [fault] = &found[..] else { panic!("{:?}", found.iter().map(|fault| fault.text()).collect::<Vec<_>>()) };
    (fault.rule().to_string(), fault.text().to_string(), fault.line())
}

#[test]
fn what_a_phase_lacks() {
    for (from, to, says) in [
        (
            "empty.init_collective(&block, 4)",
            "empty.init_collective(&block, 5)",
            "`empty[0]` expects 5 arrivals per phase but gets 4:",
        ),
        (
            "full.init_collective(&block, 1)",
            "full.init_collective(&block, 2)",
            "`full[0]` expects 2 arrivals per phase but gets 1:",
        ),
        ("if warp.thread_rank() == 0", "if i == 0", "`empty[0]` expects 4 arrivals per phase but gets 1:"),
        ("let _ = empty[k % 2].arrive();", "", "no thread arrives at `empty`:"),
        ("let _ = full[k % 2].arrive();", "", "no thread arrives at `full`:"),
        ("expect_tx(512)", "expect_tx(516)", "expect exactly the bytes that the copies of a phase transfer"),
        ("k / 2 % 2 == 0", "k / 2 % 2 == 1", "compare the parities of waits and arrivals"),
        // What is not released in each round has been released in some.
        ("if warp.thread_rank() == 0", "if warp.thread_rank() == 0 && k % 3 < 2", "compare the parities"),
    ] {
        let (rule, text, _) = changed(RING, from, to);
        assert!(rule == "ring_deadlock" && text.contains(says), "{rule} of {to}: {text}");
    }
    // Threads that stand elsewhere would arrive later on: it is not their number that is wrong.
    let (_, text, _) = changed(
        RING,
        "full[k % 2].wait_parity(k / 2 % 2 == 1)",
        "full[k % 2].wait_parity(if i < 32 { k / 2 % 2 == 1 } else { k / 2 % 2 == 0 && k > 0 || k == 2 })",
    );
    assert!(!text.contains("arrivals in a phase, and"), "{text}");
}

#[test]
fn a_lane_that_arrives_for_its_warp() {
    let (rule, text, _) = changed(RING, "warp.sync();", "");
    assert_eq!(rule, "ring_overwrite", "{text}");
    assert!(text.contains("help: one lane arrives for its warp") && text.contains("`warp.sync()`"), "{text}");
    // With the meeting in its place, another mistake is mended in another way.
    let (rule, text, _) = changed(RING, "empty[k % 2].wait_parity(k / 2 % 2 == 0);", "");
    assert!(rule == "ring_overwrite" && text.contains("help: wait for the phase"), "{text}");
    // Lanes that only wait.
    let waits = RING
        .replace("block = 160", "block = 192")
        .replace("if i == 128 {", "if i >= 128 {")
        .replace("full[k % 2].expect_tx", "if i == 128 { full[k % 2].expect_tx")
        .replace("let _ = full[k % 2].arrive();", "let _ = full[k % 2].arrive(); }");
    let (rule, text, _) = changed(&waits, "[127 - i]", "[i]");
    assert_eq!(rule, "ring_overtaken", "{text}");
    assert!(text.contains("help: one lane arrives for its warp"), "{text}");
}

#[test]
fn warps_and_stages_are_named() {
    let (_, text, _) = changed(RING, "empty.init_collective(&block, 4)", "empty.init_collective(&block, 5)");
    for named in [
        "the warp of threads 0 to 31 reads `stages[0]`",
        "3 warps like that of threads 32 to 63 read `stages[1]`",
        "thread 128 waits at `empty[0]` for ever",
        "line 9: the expected count is set here",
    ] {
        assert!(text.contains(named), "{named}: {text}");
    }
}

/// The place is that of the copy which the sentence names.
#[test]
fn the_copy_that_is_in_flight() {
    let two = "#[cluster_kernel(block = 64)] fn load(x: &[u32], y: &[u32], n: u32) {
        let block = this_thread_block();
        let (left, right) = (shared_array::<u32, 32>(), shared_array::<u32, 32>());
        let (one, other) = (shared_barrier(), shared_barrier());
        one.init_collective(&block, 1);
        other.init_collective(&block, 1);
        if block.thread_rank() == 0 {
            one.expect_tx(128);
            bulk_copy_async(&left, &x[..32], &one);
            let _ = one.arrive();
            other.expect_tx(128);
            bulk_copy_async(&right, &y[..32], &other);
            let _ = other.arrive();
        }
        WAITS
    }";
    for (waits, name, line) in [("other.wait_parity(false);", "`left`", 9), ("one.wait_parity(false);", "`right`", 12)]
    {
        let (rule, text, at) = changed(two, "WAITS", waits);
        assert!(rule == "ring_undrained" && text.contains(&format!("a copy into {name} may be")), "{rule}: {text}");
        assert_eq!(at, line, "{text}");
    }
}
