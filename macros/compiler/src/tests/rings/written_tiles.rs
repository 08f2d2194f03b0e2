//! Slots that copies fill and products read, and that threads then write themselves, as for a result that is stored from there.

use super::super::faults;

/// Two warpgroups multiply, and then write their results to the stages of the right operand.
fn kernel(first: &str, second: &str, at: &str) -> String {
    format!(
        "#[cluster_kernel(block = 384)]
        fn reuse(a: &TensorMap<[Swizzled<bf16, 64>; 64]>, c: &mut TensorMap<[Swizzled<bf16, 64>; 64]>, steps: u32) {{
            let block = this_thread_block();
            let wg = tiled_partition::<128>(&block);
            let (sa, sb) = (shared_array::<[Swizzled<bf16, 64>; 64], 4>(), shared_array::<[Swizzled<bf16, 64>; 64], 2>());
            let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
            let both = shared_barrier();
            full.init_collective(&block, 1);
            empty.init_collective(&block, 8);
            both.init_collective(&block, 256);
            let (r, which) = (wg.thread_rank(), wg.meta_group_rank());
            if which == 2 {{
                if r == 0 {{
                    for i in 0..steps {{
                        let s = i % 2;
                        empty[s].wait_parity(i / 2 % 2 == 0);
                        a.load_async([0, 0], &sa[s * 2], &full[s]);
                        a.load_async([64, 0], &sa[s * 2 + 1], &full[s]);
                        a.load_async([128, 0], &sb[s], &full[s]);
                        let _ = full[s].arrive();
                    }}
                }}
            }} else {{
                let mut acc = Accumulator::<f32, 64, 64>::splat(0.0);
                for i in 0..steps {{
                    let s = i % 2;
                    full[s].wait_parity(i / 2 % 2 == 1);
                    let p = wg.mma_async(acc, &sa[s * 2 + which], &sb[s]);
                    acc = wg.wait_mma(p);
                    if r % 32 == 0 {{ let _ = empty[s].arrive(); }}
                }}
                {first}
                for i in 0..32 {{ {at}[acc.row(r, i)][acc.column(r, i)] = bf16::from_f32(acc[i]); }}
                {second}
                if r == 0 {{
                    c.store_async([which as i32 * 64, 0], &{at});
                    bulk_wait_group_read::<0>();
                }}
            }}
        }}"
    )
}

const MEET: &str = "both.arrive_and_wait();";

#[test]
fn results_in_the_place_of_operands() {
    assert!(faults(&kernel(MEET, MEET, "sb[which]")).is_empty());
    for (first, second) in [("", MEET), (MEET, ""), ("let _ = both.arrive();", MEET)] {
        let found = faults(&kernel(first, second, "sb[which]"));
        let rules: Vec<String> = found.iter().map(|fault| fault.rule().to_string()).collect();
        assert!(rules.iter().all(|rule| rule.starts_with("ring_")) && !rules.is_empty(), "{first} {second}: {rules:?}");
    }
}

/// Each warp reads its own rows of the left operand, and may write those once it has waited for its product.
#[test]
fn rows_of_the_left_operand() {
    for at in ["sa[which]", "sa[2 + which]"] {
        assert!(faults(&kernel("", MEET, at)).is_empty(), "{at}");
    }
}
