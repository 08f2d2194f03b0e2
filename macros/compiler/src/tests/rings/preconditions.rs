//! Kernels that assert what they need of their arguments, or return at once where there is too little: a ring's fault is found in a launch
//! that they accept, and a right ring is not refused.

use super::super::faults;

/// Each with the numbers of the launch in which the fault is found.
const PRECONDITIONS: &[(&str, &str)] = &[
    ("", "`rounds` is 3"),
    ("assert!(out.len() >= 32);", "`rounds` is 3, `out.len()` is 32"),
    ("assert!(32 <= out.len(), \"too short\");", "`rounds` is 3, `out.len()` is 32"),
    ("assert!(!(out.len() < 32));", "`rounds` is 3, `out.len()` is 32"),
    ("assert_eq!(out.len(), 32);", "`rounds` is 3, `out.len()` is 32"),
    ("assert_ne!(out.len(), 0); assert!(!input.is_empty());", "`rounds` is 3"),
    ("assert!(input.len() >= 32 * rounds as usize);", "`rounds` is 3, `input.len()` is 96"),
    ("assert!(input.len() == 32 * rounds as usize);", "`rounds` is 3, `input.len()` is 96"),
    ("assert_eq!(input.len() / 32, rounds as usize);", "`rounds` is 3, `input.len()` is 96"),
    ("assert!(input.len() >= 1_000_000);", "`rounds` is 3, `input.len()` is 1000000"),
    ("debug_assert!(out.len() >= 100);", "`rounds` is 3, `out.len()` is 100"),
    ("if out.len() < 32 { panic!(\"too short\"); }", "`rounds` is 3, `out.len()` is 32"),
    ("if input.len() < 32 * rounds as usize { return; }", "`rounds` is 3, `input.len()` is 96"),
    ("if input.is_empty() { return; }", "`rounds` is 3, `input.len()` is 3"),
    ("if out.len() < 32 || rounds < 2 { return; }", "`rounds` is 3, `out.len()` is 32"),
    ("assert!(rounds >= 40);", "`rounds` is 40"),
    ("assert!(rounds % 8 == 0);", "`rounds` is 8"),
    (
        "assert!(rounds % 2 == 0 && out.len() >= 64 && input.len() % 128 == 0);",
        "`rounds` is 4, `out.len()` is 64, `input.len()` is 384",
    ),
];

fn ring(precondition: &str, wait: &str) -> String {
    format!(
        "#[cluster_kernel(block = 64)] fn sums(rounds: u32, input: &[u32], out: &mut [u32]) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let chunks = shared_array::<[u32; 32], 2>();
            let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
            full.init_collective(&block, 1);
            empty.init_collective(&block, 32);
            {precondition}
            if i == 32 {{
                for k in 0..rounds {{
                    {wait}
                    full[k % 2].expect_tx(128);
                    bulk_copy_async(&chunks[k % 2], &input[k * 32..(k + 1) * 32], &full[k % 2]);
                    let _ = full[k % 2].arrive();
                }}
            }} else if i < 32 {{
                let mut sum = 0;
                for k in 0..rounds {{
                    full[k % 2].wait_parity(k / 2 % 2 == 1);
                    sum += chunks[k % 2][i];
                    let _ = empty[k % 2].arrive();
                }}
                out[i] = sum;
            }}
        }}"
    )
}

#[test]
fn faults_are_found_in_launches_that_are_accepted() {
    for (precondition, launch) in PRECONDITIONS {
        let found = faults(&ring(precondition, ""));
        let texts: Vec<&str> = found.iter().map(|fault| fault.text()).collect();
        let [text] = texts[..] else { panic!("{precondition}: {texts:?}") };
        assert!(text.contains("[ring_overwrite]"), "{precondition}: {text}");
        assert!(text.contains(&format!("this happens if {launch}\n")), "{precondition}: {text}");
    }
}

#[test]
fn right_rings_are_accepted() {
    for (precondition, _) in PRECONDITIONS {
        let found = faults(&ring(precondition, "empty[k % 2].wait_parity(k / 2 % 2 == 0);"));
        assert!(found.is_empty(), "{precondition}: {found:?}");
    }
}
