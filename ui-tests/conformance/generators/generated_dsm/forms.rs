//! Tests every form in which the language accesses shared memory, in place of a read or a write between barriers that
//! are right, and that are wrong in one way: no form hides an access from the rules, and none invents one. Written by
//! hand, because the generator knows only indices.

use phalanx_compiler::Rule;

use super::super::faults;

/// Statements that write to the block's own memory.
const WRITES: &[&str] = &[
    "tile[i] = 7;",
    "tile[i] += 7;",
    "tile[0] = 7;",
    "tile.fill(7);",
    "tile.swap(0, i);",
    "if i == 0 { tile[i] = 7; }",
    "unsafe { *tile.get_unchecked_mut(i) = 7; }",
    "let alias = &mut tile[..]; alias[i] = 7;",
    "let alias = tile; alias[i] = 7;",
    "let part = &mut tile[..2]; part[0] = 7;",
    "let part = &tile[1..3]; part.fill(7);",
    "let (front, back) = tile.split_at_mut(2); back[0] = 7;",
    "let part = &mut tile.chunks_mut(2)[1]; part[0] = 7;",
    "for k in 0..4 { tile[k] = 7; }",
    "tile.atomic(i).store(7, Relaxed);",
    "tile.atomic(i).fetch_add(7, Relaxed);",
    "let _ = tile.atomic(i).compare_exchange(0, 7, Relaxed, Relaxed);",
    "tile.store_vec(0, Vector::<u32, 4>::splat(7));",
    "let put = |k: u32| tile[k] = 7; put(i);",
    "block.invoke_one(|| { tile[0] = 7; });",
    "loop { tile[i] = 7; break; }",
    "let x = { tile[i] = 7; 3 };",
    "match i { 0 => tile[0] = 7, _ => tile[1] = 7 }",
    "tile[i] = { let x = 3; x + 4 };",
];

/// Statements that read the block's own memory.
const READS: &[&str] = &[
    "sum += tile[i];",
    "sum = tile[i] + 1;",
    "tile[i] += 7;",
    "sum += tile.get(i).copied().unwrap_or(0);",
    "sum += tile.first().copied().unwrap_or(0);",
    "sum += tile.last().copied().unwrap();",
    "sum += unsafe { *tile.get_unchecked(i) };",
    "let part = &tile[1..3]; sum += part[0];",
    "sum += tile[1..3][0];",
    "let (front, back) = tile.split_at(2); sum += back[1];",
    "let part = &tile.chunks(2)[1]; sum += part[0];",
    "for x in &tile { sum += x; }",
    "for x in tile.iter().rev() { sum += x; }",
    "sum += tile.iter().sum::<u32>();",
    "sum += tile.load_vec::<4>(0)[1];",
    "let alias = &tile[..]; sum += alias[i];",
    "let alias = tile; sum += alias[i];",
    "for part in tile.chunks(2) { sum += part[1]; }",
    "let w = [1, 2, 3, 4]; for (x, y) in tile.iter().zip(&w) { sum += x * y; }",
    "sum += tile.iter().map(|x| x * 2).sum::<u32>();",
    "let copy = [tile[0], tile[1]]; sum += copy[0];",
    "let pair = (tile[0], 1); sum += pair.0;",
    "let next = || tile[0]; sum += next();",
    "sum += (i < 2).then(|| tile[i]).unwrap_or(0);",
    "if let Some(x) = tile.get(i).copied() { sum += x; }",
    "if tile[i] > 3 { sum += 1; }",
    "while tile[0] > 3 { sum += 1; break; }",
    "for _ in 0..tile[0] { sum += 1; }",
    "sum = match tile[i] { 0 => 1, x => x };",
    "let get = |k: u32| tile[k]; sum += get(i);",
    "sum += tile.atomic(i).load(Relaxed);",
    "assert!(tile[i] < 9);",
    "println!(\"{}\", tile[i]);",
    "out[i] = tile[i];",
    "out[tile[i]] = 1;",
    "sum += tile[tile[0]];",
];

/// Returns the rules and lines that are reported for a kernel.
fn reported(body: &str) -> Vec<(Rule, usize)> {
    let text = format!(
        "#[cluster_kernel(cluster = 2, block = 4)]
        fn kernel(out: &mut [u32]) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let tile = shared_array::<u32, 4>();
            let i = block.thread_rank();
            let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
            let mut sum = 0;
            tile[i] = 1;
            {body}
        }}"
    );
    faults(&text).iter().map(|fault| (fault.rule(), fault.line())).collect()
}

/// Checks all forms at once, in right and in wrong kernels.
#[track_caller]
fn check(forms: impl Iterator<Item = String>, right: &[&str], wrong: &[(Rule, &str)]) {
    let mut found = Vec::new();
    for form in forms {
        for context in right {
            let body = context.replace("$", &form);
            let reported = reported(&body);
            if !reported.is_empty() {
                found.push(format!("{body}\n    refused: {reported:?}"));
            }
        }
        for (rule, context) in wrong {
            let body = context.replace("$", &form);
            let reported = reported(&body);
            if !reported.iter().any(|(name, _)| name == rule) {
                found.push(format!("{body}\n    not refused by {rule}: {reported:?}"));
            }
        }
    }
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

fn owned(forms: &[&str]) -> impl Iterator<Item = String> {
    forms.iter().map(|form| form.to_string())
}

fn of_peer(forms: &[&str]) -> impl Iterator<Item = String> {
    forms.iter().map(|form| form.replace("tile", "peer"))
}

const SYNC: &str = "cluster.sync();";

#[test]
fn own_writes() {
    check(
        owned(WRITES),
        &[
            "$ cluster.sync(); sum += peer[i]; cluster.sync();",
            "cluster.sync(); sum += peer[i]; cluster.sync(); $",
            "cluster.sync(); let t = cluster.barrier_arrive(); $ cluster.barrier_wait(t); cluster.sync(); sum += peer[i]; cluster.sync();",
        ],
        &[
            (Rule::UnpublishedRemoteRead, "cluster.sync(); $ sum += peer[i]; cluster.sync();"),
            (Rule::OverwriteWhileRead, "cluster.sync(); sum += peer[i]; $ cluster.sync();"),
            (
                Rule::WriteAfterArrive,
                "let t = cluster.barrier_arrive(); $ cluster.barrier_wait(t); sum += peer[i]; cluster.sync();",
            ),
            (Rule::UnorderedRemoteWrite, "cluster.sync(); peer[i] = 3; peer[0] = 3; $ cluster.sync();"),
        ],
    );
}

#[test]
fn own_reads() {
    check(
        owned(READS),
        &["cluster.sync(); peer[i] = 3; cluster.sync(); $", "$ cluster.sync(); peer[i] = 3; cluster.sync();"],
        &[
            (Rule::UnorderedRemoteWrite, "cluster.sync(); peer[i] = 3; peer[0] = 3; $ cluster.sync();"),
            (Rule::UnorderedRemoteWrite, "cluster.sync(); $ peer[i] = 3; peer[0] = 3; cluster.sync();"),
        ],
    );
}

#[test]
fn remote_reads() {
    check(
        of_peer(READS),
        &["cluster.sync(); $ cluster.sync();", "cluster.sync(); $ cluster.sync(); tile[i] = 3;"],
        &[
            (Rule::RemoteBeforeEntry, "$ cluster.sync();"),
            (Rule::ExitBeforePeersDone, "cluster.sync(); $"),
            (Rule::OverwriteWhileRead, "cluster.sync(); $ tile[i] = 3; tile[0] = 3; cluster.sync();"),
        ],
    );
}

#[test]
fn remote_writes() {
    check(
        of_peer(WRITES),
        &["cluster.sync(); $ cluster.sync();", "cluster.sync(); $ cluster.sync(); sum += tile[i];"],
        &[
            (Rule::RemoteBeforeEntry, "$ cluster.sync();"),
            (Rule::ExitBeforePeersDone, "cluster.sync(); $"),
            (Rule::UnorderedRemoteWrite, "cluster.sync(); $ tile[i] = 3; tile[0] = 3; cluster.sync();"),
        ],
    );
}

/// Makes sure that all of these are in the language, before the checks.
#[test]
fn all_are_supported() {
    let all = owned(WRITES).chain(owned(READS)).chain(of_peer(WRITES)).chain(of_peer(READS));
    let bad: Vec<_> = all
        .map(|form| (reported(&format!("{SYNC} {form} {SYNC}")), form))
        .filter(|(reported, _)| !reported.is_empty())
        .collect();
    assert!(bad.is_empty(), "{bad:#?}");
}
