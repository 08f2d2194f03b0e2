//! Tests of parts of flat arrays that an offset selects, which a kernel counts by hand.

use super::rules;

/// Two halves of one array, told apart by an offset that is 0 or a size: a literal or a constant that rustc knows. Each form with the
/// change of the offset, which a mistake leaves out.
#[test]
fn halves_of_a_flat_array() {
    let broken = |size: &str, before: &str, within: &str, (from, to): (&str, &str), middle: &str, last: &str| {
        let body = format!(
            "#[cluster_kernel(cluster = 2, block = N)]
            fn halves(u: &mut [f32], steps: usize) {{
                let cluster = this_cluster();
                let both = shared_array::<f32, {{ 2 * N }}>();
                let i = this_thread_block().thread_rank() as usize;
                let other = cluster.map_shared_rank(&both, 1 - cluster.block_rank());
                both[i] = u[i];
                both[N + i] = u[i];
                {before}
                cluster.sync();
                for k in 0..steps {{
                    {within}
                    let x = other[{from} + i];
                    {middle}
                    both[{to} + i] = x;
                    cluster.sync();
                    {last}
                }}
            }}"
        );
        rules(&body.replace('N', size))
    };
    let (one, two) = ("let mut at = 0;", "let (mut from, mut to) = (0, N);");
    for size in ["64", "SIZE"] {
        for (before, within, halves, middle, last) in [
            (one, "", ("at", "at"), "at ^= N;", ""),
            (one, "", ("at", "at"), "at = N - at;", ""),
            (two, "", ("from", "to"), "", "std::mem::swap(&mut from, &mut to);"),
            (two, "", ("from", "to"), "", "(from, to) = (to, from);"),
            ("", "let (from, to) = if k % 2 == 0 { (0, N) } else { (N, 0) };", ("from", "to"), "", ""),
            ("", "let from = N * (k & 1); let to = N - from;", ("from", "to"), "", ""),
            ("", "", ("k % 2 * N", "(k + 1) % 2 * N"), "", ""),
            ("let (lower, upper) = (0, 2 * N);", "", ("lower", "upper"), "", ""),
        ] {
            assert!(broken(size, before, within, halves, middle, last).is_empty(), "{size} {within} {middle} {last}");
            // The read and the write of one half.
            let (from, _) = halves;
            let one_half = broken(size, before, within, (from, from), "", last);
            assert_eq!(one_half, ["overwrite_while_read"], "{size} {within} {middle} {last}");
        }
        for (before, middle) in
            [(one, "at ^= 2 * N;"), (one, "at = N - at - N;"), (two, "to = from;"), (two, "to -= N;")]
        {
            let halves = if before == one { ("at", "at") } else { ("from", "to") };
            let right = ["at ^= 2 * N;"].contains(&middle);
            assert_eq!(broken(size, before, "", halves, middle, "").is_empty(), right, "{size} {middle}");
        }
    }
}

/// Halves whose size is a parameter, or a variable that is set once, and slices of halves. Each form with a change that makes it wrong.
#[test]
fn halves_of_a_size_that_does_not_change() {
    let kernel = |before: &str, each: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 2, block = 32)]
            fn halves(x: &[u32], n: u32, m: u32) {{
                let cluster = this_cluster();
                let buf = shared_array::<u32, 320>();
                let t = this_thread_block().thread_rank();
                for i in (t..320).step_by(32) {{ buf[i] = x[i]; }}
                let far = cluster.map_shared_rank(&buf, 1 - cluster.block_rank());
                {before}
                cluster.sync();
                for r in 0..n {{ {each} cluster.sync(); }}
            }}"
        ))
    };
    let copy = "for i in (t..m).step_by(32) { buf[to + i] = far[from + i]; }";
    let slices = "let theirs = &far[from..from + 32]; let mine = &mut buf[to..to + 32]; mine[t] = theirs[31 - t];";
    for (before, each, (word, other)) in [
        ("", format!("let (from, to) = (r % 2 * m, (r + 1) % 2 * m); {copy}"), ("(r + 1)", "(r + 2)")),
        ("", format!("let (from, to) = (r % 2 * m, (1 - r % 2) * m); {copy}"), ("t..m", "t..n")),
        ("", format!("let (from, to) = (m * (r % 2), m * ((r + 1) % 2)); {copy}"), ("t..m", "t..=m")),
        (
            "let half = m / 2;",
            format!("let (from, to) = (r % 2 * half, (r + 1) % 2 * half); {}", copy.replace("t..m", "t..half")),
            ("t..half", "t..m"),
        ),
        (
            "let mut m = m;",
            format!("let (from, to) = (0, m); {copy} if r == 0 {{ m = 64; }}"),
            ("if r == 0", "if r == 1"),
        ),
        ("", format!("let (from, to) = (r % 2 * 32, (r + 1) % 2 * 32); {slices}"), ("from + 32", "from + 64")),
        ("", format!("let (from, to) = (r % 2 * 32, (r + 1) % 2 * 32); {slices}"), ("(r + 1)", "(r + 4)")),
        (
            "let (mut from, mut to) = (0, 32);",
            format!("{slices} std::mem::swap(&mut from, &mut to);"),
            ("to + 32", "to + 33"),
        ),
        ("let (mut from, mut to) = (0, 32);", format!("{slices} (from, to) = (to, from);"), ("(to, from)", "(to, to)")),
    ] {
        // A size that changes is not followed.
        let expected = usize::from(before.contains("mut m"));
        assert_eq!(kernel(before, &each).len().min(1), expected, "{before} {each}");
        assert!(each.contains(word));
        assert!(!kernel(before, &each.replace(word, other)).is_empty(), "{before} {each} {other}");
    }
}

/// Parts of one flat array of which each block has its own: the owner writes its part, and the peers write theirs there. Each form with
/// a change that makes the parts overlap.
#[test]
fn parts_of_a_flat_array() {
    let kernel = |own: &str, each: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 4, block = 256)]
            fn parts(x: &[f32]) {{
                let cluster = this_cluster();
                let block = this_thread_block();
                let (i, rank) = (block.thread_rank(), cluster.block_rank());
                let table = shared_array::<f32, 4096>();
                cluster.sync();
                {own}
                for step in 1..4 {{
                    let there = cluster.map_shared_rank(&table, (rank + step) % 4);
                    {}
                }}
                cluster.sync();
            }}",
            each.replace("table", "there")
        ))
    };
    // A size of 0 makes all parts one.
    assert_eq!(
        kernel("let n = x.len() / 1024; table[rank as usize * n] = 1.0;", "table[rank as usize * n] = 2.0;"),
        ["unordered_remote_write"]
    );
    for (part, word, other) in [
        ("for k in (rank * 1024 + i..(rank + 1) * 1024).step_by(256) { table[k] = 1.0; }", "(rank + 1)", "(rank + 2)"),
        (
            "for k in (rank * 1024 + i..(rank + 1) * 1024).step_by(256).rev() { table[k] = 1.0; }",
            "+ 1) * 1024",
            "+ 1) * 1025",
        ),
        (
            "let first = rank * 1024; for k in first + i..first + 1024 { table[k] = 1.0; }",
            "first + 1024",
            "first + 1025",
        ),
        ("for k in (i..1024).step_by(256) { table[(rank * 32 + k / 32) * 32 + k % 32] = 1.0; }", "k % 32", "k % 33"),
        (
            "for k in (i..1024).step_by(256) { table[(rank * 32 + k / 32) * 32 + k % 32] = 1.0; }",
            "* 32 + k % 32",
            "* 31 + k % 32",
        ),
        ("for y in rank * 32..(rank + 1) * 32 { table[y * 32 + i % 32] = 1.0; }", "(rank + 1)", "(rank + 2)"),
        ("for j in 0..4 { table[(rank * 4 + j) * 256 + i] = 1.0; }", "0..4", "0..5"),
        ("for j in 0..4 { table[rank << 10 | (j * 256 + i)] = 1.0; }", "rank << 10", "rank << 9"),
        ("table[i * 4 + rank] = 1.0;", "i * 4", "i * 3"),
        ("for k in (rank..4096).step_by(4) { table[k] = 1.0; }", "step_by(4)", "step_by(3)"),
        (
            "for k in (cluster.thread_rank()..4096).step_by(cluster.num_threads()) { table[k] = 1.0; }",
            "cluster.num_threads()",
            "512",
        ),
        ("for k in (cluster.thread_rank()..4096).step_by(1024) { table[k] = 1.0; }", "step_by(1024)", "step_by(1025)"),
        ("let v = x.load_vec::<4>(0); table.store_vec(rank * 1024 + i * 4, v);", "+ i * 4", "+ i * 8"),
        ("let k = rank * 1024 + i; table[k / 1024 * 1024 + k % 1024] = 1.0;", "k / 1024", "k / 2048"),
        ("let k = rank * 512 + i; table[(k + 512) % 2048] = 1.0;", "+ 512) % 2048", "+ 512) % 1024"),
    ] {
        assert!(part.contains(word), "{part}");
        assert_eq!(kernel(part, part), [""; 0], "{part}");
        // Two blocks of one part, and parts that reach into each other.
        assert_eq!(kernel(part, &part.replacen(word, other, 1)), ["unordered_remote_write"], "{part} {other}");
    }
}

/// The block writes at one index what it reads from a peer at the other.
fn exchanged(write: &str, read: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(cluster = 4, block = 64)]
        fn exchanged(input: &[u32], n: u32) {{
            let cluster = this_cluster();
            let (i, rank) = (this_thread_block().thread_rank(), cluster.block_rank());
            let s = shared_array::<u32, 256>();
            for j in (i..256).step_by(64) {{ s[j] = input[j]; }}
            cluster.sync();
            let x = cluster.map_shared_rank(&s, (rank + 1) % 4)[{read}];
            s[{write}] = x;
            cluster.sync();
        }}"
    ))
}

/// Bits that two numbers do not share, and the smaller and the larger one of two.
#[test]
fn bits_and_bounds() {
    for (write, read) in [
        ("i ^ 64", "i"),
        ("i | 64", "i"),
        ("64 | i", "i ^ 63"),
        ("i ^ 192", "i | 128"),
        ("(i ^ 37) + 64", "63 - i"),
        ("i", "64 + (i & 6)"),
        ("i", "(i % 7).max(64)"),
        ("i", "i.max(64)"),
        ("i + 64", "i.min(70)"),
        ("i + 64", "(2 * i).min(63)"),
        ("i", "(i & (i + 3)) + 64"),
    ] {
        assert_eq!(exchanged(write, read), [""; 0], "{write} {read}");
        assert_eq!(exchanged(&format!("({write}) % 256"), read), [""; 0], "{write} {read}");
    }
    for (write, read) in [
        ("i ^ 32", "i"),
        ("i ^ 64", "i + 1"),
        ("i | 64", "i + 1"),
        ("i ^ 96", "i + 64"),
        ("i ^ 192", "i | 192"),
        ("(i ^ 64) - 64", "i"),
        ("i", "(i ^ 37) + 63"),
        ("i", "(i & 6) + 63"),
        ("i", "(i % 7).max(63)"),
        ("i + 63", "(2 * i).min(63)"),
        ("i", "i.max(n)"),
        ("i + 64", "(n as i32).min(100) as u32"),
    ] {
        assert_eq!(exchanged(write, read), ["overwrite_while_read"], "{write} {read}");
    }
}

/// A part that begins or ends at a number, beside elements that are not in it.
#[test]
fn bounds_of_parts() {
    let part = |part: &str, write: &str, read: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 4, block = 64)]
            fn parts(input: &[u32], n: usize) {{
                let cluster = this_cluster();
                let i = this_thread_block().thread_rank();
                let s = shared_array::<u32, 256>();
                for j in (i..256).step_by(64) {{ s[j] = input[j]; }}
                cluster.sync();
                let peer = cluster.map_shared_rank(&s, (cluster.block_rank() + 1) % 4);
                let part = {part};
                let x = peer[{read}];
                part[{write}] = x;
                cluster.sync();
            }}"
        ))
    };
    for (of, write, right, wrong) in [
        ("&s[64..]", "i", "i", "i + 1"),
        ("&s[..64]", "i", "i + 64", "i + 63"),
        ("&s[64..128]", "i", "i + 128", "i + 127"),
        ("&s.chunks(64)[1]", "i", "i", "i + 1"),
        ("&s.chunks(64)[2]", "i", "i + 192", "i + 191"),
        ("&s[i.min(64) as usize..128]", "0", "i + 128", "i + 127"),
        ("&s.chunks(64)[0]", "i", "i + 64", "i + 63"),
    ] {
        assert_eq!(part(of, write, right), [""; 0], "{of} {right}");
        assert_eq!(part(of, write, wrong), ["overwrite_while_read"], "{of} {wrong}");
    }
    assert_eq!(part("&s[n..]", "i", "i"), ["overwrite_while_read"]);
    assert_eq!(part("&s.chunks(n)[1]", "i", "i"), ["overwrite_while_read"]);
}

/// Even and odd elements, by shifts and masks, and an index with other bounds on two paths.
#[test]
fn bits_and_bounds_of_two_paths() {
    let broken = |written: &str, read: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 2, block = 64)] fn apart(out: &mut [u32], n: u32) {{
                let cluster = this_cluster(); let i = this_thread_block().thread_rank();
                let s = shared_array::<u32, 128>();
                s[i] = 0; s[64 + i] = 0;
                cluster.sync();
                cluster.map_shared_rank(&s, 1 - cluster.block_rank())[{written}] = 5;
                let at = if n > 3 {{ i % 10 }} else {{ i % 32 }};
                let y = s[{read}];
                cluster.sync();
                out[cluster.thread_rank()] = s[i] + y + at;
            }}"
        ))
    };
    for (written, read) in [
        ("(i << 1) | 1", "i << 1"),
        ("2 * i | 1", "2 * i"),
        ("i | 1", "i & !1"),
        ("(i << 2) | 3", "2 * i"),
        ("64 + i", "at + 32"),
        ("32 + i % 32", "at"),
    ] {
        assert_eq!(broken(written, read), [""; 0], "{written} {read}");
    }
    for (written, read) in
        [("(i << 1) | 1", "(i << 1) + 1"), ("i | 1", "i"), ("i | 2", "i & !1"), ("64 + i", "at + 48")]
    {
        assert_eq!(broken(written, read), ["unordered_remote_write"], "{written} {read}");
    }
}
