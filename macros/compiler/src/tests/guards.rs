//! Tests of what branches tell about ranks and indexes: which accesses of an owner and a peer are disjoint because of that.

use super::rules;

/// Returns the rules that a kernel of eight blocks of 64 threads with this body breaks.
#[track_caller]
fn broken(body: &str) -> Vec<String> {
    let source = format!(
        "#[cluster_kernel(cluster = 8, block = 64)]
        fn guarded(output: &mut [u32], n: usize) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let array = shared_array::<u32, 66>();
            let (i, rank) = (block.thread_rank(), cluster.block_rank());
            array[i] = 1;
            cluster.sync();
            {body}
            cluster.sync();
        }}"
    );
    // What a peer reads need not have been written.
    rules(&source).into_iter().filter(|rule| rule != "uninit_shared_read").collect()
}

/// A tree in place: the blocks that are read are not those that write.
#[test]
fn trees() {
    let step = |guard: &str, peer: &str| {
        format!("if {guard} {{ array[i] += cluster.map_shared_rank(&array, {peer})[i]; }} cluster.sync();")
    };
    let halved =
        |guard: &str, peer: &str| broken(&format!("let mut d = 4; while d > 0 {{ {} d /= 2; }}", step(guard, peer)));
    assert!(halved("rank < d", "rank + d").is_empty());
    assert!(halved("d > rank", "d + rank").is_empty());
    assert!(halved("!(rank >= d)", "rank + d").is_empty());
    assert!(halved("rank < d && i < 32", "rank + d").is_empty());
    assert!(halved("rank & d == 0", "rank + d").is_empty());
    assert!(halved("rank % (2 * d) == 0", "rank + d").is_empty());
    for (guard, peer) in [
        ("rank <= d", "rank + d"),
        ("rank < d", "rank + d - 1"),
        ("rank < d || i < 32", "rank + d"),
        ("rank < 2 * d", "rank + d"),
        ("rank & d == 1", "rank + d"),
        ("rank % d == 0", "rank + d"),
        ("rank & d == 0", "rank + d + 1"),
        ("i < d", "rank + d"),
    ] {
        assert!(halved(guard, peer).contains(&"overwrite_while_read".into()), "{guard}, {peer}");
    }
    let over = |values: &str| broken(&format!("for d in {values} {{ {} }}", step("rank < d", "rank + d")));
    assert!(over("[4, 2, 1]").is_empty());
    let named = "for s in 0..3 { let d = 4 >> s; let active = rank < d; ";
    assert!(broken(&format!("{named} {} }}", step("active", "rank + d"))).is_empty());
    let shadowed = |peer: &str| broken(&format!("{named} let d = d + 1; {} }}", step("active", peer)));
    assert!(shadowed("rank + d - 1").is_empty());
    assert_eq!(shadowed("rank + d - 2"), ["overwrite_while_read"], "the guard is about another number");
}

/// One block writes what others do not read.
#[test]
fn single_ranks() {
    let read = "output[i] = cluster.map_shared_rank(&array, 0)[i];";
    assert!(broken(&format!("if rank != 0 {{ array[i] = 5; }} {read}")).is_empty());
    assert!(broken(&format!("if rank == 0 {{ {read} }} else {{ array[i] = 5; }}")).is_empty());
    assert!(broken(&format!("if rank >= 3 {{ array[i] = 5; }} {read}")).is_empty());
    assert!(!broken(&format!("if rank <= 3 {{ array[i] = 5; }} {read}")).is_empty());
    assert!(!broken(&format!("if rank == 0 {{ array[i] = 5; }} {read}")).is_empty());
}

/// Guards and loops bound the elements that the owner's threads access.
#[test]
fn ranges_of_elements() {
    let with_peers = |own: &str, element: &str| {
        broken(&format!("{own} output[i] = cluster.map_shared_rank(&array, 7 - rank)[{element}];"))
    };
    let right = |own: &str, element: &str| assert!(with_peers(own, element).is_empty(), "{own} {element}");
    let wrong = |own: &str, element: &str| assert!(!with_peers(own, element).is_empty(), "{own} {element}");
    right("if i > 0 && i < 63 { array[i] = 5; }", "63");
    right("if i > 0 && i < 63 { array[i] = 5; }", "0");
    wrong("if i > 0 && i < 63 { array[i] = 5; }", "1");
    wrong("if i > 0 || i < 63 { array[i] = 5; }", "0");
    let strided = "let mut y = 1 + i; while y < 65 { array[y] = 5; y += block.num_threads(); }";
    right(strided, "0");
    right(strided, "65");
    wrong(strided, "64");
    wrong("let mut y = 1 + i; while y < 65 { y -= 1; array[y] = 5; y += 2; }", "0");
    wrong("let mut y = 1 + i; while y < 65 { y += 1; array[y] = 5; }", "65");
    right("for y in (1 + i..65).step_by(64) { array[y] = 5; }", "65");
    wrong("for y in (i..=65).step_by(64) { array[y] = 5; }", "65");
    wrong("let mut y = i; if y < 9 { y += 60; array[y] = 5; }", "63");
    right("if i < 32 { array[i / 2] = 5; }", "16");
    wrong("if i < 32 { array[i / 2] = 5; }", "15");
    wrong("if (i as u8) < 32 { array[i] = 5; }", "40");
}

/// A field is not what it was made of once the whole has been changed by a function.
#[test]
fn fields_that_change() {
    let peers = "output[i] = cluster.map_shared_rank(&array, 7 - rank)[63];";
    let guarded = |change: &str, guard: &str| {
        broken(&format!("let mut p = (block.thread_rank(), 1); {change} if {guard} {{ array[i] = 5; }} {peers}"))
    };
    assert!(guarded("", "p.0 < 63").is_empty());
    assert!(guarded("p.1 = 2;", "p.0 < 63").is_empty());
    for change in ["change(&mut p);", "p = other(i);", "p.0 = n;"] {
        assert_eq!(guarded(change, "p.0 < 63"), ["unpublished_remote_read"], "{change}");
    }
    assert_eq!(
        broken(&format!("let mut p = other(i); if p.0 < 63 {{ array[i] = 5; }} p.0 = block.thread_rank(); {peers}")),
        ["unpublished_remote_read"]
    );
}

/// A fixed element of a peer's, and all elements of the owner's threads.
#[test]
fn a_fixed_element_among_all() {
    let put = |element: &str, own: &str| {
        broken(&format!("if i == 0 {{ cluster.map_shared_rank(&array, 7 - rank)[{element}] = 4; }} {own}"))
    };
    assert_eq!(put("0", "array[i] = 5;"), ["unordered_remote_write"]);
    assert_eq!(put("63", "array[i] = 5;"), ["unordered_remote_write"]);
    assert!(put("64", "array[i] = 5;").is_empty());
    assert!(put("0", "array[i + 1] = 5;").is_empty());
    assert!(put("0", "if i > 0 { array[i] = 5; }").is_empty());
}

/// Two blocks take turns by the remainder of a counter, which one of them has for its rank.
#[test]
fn turns() {
    let broken = |blocks: u32, body: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = {blocks}, block = 32)]
            fn turns(input: &[u32], out: &mut [u32], n: u32) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let (i, rank) = (block.thread_rank(), cluster.block_rank());
                let a = shared_array::<[u32; 32], 2>();
                let peer = cluster.map_shared_rank(&a, rank ^ 1);
                let mut v = input[i];
                cluster.sync();
                {body}
                out[i] = v;
                cluster.sync();
            }}"
        ))
    };
    let turns = |writes: &str, reads: &str| {
        format!(
            "for k in 0..n {{
                if {writes} {{ peer[0][i] = v; }}
                cluster.sync();
                if {reads} {{ v += a[0][31 - i]; }}
                block.sync();
            }}"
        )
    };
    for (writes, reads) in [
        ("k % 2 == rank", "k % 2 != rank"),
        ("rank == k % 2", "rank != k % 2"),
        ("(k + 1) % 2 == rank", "(k + 1) % 2 != rank"),
        ("k & 1 == rank", "!(k & 1 == rank)"),
        ("k % 2 != rank", "k % 2 == rank"),
        ("k % 2 == rank", "(k + 1) % 2 == rank"),
    ] {
        assert_eq!(broken(2, &turns(writes, reads)), [""; 0], "{writes}; {reads}");
        // A third block may be the writer's neighbour.
        assert!(!broken(4, &turns(writes, reads)).is_empty(), "{writes}; {reads}");
    }
    for (writes, reads) in [
        ("k % 2 == rank", "k % 2 == rank"),
        ("k % 3 == rank", "k % 3 != rank"),
        ("k % 4 == rank", "k % 4 != rank"),
        ("k / 2 == rank", "k / 2 != rank"),
        ("k % 2 == rank", "true"),
        ("true", "k % 2 != rank"),
        ("k % 2 == rank", "k % 2 < rank"),
        ("n % 2 == rank", "k % 2 != rank"),
    ] {
        assert!(!broken(2, &turns(writes, reads)).is_empty(), "{writes}; {reads}");
    }
    let right = turns("k % 2 == rank", "k % 2 != rank");
    assert!(!broken(2, &right.replace("cluster.sync();", "block.sync();")).is_empty());
    // The reader of a round is the writer of the next one: it has met the other since.
    assert!(broken(2, &right.replace("block.sync();", "")).is_empty());
    assert!(!broken(2, &right.replace("for k in 0..n {", "for j in 0..n { let k = j / 2;")).is_empty());
    assert!(!broken(2, &right.replace("for k in 0..n {", "for k in (0..n).step_by(2) {")).is_empty());
}
