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
