//! Types that are refused.

use phalanx::prelude::*;

#[cluster_kernel]
fn text(name: &str) {}

#[device]
fn unit(nothing: ()) {}

#[device]
fn vector(values: Vec<u32>) {}

#[device]
fn option(value: Option) {}

#[device]
fn by_value(cluster: Cluster) {}

#[device]
fn incomplete(token: ArrivalToken) {}

#[device]
fn pointer(p: *const u32) {}

#[device]
fn slice_of_references(x: &[&u32]) {}

#[device]
fn reference_to_reference(x: &&u32) {}

#[device]
fn bare_slice(x: [u32]) {}

#[device]
fn owned_slice(x: Box<[u32]>) {}

#[device]
fn object(x: &dyn Number) {}

#[device]
fn function(f: fn(u32) -> u32) {}

#[device]
fn never(x: !) {}

#[device]
fn inferred(x: _) {}

#[device]
fn made(x: size!()) {}

#[device]
fn letter(x: char) -> &'static str {}

#[device]
fn opaque(x: u32) -> impl Number {
    x
}

#[cluster_kernel]
fn optional_scalar(x: Option<u32>) {}

#[cluster_kernel]
fn optional_reference(x: Option<&u32>) {}

#[cluster_kernel]
fn locals(n: u32) {
    let reference: &u32 = &n;
    let letter: char = 'x';
    let array: [&str; 2];
    let shared = shared_array::<&u32, 4>();
    let dynamic = dynamic_shared::<Vec<u32>>();
}

#[cluster_kernel]
fn cast(output: &mut [u32]) {
    output[0] = 3 as &str;
}

#[cluster_kernel]
fn arrays_of_nothing(input: &[[u32; 0]]) {
    let empty = [];
    let repeated = [0u32; 0];
    let annotated: [f32; 0];
}

#[cluster_kernel(block = 32)]
fn tuples_in_shared_memory(output: &mut [u32]) {
    let pairs = shared_array::<(u32, f32), 32>();
    pairs[0] = (1, 2.0);
    output[0] = pairs[0].0;
}

struct Unknown;

#[cluster_kernel]
fn not_a_device_type(x: Unknown) {}

fn main() {}
