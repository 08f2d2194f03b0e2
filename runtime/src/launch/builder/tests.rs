//! A kernel as the macro expands it, written by hand, and launched on every device that this machine has: the
//! simulator, and a GPU with clusters where there is one.

use std::sync::Mutex;

use super::*;
use crate::Simulator;
use crate::kernel::memory::{Global, GlobalMut, load, shared_array, store};
use crate::launch::on_each_device::on_each_device;
use crate::launch::{Threads, global, global_mut};
use crate::program::launch_terms::LaunchTerms;
use crate::program::options::KernelOptions;
use crate::program::template::{Definition, Fragment, Role, SharedInfo, Site, SiteMessage, Template};
use crate::program::visitor::{Describe, Visitor};
use crate::report::failure::Cause;
use crate::{Buffer, this_cluster, this_grid, this_thread_block};

mod attributes;
mod deadline;
#[cfg(feature = "tracing")]
mod watched;

#[allow(non_camel_case_types, reason = "as the macro does, so that one name serves the type and the launcher")]
enum rotate {}

impl rotate {
    fn visit<'a, V: Visitor<'a, (Global<'a, i32>, GlobalMut<'a, i32>), ()>>(visitor: V) -> V::Output {
        visitor.visit(
            |(input, output)| {
                let (cluster, block) = (this_cluster(), this_thread_block());
                let array = shared_array::<i32, 64>();
                let i = this_grid().thread_rank();
                store(&array, block.thread_rank(), load(&input, i));
                cluster.sync();
                let next = (cluster.block_rank() + 1) % cluster.num_blocks();
                let remote = cluster.map_shared_rank(&array, next);
                store(&output, i, load(&remote, block.thread_rank()));
                cluster.sync();
                ((), ())
            },
            |(), _| {},
        )
    }
}

impl Function for rotate {
    fn definition() -> Definition {
        Definition {
            template: &ROTATE,
            options: OPTIONS,
            instance: std::any::type_name::<rotate>(),
            slots: rotate::visit(Describe),
            types: vec![],
            values: vec![],
            shared: vec![SharedInfo::of::<[i32; 64]>()],
        }
    }
}

const OPTIONS: KernelOptions =
    KernelOptions { cluster: Some([2, 1, 1]), block: Some([64, 1, 1]), ..KernelOptions::NONE };

static ROTATE: Template = Template {
    name: "rotate",
    module: module_path!(),
    file: file!(),
    role: Role::Kernel,
    signature: &[
        Fragment::Line(1),
        Fragment::Text("extern \"C\" __global__ void "),
        Fragment::Name,
        Fragment::Text(
            "(slice<i32> input, slice_mut<i32> output, const __grid_constant__ launch_block phalanx_launch)",
        ),
    ],
    body: &[
        Fragment::Text("{"),
        Fragment::Line(2),
        Fragment::Text("    auto cluster = this_cluster();\n"),
        Fragment::Text("    auto block = this_thread_block();\n"),
        Fragment::Text("    __shared__ shared_array<i32, 64> array;\n"),
        Fragment::Text("    auto i = this_grid().thread_rank();\n"),
        Fragment::Text("    array"),
        Fragment::Site(0),
        Fragment::Text("[block.thread_rank()] = input"),
        Fragment::Site(1),
        Fragment::Text("[i];\n"),
        Fragment::Text("    cluster.sync();\n"),
        Fragment::Text("    auto next = (cluster.block_rank() + 1) "),
        Fragment::Site(2),
        Fragment::Text("% cluster.num_blocks();\n"),
        Fragment::Text("    auto remote = cluster."),
        Fragment::Site(3),
        Fragment::Text("map_shared_rank(array, next);\n"),
        Fragment::Text("    output"),
        Fragment::Site(4),
        Fragment::Text("[i] = remote"),
        Fragment::Site(5),
        Fragment::Text("[block.thread_rank()];\n"),
        Fragment::Text("    cluster.sync();\n"),
        Fragment::Text("}"),
    ],
    sites: &[site(6), site(6), site(8), site(9), site(10), site(10)],
    headers: &["groups.cuh", "memory.cuh"],
    locals: &["input", "output", "cluster", "block", "array", "i", "next", "remote"],
    constants: &[],
    collective: false,
    converged: true,
    fences: phalanx_contract::fence::FunctionFences::NONE,
    needs: &[],
    launch: LaunchTerms::NONE,
    continued: false,
};

const fn site(line: u32) -> Site {
    Site { line, column: 5, message: SiteMessage::None }
}

fn rotate<'a>(input: &'a Buffer<i32>, output: &'a mut Buffer<i32>) -> Launch<'a> {
    let arguments = Arguments::new().slice(input).slice_mut(output);
    let threads = rotate::visit(Threads((global(input), global_mut(output))));
    Launch::new::<rotate>(arguments, threads)
}

#[test]
fn a_kernel_runs_and_its_result_is_read() {
    on_each_device(|device| {
        let input = device.upload(&Vec::from_iter(0..512)).unwrap();
        let mut output = device.zeros(512).unwrap();
        rotate(&input, &mut output).grid(8).launch(device).unwrap();
        let expected: Vec<i32> = (0..512).map(|i| i ^ 64).collect();
        assert_eq!(output.read().unwrap(), expected, "{device}");
    });
}

#[test]
fn a_failure_comes_back_and_the_device_stays_usable() {
    on_each_device(|device| {
        let input = device.upload(&Vec::from_iter(0..512)).unwrap();
        let mut short = device.zeros(511).unwrap();
        let error = rotate(&input, &mut short).grid(8).launch(device).unwrap_err();
        let Error::Kernel(failure) = error else { panic!("{device}: {error}") };
        assert_eq!(failure.cause, Cause::IndexOutOfBounds { index: 511, length: 511 }, "{device}");
        assert_eq!((failure.block, failure.thread), (Dim3::new(7, 0, 0), Dim3::new(63, 0, 0)), "{device}");
        assert_eq!(failure.location.unwrap().file, file!(), "{device}");

        let mut output = device.zeros(512).unwrap();
        rotate(&input, &mut output).grid(8).launch(device).unwrap();
        assert_eq!(output.read().unwrap()[0], 64, "{device}");
    });
}

#[test]
fn what_is_enqueued_fails_at_the_next_read_once() {
    on_each_device(|device| {
        let input = device.upload(&Vec::from_iter(0..512)).unwrap();
        let mut short = device.zeros(3).unwrap();
        rotate(&input, &mut short).grid(8).enqueue(device).unwrap();
        assert!(matches!(short.read(), Err(Error::Kernel(_))), "{device}");
        short.read().unwrap();
        device.synchronize().unwrap();
    });
}

#[test]
fn a_cluster_that_fails_as_a_whole_ends() {
    on_each_device(|device| {
        let nothing = device.upload(&[]).unwrap();
        let mut output = device.zeros(512).unwrap();
        let error = rotate(&nothing, &mut output).grid(8).launch(device).unwrap_err();
        assert!(matches!(error, Error::Kernel(_)), "{device}: {error}");
    });
}

#[test]
fn memory_goes_to_cudarc_and_back() {
    on_each_device(|device| {
        let buffer = device.upload(&[1.0f32, 2.0, 3.0]).unwrap();
        match buffer.into_cuda_slice() {
            Err(error) => assert!(device.is_simulator(), "{error}"),
            Ok(slice) => {
                assert_eq!(slice.stream().clone_dtoh(&slice).unwrap(), [1.0, 2.0, 3.0]);
                let buffer = Buffer::from_cuda_slice(device, slice).unwrap();
                assert_eq!(buffer.read().unwrap(), [1.0, 2.0, 3.0]);
            }
        }
    });
}

#[test]
fn what_a_launch_lacks_is_said() {
    let device = &Device::simulator();
    let input = device.upload(&[1]).unwrap();
    let mut output = device.zeros(1).unwrap();
    let error = rotate(&input, &mut output).launch(device).unwrap_err();
    assert_eq!(error.to_string(), "kernel `rotate` cannot be launched: it has no grid; call `.grid(blocks)`");
}

#[test]
fn how_much_runs_at_once() {
    on_each_device(|device| {
        let input = device.upload(&Vec::from_iter(0..512)).unwrap();
        let mut output = device.zeros(512).unwrap();
        let occupancy = rotate(&input, &mut output).occupancy(device).unwrap();
        assert_eq!(occupancy.blocks, 2 * occupancy.clusters, "{device}");
        // Two blocks of 64 threads: a GPU with clusters has room for many.
        assert!(occupancy.clusters >= if device.is_simulator() { 1 } else { 32 }, "{occupancy:?} on {device}");
        let too_large = rotate(&input, &mut output).block(2048).occupancy(device).unwrap_err();
        assert!(matches!(too_large, Error::Launch { .. }), "{too_large}");
    });
}

#[test]
fn the_generated_text_compiles() {
    match Program::of::<rotate>().unwrap().compile("sm_90a") {
        Err(Error::NvrtcMissing { .. }) => eprintln!("skipped: no NVRTC"),
        result => assert!(result.unwrap().starts_with(b"\x7fELF")),
    }
}

mod local_memory {
    use crate::prelude::*;

    #[device]
    fn filled(value: u32) -> [u32; 120_000] {
        let mut values = [0; 120_000];
        values[119_999] = value;
        values
    }

    #[cluster_kernel(block = 64)]
    pub(super) fn large(out: &mut [u32]) {
        let i = this_grid().thread_rank();
        let values = filled(i as u32);
        let copy = values;
        out[i] = values[119_999] + copy[0];
    }

    #[cluster_kernel(block = 1)]
    pub(super) fn too_large(out: &mut [u32]) {
        let values = [7u32; 200_000];
        out[0] = values[199_999];
    }
}

#[test]
fn arrays_of_nearly_all_local_memory_fit_into_a_stack() {
    let device = Device::simulator();
    let mut out = device.zeros(64).unwrap();
    local_memory::large(&mut out).grid(1).launch(&device).unwrap();
    assert_eq!(out.read().unwrap(), Vec::from_iter(0..64));
}

#[test]
fn a_larger_array_is_refused() {
    let device = Device::simulator();
    let error = local_memory::too_large(&mut device.zeros(1).unwrap()).grid(1).launch(&device).unwrap_err();
    let reason = LaunchError::LocalMemoryTooLarge { bytes: 800_000, limit: 512 << 10 };
    assert!(matches!(&error, Error::Launch { reason: found, .. } if *found == reason), "{error}");
}

mod reported {
    use crate::prelude::*;

    #[cluster_kernel(block = 64)]
    pub(super) fn kept(pairs: &[[f32; 2]], last: Option<&mut [u64]>, counts: &mut [u32], same: u32) {
        let i = this_grid().thread_rank();
        if let Some(last) = last {
            last[3] = 9;
        }
        counts[7] = if same != 0 { same } else { i as u32 };
        assert!(pairs.len() > 0, "no pairs,\nand no more to say");
    }
}

/// Reports name a buffer by the kernel's parameter, and the element.
#[test]
fn a_race_names_the_buffer() {
    let device = Device::simulator();
    device.on_warning(|_| {});
    let (pairs, mut last) = (device.zeros(1).unwrap(), device.zeros(4).unwrap());
    let mut counts = device.zeros(8).unwrap();
    let error = reported::kept(&pairs, None, &mut counts, 0).grid(1).launch(&device).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("data race: bytes 28..32 (element 7) of `counts` in global memory"), "{text}");
    reported::kept(&pairs, Some(&mut last), &mut counts, 1).grid(1).launch(&device).unwrap();
}

/// Two plain writes of equal values race, and the launch goes on with a warning.
#[test]
fn equal_writes_are_a_warning_with_both_places() {
    let device = Device::simulator();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let writer = seen.clone();
    device.on_warning(move |warning| writer.lock().unwrap().push(warning.clone()));
    let (pairs, mut last) = (device.zeros(1).unwrap(), device.zeros(4).unwrap());
    let mut counts = device.zeros(8).unwrap();
    for launches in 1..3 {
        reported::kept(&pairs, Some(&mut last), &mut counts, 1).grid(1).launch(&device).unwrap();
        assert_eq!(seen.lock().unwrap().len(), 2 * launches, "one a place and a launch");
    }
    assert_eq!((counts.read().unwrap()[7], last.read().unwrap()[3]), (1, 9));
    let seen = seen.lock().unwrap();
    let elements: Vec<_> = seen.iter().map(|warning| warning.race.elements.clone()).collect();
    assert_eq!(elements, [Some(3..4), Some(7..8), Some(3..4), Some(7..8)]);
    let text = seen[0].to_string();
    for part in [
        "warning: kernel `kept` at ",
        "data race: bytes 24..32 (element 3) of `last` in global memory",
        "write of 9 by block (0,0,0) thread (1,0,0)",
        "write of 9 by block (0,0,0) thread (0,0,0)",
        "PHALANX_EQUAL_WRITES=allow",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

/// Every kind of failure shows its source, and how to replay it.
#[test]
fn an_assertion_shows_its_source_and_its_schedule() {
    let device = Device::simulator_with(Simulator::new().schedule(crate::Schedule::Random { seed: 3 }));
    let (pairs, mut counts) = (device.zeros(0).unwrap(), device.zeros(8).unwrap());
    device.on_warning(|_| {});
    let error = reported::kept(&pairs, None, &mut counts, 1).grid(1).launch(&device).unwrap_err();
    let text = error.to_string();
    for part in [
        "error: kernel `kept` at ",
        ": no pairs,",
        "and no more to say",
        "block (0,0,0) thread (",
        "PHALANX_SCHEDULE=random:3",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert!(
        format!("{error:?}").starts_with("kernel `kept` at "),
        "what `main` returns has `Error: ` in front of it: {error:?}"
    );
    let here = std::path::Path::new("..").join(file!()).exists();
    assert!(text.contains("assert!(pairs.len() > 0,") || !here, "{text}");
    println!("{text}");
}
