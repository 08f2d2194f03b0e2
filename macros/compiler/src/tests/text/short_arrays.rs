//! Loops over a part of a shared array.

use super::text;

fn of(body: &str) -> String {
    let head = "#[cluster_kernel] fn subject(m: &mut [u32], n: u32) { let block = this_thread_block(); \
                let sums = shared_array::<u32, 8>(); let mut sum = 0;";
    text(&format!("{head} {body} }}"), |_| None)
}

#[test]
fn a_sum_over_what_comes_before() {
    for body in [
        "sums[block.thread_rank()] = n; block.sync(); for w in 0..n { sum += sums[w]; }",
        "sums[block.thread_rank()] = n; block.sync(); sum = sums.iter().take(n as usize).sum::<u32>();",
    ] {
        let text = of(body);
        assert!(text.contains("positions_of(sums"), "{text}");
    }
}
