//! The roles of a block's warps, chosen in every form that a program may choose them in: a ring is followed in each.

const ENUM: &str =
    "#[derive(Clone, Copy, PartialEq, DeviceCopy)] #[repr(u8)] enum Role { Idle, /// Fills.\n Load = 4, Compute }";
const OF: &str =
    "#[device] fn role(warp: u32) -> Role { match warp { 0 => Role::Load, 1 | 2 => Role::Compute, _ => Role::Idle } }";

/// The items; the head of a choice between the loads, what computes, and the rest, with the three patterns or conditions.
const FORMS: &[(&str, &str, [&str; 3])] = &[
    ("", "match warp", ["0 =>", "1 | 2 =>", "_ =>"]),
    ("", "let role = if warp == 0 { 1 } else if warp < 3 { 2 } else { 0 }; match role", ["1 =>", "2 =>", "_ =>"]),
    (
        "",
        "let mut role = 0; if warp == 0 { role = 1; } if warp == 1 || warp == 2 { role = 2; } match role",
        ["1 =>", "2 =>", "_ =>"],
    ),
    ("", "let (loads, computes) = (warp == 0, warp == 1 || warp == 2);", ["if loads", "else if computes", "else"]),
    (
        "ENUM",
        "let role = if warp == 0 { Role::Load } else if warp < 3 { Role::Compute } else { Role::Idle }; match role",
        ["Role::Load =>", "Role::Compute =>", "Role::Idle =>"],
    ),
    ("ENUM OF", "match role(warp)", ["Role::Load =>", "Role::Compute =>", "Role::Idle =>"]),
    ("ENUM OF", "let role = role(warp);", ["if role == Role::Load", "else if role == Role::Compute", "else"]),
];

fn verdict((items, choice, [loads, computes, rest]): (&str, &str, [&str; 3]), count: u32) -> String {
    let items = items.replace("ENUM", ENUM).replace("OF", OF);
    let (open, close) = if choice.contains("match") { ("{", "}") } else { ("", "") };
    let kernel = format!(
        "#[cluster_kernel(block = 128)] fn sums(input: &[u32], out: &mut [u32], rounds: u32) {{
            let block = this_thread_block();
            let tile = tiled_partition::<32>(&block);
            let (warp, lane) = (tile.meta_group_rank(), tile.thread_rank());
            let chunks = shared_array::<[u32; 64], 2>();
            let (full, empty) = (shared_barriers::<2>(), shared_barriers::<2>());
            full.init_collective(&block, 1);
            empty.init_collective(&block, {count});
            {choice} {open}
                {loads} {{
                    if lane != 0 {{ return; }}
                    for k in 0..rounds {{
                        empty[k % 2].wait_parity(k / 2 % 2 == 0);
                        full[k % 2].expect_tx(256);
                        bulk_copy_async(&chunks[k % 2], &input[k * 64..(k + 1) * 64], &full[k % 2]);
                        let _ = full[k % 2].arrive();
                    }}
                }}
                {computes} {{
                    let i = block.thread_rank() - 32;
                    let mut sum = 0;
                    for k in 0..rounds {{
                        full[k % 2].wait_parity(k / 2 % 2 == 1);
                        sum += chunks[k % 2][i];
                        tile.sync();
                        if lane == 0 {{ let _ = empty[k % 2].arrive(); }}
                    }}
                    out[i] = sum;
                }}
                {rest} {{}}
            {close}
        }}"
    );
    super::verdict(&items, &kernel)
}

#[test]
fn every_choice_is_followed() {
    for form in FORMS {
        let verdicts = [verdict(*form, 2), verdict(*form, 1)];
        assert_eq!(verdicts[0], "proved", "{form:?}");
        assert!(verdicts[1].starts_with("ring_"), "{form:?}: {}", verdicts[1]);
    }
}
