//! Tests of what warpgroups and tiles ask of the size of a block: the sum of the registers that warpgroups keep and want, and whole tiles.

use super::session;

fn broken(options: &str, body: &str) -> Vec<String> {
    let file = format!(
        "#[cluster_kernel({options})]
        fn kernel(kinds: &[u32], out: &mut [u32], n: u32) {{
            let warpgroup = tiled_partition::<128>(&this_thread_block());
            let which = warpgroup.meta_group_rank();
            {body}
        }}"
    );
    session().check_file(&file).iter().map(|fault| fault.rule().to_string()).collect()
}

#[track_caller]
fn fits(options: &str, body: &str) {
    assert_eq!(broken(options, body), [""; 0], "{body}");
}

#[track_caller]
fn waits_for_ever(options: &str, body: &str) {
    assert_eq!(broken(options, body), ["launch_limit"], "{body}");
}

#[test]
fn the_sum_of_all_warpgroups() {
    let two = |keeps: u32, wants: u32| {
        format!(
            "if which == 2 {{ warpgroup.decrease_registers::<{keeps}>(); }} else {{ warpgroup.increase_registers::<{wants}>(); }}"
        )
    };
    // A thread has 168 at the start.
    fits("block = 384", &two(40, 232));
    waits_for_ever("block = 384", &two(40, 240));
    fits("block = 384", &two(24, 240));
    waits_for_ever("block = 384", &two(48, 232));
    waits_for_ever("block = 384", &two(168, 176));
    fits("block = (128, 3)", &two(40, 232));
    waits_for_ever("block = (128, 3)", &two(40, 240));
    waits_for_ever("block = 384, max_registers = 160", &two(40, 232));
    fits("block = 384, max_registers = 160", &two(40, 216));
}

#[test]
fn who_changes_nothing_keeps_what_it_has() {
    waits_for_ever("block = 384", "if which == 0 { warpgroup.increase_registers::<176>(); }");
    waits_for_ever(
        "block = 512",
        "match which { 0 => warpgroup.decrease_registers::<56>(), 1 | 2 => warpgroup.increase_registers::<168>(), _ => {} }",
    );
    fits(
        "block = 512",
        "match which { 0 => warpgroup.decrease_registers::<56>(), 1 | 2 => warpgroup.increase_registers::<160>(), _ => {} }",
    );
}

#[test]
fn what_decides_may_be_unknown() {
    // Another launch has other arguments, and other data.
    fits(
        "block = 384",
        "if which < n { warpgroup.increase_registers::<232>(); } else { warpgroup.decrease_registers::<40>(); }",
    );
    waits_for_ever("block = 384", "if which <= n { warpgroup.increase_registers::<232>(); }");
    fits(
        "block = 384",
        "if kinds[which] > 3 { warpgroup.decrease_registers::<40>(); } else { warpgroup.increase_registers::<232>(); }",
    );
    fits("block = 384", "if which == 1 { warpgroup.decrease_registers::<40>(); }");
}

#[test]
fn tiles_of_blocks() {
    let broken = |options: &str, size: u32| {
        let file = format!(
            "#[cluster_kernel({options})] fn kernel(out: &mut [u32]) {{ let block = this_thread_block();
            let tile = tiled_partition::<{size}>(&block); out[block.thread_rank()] = tile.meta_group_rank(); }}"
        );
        session().check_file(&file).iter().map(|fault| fault.rule().to_string()).collect::<Vec<_>>()
    };
    for (block, size) in [("160", 128), ("64", 128), ("48", 32), ("(16, 10)", 128)] {
        assert_eq!(broken(&format!("block = {block}"), size), ["launch_limit"], "{block} {size}");
    }
    for (options, size) in [("block = 384", 128), ("block = (16, 16)", 128), ("block = 48", 16), ("", 128), ("", 32)] {
        assert_eq!(broken(options, size), [""; 0], "{options} {size}");
    }
}
