//! Rust that is not part of the kernel language.

use phalanx::prelude::*;

#[cluster_kernel]
fn syntax(output: &mut [u32], n: u32) {
    let closure = |x: u32| x + 1;
    let range = 0..n;
    let slice = output[0..2];
    let text = "text";
    let ch = 'x';
    #[allow(unused)]
    let y = 3;
    fn inner() {}
    {
        const NESTED: u32 = 3;
    }
    output[0]?;
    let test = n > 1 && (let 3 = n);
    let closure = |x: u32| x.checked_add(1)?;
    Ok(3);
    std::mem::swap::<u32>;
    0..n;
    _ = n;
}

fn main() {}
