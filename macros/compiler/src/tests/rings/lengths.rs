//! Local arrays whose lengths have names: where more may be known of rings with the lengths in place of the names.

use syn::ItemFn;

use super::super::{Attributed, session};
use crate::diag::Diags;
use crate::model::Role;
use crate::{check, parse};

/// Whether the rings of a kernel are looked at once more with the lengths, where consumers do this in each round.
fn asks_lengths(before: &str, consumer: &str) -> bool {
    let Attributed { options, item, .. } = Attributed::parse(&format!(
        "#[cluster_kernel(block = 64)] fn k(x: &[u32], out: &mut [u32], n: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let rows = shared_array::<[u32; 32], 2>();
            let ends = shared_array::<u32, 2>();
            let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
            full.init_collective(&block, 1);
            empty.init_collective(&block, 32);
            {before}
            if i == 32 {{
                for k in 0..n {{
                    empty[k % 2].wait_parity(k / 2 % 2 == 0);
                    full[k % 2].expect_tx(128); bulk_copy_async(&rows[k % 2], &x[..32], &full[k % 2]); let _ = full[k % 2].arrive();
                }}
            }} else if i < 32 {{
                for k in 0..n {{ {consumer} let _ = empty[k % 2].arrive(); }}
            }}
        }}"
    ));
    let mut diags = Diags::new(session());
    let options = parse::options::kernel_options(options, &mut diags);
    let item: ItemFn = syn::parse2(item).expect("it is Rust");
    let function = parse::function(&item, Role::Kernel, options, &mut diags);
    match check::run(&function, &mut diags) {
        Ok(checked) => checked.rings().asks_lengths,
        Err(_) => panic!("{:?}", diags.into_faults()),
    }
}

#[test]
fn lengths_that_matter() {
    let wait = "full[k % 2].wait_parity(k / 2 % 2 == 1);";
    let sums = "let mut sums = [0; SUMS];";
    // Of data, nothing that the ring does is computed.
    assert!(!asks_lengths(sums, &format!("{wait} sums[k as usize] += rows[k % 2][i]; out[i] = sums[0];")));
    assert!(!asks_lengths(
        &sums.replace("SUMS", "4"),
        &format!("{wait} rows[k % 2][i]; if sums[1] > 0 {{ sums[1] = 0; }}")
    ));
    let phases = "let mut phases = [false; STAGES];";
    let flipped = "full[k % 2].wait_parity(phases[k as usize % 2]); phases[k as usize % 2] = !phases[k as usize % 2];";
    assert!(asks_lengths(phases, flipped), "a parity");
    assert!(
        asks_lengths(sums, &format!("{wait} if sums[k as usize] > 0 {{ sums[0] += rows[k % 2][i]; }}")),
        "a branch"
    );
    assert!(asks_lengths(sums, &format!("{wait} sums[0] += rows[sums[k as usize] % 2][i];")), "an index");
    assert!(asks_lengths(sums, &format!("{wait} for value in &sums {{ out[i] += *value; }}")), "a loop");
    let handed = "let sums = [3; SUMS]; if i == 0 { ends[0] = sums[1]; } block.sync();";
    assert!(asks_lengths(handed, &format!("{wait} for _ in 0..ends[0] {{ out[i] += rows[k % 2][i]; }}")), "by memory");
}
