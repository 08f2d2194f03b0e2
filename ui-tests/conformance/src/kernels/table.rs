//! Tables of operations on two operands: a kernel that does all of them, at the edges of the types, and a check of its
//! results against what rustc computes. The left column is what the kernel does, the right what the host does.

/// A kernel with a line for each operation, and a check of it for all pairs of edges.
macro_rules! table {
    ($name:ident: |$x:ident: $a:ident, $y:ident: $b:ident| -> $r:ident, for $wanted:expr; $($device:expr => $host:expr;)*) => {
        mod $name {
            use super::*;

            const NAMES: &[&str] = &[$(stringify!($device)),*];
            const WIDTH: usize = NAMES.len();

            #[cluster_kernel(block = 128)]
            pub(super) fn kernel(a: &[$a], b: &[$b], out: &mut [$r]) {
                let i = this_grid().thread_rank();
                if i < a.len() {
                    let $x = a[i];
                    let $y = b[i];
                    let mut k = i * WIDTH;
                    $(
                        out[k] = $device;
                        k += 1;
                    )*
                    assert!(k == (i + 1) * WIDTH);
                }
            }

            pub(super) fn check(device: &Device) -> $crate::Outcome {
                let wanted: fn($a, $b) -> bool = $wanted;
                let (a, b) = $crate::kernels::edges::pairs(wanted);
                let mut out = device.zeros(a.len() * WIDTH)?;
                let blocks = a.len().div_ceil(128) as u32;
                kernel(&device.upload(&a)?, &device.upload(&b)?, &mut out).grid(blocks).launch(device)?;
                let host = |($x, $y): (&$a, &$b)| {
                    let ($x, $y) = (*$x, *$y);
                    [$($host),*]
                };
                let want: Vec<$r> = a.iter().zip(&b).flat_map(host).collect();
                $crate::same(&out.read()?, &want, |i| {
                    let pair = i / WIDTH;
                    let name = NAMES[i - pair * WIDTH];
                    format!("{name} of {}s {:?}, {:?}", stringify!($a), a[pair], b[pair])
                })
            }
        }
    };
}

/// The tables of one type as a module, with its part of the corpus.
macro_rules! module {
    ($area:literal, $t:ident: $($table:ident)*) => {
        pub(super) fn module() -> $crate::Module {
            $crate::Module {
                name: concat!($area, "_", stringify!($t)),
                checks: vec![$($crate::Check { name: stringify!($table), run: $table::check }),*],
                kernels: vec![$($crate::Kernel::of::<$table::kernel>(concat!(stringify!($t), " ", stringify!($table)))),*],
            }
        }
    };
}

pub(super) use {module, table};
