//! Slots that several blocks fill together, each a part of its own.

use super::verdict;

/// Two blocks, each of which writes its half of a row in both of them.
const GATHER: &str = "#[cluster_kernel(cluster = 2, block = 32)]
fn gather(input: &[u32], out: &mut [u32], n: u32) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let data = shared_array::<[[u32; 32]; 2], 2>();
    let ready = shared_cluster_barriers::<2>();
    ready.init_collective(&cluster, 64);
    let mut v = input[i];
    for k in 0..n {
        let (s, p) = (k % 2, k / 2 % 2 == 1);
        for to in 0..2 {
            cluster.map_shared_rank(&data, to)[s][rank][i] = v;
            cluster.map_shared_rank(&ready[s], to).arrive();
        }
        ready[s].wait_parity(p);
        v += data[s][0][31 - i] + data[s][1][i];
    }
    out[this_grid().thread_rank()] = v;
    cluster.sync();
}";

/// The same kernel in other forms.
fn forms() -> Vec<String> {
    let flat = GATHER
        .replace("<[[u32; 32]; 2], 2>", "<[u32; 64], 2>")
        .replace("[s][rank][i]", "[s][rank * 32 + i]")
        .replace("data[s][0][31 - i] + data[s][1][i]", "data[s][31 - i] + data[s][32 + i]");
    let interleaved = flat.replace("[rank * 32 + i]", "[i * 2 + rank]");
    let own_and_peer = GATHER.replace(
        "for to in 0..2 {
            cluster.map_shared_rank(&data, to)[s][rank][i] = v;
            cluster.map_shared_rank(&ready[s], to).arrive();
        }",
        "data[s][rank][i] = v;
        ready[s].arrive();
        cluster.map_shared_rank(&data, rank ^ 1)[s][rank][i] = v;
        cluster.map_shared_rank(&ready[s], rank ^ 1).arrive();",
    );
    let loop_of_reads = flat.replace("v += data[s][31 - i] + data[s][32 + i];", "for d in 0..64 { v += data[s][d]; }");
    let one_arrival = loop_of_reads
        .replace("&cluster, 64", "&cluster, 2")
        .replace("            cluster.map_shared_rank(&ready[s], to).arrive();\n", "")
        .replace(
            "        ready[s].wait_parity",
            "        block.sync();
        if i < 2 { cluster.map_shared_rank(&ready[s], i).arrive(); }
        ready[s].wait_parity",
        );
    let four = GATHER
        .replace("cluster = 2", "cluster = 4")
        .replace("[[u32; 32]; 2]", "[[u32; 32]; 4]")
        .replace("0..2", "0..4")
        .replace("&cluster, 64", "&cluster, 128")
        .replace("data[s][1][i]", "data[s][3][i]");
    vec![GATHER.into(), flat, interleaved, own_and_peer, loop_of_reads, one_arrival, four]
}

#[test]
fn forms_are_proved() {
    for form in forms() {
        assert_eq!(verdict("", &form), "proved", "{form}");
    }
}

/// Changes that make a fault of it, in the forms that have the text.
const WRONG: [(&str, &str); 12] = [
    ("ready[s].wait_parity(p);", ""),
    ("ready[s].wait_parity(p);", "ready[s].wait_parity(!p);"),
    ("(k % 2, k / 2 % 2 == 1)", "(0, k % 2 == 1)"),
    ("(k % 2, k / 2 % 2 == 1)", "(k % 2, k % 2 == 1)"),
    // Both write the same part.
    ("[s][rank][i] = v", "[s][0][i] = v"),
    ("[s][rank][i] = v", "[s][i % 2][i] = v"),
    ("[s][rank * 32 + i] = v", "[s][rank * 16 + i] = v"),
    ("[s][i * 2 + rank] = v", "[s][i + rank] = v"),
    ("&cluster, 64", "&cluster, 32"),
    ("&cluster, 2)", "&cluster, 1)"),
    ("        block.sync();\n", ""),
    (
        "cluster.map_shared_rank(&data, rank ^ 1)[s][rank][i] = v;
        cluster.map_shared_rank(&ready[s], rank ^ 1).arrive();",
        "cluster.map_shared_rank(&ready[s], rank ^ 1).arrive();
        cluster.map_shared_rank(&data, rank ^ 1)[s][rank][i] = v;",
    ),
];

#[test]
fn wrong_forms_are_refused() {
    for (from, to) in WRONG {
        let changed: Vec<String> =
            forms().iter().map(|form| form.replacen(from, to, 1)).filter(|form| !forms().contains(form)).collect();
        assert!(!changed.is_empty(), "{from}");
        for form in changed {
            let found = verdict("", &form);
            assert!(!found.is_empty() && found != "proved" && !found.starts_with("open"), "{found}: {form}");
        }
    }
}
