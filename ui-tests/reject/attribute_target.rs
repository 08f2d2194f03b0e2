//! The attributes go on functions.

use phalanx::prelude::*;

#[cluster_kernel]
struct NotAFunction;

#[device]
const NEITHER: u32 = 3;

fn main() {}
