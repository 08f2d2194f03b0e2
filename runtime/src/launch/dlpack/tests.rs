//! Tensors of another library, which are made by hand here, and buffers that go the way of one and come back.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::launch::on_each_device::on_each_device;
use crate::{bf16, e4m3, e5m2, f16};

mod kernels {
    use crate::prelude::*;

    #[cluster_kernel(block = 4)]
    pub(super) fn double(values: &mut [f32]) {
        values[this_grid().thread_rank()] *= 2.0;
    }
}
use kernels::double;

/// A tensor that someone else has made, and counts how often it is deleted.
struct Theirs {
    managed: Managed,
    shape: Vec<i64>,
    strides: Vec<i64>,
    deleted: AtomicU32,
}

unsafe extern "C" fn count(managed: *mut Managed) {
    // SAFETY: the context is the one of `theirs`, which lives.
    unsafe { (*(*managed).context.cast::<Theirs>()).deleted.fetch_add(1, Ordering::SeqCst) };
}

fn theirs(kind: i32, element: Element, shape: &[i64], strides: &[i64], address: u64) -> Box<Theirs> {
    let device = Place { kind, ordinal: 0 };
    let (data, dimensions) = (address as *mut c_void, shape.len() as i32);
    let none = ptr::null_mut();
    let tensor = Raw { data, device, dimensions, element, shape: none, strides: none, byte_offset: 0 };
    let managed = Managed { tensor, context: ptr::null_mut(), deleter: Some(count) };
    let (shape, strides) = (shape.to_vec(), strides.to_vec());
    let mut theirs = Box::new(Theirs { managed, shape, strides, deleted: AtomicU32::new(0) });
    theirs.managed.context = (&raw mut *theirs).cast();
    theirs.managed.tensor.shape = theirs.shape.as_mut_ptr();
    if !theirs.strides.is_empty() {
        theirs.managed.tensor.strides = theirs.strides.as_mut_ptr();
    }
    theirs
}

impl Theirs {
    fn tensor(&mut self) -> DlpackTensor {
        // SAFETY: the tests keep it as long as the tensor.
        unsafe { DlpackTensor::from_raw(NonNull::from(&mut self.managed).cast()) }
    }
}

/// Returns the error of a view of this tensor, whose memory is never used.
fn refused(device: &Device, kind: i32, element: Element, shape: &[i64], strides: &[i64]) -> String {
    let mut theirs = theirs(kind, element, shape, strides, 256);
    let error = theirs.tensor().view::<f32>(device).map(drop).unwrap_err();
    assert_eq!(theirs.deleted.load(Ordering::SeqCst), 1, "it was dropped once");
    error.to_string()
}

#[test]
fn types_are_those_of_dlpack() {
    let found = [
        Element::of::<bool>(),
        Element::of::<i8>(),
        Element::of::<u64>(),
        Element::of::<f16>(),
        Element::of::<bf16>(),
        Element::of::<e4m3>(),
        Element::of::<e5m2>(),
        Element::of::<f64>(),
    ];
    let codes: Vec<_> = found.iter().map(|element| (element.code, element.bits, element.lanes)).collect();
    let expected = [(6, 8, 1), (0, 8, 1), (1, 64, 1), (2, 16, 1), (4, 16, 1), (10, 8, 1), (12, 8, 1), (2, 64, 1)];
    assert_eq!(codes, expected);
    let names: Vec<_> = found.iter().map(|element| element.name()).collect();
    assert_eq!(names, ["bool", "i8", "u64", "f16", "bf16", "e4m3", "e5m2", "f64"]);
}

#[test]
fn the_layout_is_that_of_dlpack_h() {
    assert_eq!(size_of::<Raw>(), 48);
    assert_eq!(size_of::<Managed>(), 64);
    assert_eq!(
        [mem::offset_of!(Raw, element), mem::offset_of!(Raw, shape), mem::offset_of!(Raw, byte_offset)],
        [20, 24, 40]
    );
}

#[test]
fn a_tensor_elsewhere_is_refused() {
    on_each_device(|device| {
        let text = refused(device, 1, Element::of::<f32>(), &[4], &[]);
        assert!(text.contains("the tensor is on the CPU") && text.contains(&device.to_string()), "{text}");
    });
    let text = refused(&Device::simulator(), CUDA, Element::of::<f32>(), &[4], &[]);
    assert!(text.contains("the tensor is on GPU 0"), "{text}");
    let error = Device::simulator().zeros::<f32>(4).unwrap().into_dlpack(&[4]).unwrap_err();
    assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
}

#[test]
fn elements_that_are_others_or_apart_are_refused() {
    on_each_device(|device| {
        if device.is_simulator() {
            return;
        }
        let refused = |element, shape: &[i64], strides: &[i64]| refused(device, CUDA, element, shape, strides);
        let text = refused(Element::of::<bf16>(), &[4], &[]);
        assert!(text.contains("elements of bf16, not f32"), "{text}");
        let text = refused(Element { code: 2, bits: 32, lanes: 4 }, &[4], &[]);
        assert!(text.contains("4 times f32"), "{text}");
        let text = refused(Element::of::<f32>(), &[2, 3], &[1, 2]);
        assert!(text.contains("shape [2, 3] has strides [1, 2]"), "{text}");
        let text = refused(Element::of::<f32>(), &[2, -3], &[]);
        assert!(text.contains("[2, -3]"), "{text}");
        let text = refused(Element::of::<f32>(), &[i64::MAX, 4], &[]);
        assert!(text.contains("none of memory"), "{text}");
    });
}

#[test]
fn strides_of_single_elements_do_not_matter() {
    assert!(follow_each_other(&[2, 1, 3], &[3, 77, 1]) && follow_each_other(&[], &[]));
    assert!(!follow_each_other(&[2, 3], &[4, 1]) && !follow_each_other(&[2, 3], &[3, 2]));
}

#[test]
fn memory_goes_out_and_comes_back() {
    on_each_device(|device| {
        if device.is_simulator() {
            return;
        }
        let buffer = device.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).unwrap();
        let pointer = buffer.into_dlpack(&[2, 4]).unwrap().into_raw();
        // SAFETY: it has just been handed out.
        let mut tensor = unsafe { DlpackTensor::from_raw(pointer) };
        assert_eq!(tensor.shape().unwrap(), [2, 4]);
        double(&mut tensor.view_mut::<f32>(device).unwrap()).grid(2).enqueue(device).unwrap();
        assert_eq!(tensor.view::<f32>(device).unwrap().read().unwrap()[6..], [14.0, 16.0]);
        assert_eq!(format!("{tensor:?}"), "DlpackTensor([2, 4] of f32, GPU 0)");
        let error = device.zeros::<f32>(4).unwrap().into_dlpack(&[5]).unwrap_err();
        assert!(matches!(error, Error::LengthMismatch { buffer: 4, data: 5 }), "{error}");
        // A part of memory that another library has, which is deleted after the kernel that uses it.
        let mut backing = device.upload(&[1.0f32; 8]).unwrap();
        let mut part = theirs(CUDA, Element::of::<f32>(), &[1, 4], &[9, 1], backing.address());
        part.managed.tensor.byte_offset = 16;
        let mut tensor = part.tensor();
        double(&mut tensor.view_mut::<f32>(device).unwrap()).grid(1).enqueue(device).unwrap();
        drop(tensor);
        assert_eq!(part.deleted.load(Ordering::SeqCst), 1);
        assert_eq!(backing.read().unwrap()[3..5], [1.0, 2.0]);
        backing.write(&[0.0; 8]).unwrap();
    });
}

#[test]
fn a_tensor_s_memory_is_of_no_use_after_it() {
    on_each_device(|device| {
        if device.is_simulator() {
            return;
        }
        let mut tensor = device.upload(&[1.0f32; 1 << 20]).unwrap().into_dlpack(&[1 << 20]).unwrap();
        // Views on several streams keep the order of the program.
        let streams = [device.stream().unwrap(), device.stream().unwrap()];
        for round in 0..8 {
            double(&mut tensor.view_mut(device).unwrap()).grid(1 << 18).on(&streams[round % 2]).enqueue().unwrap();
        }
        assert_eq!(tensor.view::<f32>(device).unwrap().read().unwrap(), [256.0; 1 << 20]);
        // A safe program can move the buffer out of a view, which the tensor's end makes useless.
        let mut kept = device.zeros(1).unwrap();
        mem::swap(&mut *tensor.view_mut::<f32>(device).unwrap(), &mut kept);
        assert_eq!(kept.read_range(..1).unwrap(), [256.0]);
        drop(tensor);
        assert!(matches!(kept.read(), Err(Error::BorrowEnded)));
        let error = double(&mut kept).grid(1).launch(device).unwrap_err();
        assert!(matches!(error, Error::BorrowEnded), "{error}");
    });
}
