//! Calls device functions of another crate, and of its modules, from a kernel of this one.

use phalanx::prelude::*;
use phalanx_conformance::functions::{self, block_sum};

#[cluster_kernel(block = 64)]
fn across(output: &mut [u64], rounds: u32) {
    let block = this_thread_block();
    let scratch = shared_array::<u64, 64>();
    let mut total = functions::steps::advance(3) as u64;
    functions::accumulate(block.thread_rank(), rounds, &mut total);
    let sum = block_sum(&block, &scratch, total);
    output[block.thread_rank()] = sum;
}

/// A wrapper of the other crate's type of the same name.
#[derive(Clone, Copy, PartialEq, Debug, Default, DeviceCopy)]
#[repr(C)]
struct Weighted {
    inner: functions::Weighted<u32>,
    times: u32,
}

#[cluster_kernel(block = 32)]
fn weighted(input: &[functions::Weighted<f32>], ours: &mut [Weighted], output: &mut [f32]) {
    let i = this_grid().thread_rank();
    let scratch = shared_array::<functions::Weighted<f32>, 32>();
    scratch[i] = functions::Weighted { weight: 2.0, ..input[i] };
    this_thread_block().sync();
    let functions::Weighted { value, .. } = scratch[31 - i];
    output[i] = value + input[i].product();
    ours[i].inner.weight += ours[i].times;
}

#[test]
fn structs_of_another_crate() {
    let input = Vec::from_iter((0..32).map(|i| functions::Weighted { value: i as f32, weight: 0.5 }));
    let start = Weighted { inner: functions::Weighted { value: 1, weight: 2 }, times: 3 };

    let device = Device::simulator();
    let (mut ours, mut output) = (device.upload(&[start; 32]).expect("memory"), device.zeros(32).expect("memory"));
    let input = device.upload(&input).expect("memory");
    weighted(&input, &mut ours, &mut output).grid(1).launch(&device).expect("the kernel runs");
    let want = Vec::from_iter((0..32).map(|i| (31 - i) as f32 + i as f32 * 0.5));
    assert_eq!(output.read().expect("memory"), want);
    assert_eq!(ours.read().expect("memory")[31].inner, functions::Weighted { value: 1, weight: 5 });

    let program = phalanx::Program::of::<weighted>().expect("no circle");
    for name in ["struct Weighted {", "struct Weighted_f32 {", "struct Weighted_u32 {"] {
        assert!(program.cuda_source().contains(name), "no `{name}` in\n{}", program.cuda_source());
    }
    match program.compile("sm_90a") {
        Err(missing @ phalanx::Error::NvrtcMissing { .. }) => eprintln!("not compiled: {missing}"),
        compiled => assert!(compiled.is_ok(), "{compiled:?}"),
    }
}

#[test]
fn functions_of_another_crate() {
    // Device functions of plain values are functions of the host, too.
    let threads = 0..64;
    let totals = threads.map(|seed| {
        let mut total = u64::from(functions::steps::advance(3));
        functions::accumulate(seed, 5, &mut total);
        total
    });
    let want: u64 = totals.sum();

    let device = Device::simulator();
    let mut output = device.zeros(64).expect("memory");
    across(&mut output, 5).grid(1).launch(&device).expect("the kernel runs");
    assert_eq!(output.read().expect("memory"), vec![want; 64]);

    // In the text each stands before its callers, once.
    let source = across::cuda_source().expect("the functions do not call each other in a circle");
    let place = |text: &str| source.find(text).unwrap_or_else(|| panic!("no `{text}` in\n{source}"));
    assert!(place("u32 advance(u32 state)") < place("void accumulate("));
    assert!(place("void accumulate(") < place("across("));
    assert_eq!(source.matches("u32 advance(u32 state)").count(), 1);
}
