//! Tests of branches that an earlier branch decides.

use super::rules;

/// Returns the rules that a kernel of two blocks of 64 threads breaks.
#[track_caller]
fn broken(body: &str) -> Vec<String> {
    let source = format!(
        "#[cluster_kernel(cluster = 2, block = 64)]
        fn decides(input: &[u32], output: &mut [u32], split: bool, rounds: u32, shift: i32, long: u64) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let own = shared_array::<u32, 64>();
            let rows = shared_array::<[u32; 64], 2>();
            let (i, other) = (block.thread_rank(), 1 - cluster.block_rank());
            own[i] = 1;
            rows[0][i] = 1;
            rows[1][i] = 1;
            {body}
            cluster.sync();
        }}"
    );
    rules(&source)
}

const READ: &str = "output[i] = cluster.map_shared_rank(&own, other)[i];";

/// A condition that cannot have changed is true the second time if it was the first time.
#[test]
fn conditions_that_are_tested_twice() {
    let twice =
        |first: &str, second: &str| broken(&format!("if {first} {{ cluster.sync(); }} if {second} {{ {READ} }}"));
    assert_eq!(twice("split", "split"), [""; 0]);
    assert_eq!(twice("!split", "!split"), [""; 0]);
    assert_eq!(twice("rounds > 0", "rounds > 0"), [""; 0]);
    assert_eq!(twice("rounds % 2 == 1 && split", "rounds % 2 == 1 && split"), [""; 0]);
    assert_eq!(twice("split", "!split"), ["remote_before_entry"]);
    // One that is implied by the first one is true, too.
    for (first, second) in [
        ("rounds > 0", "rounds > 1"),
        ("rounds > 0", "rounds == 2"),
        ("0 < rounds", "rounds >= 1"),
        ("rounds != 3", "rounds < 3"),
        ("rounds != 3", "rounds == 2 || rounds > 3"),
        ("rounds > 1 || rounds == 0", "rounds != 1"),
        ("!(rounds == 0)", "rounds > 4 && rounds < 9"),
        ("cluster.num_threads() <= rounds", "rounds > cluster.num_threads()"),
        ("cluster.num_threads() <= rounds", "rounds == cluster.num_threads()"),
    ] {
        assert_eq!(twice(first, second), [""; 0], "{first}, {second}");
    }
    for (first, second) in [
        ("rounds > 1", "rounds > 0"),
        ("rounds != 3", "rounds <= 3"),
        ("rounds > 1 || rounds == 0", "rounds < 3"),
        ("rounds < 9 && rounds > 4", "rounds > 4"),
        ("cluster.num_threads() < rounds", "rounds >= cluster.num_threads()"),
        ("cluster.num_threads() < rounds", "rounds > block.num_threads()"),
        ("rounds as u8 > 0", "rounds > 1"),
        ("shift > 5", "(shift as u32) > 5"),
        ("(shift as u32) < 5", "shift < 5"),
        ("(long as u32) > 5", "long > 5"),
        ("(shift as u32) > 5", "(shift as u32 as i32) > 5"),
        ("shift > 0", "shift != 0"),
    ] {
        assert_eq!(twice(first, second), ["remote_before_entry"], "{first}, {second}");
    }
    assert_eq!(twice("input[0] > 0", "input[0] > 0"), ["remote_before_entry"]);
    let through = |between: &str| {
        broken(&format!("let mut on = rounds > 3; if on {{ cluster.sync(); }} {between} if on {{ {READ} }}"))
    };
    assert_eq!(through("on = split;"), ["remote_before_entry"]);
    let named = format!("let on = rounds > 3; if on {{ cluster.sync(); }} if on {{ {READ} }}");
    assert_eq!(broken(&named), [""; 0]);
}

/// A condition that each iteration names anew is the same until the next one.
#[test]
fn conditions_that_iterations_name() {
    let rounds = |named: &str, first: &str, between: &str, second: &str| {
        broken(&format!(
            "cluster.sync();
            for r in 0..rounds {{ {named} if {first} {{ {READ} }} {between} if {second} {{ cluster.sync(); }} own[i] = r; cluster.sync(); }}"
        ))
    };
    let of_data = "let far = input[r] > 3;";
    assert_eq!(rounds(of_data, "far", "", "far"), [""; 0]);
    assert_eq!(rounds(of_data, "!far", "", "!far"), [""; 0]);
    assert_eq!(rounds("let mut far = input[r] > 3;", "far", "", "far"), [""; 0]);
    // The read may come without the barrier.
    let unordered = ["overwrite_while_read"];
    assert_eq!(rounds(of_data, "far", "", "input[r] > 3"), unordered);
    assert_eq!(rounds("let mut far = input[r] > 3;", "far", "far = input[r + 1] > 3;", "far"), unordered);
    assert_eq!(rounds("let mut far = input[r] > 3;", "far", "if input[r] > 5 { far = false; }", "far"), unordered);
    assert_eq!(rounds("let (far, near) = (input[r] > 3, input[r] > 4);", "far", "", "near"), unordered);
    // What one iteration names says nothing of the next one.
    let of_next = format!(
        "cluster.sync(); let mut far = false;
        for r in 0..rounds {{ if far {{ cluster.sync(); }} own[i] = r; cluster.sync(); far = input[r] > 3; if far {{ {READ} }} }}"
    );
    assert_eq!(broken(&of_next), [""; 0]);
    // The option holds a token wherever there was a read.
    let optional = |waits: &str| {
        rounds(
            of_data,
            "far",
            "let pending = if far { Some(cluster.barrier_arrive()) } else { None };",
            &format!("let Some(token) = pending {{ {waits} }} if far"),
        )
    };
    assert_eq!(optional("cluster.barrier_wait(token);"), [""; 0]);
}

/// Threads of one cluster that take different arms are compared with each other.
#[test]
fn conditions_that_differ_between_threads() {
    let twice = |first: &str, second: &str| {
        broken(&format!(
            "cluster.sync();
            if {first} {{ cluster.map_shared_rank(&own, other)[0] = 2; }}
            if {second} {{ output[i] = own[0]; }}"
        ))
    };
    assert_eq!(twice("i > 3", "i <= 3"), ["unordered_remote_write"]);
    assert_eq!(twice("i > 3", "!(i > 3)"), ["unordered_remote_write"]);
    assert_eq!(twice("cluster.block_rank() == 0", "!(cluster.block_rank() == 0)"), ["unordered_remote_write"]);
    assert_eq!(twice("split", "!split"), [""; 0]);
}

/// The last iteration of a loop needs no barrier for a next one.
#[test]
fn last_iterations() {
    let looped = |range: &str, condition: &str| {
        broken(&format!(
            "cluster.sync();
            for k in {range} {{
                let value = cluster.map_shared_rank(&rows, other)[k % 2][i];
                if {condition} {{ rows[(k + 1) % 2][i] = value; cluster.sync(); }}
            }}"
        ))
    };
    for condition in [
        "k + 1 < rounds",
        "1 + k != rounds",
        "rounds > k + 1",
        "k < rounds - 1",
        "k != rounds - 1",
        "rounds - 1 > k",
        "!(k + 1 >= rounds)",
        "!(k + 1 == rounds)",
    ] {
        assert_eq!(looped("0..rounds", condition), [""; 0], "{condition}");
        assert_eq!(looped("1..rounds", condition), [""; 0], "{condition}");
    }
    for condition in ["k + 2 < rounds", "k < rounds", "k + 1 > rounds", "k + 1 < rounds + 1", "k != 3", "split"] {
        assert!(!looped("0..rounds", condition).is_empty(), "{condition}");
    }
    assert_eq!(looped("0..8", "k + 1 < 8"), [""; 0]);
    assert_eq!(looped("0..8", "k + 1 < 7"), [""; 0]);
    assert!(!looped("0..8", "k != 3").is_empty());
    assert!(!looped("(0..rounds).step_by(3)", "k + 1 < rounds").is_empty());
    assert!(!looped("0..=rounds", "k + 1 < rounds").is_empty());
}

/// The loop is entered anew: what was known of its last iteration is not.
#[test]
fn loops_that_run_again() {
    let body = "cluster.sync();
        for _ in 0..rounds {
            for k in 0..rounds {
                let value = cluster.map_shared_rank(&rows, other)[k % 2][i];
                if k + 1 < rounds { rows[(k + 1) % 2][i] = value; cluster.sync(); }
            }
        }";
    assert_eq!(broken(body), ["overwrite_while_read"]);
}

/// A token is there if the branch that arrived was taken.
#[test]
fn variants_of_options() {
    let arrives = |otherwise: &str, between: &str| {
        broken(&format!(
            "let mut token = None;
            if split {{ token = Some(cluster.barrier_arrive()); }} else {{ {otherwise} }}
            {between}
            if let Some(token) = token {{ cluster.barrier_wait(token); }}
            {READ}"
        ))
    };
    assert_eq!(arrives("cluster.sync();", ""), [""; 0]);
    assert_eq!(arrives("", ""), ["remote_before_entry"]);
    let yielded = |otherwise: &str| {
        broken(&format!(
            "let token = if split {{ Some(cluster.barrier_arrive()) }} else {{ {otherwise} None }};
            if let Some(token) = token {{ cluster.barrier_wait(token); }}
            {READ}"
        ))
    };
    assert_eq!(yielded("cluster.sync();"), [""; 0]);
    assert_eq!(yielded(""), ["remote_before_entry"]);
}

/// Partners of which the near ones come first and the far ones later: once they are far they stay so.
#[test]
fn limits_that_are_passed_once() {
    let walsh = |start: &str, limit: &str, near: &str, grows: &str, flips: &str| {
        let source = format!(
            "#[cluster_kernel(cluster = 4, block = 128)]
            fn walsh(input: &[u32], output: &mut [u32]) {{
                let cluster = this_cluster();
                let block = this_thread_block();
                let buffers = shared_array::<[u32; 2], 128>();
                let (i, rank) = (block.thread_rank(), cluster.block_rank());
                let mut value = input[i];
                let mut buffer = 0u32;
                {start}
                while {limit} {{
                    buffers[i][buffer] = value;
                    let theirs = if {near} {{
                        block.sync();
                        buffers[i ^ stride][buffer]
                    }} else {{
                        let token = cluster.barrier_arrive();
                        let peer = cluster.map_shared_rank(&buffers, rank ^ stride / 128);
                        cluster.barrier_wait(token);
                        peer[i][buffer]
                    }};
                    value += theirs;
                    {flips}
                    {grows}
                }}
                cluster.sync();
                output[i] = value;
            }}"
        );
        rules(&source)
    };
    let (start, limit, near, flips) =
        ("let mut stride = 1;", "stride < cluster.num_threads()", "stride < 128", "buffer ^= 1;");
    let right = ["stride *= 2;", "stride += 32;", "stride = stride * 4;"];
    for grows in right {
        assert_eq!(walsh(start, limit, near, grows, flips), [""; 0], "{grows}");
    }
    assert_eq!(walsh(start, limit, "!(stride >= 128)", right[0], flips), [""; 0]);
    assert_eq!(walsh(start, limit, "128 > stride", right[0], flips), [""; 0]);
    // It may become small again, or wrap around, or the same buffer is written.
    let wrong = |start: &str, limit: &str, near: &str, grows: &str, flips: &str| {
        let found = walsh(start, limit, near, grows, flips);
        assert_eq!(found, ["overwrite_while_read"], "{start} {limit} {near} {grows} {flips}");
    };
    wrong(start, limit, near, right[0], "");
    wrong(start, limit, near, "stride = input[0];", flips);
    wrong(start, limit, near, "stride *= 2; if stride == 256 { stride = 1; }", flips);
    wrong("let mut stride = 511;", limit, near, "stride /= 2;", flips);
    wrong(start, limit, near, "stride *= 4000000;", flips);
    wrong(start, "stride != 512", near, right[0], flips);
    wrong(start, "input[0] < 512", near, right[0], flips);
    wrong("let mut stride = 1; let mut near = 128;", limit, "stride < near", "stride *= 2; near *= 3;", flips);
    wrong(start, limit, "stride >= 128", right[0], flips);
}

/// Each `take` of an `Option` of a plain value returns another value: what one branch on it tells says nothing of the next.
#[test]
fn options_of_values_are_taken_anew() {
    let takes = |some: &str| {
        broken(&format!(
            "cluster.sync();
            let mut next = None;
            for k in 0..rounds {{
                if let Some(x) = next.take() {{ {some} output[i] = own[63 - i] + x; }} else {{ block.wait_async(); memcpy_async(&block, &own, &input[..64]); }}
                next = Some(k);
            }}
            block.wait_async();"
        ))
    };
    assert_eq!(takes(""), ["copy_in_flight"]);
    assert_eq!(takes("block.wait_async();"), [""; 0]);
}

/// A token that is made under a condition is waited for under the same one.
#[test]
fn tokens_under_a_condition_that_is_tested_twice() {
    let waits = |made: &str, waited: &str| broken(&format!("{made} output[i] = 3; {waited}"));
    let made = [
        "let mut token = None; if split { token = Some(cluster.barrier_arrive()); }",
        "let token = if split { Some(cluster.barrier_arrive()) } else { None };",
    ];
    for made in made {
        assert_eq!(waits(made, "if split { cluster.barrier_wait(token.unwrap()); }"), [""; 0], "{made}");
        assert_eq!(waits(made, "if split { if let Some(token) = token { cluster.barrier_wait(token); } }"), [""; 0]);
        assert_eq!(waits(made, "if !split { cluster.barrier_wait(token.unwrap()); }"), ["token_never_waited"]);
        assert_eq!(waits(made, "if rounds > 3 { cluster.barrier_wait(token.unwrap()); }"), ["token_never_waited"]);
    }
    let on = "let on = input[0] > 3; let token = if on { Some(cluster.barrier_arrive()) } else { None };";
    assert_eq!(waits(on, "if on { cluster.barrier_wait(token.unwrap()); }"), [""; 0]);
    let changed =
        "let mut on = split; let mut token = None; if on { token = Some(cluster.barrier_arrive()); } on = rounds > 3;";
    assert_eq!(waits(changed, "if on { cluster.barrier_wait(token.unwrap()); }"), ["token_never_waited"]);
}
