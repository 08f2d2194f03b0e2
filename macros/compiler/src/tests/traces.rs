//! Tests of what the threads of a launch do to each other: elements of shared memory between two barriers, copies that `wait_prior`
//! leaves in flight, ranks and sizes that are computed.

use super::{rules, session};

fn of(options: &str, head: &str, body: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel({options})] fn traces(input: &[u32], out: &mut [u32], n: u32) {{
            let block = this_thread_block(); let t = block.thread_rank(); {head} {body}
        }}"
    ))
}

pub(super) fn in_block(body: &str) -> Vec<String> {
    let head = "let warp = tiled_partition::<32>(&block); let s = shared_array::<u32, 128>(); let u = shared_array::<u32, 128>();";
    of("block = 128", head, body)
}

/// A barrier comes between a write and another thread's access to the same element.
#[test]
fn threads_of_a_block() {
    for body in [
        r#"s[t] = input[t]; out[t] = s[(t + 1) % 128];"#,
        r#"s[t] = input[t]; out[t] = s[t ^ 1];"#,
        r#"s[t] = input[t]; block.sync(); for k in 0..4u32 { let x = s[(t + 1) % 128]; block.sync(); s[t] = x; }"#,
        r#"s[t] = input[t]; block.sync(); let mut d = 64; while d > 0 { if t < d { s[t] += s[t + d]; } d /= 2; } if t == 0 { out[0] = s[0]; }"#,
        r#"s[t] = input[t]; let mut d = 64; while d > 0 { if t < d { s[t] += s[t + d]; } block.sync(); d /= 2; } if t == 0 { out[0] = s[0]; }"#,
        r#"if t == 0 { s[0] = input[0]; } out[t] = s[0];"#,
        r#"s[t] = input[t]; block.sync(); for k in 0..7u32 { let d = 1 << k; if t % (2 * d) == 0 { s[t] += s[t + d]; } } out[t] = s[0];"#,
        r#"s[t] = input[t]; block.sync(); for k in 0..7u32 { let d = 1 << k; let x = if t >= d { s[t - d] } else { 0 }; s[t] += x; block.sync(); } out[t] = s[t];"#,
        r#"let put = |x: u32| s[t] = x; put(input[t]); out[t] = s[127 - t];"#,
        r#"let mut a = &s; let mut b = &u; a[t] = input[t]; block.sync(); for _ in 0..3u32 { b[t] = a[(t + 1) % 128]; std::mem::swap(&mut a, &mut b); } out[t] = s[t];"#,
        r#"for k in 0..n { s[t] = input[k * 128 + t]; block.sync(); out[k * 128 + t] = s[127 - t]; }"#,
        r#"let v = warp.reduce(input[t], |a, b| a + b); if warp.thread_rank() == 0 { u[t / 32] = v; } if t == 0 { out[0] = u[0] + u[1] + u[2] + u[3]; }"#,
        r#"s[t] = input[t]; let token = block.barrier_arrive(); let x = s[127 - t]; block.barrier_wait(token); out[t] = x;"#,
        r#"s[t] = 0; s.atomic(127 - t).fetch_add(1, Relaxed); block.sync(); out[t] = s[t];"#,
        r#"s[t] = 0; block.sync(); s.atomic(127 - t).fetch_add(1, Relaxed); out[t] = s[t];"#,
        r#"s[t] = input[t]; if t < 32 { warp.sync(); } if t > 0 { out[t] = s[t - 1]; }"#,
        r#"let (a, b) = (t, t ^ 64); s[a] = input[a]; out[b] = s[b];"#,
        r#"for k in 0..4u32 { if t == k { s[k] = input[k]; } out[t] = s[k]; }"#,
        r#"memcpy_async(&block, &s, &input[..128]); block.wait_async(); for k in 1..4u32 { out[t] = s[127 - t]; memcpy_async(&block, &s, &input[k * 128..(k + 1) * 128]); block.wait_async(); }"#,
    ] {
        assert_eq!(in_block(body), ["unsynchronized_access"], "{body}");
    }
    for body in [
        r#"s[t] = input[t]; block.sync(); out[t] = s[(t + 1) % 128];"#,
        r#"s[t] = input[t]; warp.sync(); out[t] = s[t ^ 1];"#,
        r#"s[t] = input[t]; block.sync(); for k in 0..4u32 { let x = s[(t + 1) % 128]; block.sync(); s[t] = x; block.sync(); }"#,
        r#"s[t] = input[t]; block.sync(); let mut d = 64; while d > 0 { if t < d { s[t] += s[t + d]; } block.sync(); d /= 2; } if t == 0 { out[0] = s[0]; }"#,
        r#"if t == 0 { s[0] = input[0]; } block.sync(); out[t] = s[0];"#,
        r#"s[t] = input[t]; block.sync(); for k in 0..7u32 { let d = 1 << k; let x = if t >= d { s[t - d] } else { 0 }; block.sync(); s[t] += x; block.sync(); } out[t] = s[t];"#,
        r#"s[t] = input[t]; warp.sync(); let mut d = 16; while d > 0 { if t % 32 < d { s[t] += s[t + d]; } warp.sync(); d /= 2; } out[t] = s[t];"#,
        r#"s[t] = input[t]; block.sync(); if t < 64 { s[t] += s[t + 64]; } block.sync(); if t < 32 { let mut v = s[t] + s[t + 32]; let mut d = 16; while d > 0 { v += warp.shfl_down(v, d); d /= 2; } if t == 0 { out[0] = v; } }"#,
        r#"let mut a = &s; let mut b = &u; a[t] = input[t]; block.sync(); for _ in 0..3u32 { b[t] = a[(t + 1) % 128]; block.sync(); std::mem::swap(&mut a, &mut b); } out[t] = s[t];"#,
        r#"for k in 0..n { s[t] = input[k * 128 + t]; block.sync(); out[k * 128 + t] = s[127 - t]; block.sync(); }"#,
        r#"let put = |x: u32| s[t] = x; put(input[t]); block.sync(); out[t] = s[127 - t];"#,
        r#"s[t] = input[t]; out[t] = s[t];"#,
        r#"s[0] = 1; out[t] = s[0];"#,
        r#"if t < 32 { s[t] = input[t]; warp.sync(); out[t] = s[31 - t]; }"#,
        r#"s[t] = input[t]; let token = block.barrier_arrive(); let x = input[t]; block.barrier_wait(token); out[t] = s[127 - t] + x;"#,
        r#"s.atomic(t).store(0, Relaxed); s.atomic(127 - t).fetch_add(1, Relaxed);"#,
        r#"s[input[t]] = t; out[t] = s[t];"#,
        r#"s[(n * t) % 128] = t; out[t] = s[t];"#,
    ] {
        assert!(in_block(body).is_empty(), "{body}: {:?}", in_block(body));
    }
}

/// What may order two accesses in another way than by a barrier is not compared.
#[test]
fn other_orders() {
    let head = "let flag = shared_array::<u32, 1>(); let s = shared_array::<u32, 128>(); let bar = shared_barrier();
        bar.init_collective(&block, 128); flag.atomic(0).store(0, Relaxed); s[t] = 0; block.sync();";
    for body in [
        "if t == 0 { s[64] = 1; flag.atomic(0).store(1, Release); } while flag.atomic(0).load(Acquire) == 0 {} out[t] = s[64];",
        "s[t] = input[t]; bar.arrive_and_wait(); out[t] = s[127 - t];",
        "s[t] = input[t]; let token = bar.arrive(); bar.wait(token); out[t] = s[127 - t];",
        "s[t] = input[t]; if input[0] > n { block.sync(); } else { block.sync(); } out[t] = s[127 - t];",
        "s[t] = input[t]; meet(&block); out[t] = s[127 - t];",
        "let warp = tiled_partition::<32>(&block); if t == 64 { s[0] = 1; flag.atomic(0).store(1, Release); }
         if t == 0 { while flag.atomic(0).load(Acquire) == 0 {} } warp.sync(); if t < 32 { out[t] = s[0]; }",
    ] {
        assert!(of("block = 128", head, body).is_empty(), "{body}: {:?}", of("block = 128", head, body));
    }
}

pub(super) fn copied(body: &str) -> Vec<String> {
    let head = "let i = t; let t = shared_array::<[u32; 128], 3>(); let a = shared_array::<u32, 128>(); let b = shared_array::<u32, 128>();";
    of("block = 128", head, body)
}

/// A stage is read once `wait_prior` has covered its copy.
#[test]
fn copies_that_are_left() {
    for body in [
        r#"memcpy_async(&block, &t[0], &input[..128]); for k in 0..4u32 { if k + 1 < 4 { memcpy_async(&block, &t[(k + 1) % 2], &input[(k+1)*128..(k+2)*128]); block.wait_prior::<2>(); } else { block.wait_async(); } out[k * 128 + i] = t[k % 2][i]; block.sync(); }"#,
        r#"memcpy_async(&block, &t[0], &input[..128]); for k in 0..4u32 { if k + 1 < 4 { memcpy_async(&block, &t[(k + 1) % 2], &input[(k+1)*128..(k+2)*128]); } block.wait_prior::<1>(); out[k * 128 + i] = t[k % 2][i]; block.sync(); }"#,
        r#"memcpy_async(&block, &t[0], &input[..128]); memcpy_async(&block, &t[1], &input[128..256]); for k in 0..n { if k + 2 < n { memcpy_async(&block, &t[(k + 2) % 3], &input[(k+2)*128..(k+3)*128]); block.wait_prior::<3>(); } else { block.wait_async(); } out[k * 128 + i] = t[k % 3][i]; block.sync(); }"#,
        r#"memcpy_async(&block, &a, &input[..128]); memcpy_async(&block, &b, &input[128..256]); block.wait_prior::<2>(); out[i] = a[i]; block.wait_async();"#,
        r#"memcpy_async(&block, &a, &input[..128]); memcpy_async(&block, &b, &input[128..256]); block.wait_prior::<1>(); out[i] = b[i]; block.wait_async();"#,
        r#"memcpy_async(&block, &a, &input[..128]); memcpy_async(&block, &t[0], &input[..128]); memcpy_async(&block, &b, &input[128..256]); memcpy_async(&block, &t[1], &input[..128]); block.wait_prior::<3>(); out[i] = a[i] + t[0][i]; block.wait_async();"#,
        r#"let mut cur = &a; let mut next = &b; memcpy_async(&block, cur, &input[..128]); for k in 1..5u32 { memcpy_async(&block, next, &input[k*128..(k+1)*128]); block.wait_prior::<2>(); out[k*128 + i] = cur[i]; block.sync(); std::mem::swap(&mut cur, &mut next); } block.wait_async();"#,
        r#"memcpy_async(&block, &t[0], &input[..128]); for k in 0..4u32 { memcpy_async(&block, &t[(k + 1) % 2], &input[(k+1)*128..(k+2)*128]); block.wait_prior::<1>(); out[k * 128 + i] = t[(k + 1) % 2][i]; block.sync(); } block.wait_async();"#,
    ] {
        assert_eq!(copied(body), ["copy_in_flight"], "{body}");
    }
    for body in [
        r#"memcpy_async(&block, &t[0], &input[..128]); for k in 0..4u32 { if k + 1 < 4 { memcpy_async(&block, &t[(k + 1) % 2], &input[(k+1)*128..(k+2)*128]); block.wait_prior::<1>(); } else { block.wait_async(); } out[k * 128 + i] = t[k % 2][i]; block.sync(); }"#,
        r#"assert!(n > 0); memcpy_async(&block, &t[0], &input[..128]); memcpy_async(&block, &t[1], &input[128..256]); for k in 0..n { if k + 2 < n { memcpy_async(&block, &t[(k + 2) % 3], &input[(k+2)*128..(k+3)*128]); block.wait_prior::<2>(); } else { block.wait_async(); } out[k * 128 + i] = t[k % 3][i]; block.sync(); }"#,
        r#"memcpy_async(&block, &a, &input[..128]); memcpy_async(&block, &b, &input[128..256]); block.wait_prior::<1>(); out[i] = a[i]; block.wait_async(); out[i] = b[i];"#,
        r#"let mut cur = &a; let mut next = &b; memcpy_async(&block, cur, &input[..128]); for k in 1..5u32 { memcpy_async(&block, next, &input[k*128..(k+1)*128]); block.wait_prior::<1>(); out[k*128 + i] = cur[i]; block.sync(); std::mem::swap(&mut cur, &mut next); } block.wait_async();"#,
        r#"memcpy_async(&block, &a, &input[..128]); memcpy_async(&block, &t[0], &input[..128]); memcpy_async(&block, &b, &input[128..256]); memcpy_async(&block, &t[1], &input[..128]); block.wait_prior::<2>(); out[i] = a[i] + t[0][i]; block.wait_async();"#,
    ] {
        assert!(copied(body).is_empty(), "{body}: {:?}", copied(body));
    }
}

fn in_cluster(body: &str) -> Vec<String> {
    let head = "let cluster = this_cluster(); let s = shared_array::<u32, 64>(); let i = t;
        let (me, nb) = (cluster.block_rank(), cluster.num_blocks()); s[i] = input[i]; cluster.sync();";
    of("cluster = 4, block = 64", head, &format!("{body} cluster.sync();"))
}

/// Each block's rank of a peer is in the cluster.
#[test]
fn ranks() {
    for body in [
        r#"let p = cluster.map_shared_rank(&s, me + nb - 1); out[i] = p[i];"#,
        r#"for r in 1..=nb { out[i] += cluster.map_shared_rank(&s, r)[i]; }"#,
        r#"out[i] = cluster.map_shared_rank(&s, me - 1)[i];"#,
        r#"out[i] = cluster.map_shared_rank(&s, me + 1)[i];"#,
        r#"let mut r = 0; while r <= nb { out[i] += cluster.map_shared_rank(&s, r)[i]; r += 1; }"#,
        r#"let prev = me - 1; if i < 32 { out[i] = cluster.map_shared_rank(&s, prev)[i]; }"#,
        r#"for k in 1..nb { let p = me + k; out[i] += cluster.map_shared_rank(&s, p)[i]; }"#,
        r#"let peer = |k: u32| me + k; out[i] = cluster.map_shared_rank(&s, peer(2))[i];"#,
    ] {
        assert_eq!(in_cluster(body), ["rank_out_of_range"], "{body}");
    }
    for body in [
        r#"let p = cluster.map_shared_rank(&s, (me + nb - 1) % nb); out[i] = p[i];"#,
        r#"for r in 1..nb { out[i] += cluster.map_shared_rank(&s, r)[i]; }"#,
        r#"if me > 0 { out[i] = cluster.map_shared_rank(&s, me - 1)[i]; }"#,
        r#"if me + 1 < nb { out[i] = cluster.map_shared_rank(&s, me + 1)[i]; }"#,
        r#"let mut r = 0; while r < nb { out[i] += cluster.map_shared_rank(&s, r)[i]; r += 1; }"#,
        r#"let prev = if me == 0 { nb - 1 } else { me - 1 }; out[i] = cluster.map_shared_rank(&s, prev)[i];"#,
        r#"for k in 1..nb { let p = (me + k) % nb; out[i] += cluster.map_shared_rank(&s, p)[i]; }"#,
        r#"out[i] = cluster.map_shared_rank(&s, n)[i];"#,
        r#"out[i] = cluster.map_shared_rank(&s, me ^ 1)[i];"#,
        r#"out[i] = cluster.map_shared_rank(&s, nb - 1 - me)[i];"#,
    ] {
        assert!(in_cluster(body).is_empty(), "{body}: {:?}", in_cluster(body));
    }
}

/// Two blocks that access an element of a third one, one of them by a write, are ordered.
#[test]
fn two_peers() {
    for body in [
        r#"cluster.map_shared_rank(&s, me / 2)[i] = me;"#,
        r#"if me == 1 || me == 2 { cluster.map_shared_rank(&s, 0)[i] = me; }"#,
        r#"let p = cluster.map_shared_rank(&s, 0); if me == 1 { p[i] = 1; } if me == 3 { p[63 - i] = 1; }"#,
        r#"let p = cluster.map_shared_rank(&s, (me + 1) & 2); p[i] = me;"#,
    ] {
        assert_eq!(in_cluster(body), ["unordered_remote_write"], "{body}");
    }
    for body in [
        r#"cluster.map_shared_rank(&s, (me + 1) % 4)[i] = me;"#,
        r#"if me == 1 || me == 2 { cluster.map_shared_rank(&s, 0)[(me - 1) * 32 + i / 2] = me; }"#,
        r#"let p = cluster.map_shared_rank(&s, 0); if me == 1 { p[i] = 1; } cluster.sync(); if me == 3 { p[63 - i] = 1; }"#,
    ] {
        assert!(in_cluster(body).is_empty(), "{body}: {:?}", in_cluster(body));
    }
}

/// Each thread changes an element in the memory of a block that data select: if there are fewer of these than threads, two meet.
#[test]
fn a_crowd_in_the_memory_of_several_blocks() {
    let changes = |length: u32, change: &str| {
        in_cluster(&format!(
            "let few = shared_array::<u32, {length}>(); if i == 0 {{ few[0] = 0; }} cluster.sync();
            let (to, at) = (input[i] % 4, input[i + 64] % {length}); let p = cluster.map_shared_rank(&few, to); {change}"
        ))
    };
    for change in
        ["p[at] += i;", "let old = p[at]; p[at] = old + i;", "let old = p[at]; let new = old * 3 + i; p[at] = new;"]
    {
        assert_eq!(changes(1, change), ["unsynchronized_access"], "{change}");
        assert_eq!(changes(15, change), ["unsynchronized_access"], "{change}");
        assert_eq!(changes(16, change), ["unordered_remote_write"], "{change}");
        assert_eq!(changes(63, change), ["unordered_remote_write"], "{change}");
        // All data may be alike.
        assert_eq!(changes(64, change), ["unsynchronized_access"], "{change}");
    }
    for change in ["p.atomic(at).fetch_add(i, Relaxed);", "if input[i] > 3 { p[at] += i; }"] {
        assert!(changes(15, change).is_empty(), "{change}");
    }
    assert_eq!(changes(15, "if i < 4 { p[at] += i; }"), ["unsynchronized_access"]);
    // An index that changes in between is another one.
    assert!(changes(1, "let mut k = at; let old = p[k]; k = input[old]; p[k] = i;").is_empty());
}

/// A peer pushes into one of two buffers that swap: not into the one that its owner reads.
#[test]
fn a_peer_and_the_owner() {
    let pushes = |into: &str, at: u32| {
        in_cluster(&format!(
            "let u = shared_array::<u32, 64>(); u[i] = 1; let (mut cur, mut next) = (&s, &u); cluster.sync();
            for k in 0..n {{
                if i < 62 {{ next[i] = cur[i] + cur[i + 1]; }}
                if i == 0 && me > 0 {{ cluster.map_shared_rank(&{into}, me - 1)[{at}] = k; }}
                cluster.sync(); std::mem::swap(&mut cur, &mut next);
            }}"
        ))
    };
    assert_eq!(pushes("cur", 62), ["unordered_remote_write"]);
    assert_eq!(pushes("next", 61), ["unordered_remote_write"]);
    assert!(pushes("next", 62).is_empty());
    assert!(pushes("cur", 63).is_empty());
}

fn in_bulk(body: &str) -> Vec<String> {
    let head = "let i = t; let s = shared_array::<u32, 128>(); let bar = shared_barrier(); if i == 0 { bar.init(1); } block.sync();";
    of("block = 128", head, body)
}

/// A bulk copy has a multiple of 16 bytes, and begins at one in shared memory.
#[test]
fn sizes_of_bulk_copies() {
    let copy = |numbers: &str, range: &str, count: &str| {
        in_bulk(&format!(
            "{numbers} if i == 0 {{ bar.expect_tx({count} * 4); bulk_copy_async(&s[{range}], &input[..{count}], &bar); let _ = bar.arrive(); }}
             bar.wait_parity(false);"
        ))
    };
    for (numbers, range, count) in [
        ("let len = 25;", "..len", "len"),
        ("", "1..17", "16"),
        ("let first = 3;", "first..first + 16", "16"),
        ("let (first, len) = (4, 6);", "first..first + len", "len"),
        ("let mut len = 7; len += 4;", "0..len", "len"),
    ] {
        assert_eq!(copy(numbers, range, count), ["copy_length"], "{numbers} {range}");
    }
    for (numbers, range, count) in [
        ("let len = 24;", "..len", "len"),
        ("", "4..20", "16"),
        ("let first = 8;", "first..first + 16", "16"),
        ("let (first, len) = (4, 8);", "first..first + len", "len"),
        ("let len = n;", "0..len", "len"),
    ] {
        assert!(copy(numbers, range, count).is_empty(), "{numbers} {range}: {:?}", copy(numbers, range, count));
    }
}

/// An atomic update of what nobody has written reads it.
#[test]
fn updates_of_nothing() {
    let head = "let i = t; let s = shared_array::<u32, 128>();";
    for body in [
        "s.atomic(i).fetch_add(1, Relaxed); block.sync(); out[i] = s[i];",
        "if i == 0 { s.atomic(0).fetch_max(input[0], Relaxed); }",
        "for k in 0..4u32 { s.atomic((i + k) % 128).fetch_add(1, Relaxed); } block.sync(); out[i] = s[i];",
        "s.atomic(i).scope(Scope::Block).fetch_add(1, Relaxed);",
        "let old = s.atomic(i).compare_exchange(0, 1, Relaxed, Relaxed); if old.is_ok() { out[i] = 1; }",
    ] {
        assert_eq!(of("block = 128", head, body), ["uninit_shared_read"], "{body}");
    }
    for body in [
        "s[i] = 0; block.sync(); s.atomic(i).fetch_add(1, Relaxed);",
        "s.atomic(i).store(0, Relaxed); block.sync(); s.atomic(i).fetch_add(1, Relaxed);",
        "s.atomic(i).swap(0, Relaxed); block.sync(); s.atomic(i).fetch_add(1, Relaxed);",
        "memcpy_async(&block, &s, &input[..128]); block.wait_async(); s.atomic(i).fetch_add(1, Relaxed);",
        "fill(&s); block.sync(); s.atomic(i).fetch_add(1, Relaxed);",
    ] {
        assert!(of("block = 128", head, body).is_empty(), "{body}: {:?}", of("block = 128", head, body));
    }
}

/// Constants of the file and bodies of its functions are followed.
#[test]
fn what_the_file_shows() {
    let file = |sync: &str| {
        format!(
            "const N: u32 = 128;
            #[device] fn step(s: &SharedArray<u32, 128>, t: u32, d: u32) {{ if t < d {{ s[t] += s[t + d]; }} }}
            #[cluster_kernel(block = N)] fn sums(input: &[u32], out: &mut [u32]) {{
                let block = this_thread_block(); let t = block.thread_rank(); let s = shared_array::<u32, 128>();
                s[t] = input[t]; block.sync(); let mut d = N / 2;
                while d > 0 {{ step(&s, t, d); {sync} d /= 2; }}
                if t == 0 {{ out[0] = s[0]; }}
            }}"
        )
    };
    let found =
        |sync: &str| session().check_file(&file(sync)).iter().map(|fault| fault.rule().name()).collect::<Vec<_>>();
    assert_eq!(found(""), ["unsynchronized_access"]);
    assert!(found("block.sync();").is_empty());
}

/// A barrier expects the bytes that all copies to it bring. Arrivals whose tokens are forgotten keep rings from being followed.
#[test]
fn bytes_of_copies() {
    const SYNC: &str = "cluster.sync();";
    const SPLIT: &str = "cluster.sync(); let own = block.barrier_arrive(); if t < 32 { block.barrier_wait(own); } else { own.forget(); }";
    let sent = |expected: &str, send: &str, barrier: &str| {
        let head = "let cluster = this_cluster(); let s = shared_array::<u32, 64>(); let bars = shared_cluster_barriers::<2>();
            if t == 0 { bars[0].init(1); bars[1].init(1); } cluster.sync();
            let next = (cluster.block_rank() + 1) % 4; let there = cluster.map_shared_rank(&s, next);
            let full = cluster.map_shared_rank(&bars[0], next);";
        let body = format!(
            "if t == 0 {{ bars[0].expect_tx({expected}); let _ = bars[0].arrive(); }} {send} bars[0].wait_parity(false); out[t] = s[t];
             {barrier}"
        );
        of("cluster = 4, block = 64", head, &body)
    };
    for (expected, send) in [
        ("64", "there.store_async(t, 7, &full);"),
        ("256", "if t < 32 { there.store_async(t, 7, &full); }"),
        ("256", "there.store_async(t, 7, &cluster.map_shared_rank(&bars[t / 63], next));"),
        ("4 * 32", "for k in 0..2u32 { if t < 32 { there.store_async(k * 32 + t, 7, &full); } }"),
        ("2 * 256", "there.store_async(t, 7, &full);"),
    ] {
        assert_eq!(sent(expected, send, SYNC), ["ring_deadlock"], "{expected} {send}");
        assert_eq!(sent(expected, send, SPLIT), ["ring_count"], "{expected} {send}");
    }
    // It is made ready for a round that does not come.
    let ready = "if t == 0 { bars[0].expect_tx(256); let _ = bars[0].arrive(); }";
    assert_eq!(sent("256", "there.store_async(t, 7, &full);", &format!("{ready} {SPLIT}")), [""; 0]);
    assert_eq!(sent("512", "there.store_async(t, 7, &full);", &format!("{ready} {SPLIT}")), ["ring_count"]);
    for (expected, send) in [
        ("256", "there.store_async(t, 7, &full);"),
        ("128", "if t < 32 { there.store_async(t, 7, &full); }"),
        ("4 * 64", "for k in 0..2u32 { if t < 32 { there.store_async(k * 32 + t, 7, &full); } }"),
    ] {
        for barrier in [SYNC, SPLIT] {
            let found = sent(expected, send, barrier);
            assert!(found.is_empty(), "{expected} {send}: {found:?}");
        }
    }
}

/// A fault that is waived hides no other.
#[test]
fn waived_in_a_block() {
    let with = |rest: &str| {
        in_block(&format!(
            "s[t] = input[t]; #[unchecked(unsynchronized_access)] unsafe {{ out[t] = s[t ^ 1]; }} {rest}"
        ))
    };
    assert!(with("").is_empty(), "{:?}", with(""));
    assert_eq!(with("out[t] = s[127 - t];"), ["unsynchronized_access"]);
}

/// Small blocks of many that meet: few threads of each are followed, and a block may have fewer than a warp.
#[test]
fn small_blocks_of_a_cluster() {
    for threads in [9, 16, 24, 31, 33, 40] {
        let kernel = |barrier: &str| {
            rules(&format!(
                "#[cluster_kernel(cluster = 4, block = {threads})] fn halo(input: &[u32], out: &mut [u32]) {{
                    let (cluster, block) = (this_cluster(), this_thread_block());
                    let (rank, t) = (cluster.block_rank(), block.thread_rank());
                    let s = shared_array::<u32, 64>();
                    s[t] = input[t]; cluster.sync();
                    out[t] = cluster.map_shared_rank(&s, (rank + 1) % 4)[t]; {barrier}
                }}"
            ))
        };
        assert_eq!(kernel("cluster.sync();"), [""; 0], "{threads}");
        assert_eq!(kernel(""), ["exit_before_peers_done"], "{threads}");
    }
}
