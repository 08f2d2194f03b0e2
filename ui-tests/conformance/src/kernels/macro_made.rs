//! Kernels that `macro_rules!` makes whole or in part, names that the macros' own items could have had, and functions of one
//! name in several modules.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list, printed, same_text};

const TEMPLATE: u32 = 11;
const value: usize = 3;
static visitor: u32 = 2;
#[cluster_kernel(block = 1)]
fn param_names(
    arguments: &mut [u32],
    threads: u32,
    block: u32,
    grid: u32,
    launch: u32,
    device: u32,
    param_names: u32,
    self_: u32,
    signature: u32,
    K: u32,
) {
    let a = [0u32; value];
    arguments[0] = TEMPLATE
        + threads * 2
        + block
        + grid
        + launch
        + device
        + param_names
        + self_
        + signature
        + a.len() as u32
        + K
        + visitor;
}
fn check_param_names(device: &Device) -> Outcome {
    let mut o = device.zeros(1)?;
    param_names(&mut o, 1, 2, 3, 4, 5, 6, 7, 8, 9).grid(1).launch(device)?;
    equal(&o.read()?, &[11 + 2 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 3 + 9 + 2])
}

/// Takes a body, a block size and a type from the caller.
macro_rules! of_a_block {
    ($name:ident, $block:literal, $t:ty, $body:block, $($p:ident : $pt:ty),*) => {
        #[cluster_kernel(block = $block)]
        fn $name(_out: &mut [$t], $($p: $pt),*) $body
    };
}

of_a_block!(from_block, 1, u32, { let y = x + 1; println!("{}", y); }, x: u32);

/// Takes one of each kind of fragment that an expression can hold.
macro_rules! of_fragments {
    ($name:ident, $out:ident, $e:expr, $p:pat, $l:literal, $c:path, $s:expr, $ty:ty, $tt:tt, $lt:lifetime, $m:ident) => {
        #[cluster_kernel(cluster = 1, block = 1)]
        fn $name($out: &mut [$ty], n: $ty) {
            let v = $e * 2;
            $s;
            let k = match v { $p => 1, $c => 2, $l => 3, _ => 4 };
            $lt: loop {
                if n > $tt {
                    break $lt;
                }
                break;
            }
            $out[0] = k as $ty + v + $l;
            $out[1] = v.$m($l) + { $e };
            let t = ($e, $l);
            $out[2] = t.0 - t.1 as $ty + [$l; 2][1];
            let f = |x: $ty| x + $e;
            $out[3] = f($l) - $e - $e;
            $out[4] = if let $p = $e { 7 } else { -$e };
        }
    };
}

const NINE: i32 = 9;
of_fragments!(from_parts, out, 1 + 2, 0..=5 | 100, -7, self::NINE, { let q = 3; q }, i32, 8, 'abc, max);

fn check_macros(device: &Device) -> Outcome {
    let mut o = device.zeros(5)?;
    from_parts(&mut o, 3).grid(1).launch(device)?;
    equal(&o.read()?, &[4 + 6 - 7, 6 + 3, 3 + 7 - 7, -7 + 3 - 3 - 3, 7])
}
/// Takes statements that are not expressions, and some that are.
macro_rules! of_statements {
    ($name:ident, $out:ident, $n:ident, { $($s:stmt;)* }, $last:stmt) => {
        #[cluster_kernel(block = 1)]
        fn $name($out: &mut [u32], $n: u32) {
            $($s;)*
            if $n > 0 { $last }
        }
    };
}

of_statements!(
    from_statements,
    out,
    n,
    {
        const TWO: u32 = 2;;
        let x = n * TWO;
        let (y, z): (u32, u32) = (x + 1, x);
        let Some(w) = y.checked_sub(z) else { return };
        out[0] = x;
        if w == 1 {
            out[1] = w;
        };
    },
    out[2] = z + 3
);

fn check_statements(device: &Device) -> Outcome {
    let mut o = device.zeros(3)?;
    from_statements(&mut o, 5).grid(1).launch(device)?;
    equal(&o.read()?, &[10, 1, 13])
}
/// Makes functions, and the kernel that calls them.
macro_rules! functions {
    ($($n:ident => $v:expr),*) => {
        $(
            #[device]
            fn $n(x: u32) -> u32 {
                let x = x + $v;
                let y = x;
                y * $v
            }
        )*

        #[cluster_kernel(block = 1)]
        fn nested_macro(out: &mut [u32]) {
            let mut i = 0u32;
            $(
                out[i] = $n(i);
                i += 1;
            )*
            out[3] = i;
        }
    };
}

functions!(fa => 1 + 1, fb => 2, fc => { let x = 3; x });

fn check_nest(device: &Device) -> Outcome {
    let mut o = device.zeros(4)?;
    nested_macro(&mut o).grid(1).launch(device)?;
    equal(&o.read()?, &[4, 6, 15, 3])
}
/// Uses the caller's `x` and the macro's, in parameters, closures, loops, patterns, arrays and parts of memory.
macro_rules! hygiene {
    ($x:ident, $use:expr, $name:ident) => {
        #[cluster_kernel(block = 1)]
        fn $name(out: &mut [u32], $x: u32, x: u32) {
            let f = |x: u32| x * 100 + $use;
            out[0] = f(x);
            for x in 0..2u32 {
                out[1] += x + $use * 10;
            }
            match (5u32, 6u32) {
                (x, _) if x > $use => out[2] = x + $use,
                (_, x) => out[2] = x * 1000 + $use,
            }
            let (a, x) = ($use, x + 1);
            out[3] = a * 10 + x;
            if let Some(x) = Some(8u32) {
                out[4] = x * 10 + $use;
            }
            let g = |$x: u32| $use + x;
            out[5] = g(50);
            let x = [x; 3];
            out[6] = x[1] + $use;
            let s = shared_array::<u32, 4>();
            let x = &s[1..3];
            x[0] = $use;
            out[7] = s[1];
        }
    };
}

hygiene!(x, x + 0, two_names);

fn check_hyg(device: &Device) -> Outcome {
    let mut o = device.zeros(8)?;
    two_names(&mut o, 4, 9).grid(1).launch(device)?;
    equal(&o.read()?, &[904, 81, 9, 50, 84, 60, 14, 4])
}
mod m1 {
    use phalanx::prelude::*;
    #[device]
    pub(crate) fn same(x: u32) -> u32 {
        x + 1
    }
    #[cluster_kernel(block = 1)]
    pub(crate) fn k(out: &mut [u32]) {
        out[0] = same(1) + super::m2::same(1) + super::m2::m1::same(2);
    }
}
pub(super) mod m2 {
    use phalanx::prelude::*;
    #[device]
    pub(crate) fn same(x: u32) -> u32 {
        x + 10
    }
    pub(crate) mod m1 {
        use phalanx::prelude::*;
        #[device]
        pub(crate) fn same(x: u32) -> u32 {
            x * 100
        }
        pub(crate) const N: u32 = 5;
    }
    pub(crate) mod u8 {
        use phalanx::prelude::*;
        #[device]
        pub(crate) fn from(x: u32) -> u32 {
            x + 7
        }
    }
}
use m1::same as other_same;
use m2::m1 as renamed;
#[cluster_kernel(block = 1)]
fn paths_(out: &mut [u32]) {
    out[0] = renamed::same(renamed::N) + other_same(1) + super::macro_made::m2::same(0) + self::m1::same(0);
    let same = 3;
    out[1] = same + m2::same(same);
}
fn check_paths(device: &Device) -> Outcome {
    let mut o = device.zeros(2)?;
    m1::k(&mut o).grid(1).launch(device)?;
    equal(&o.read()?[..1], &[213])?;
    paths_(&mut o).grid(1).launch(device)?;
    equal(&o.read()?, &[500 + 2 + 10 + 1, 16])
}

/// Words of Rust as names in messages.
#[cluster_kernel(block = 1)]
fn raw_names(r#type: u32) {
    println!("{type} {} {fn}", r#type + 1, r#fn = r#type, r#type = 7);
    println!("{type:>4} {r}", r#type = 8, r = 9);
}

fn check_raw_names(device: &Device) -> Outcome {
    let (text, result) = printed(device, || raw_names(3).grid(1).launch(device));
    result?;
    same_text(&text, "7 4 3\n   8 9\n")
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let checks = check_list![
        check_param_names,
        check_macros,
        check_statements,
        check_nest,
        check_hyg,
        check_paths,
        check_raw_names
    ];
    let kernels = kernel_list![
        param_names,
        from_block,
        from_parts,
        from_statements,
        nested_macro,
        two_names,
        m1::k,
        paths_,
        raw_names
    ];
    vec![Module { name: "macro_made", checks, kernels }]
}
