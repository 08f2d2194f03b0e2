//! The output of kernels: `println!` compared with the host's own `format!`, in the documented order; the messages of
//! assertions and panics, with as many values as they may have.

use phalanx::Launch;
use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, failure, kernel_list, printed, same_text};

fn prints(device: &Device, launch: Launch<'_>, want: &str) -> Outcome {
    let (got, result) = printed(device, || launch.launch(device));
    result?;
    same_text(&got, want)
}

fn fails_with(device: &Device, launch: Launch<'_>, want: &str) -> Outcome {
    let cause = failure(launch.launch(device))?.cause.to_string();
    if cause == want { Ok(()) } else { Err(format!("got  {cause}\n    want {want}").into()) }
}

/// A kernel with a parameter of each type, and a launch of it with values that show what is kept of them.
macro_rules! of_every_type {
    ($name:ident, |$a:ident, $b:ident, $c:ident, $d:ident, $e:ident, $f:ident, $g:ident| $body:expr) => {
        #[allow(clippy::too_many_arguments, reason = "one for each type")]
        #[cluster_kernel]
        fn $name($a: i8, $b: u16, $c: i64, $d: u128, $e: f32, $f: f64, $g: bool) {
            $body
        }
    };
}

of_every_type!(plain, |a, b, c, d, e, f, g| println!("{a} {b} {c} {d} {e} {f} {g}"));
of_every_type!(debug, |a, b, c, d, e, f, g| println!("{a:?}|{b:5?}|{c:#?}|{d:#x?}|{e:?}|{f:.3?}|{g:?}"));
of_every_type!(radix, |a, b, c, d, _e, _f, _g| println!("{a:#x} {a:b} {b:#010b} {b:o} {c:#X} {d:#x} {d:x}"));
of_every_type!(exponents, |_a, b, c, _d, e, f, _g| println!("{b:e} {c:E} {e:+e} {f:e} {f:.2E} {e:e}"));
of_every_type!(widths, |a, b, c, d, e, f, g| {
    println!("[{a:>8}] [{b:<8}] [{c:^30}] [{d:*>45}] [{e:+08.2}] [{f:é^+12.1}] [{g:>7}] [{:}<6}]", b);
});
of_every_type!(counts, |a, b, c, _d, e, f, _g| {
    let w = wide(b);
    let p = 3usize;
    println!("[{:3$}] [{:.*}] [{e:w$.p$}] [{2:>0w$.1$}] [{0:>x$}] [{c:^x$}] [{a:<w$}]", a, 2, f, w, x = p * 8);
});
of_every_type!(arguments, |a, b, c, d, e, f, g| {
    println!("{0} {1:?} {0:x} {x} {} {y:.1} {c} {{{d}}} {{c}} {g}", a as i32, b, x = c - 1, y = e * 2.0 + f as f32);
});

#[device]
fn wide(b: u16) -> usize {
    b as usize % 20
}

fn formats(device: &Device) -> Outcome {
    let cases: [(i8, u16, i64, u128, f32, f64, bool); 4] = [
        (-7, 65535, i64::MIN, u128::MAX, 0.1, 1e300, true),
        (127, 0, -1, 1 << 64, -0.0, f64::NAN, false),
        (i8::MIN, 513, 1_000_000_007, 0, f32::INFINITY, -2.5, true),
        (0, 12, 0, 7, 16_777_216.0, 1.0 / 3.0, false),
    ];
    for (a, b, c, d, e, f, g) in cases {
        macro_rules! check {
            ($kernel:ident, $want:expr) => {
                prints(device, $kernel(a, b, c, d, e, f, g).grid(1).block(1), &($want + "\n"))?
            };
        }
        check!(plain, format!("{a} {b} {c} {d} {e} {f} {g}"));
        check!(debug, format!("{a:?}|{b:5?}|{c:#?}|{d:#x?}|{e:?}|{f:.3?}|{g:?}"));
        check!(radix, format!("{a:#x} {a:b} {b:#010b} {b:o} {c:#X} {d:#x} {d:x}"));
        check!(exponents, format!("{b:e} {c:E} {e:+e} {f:e} {f:.2E} {e:e}"));
        check!(
            widths,
            format!("[{a:>8}] [{b:<8}] [{c:^30}] [{d:*>45}] [{e:+08.2}] [{f:é^+12.1}] [{g:>7}] [{:}<6}]", b)
        );
        let (w, p) = (usize::from(b) % 20, 3);
        check!(
            counts,
            format!("[{:3$}] [{:.*}] [{e:w$.p$}] [{2:>0w$.1$}] [{0:>x$}] [{c:^x$}] [{a:<w$}]", a, 2, f, w, x = 24)
        );
        check!(
            arguments,
            format!(
                "{0} {1:?} {0:x} {x} {} {y:.1} {c} {{{d}}} {{c}} {g}",
                i32::from(a),
                b,
                x = c.wrapping_sub(1),
                y = e * 2.0 + f as f32
            )
        );
    }
    Ok(())
}

#[cluster_kernel(cluster = (2, 1), block = (3, 2))]
fn in_order(rounds: u32) {
    let grid = this_grid();
    let block = this_thread_block();
    let b = grid.block_index();
    let t = block.thread_index();
    for round in 0..rounds {
        println!("block {},{} thread {t} round {round}", b.x, b.y);
        block.sync();
    }
    print!("{}", block.thread_rank());
    print!(" ends");
    println!();
}

/// The order is by block, by thread, and for each thread that of its statements.
fn order(device: &Device) -> Outcome {
    let mut want = String::new();
    for (by, bx) in (0..3).flat_map(|y| (0..4).map(move |x| (y, x))) {
        for (ty, tx) in (0..2).flat_map(|y| (0..3).map(move |x| (y, x))) {
            for round in 0..3 {
                want += &format!("block {bx},{by} thread ({tx},{ty},0) round {round}\n");
            }
            want += &format!("{} ends\n", tx + 3 * ty);
        }
    }
    prints(device, in_order(3).grid((4, 3)), &want)
}

#[device]
fn doubled(values: [u32; 3]) -> u32 {
    println!("{values:?} has {}, the last {}", values.len(), values[2]);
    values[2] * 2
}

#[device]
fn next(at: &mut u32) -> u32 {
    *at += 1;
    *at
}

#[device]
fn shown(at: &u32, by: &mut i64) -> bool {
    println!("{at} {by:+} {}", *by * 2);
    *by -= 1;
    *at > 4
}

/// Prints from device functions, with arguments that have effects, in the order of the source.
#[cluster_kernel(block = 1)]
fn effects(out: &mut [u32]) {
    const LIMIT: u32 = 1 << 20;
    let mut at = 3;
    let mut by = -5i64;
    println!("{} {at} {}", next(&mut at), next(&mut at));
    println!("{} {}", doubled([at, 1, 1]), doubled([7, 8, at]));
    if shown(&at, &mut by) && shown(&at, &mut by) {
        println!("{by} {LIMIT} {} größe \"→\"\t\\", u32::MAX);
    }
    let p = at > 2;
    let q = at > 200;
    println!("{} {} {} {}", p & q, p | q, !(p ^ q), p && q);
    let array = [[1.5f32, 2.0], [f32::NAN, -0.0]];
    println!("{array:?} {:?}", array[1][1]);
    out[0] = at;
}

fn order_of_evaluation(device: &Device) -> Outcome {
    let mut out = device.zeros(1)?;
    let want = "4 5 5\n[5, 1, 1] has 3, the last 1\n[7, 8, 5] has 3, the last 5\n2 10\n5 -5 -10\n5 -6 -12\n\
                -7 1048576 4294967295 größe \"→\"\t\\\nfalse true false false\n[[1.5, 2.0], [NaN, -0.0]] -0.0\n";
    prints(device, effects(&mut out).grid(1), want)?;
    // A device function of plain values is a function of the host: it prints at once, to the host's output.
    if doubled([1, 2, 2]) != 4 || out.read()? != [5] {
        return Err("a print changed something".into());
    }
    Ok(())
}

/// Prints, and fails in the last thread.
#[cluster_kernel(block = 4)]
fn before_a_failure(limit: u64) {
    let i = this_grid().thread_rank();
    println!("{i}");
    assert!(i as u64 != limit, "thread {i} was the last");
}

fn a_failure_keeps_what_was_printed(device: &Device) -> Outcome {
    let (text, result) = printed(device, || before_a_failure(7).grid(2).launch(device));
    let cause = failure(result)?.cause.to_string();
    if cause != "thread 7 was the last" {
        return Err(cause.into());
    }
    same_text(&text, "0\n1\n2\n3\n4\n5\n6\n7\n")?;
    prints(device, before_a_failure(8).grid(2), "0\n1\n2\n3\n4\n5\n6\n7\n")
}

fn enqueued_launches_follow_each_other(device: &Device) -> Outcome {
    let (text, result) = printed(device, || {
        before_a_failure(9).grid(2).enqueue(device)?;
        in_order(0).grid((2, 1)).enqueue(device)?;
        before_a_failure(9).grid(1).enqueue(device)?;
        device.synchronize()
    });
    result?;
    let ends = "0 ends\n1 ends\n2 ends\n3 ends\n4 ends\n5 ends\n".repeat(2);
    same_text(&text, &format!("0\n1\n2\n3\n4\n5\n6\n7\n{ends}0\n1\n2\n3\n"))
}

#[cluster_kernel(block = 64)]
fn much(lines: u32) {
    for line in 0..lines {
        println!("{line}");
    }
}

/// A record takes 32 bytes and 8 for each value.
fn what_finds_no_room_is_counted(device: &Device) -> Outcome {
    let fits = (1 << 20) / 40;
    let (text, result) = printed(device, || much(1000).grid(1).launch(device));
    result?;
    let lost =
        format!("({} more messages were lost: a kernel can print at most 1048576 bytes of values)", 64_000 - fits);
    if text.lines().count() != fits + 1 || text.lines().last() != Some(&lost) {
        let (count, last) = (text.lines().count(), text.lines().last());
        return Err(format!("{count} lines, and not {}: {last:?}, and not {lost}", fits + 1).into());
    }
    // The next launch has room again.
    prints(device, much(1).grid(1), &"0\n".repeat(64))
}

/// Fails in one way for each number.
#[cluster_kernel(block = 1)]
fn failing(way: u32, n: i32, x: f64, big: u128) {
    let p = n > 3;
    let q = p & (n > 300);
    if way == 0 {
        assert_eq!(n, n * 2 - 6);
    }
    if way == 1 {
        assert_ne!(n as u64, 7, "n was {n:>4}, {}", big);
    }
    if way == 2 {
        assert_eq!(p, q, "{{}}");
    }
    if way == 3 {
        assert_ne!([n, 1][0], 7);
    }
    if way == 4 {
        panic!("{n} {x:e}");
    }
    if way == 5 {
        unreachable!();
    }
    if way == 6 {
        unreachable!("n = {}", n);
    }
    if way == 7 {
        todo!();
    }
    if way == 8 {
        todo!("{x:.1} of {big:#x}");
    }
    if way == 9 {
        unimplemented!();
    }
    if way == 10 {
        unimplemented!("{}", p);
    }
    if way == 11 {
        assert!(x <= 0.25);
    }
    if way == 12 {
        assert!(q, "{:?}", [n; 4]);
    }
    if way == 13 {
        debug_assert!(n < 5);
        debug_assert_eq!(n, 5, "five");
        debug_assert_ne!(n, 7);
    }
    if way == 14 {
        assert!(
            big == 0,
            "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
            big,
            big - 1,
            big - 2,
            big - 3,
            big - 4,
            big - 5,
            big - 6,
            big - 7,
            -(n as i128),
            n as i128 - 1,
            n as i128,
            u128::MAX,
            i128::MIN,
            i128::MAX,
            0u128,
            big,
        );
    }
    if way == 15 {
        panic!(
            "{} {} {} {} {} {} {} {}",
            n as i8, n as u8, n as i16, n as u16, n as u32, n as i64, n as isize, x as f32
        );
    }
    if way == 16 {
        let zero = big - big;
        println!("{}", (big - 1) / zero);
    }
    if way == 17 {
        println!("{}", (i128::MIN + big as i128 - big as i128) / (n as i128 - 8));
    }
}

fn messages(device: &Device) -> Outcome {
    let (n, x, big) = (7, 0.5, 1u128 << 100);
    let at = |way| failing(way, n, x, big).grid(1);
    let cases = [
        "assertion `left == right` failed\n  left: 7\n right: 8".into(),
        format!("assertion `left != right` failed: n was    7, {big}\n  left: 7\n right: 7"),
        "assertion `left == right` failed: {}\n  left: true\n right: false".into(),
        "assertion `left != right` failed\n  left: 7\n right: 7".into(),
        "7 5e-1".into(),
        "internal error: entered unreachable code".into(),
        "internal error: entered unreachable code: n = 7".into(),
        "not yet implemented".into(),
        "not yet implemented: 0.5 of 0x10000000000000000000000000".into(),
        "not implemented".into(),
        "not implemented: true".into(),
        "assertion failed: x <= 0.25 (left: 0.5, right: 0.25)".into(),
        "[7, 7, 7, 7]".into(),
    ];
    for (way, want) in (0..).zip(&cases) {
        fails_with(device, at(way), want)?;
    }
    match cfg!(debug_assertions) {
        true => fails_with(device, at(13), "assertion failed: n < 5 (left: 7, right: 5)")?,
        false => at(13).launch(device)?,
    }
    let values: Vec<String> = (0..8).map(|less| (big - less).to_string()).collect();
    let rest = format!("-7 6 7 {} {} {} 0 {big}", u128::MAX, i128::MIN, i128::MAX);
    fails_with(device, at(14), &format!("{} {rest}", values.join(" ")))?;
    fails_with(device, at(15), "7 7 7 7 7 7 7 0.5")?;
    fails_with(device, at(16), &format!("attempt to divide {} by zero", big - 1))?;
    fails_with(device, at(17), &format!("attempt to divide {} by -1 with overflow", i128::MIN))?;
    at(99).launch(device)?;
    Ok(())
}

/// Shows values of several words, and a message of a closure.
#[cluster_kernel(block = 1)]
fn compound(n: u32, x: f64) {
    let some = Some(n as u16);
    let none: Option<i128> = None;
    let pair = (n, (x, n > 3), [n as i8; 3]);
    println!("{some:?} {none:?} {pair:?} {:?} {:?}", Some((n, x)), (false, 1u8));
    let say = |y: u32| {
        println!("{y} {:?}", (y, Some(n)));
        y * 2
    };
    println!("{} {}", say(n + 1), say(n + 2));
    let by_two = if n % 2 == 0 { Some(n / 2) } else { None };
    assert_eq!(by_two, None);
}

fn compound_values(device: &Device) -> Outcome {
    let want = "Some(7) None (7, (0.5, true), [7, 7, 7]) Some((7, 0.5)) (false, 1)\n\
                8 (8, Some(7))\n9 (9, Some(7))\n16 18\n";
    prints(device, compound(7, 0.5).grid(1), want)?;
    let (_, result) = printed(device, || compound(8, 0.5).grid(1).launch(device));
    let cause = failure(result)?.cause.to_string();
    if cause == "assertion `left == right` failed\n  left: Some(4)\n right: None" { Ok(()) } else { Err(cause.into()) }
}

/// Two instances of one function: each message is read with its own types.
#[device]
fn checked<const WIDE: usize>(values: [u8; WIDE]) -> u8 {
    assert!(values[0] < 9, "{values:?}");
    values[0]
}

#[cluster_kernel(block = 1)]
fn instances(n: u8, out: &mut [u8]) {
    out[0] = checked([1, n]) + checked([n, 2, 3]);
}

fn messages_of_device_functions(device: &Device) -> Outcome {
    let mut out = device.zeros(1)?;
    fails_with(device, instances(9, &mut out).grid(1), "[9, 2, 3]")?;
    instances(8, &mut out).grid(1).launch(device)?;
    if out.read()? == [9] { Ok(()) } else { Err("1 + 8 is 9".into()) }
}

/// Each instance reads its messages with its own types.
#[cluster_kernel(block = 1)]
fn generic<T: Integer, const N: usize>(value: T, out: &mut [T]) {
    println!("{value:#?} of {N}");
    assert!(value < out[0], "{} is below {value}", out[0]);
}

fn messages_of_instances(device: &Device) -> Outcome {
    let mut bytes = device.upload(&[3u8])?;
    prints(device, generic::<u8, 4>(2, &mut bytes).grid(1), "2 of 4\n")?;
    let mut wide = device.upload(&[-1i128])?;
    fails_with(device, generic::<i128, 5>(0, &mut wide).grid(1), "-1 is below 0")
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "text",
        checks: check_list![
            formats,
            order,
            order_of_evaluation,
            a_failure_keeps_what_was_printed,
            enqueued_launches_follow_each_other,
            what_finds_no_room_is_counted,
            messages,
            messages_of_instances,
            messages_of_device_functions,
            compound_values,
        ],
        kernels: kernel_list![
            plain,
            debug,
            radix,
            exponents,
            widths,
            counts,
            arguments,
            in_order,
            effects,
            before_a_failure,
            much,
            failing,
            compound,
            instances,
            generic<i128, 5>,
            generic<u8, 4>,
        ],
    }]
}
