//! Rings beside calls of functions whose text no file shows: what is given values alone is taken to concern no other thread, which rustc
//! confirms, so that the ring's faults are found; what is given a group, a barrier or a slot is not.

use super::verdict;

/// All threads write one of two rows, meet at a barrier and read the row; `value` computes what is written.
fn rows(value: &str, parity: &str) -> String {
    format!(
        "#[cluster_kernel(block = 64)] fn rows(x: &[u32], out: &mut [u32], n: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let bar = shared_barrier();
            let other = shared_barrier();
            let rows = shared_array::<[u32; 64], 2>();
            bar.init_collective(&block, 64);
            other.init_collective(&block, 64);
            for k in 0..n {{
                rows[k % 2][i] = {value};
                let _ = bar.arrive();
                bar.wait_parity(k % 2 == {parity});
                out[k * 64 + i] = rows[k % 2][63 - i];
            }}
        }}"
    )
}

#[test]
fn functions_that_are_given_values() {
    for value in ["elsewhere::of(x[i])", "elsewhere::of_memory(x, k * 64 + i)", "elsewhere::generic::<u32, 4>(x[i], n)"]
    {
        assert_eq!(verdict("", &rows(value, "1")), "proved", "{value}");
        assert_eq!(verdict("", &rows(value, "0")), "ring_overwrite", "{value}");
    }
}

/// Such a function may keep threads waiting for each other.
#[test]
fn functions_that_are_given_more() {
    for value in ["elsewhere::sum(&block, x[i])", "elsewhere::last(&rows, x[i])"] {
        let found = verdict("", &rows(value, "0"));
        assert!(found.starts_with("open"), "{value}: {found}");
    }
}
