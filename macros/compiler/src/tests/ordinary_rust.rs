//! Tests of what the checks see through constructs that are rewritten: options of references, parts of local arrays, functions by path.

use super::rules;

/// Returns the rules that a kernel of one block of 64 threads with this body breaks.
#[track_caller]
fn broken(body: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(block = 64)]
        fn ordinary(input: &[u32], output: &mut [u32], n: u32) {{
            let block = this_thread_block();
            let rank = block.thread_rank();
            let tile = shared_array::<u32, 64>();
            {body}
        }}"
    ))
}

/// Each is a barrier that only some threads reach, beside one that all of them do.
#[test]
fn what_decides_a_barrier() {
    for (of_thread, of_block) in [
        (
            "let v = [n, rank]; if let Some(&x) = v.get(1) && x > 3 { S }",
            "let v = [n, 2]; if let Some(&x) = v.get(1) && x > 3 { S }",
        ),
        (
            "let v = [n, 2]; if let Some(x) = v.get(rank as usize) { S }",
            "let v = [n, 2]; if let Some(x) = v.get(n as usize) { S }",
        ),
        (
            "let v = [n, rank]; let Some(x) = v.first() else { return }; let y = v.last().unwrap(); if *x + *y > 3 { S }",
            "let v = [n, 2]; let Some(x) = v.first() else { return }; let y = v.last().unwrap(); if *x + *y > 3 { S }",
        ),
        (
            "let v = [n, rank]; if v.iter().filter(|x| matches!(x, 3..)).count() > 1 { S }",
            "let v = [n, 2]; if v.iter().filter(|x| matches!(x, 3..)).count() > 1 { S }",
        ),
        (
            "let v = [n, rank]; if v.iter().copied().max().unwrap() > 3 { S }",
            "let v = [n, 2]; if v.iter().copied().max().unwrap() > 3 { S }",
        ),
        (
            "let mut v = [n, 2]; v[0].raise(rank); if v[0] > 3 { S }",
            "let mut v = [n, 2]; v[0].raise(n); if v[0] > 3 { S }",
        ),
        ("if input.get(rank).is_none() { S }", "if input.get(n).is_none() { S }"),
        (
            "let v = [n, rank]; if v.get(1).map_or(0, |&x| x) > 3 { S }",
            "let v = [n, 2]; if v.get(1).map_or(0, |&x| x) > 3 { S }",
        ),
        (
            "let v = [n, 2]; if *v.get(n as usize).unwrap_or(&rank) > 3 { S }",
            "let v = [n, 2]; if *v.get(n as usize).unwrap_or(&5) > 3 { S }",
        ),
        (
            "let v = [n, rank]; match v.get(n as usize) { Some(&q) if q > 3 => { S } _ => {} }",
            "let v = [n, 2]; match v.get(n as usize) { Some(&q) if q > 3 => { S } _ => {} }",
        ),
        (
            "let v = [n, rank]; if *v.iter().max().unwrap() > 3 { S }",
            "let v = [n, 2]; if *v.iter().max().unwrap() > 3 { S }",
        ),
        (
            "let v = [n, rank]; if v.iter().max_by(|a, b| a.cmp(b)).is_some_and(|x| *x > 3) { S }",
            "let v = [n, 2]; if v.iter().max_by(|a, b| a.cmp(b)).is_some_and(|x| *x > 3) { S }",
        ),
        (
            "let v = [n, 2]; if v.iter().copied().nth(rank as usize).is_some() { S }",
            "let v = [n, 2]; if v.iter().copied().nth(n as usize).is_some() { S }",
        ),
        ("if std::cmp::max(rank, 3) > 4 { S }", "if std::cmp::max(n, 3) > 4 { S }"),
        (
            "let v = [n, rank]; let mut it = v.iter(); it.next(); if *it.next().unwrap() > 3 { S }",
            "let v = [n, 2]; let mut it = v.iter(); it.next(); if *it.next().unwrap() > 3 { S }",
        ),
        (
            "let v = [n, 2]; let mut it = v.iter(); if rank > 3 { it.next(); } if it.nth(1).is_some() { S }",
            "let v = [n, 2]; let mut it = v.iter(); if n > 3 { it.next(); } if it.nth(1).is_some() { S }",
        ),
        (
            "let v = [n, rank]; let mut it = v.iter().rev(); while let Some(&x) = it.next() { if x > 3 { S } }",
            "let v = [n, 2]; let mut it = v.iter().rev(); while let Some(&x) = it.next() { if x > 3 { S } }",
        ),
        (
            "let v = [n, rank]; let mut it = v.iter().copied().peekable(); if it.peek().is_some_and(|&x| x > 3) { S }",
            "let v = [n, 2]; let mut it = v.iter().copied().peekable(); if it.peek().is_some_and(|&x| x > 3) { S }",
        ),
        (
            "let v = [n, 2]; let mut it = v.iter(); if rank > 3 { it.next(); } for x in it { S }",
            "let v = [n, 2]; let mut it = v.iter(); if n > 3 { it.next(); } for x in it { S }",
        ),
        (
            "let mut r = 0..rank; r.next(); if r.next().is_some() { S }",
            "let mut r = 0..n; r.next(); if r.next().is_some() { S }",
        ),
        ("for k in 0.. { if k > rank { break; } S }", "for k in 0.. { if k > n { break; } S }"),
        (
            "let v = [n, rank]; let w = &v[..]; if let Some((&x, rest)) = w.split_first() { if x > 3 { S } }",
            "let v = [n, 2]; let w = &v[..]; if let Some((&x, rest)) = w.split_first() { if x > 3 { S } }",
        ),
        (
            "let w = &input[rank as usize..]; match w.split_last() { None => {} Some((x, rest)) => { S } }",
            "let w = &input[n as usize..]; match w.split_last() { None => {} Some((x, rest)) => { S } }",
        ),
        ("let x = const { 3 + 4 } + rank; if x > 3 { S }", "let x = const { 3 + 4 } + n; if x > 3 { S }"),
        (
            "for (x, k) in [n, 2].iter().zip(rank..) { if x + k > 3 { S } }",
            "for (x, k) in [n, 2].iter().zip(n..) { if x + k > 3 { S } }",
        ),
        (
            "for (k, x) in [n, rank].iter().filter(|x| **x > 3).enumerate() { S }",
            "for (k, x) in [n, 2].iter().filter(|x| **x > 3).enumerate() { S }",
        ),
        (
            "let v = [n, rank]; if v.iter().scan(0, |t, x| { *t += x; Some(*t) }).max().unwrap_or(0) > 3 { S }",
            "let v = [n, 2]; if v.iter().scan(0, |t, x| { *t += x; Some(*t) }).max().unwrap_or(0) > 3 { S }",
        ),
        (
            "for x in [n, 2, 3].iter().map(|x| x + 1).step_by(rank as usize + 1) { S }",
            "for x in [n, 2, 3].iter().map(|x| x + 1).step_by(n as usize + 1) { S }",
        ),
        (
            "let mut v = [n, rank]; v.sort_by(|a, b| b.cmp(a)); if v[0] > 3 { S }",
            "let mut v = [n, 2]; v.sort_by(|a, b| b.cmp(a)); if v[0] > 3 { S }",
        ),
        (
            "let mut v = [n, rank, 3]; v.sort_by_key(|x| { S x % 7 });",
            "let mut v = [n, 2, 3]; v.sort_by_key(|x| { S x % 7 });",
        ),
        (
            "let mut v = [n, rank, 3]; v.copy_within(1..2, 0); if v[0] > 3 { S }",
            "let mut v = [n, 2, 3]; v.copy_within(1..2, 0); if v[0] > 3 { S }",
        ),
        (
            "let small: Result<u8, _> = rank.try_into(); if small.is_ok() { S }",
            "let small: Result<u8, _> = n.try_into(); if small.is_ok() { S }",
        ),
        (
            "if let Some(part) = input.get(rank as usize..rank as usize + 2) { S }",
            "if let Some(part) = input.get(n as usize..n as usize + 2) { S }",
        ),
        (
            "let part = if rank > 3 { &input[1..] } else { input }; if part.len() > 3 { S }",
            "let part = if n > 3 { &input[1..] } else { input }; if part.len() > 3 { S }",
        ),
        ("if b\"GATC\"[rank as usize % 4] == b'A' { S }", "if b\"GATC\"[n as usize % 4] == b'A' { S }"),
        (
            "let pair = (n, rank); let r = &pair; if let (_, 3) = r { S }",
            "let pair = (n, 2); let r = &pair; if let (_, 3) = r { S }",
        ),
        (
            "let v = [n, 2, rank]; let [a, rest @ ..] = v; if rest[1] > 3 { S }",
            "let v = [n, 2, 3]; let [a, rest @ ..] = v; if rest[1] > 3 { S }",
        ),
        (
            "let v = [[n, rank]]; for [a, b] in &v { if *b > 3 { S } }",
            "let v = [[n, 2]]; for [a, b] in &v { if *b > 3 { S } }",
        ),
        (
            "let v = [n, 2, rank]; let w = &v[1..]; if w[1] > 3 { S }",
            "let v = [n, 2, 3]; let w = &v[1..]; if w[1] > 3 { S }",
        ),
        (
            "let v = [n, 2, 3]; let w = &v[rank as usize % 2..]; if w[0] > 3 { S }",
            "let v = [n, 2, 3]; let w = &v[n as usize % 2..]; if w[0] > 3 { S }",
        ),
        (
            "let v = [n, 2, 3]; let w = &v[rank as usize % 2..]; if w.len() > 2 { S }",
            "let v = [n, 2, 3]; let w = &v[n as usize % 2..]; if w.len() > 2 { S }",
        ),
        (
            "let mut v = [n; 4]; for c in v.chunks_exact_mut(2) { c[1] = rank; } if v[1] > 3 { S }",
            "let mut v = [n; 4]; for c in v.chunks_exact_mut(2) { c[1] = 2; } if v[1] > 3 { S }",
        ),
        (
            "let mut v = [n; 4]; v[2..].fill(rank); if v[3] > 3 { S }",
            "let mut v = [n; 4]; v[2..].fill(n); if v[3] > 3 { S }",
        ),
        (
            "let mut v = [n; 4]; v[1..].copy_from_slice(&[rank; 3]); if v[3] > 3 { S }",
            "let mut v = [n; 4]; v[1..].copy_from_slice(&[n; 3]); if v[3] > 3 { S }",
        ),
        (
            "let mut v = [n; 4]; v.rotate_left(rank as usize % 4); if v[3] > 3 { S }",
            "let mut v = [n; 4]; v.rotate_left(n as usize % 4); if v[3] > 3 { S }",
        ),
        (
            "let v = [n, rank]; for w in v.windows(2) { if w[1] > 3 { S } }",
            "let v = [n, 2]; for w in v.windows(2) { if w[1] > 3 { S } }",
        ),
        (
            "let v = [n, rank, 3, 4]; let (a, b) = v.split_at(2); if a[1] + b[0] > 3 { S }",
            "let v = [n, 2, 3, 4]; let (a, b) = v.split_at(2); if a[1] + b[0] > 3 { S }",
        ),
        (
            "let v = [n, rank]; if v[..2].iter().sum::<u32>() > 3 { S }",
            "let v = [n, 2]; if v[..2].iter().sum::<u32>() > 3 { S }",
        ),
        ("if [n, rank] == [n, 3] { S }", "if [n, 4] == [n, 3] { S }"),
        (
            "let v = [n, rank]; if let Some(x) = v.get(1) && *x > 3 { S }",
            "let v = [n, 2]; if let Some(x) = v.get(1) && *x > 3 { S }",
        ),
        (
            "let v = [n, rank]; match v.get(1) { Some(k) if *k > 3 => { S } _ => {} }",
            "let v = [n, 2]; match v.get(1) { Some(k) if *k > 3 => { S } _ => {} }",
        ),
        (
            "let v = [n, rank]; if matches!(v.get(1), Some(0..=3)) { S }",
            "let v = [n, 2]; if matches!(v.get(1), Some(0..=3)) { S }",
        ),
        ("let p = (n, rank); let (a, b) = &p; if *b > 3 { S }", "let p = (n, 2); let (a, b) = &p; if *b > 3 { S }"),
        (
            "let p = (n, rank); match &p { (_, b) if *b > 3 => { S } _ => {} }",
            "let p = (n, 2); match &p { (_, b) if *b > 3 => { S } _ => {} }",
        ),
        (
            "let mut v = [n; 4]; if let Some(x) = v.get_mut(1) { *x = rank; } if v[1] > 3 { S }",
            "let mut v = [n; 4]; if let Some(x) = v.get_mut(1) { *x = 2; } if v[1] > 3 { S }",
        ),
        (
            "let mut v = [n; 4]; if let Some(x) = v.get_mut(rank) { *x = 2; } if v[1] > 3 { S }",
            "let mut v = [n; 4]; if let Some(x) = v.get_mut(n) { *x = 2; } if v[1] > 3 { S }",
        ),
        (
            "let mut v = [n; 4]; let (a, b) = v.split_at_mut(2); b[1] = rank; if v[3] > 3 { S }",
            "let mut v = [n; 4]; let (a, b) = v.split_at_mut(2); b[1] = 2; if v[3] > 3 { S }",
        ),
        ("let r = 0..rank; if r.contains(&3) { S }", "let r = 0..n; if r.contains(&3) { S }"),
        ("let r = 0..rank; for i in r.clone() { S }", "let r = 0..n; for i in r.clone() { S }"),
        ("let r = 1..=rank; for i in r.rev() { S }", "let r = 1..=n; for i in r.rev() { S }"),
        ("let r = 0..rank; if r.len() > 2 || r.is_empty() { S }", "let r = 0..n; if r.len() > 2 || r.is_empty() { S }"),
        ("if u8::try_from(rank).is_ok() { S }", "if u8::try_from(n).is_ok() { S }"),
        ("if let Ok(x) = u8::try_from(rank) && x > 3 { S }", "if let Ok(x) = u8::try_from(n) && x > 3 { S }"),
        (
            "match u8::try_from(rank) { Ok(x) if x > 3 => { S } Ok(_) | Err(_) => {} }",
            "match u8::try_from(n) { Ok(x) if x > 3 => { S } Ok(_) | Err(_) => {} }",
        ),
        (
            "match rank as f32 { 0.0..=3.0 => { S } 4.0 | 5.0..6.0 => {} _ => {} }",
            "match n as f32 { 0.0..=3.0 => { S } 4.0 | 5.0..6.0 => {} _ => {} }",
        ),
        ("use std::cmp::max; if max(rank, 3) > 4 { S }", "use std::cmp::max; if max(n, 3) > 4 { S }"),
        (
            "use std::mem::{self, swap}; let (mut a, mut b) = (n, rank); swap(&mut a, &mut b); mem::swap(&mut n, &mut b); if a > 3 { S }",
            "use std::mem::{self, swap}; let (mut a, mut b) = (n, 2); swap(&mut a, &mut b); mem::swap(&mut n, &mut b); if a > 3 { S }",
        ),
        ("if rank.cmp(&3).then_with(|| n.cmp(&3)).is_gt() { S }", "if n.cmp(&3).then_with(|| n.cmp(&4)).is_gt() { S }"),
        (
            "let v = [n, 2]; for (k, x) in v.iter().map(|x| x + rank).enumerate() { if x > 3 { S } }",
            "let v = [n, 2]; for (k, x) in v.iter().map(|x| x + n).enumerate() { if x > 3 { S } }",
        ),
        (
            "let v = [[n, rank]; 2]; if v.iter().flatten().any(|x| *x == 7) { S }",
            "let v = [[n, 2]; 2]; if v.iter().flatten().any(|x| *x == 7) { S }",
        ),
        (
            "let v = [n, rank]; if (0..2).flat_map(|i| (0..2).map(move |j| v[i] + j)).sum::<u32>() > 3 { S }",
            "let v = [n, 2]; if (0..2).flat_map(|i| (0..2).map(move |j| v[i] + j)).sum::<u32>() > 3 { S }",
        ),
        (
            "let v = [n, 2]; match (v.get(0), v.get(rank as usize)) { (Some(&a), Some(b)) if a > *b => { S } _ => {} }",
            "let v = [n, 2]; match (v.get(0), v.get(n as usize)) { (Some(&a), Some(b)) if a > *b => { S } _ => {} }",
        ),
        (
            "let mut count = 0; each(n, |x| count += x + rank); if count > 3 { S }",
            "let mut count = n; each(n, |x| output[0] = x); if count > 3 { S }",
        ),
        (
            "use std::mem::swap as exchange; let (mut a, mut b) = (n, rank); exchange(&mut a, &mut b); if a > 3 { S }",
            "use std::mem::swap as exchange; let (mut a, mut b) = (n, 2); exchange(&mut a, &mut b); if a > 3 { S }",
        ),
        (
            "let mut v = [[n, rank]; 2]; let [a, b] = &mut v; a[0] = b[1]; if a[0] > 3 { S }",
            "let mut v = [[n, 2]; 2]; let [a, b] = &mut v; a[0] = b[1]; if a[0] > 3 { S }",
        ),
        (
            "let mut v = [n, rank]; let (a, b) = v.split_at_mut(1); for (x, y) in a.iter_mut().zip(b.iter_mut()) { *x = *y; } if v[0] > 3 { S }",
            "let mut v = [n, 2]; let (a, b) = v.split_at_mut(1); for (x, y) in a.iter_mut().zip(b.iter_mut()) { *x = *y; } if v[0] > 3 { S }",
        ),
        (
            "let v = [n, rank]; if v.iter().filter_map(|x| x.checked_sub(3)).count() > 1 { S }",
            "let v = [n, 2]; if v.iter().filter_map(|x| x.checked_sub(3)).count() > 1 { S }",
        ),
        (
            "let v = [n, 2]; let r = v.get(rank as usize); if let Some(x) = r { S }",
            "let v = [n, 2]; let r = v.get(n as usize); if let Some(x) = r { S }",
        ),
        (
            "let v = [n, rank]; let r = v.get(1); match r { Some(x) if *x > 3 => { S } _ => {} }",
            "let v = [n, 2]; let r = v.get(1); match r { Some(x) if *x > 3 => { S } _ => {} }",
        ),
        (
            "let v = [n, rank, 3]; for w in v.windows(2) { if let [a, b] = w && a < b { S } }",
            "let v = [n, 2, 3]; for w in v.windows(2) { if let [a, b] = w && a < b { S } }",
        ),
        (
            "let v = [n, rank, 3]; let w = &v[1..]; match w { [5, rest @ ..] if n > 3 => {} [first, ..] if *first > 3 => { S } _ => {} }",
            "let v = [n, 2, 3]; let w = &v[1..]; match w { [5, rest @ ..] if n > 3 => {} [first, ..] if *first > 3 => { S } _ => {} }",
        ),
        ("let v = [n, rank]; if v[..] == [3, 4] { S }", "let v = [n, 2]; if v[..] == [3, 4] { S }"),
        (
            "let v = [n, rank]; let it = v.iter().map(|x| x + 1); if it.sum::<u32>() > 3 { S }",
            "let v = [n, 2]; let it = v.iter().map(|x| x + 1); if it.sum::<u32>() > 3 { S }",
        ),
        (
            "let v = [n, 2]; let w = [rank]; if v.iter().chain(&w).any(|x| *x == 7) { S }",
            "let v = [n, 2]; let w = [n]; if v.iter().chain(&w).any(|x| *x == 7) { S }",
        ),
        (
            "let v = [n, 2]; if v.iter().map(|x| x + 1).take(rank as usize).sum::<u32>() > 3 { S }",
            "let v = [n, 2]; if v.iter().map(|x| x + 1).take(n as usize).sum::<u32>() > 3 { S }",
        ),
        (
            "let r: Result<u32, u32> = if rank > 3 { Ok(n) } else { Err(n) }; if r.is_ok() { S }",
            "let r: Result<u32, u32> = if n > 3 { Ok(n) } else { Err(n) }; if r.is_ok() { S }",
        ),
        (
            "let r: Result<u32, u32> = if rank > 3 { Ok(n) } else { Err(n) }; match r { Ok(x) => { S } Err(_) => {} }",
            "let r: Result<u32, u32> = if n > 3 { Ok(n) } else { Err(n) }; match r { Ok(x) => { S } Err(_) => {} }",
        ),
        (
            "let r: Result<u32, u32> = Ok(rank); match r { Ok(x) if x > 3 => { S } _ => {} }",
            "let r: Result<u32, u32> = Ok(n); match r { Ok(x) if x > 3 => { S } _ => {} }",
        ),
        (
            "let r: Result<u32, u32> = if n > 3 { Ok(2) } else { Err(rank) }; if let Err(e) = r && e > 3 { S }",
            "let r: Result<u32, u32> = if n > 3 { Ok(2) } else { Err(n) }; if let Err(e) = r && e > 3 { S }",
        ),
        (
            "let r: Result<u32, u32> = Some(rank).filter(|x| x % 2 == 0).ok_or(n); if r.is_err() { S }",
            "let r: Result<u32, u32> = Some(n).filter(|x| x % 2 == 0).ok_or(n); if r.is_err() { S }",
        ),
        (
            "let v = [n, rank]; if v.binary_search(&3).is_ok() { S }",
            "let v = [n, 2]; if v.binary_search(&3).is_ok() { S }",
        ),
    ] {
        let with = |body: &str| broken(&body.replace('S', "block.sync();").replace("block.sync();ome", "Some"));
        assert_eq!(with(of_thread), ["divergent_collective"], "{of_thread}");
        assert!(with(of_block).is_empty(), "{of_block}: {:?}", with(of_block));
    }
}

/// A read by way of an option is one of the memory.
#[test]
fn reads_of_memory() {
    let copied = "memcpy_async(&block, &tile, &input[..64]);";
    for read in [
        "if let Some(&x) = tile.get(3) { output[0] = x; }",
        "output[0] = *tile.first().unwrap();",
        "output[0] = tile.get(3).map_or(0, |&x| x);",
        "output[0] = *tile.iter().max().unwrap();",
        "let mut v = [0; 64]; v.copy_from_slice(&tile); output[0] = v[3];",
    ] {
        assert_eq!(broken(&format!("{copied} {read} block.wait_async();")), ["copy_in_flight"], "{read}");
        let waited = broken(&format!("{copied} block.wait_async(); block.sync(); {read}"));
        assert!(waited.is_empty(), "{read}: {waited:?}");
        assert_eq!(broken(read), ["uninit_shared_read"], "{read}");
    }
}

/// The closure that fills an array is a loop's body; any other is called by somebody else.
#[test]
fn collectives_in_closures() {
    let warp = "let warp = tiled_partition::<32>(&block);";
    for (body, rules) in [
        ("let v: [u32; 4] = std::array::from_fn(|k| warp.shfl_xor(rank, 1 << k));", &[][..]),
        ("let v: [u32; 4] = std::array::from_fn(|k| { block.sync(); rank });", &[]),
        (
            "let v: [u32; 4] = std::array::from_fn(|k| if rank > 3 { block.sync(); 1 } else { 2 });",
            &["divergent_collective"],
        ),
        ("let v = std::array::from_fn::<u32, 4, _>(|k| warp.shfl_xor(rank, 1 << k));", &["collective_in_closure"]),
        ("let v: [u32; 4] = made(std::array::from_fn(|k| warp.shfl_xor(rank, 1)));", &["collective_in_closure"]),
        ("let v: [u32; 4] = made(|k| warp.shfl_xor(rank, 1));", &["collective_in_closure"]),
        (
            "let v: [u32; 4] = std::array::from_fn(|k| { let f = |x: u32| warp.shfl_xor(x, 1); f(rank) });",
            &["collective_in_closure"],
        ),
    ] {
        assert_eq!(broken(&format!("{warp} {body}")), rules, "{body}");
    }
}

/// A part of an array is used by its elements, and an iterator where it is written.
#[test]
fn what_is_no_value() {
    for (body, rule) in [
        ("let v = [n; 4]; let w = &v[1..]; let x = *w;", "part_of_memory"),
        ("let v = [n; 4]; let w = &v[1..]; let f = |k: usize| w[k] + *w;", "part_of_memory"),
        ("let mut v = [[n; 4]; 2]; let (a, b) = v[1].split_at_mut(2); a[0] = b[0];", "part_of_memory"),
        ("let v = [n; 4]; let it = v.iter();", "unsupported_loop"),
        ("for w in input.iter().zip(1..) {}", "unsupported_loop"),
        ("let t = [n; 2].iter().scan(0, |t, x| { if *x > 3 { return None; } Some(*t) }).count();", "unsupported_loop"),
        ("output[0] = input.get(1..).map_or(0, |part| part[0]);", "unknown_method"),
        ("let v = [n; 4]; let it = v.iter(); for x in it {} for x in it {}", "unsupported_loop"),
        ("let v = [n; 4]; let mut it = v.iter(); output[0] = *it.next_back().unwrap();", "unsupported_loop"),
        ("let v = [n; 4]; let mut it = v.iter(); for k in 0..2 { for x in it {} }", "unsupported_loop"),
        ("let v = [n; 4]; let mut it = v.iter(); for x in it {} let y = it.next();", "unsupported_loop"),
        (
            "let v = [n; 4]; let mut k = 3; let it = v.iter().map(move |x| x + k); k = 4; for x in it {}",
            "unsupported_loop",
        ),
        ("let v = [n; 4]; let k = 3; let it = v.iter().map(|x| x + k); let k = 4; for x in it {}", "unsupported_loop"),
        ("match input { [] => {} [x] => {} }", "wrong_kind"),
        ("match input { [x, rest @ ..] if rest.len() > 3 => {} _ => {} }", "wrong_kind"),
        ("for (i, o) in output.iter_mut().enumerate() { let i = 1 - i; *o = n; }", "part_of_memory"),
        ("for o in output.iter_mut() { let output = [n]; *o = output[0]; }", "part_of_memory"),
        ("for o in output.iter_mut() { println!(\"{}\", o); }", "part_of_memory"),
        ("for x in input.iter().zip(input).chain(input.iter().zip(input)) {}", "unsupported_loop"),
        ("let v = [n; 4]; let it = v.windows(2);", "unsupported_loop"),
        ("if let 1.0 = n as f32 {}", "unsupported_pattern"),
        ("match (n as f32, n) { (1.0, 2) | (3, 2.0) => {} _ => {} }", "unsupported_pattern"),
        ("match u8::try_from(n) { Ok(x) => {} Err(error) => {} }", "unsupported_call"),
        ("let mut r = 0..n; output[0] = r.next_back().unwrap();", "unsupported_syntax"),
        ("let r = 0..n; let r = r.start;", "unsupported_syntax"),
    ] {
        assert_eq!(broken(body).first().map(String::as_str), Some(rule), "{body}: {:?}", broken(body));
    }
}
