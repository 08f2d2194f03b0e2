//! Stages that are read by iterators: a release before the read is a fault, and one after it is proved, whatever reads.

const READS: &[&str] = &[
    "for d in 0..32 { sum += chunks[k % 2][d]; }",
    "sum += chunks[k % 2].iter().copied().sum::<u32>();",
    "for x in &chunks[k % 2] { sum += *x; }",
    "let row = &chunks[k % 2]; sum += row.iter().fold(0, |a, b| a + *b);",
    "sum += chunks[k % 2].iter().zip(&input[..32]).map(|(a, b)| a * b).sum::<u32>();",
    "for (d, x) in chunks[k % 2].iter().enumerate() { sum += *x * d as u32; }",
    "for pair in chunks[k % 2].chunks(2) { sum += pair[0]; }",
    "sum += chunks[k % 2].iter().copied().max().unwrap_or(0);",
    "sum += *chunks[k % 2].get(i as usize).unwrap_or(&0);",
    "if let Some(&x) = chunks[k % 2].get(i as usize) { sum += x; }",
    "sum += *chunks[k % 2].first().unwrap();",
    "sum += chunks[k % 2].last().copied().unwrap_or_default();",
    "if !chunks[k % 2].is_empty() && chunks[k % 2].iter().all(|x| *x > 1) { sum += 1; }",
];

fn verdict(consumes: &[&str]) -> String {
    let kernel = format!(
        "#[cluster_kernel(block = 64)] fn sums(input: &[u32], out: &mut [u32], rounds: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let chunks = shared_array::<[u32; 32], 2>();
            let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
            full.init_collective(&block, 1);
            empty.init_collective(&block, 32);
            if i == 32 {{
                for k in 0..rounds {{
                    empty[k % 2].wait_parity(k / 2 % 2 == 0);
                    full[k % 2].expect_tx(128);
                    bulk_copy_async(&chunks[k % 2], &input[k * 32..(k + 1) * 32], &full[k % 2]);
                    let _ = full[k % 2].arrive();
                }}
            }} else if i < 32 {{
                let mut sum = 0;
                for k in 0..rounds {{
                    full[k % 2].wait_parity(k / 2 % 2 == 1);
                    {}
                }}
                out[i] = sum;
            }}
        }}",
        consumes.concat()
    );
    super::verdict("", &kernel)
}

#[test]
fn a_stage_is_read_before_its_release() {
    let release = "let _ = empty[k % 2].arrive();";
    for read in READS {
        assert_eq!(verdict(&[read, release]), "proved", "{read}");
        assert_eq!(verdict(&[release, read]), "ring_overwrite", "{read}");
    }
}

/// The parities of two stages in an array whose elements references change: by name, one by one in a loop, and all of them.
#[test]
fn parities_behind_references() {
    let kernel = |flips: &str| {
        format!(
            "#[cluster_kernel(block = 64)] fn turns(x: &[f32], out: &mut [f32], n: u32) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let rows = shared_array::<[f32; 32], 2>();
                let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
                full.init_collective(&block, 32);
                empty.init_collective(&block, 32);
                let mut odd = [false; 2];
                if i < 32 {{
                    for k in 0..n {{
                        let s = k % 2;
                        empty[s].wait_parity(!odd[s]);
                        let own = &mut odd[s];
                        *own = !*own;
                        rows[s][i] = x[k * 32 + i];
                        let _ = full[s].arrive();
                    }}
                }} else {{
                    for k in 0..n {{
                        let s = k % 2;
                        full[s].wait_parity(odd[s]);
                        {flips}
                        out[k * 32 + i - 32] = rows[s][i - 32];
                        let _ = empty[s].arrive();
                    }}
                }}
            }}"
        )
    };
    for flips in [
        "odd[s] = !odd[s];",
        "let own = &mut odd[s]; *own = !*own;",
        "let all = &mut odd; let own = &mut all[s]; *own = !*own;",
        "for (at, own) in odd.iter_mut().enumerate() { if at as u32 == s { *own = !*own; } }",
        "if s == 1 { for own in odd.iter_mut() { *own = !*own; } }",
        "if s == 1 { for own in &mut odd { *own = !*own; } }",
    ] {
        assert_eq!(super::verdict("", &kernel(flips)), "proved", "{flips}");
    }
    for flips in [
        "let own = &mut odd[1 - s]; *own = !*own;",
        "for (at, own) in odd.iter_mut().enumerate() { if at as u32 != s { *own = !*own; } }",
        "for own in odd.iter_mut() { *own = !*own; }",
        "for own in &mut odd { *own = false; }",
        "let own = &mut odd[0]; *own = !*own;",
    ] {
        let found = super::verdict("", &kernel(flips));
        assert!(["ring_read", "ring_overtaken"].contains(&&*found), "{flips}: {found}");
    }
}
