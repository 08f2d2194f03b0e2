//! Runs the kernel on a GPU, or in the simulator where there is none.

use {{crate_name}}::{BLOCK, CLUSTER, add_next_on};
use phalanx::prelude::*;

fn main() -> phalanx::Result<()> {
    let device = Device::auto();
    let input = Vec::from_iter(0..(8 * CLUSTER * BLOCK) as i32);
    let output = add_next_on(&device, &input)?;
    println!("{device}: {:?} become {:?}", &input[..4], &output[..4]);
    Ok(())
}
