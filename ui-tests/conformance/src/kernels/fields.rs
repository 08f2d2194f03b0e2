//! Arrays in structs: methods that change them through a field, functions that rustc also evaluates in constants, and traits of values
//! as the only bound.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list, read};

/// A heap of at most `N` numbers, the largest on top.
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Heap<const N: usize> {
    items: [u32; N],
    length: u32,
}

#[device]
impl<const N: usize> Heap<N> {
    const fn empty() -> Self {
        Heap { items: [0; N], length: 0 }
    }

    fn push(&mut self, x: u32) {
        let mut at = self.length as usize;
        self.items[at] = x;
        self.length += 1;
        while at > 0 && self.items[parent(at)] < self.items[at] {
            self.items.swap(at, parent(at));
            at = parent(at);
        }
    }

    fn clear(&mut self) {
        self.items.fill(7);
        self.length = 0;
    }
}

#[device]
const fn parent(at: usize) -> usize {
    (at - 1) / 2
}

const START: Heap<8> = Heap::empty();
const OF_SIX: usize = parent(6);

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Two {
    heaps: [Heap<8>; 2],
}

#[cluster_kernel(block = 32)]
fn heaps(input: &[u32], out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    let mut two = Two { heaps: [START, Heap::empty()] };
    for k in 0..8 {
        let mut heap = two.heaps[k % 2];
        heap.push(input[(i + k) % 32]);
        two.heaps[k % 2] = heap;
    }
    let which = i as usize % 2;
    two.heaps[which].items.swap(0, OF_SIX + 1);
    let mut other = two.heaps[1 - which];
    other.clear();
    two.heaps[1 - which] = other;
    two.heaps.swap(0, 1);
    let mut sum = 0;
    for heap in two.heaps {
        for x in heap.items {
            sum = sum * 31 + x;
        }
    }
    out[i] = sum;
}

fn heaps_of_fields(device: &Device) -> Outcome {
    let input: Vec<u32> = (0..32).map(|i| i * 37 % 29).collect();
    let got = read!(device, 32, |out| heaps(&device.upload(&input)?, out).grid(1));
    let want: Vec<u32> = (0..32)
        .map(|i| {
            let mut two = [[0; 8]; 2];
            for k in 0..8 {
                let (heap, mut at) = (&mut two[k % 2], k / 2);
                heap[at] = input[(i + k) % 32];
                while at > 0 && heap[parent(at)] < heap[at] {
                    heap.swap(at, parent(at));
                    at = parent(at);
                }
            }
            two[i % 2].swap(0, 3);
            two[1 - i % 2].fill(7);
            two.swap(0, 1);
            two.iter().flatten().fold(0u32, |sum, x| sum.wrapping_mul(31).wrapping_add(*x))
        })
        .collect();
    equal(&got, &want)
}

/// What is applied to a number; nothing but this says that its values are plain data.
#[device]
trait Operation: Copy {
    fn apply(self, x: u32) -> u32;
    fn next(&mut self);
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Scale {
    by: u32,
}

#[device]
impl Operation for Scale {
    fn apply(self, x: u32) -> u32 {
        x * self.by
    }
    fn next(&mut self) {
        self.by += 1;
    }
}

#[device]
fn twice<O: Operation>(operation: O, x: u32) -> u32 {
    let mut operation = operation;
    let once = operation.apply(x);
    operation.next();
    operation.apply(once)
}

#[cluster_kernel(block = 32)]
fn scaled(out: &mut [u32], scale: Scale) {
    let i = this_thread_block().thread_rank();
    out[i] = twice(scale, i);
}

fn traits_of_values(device: &Device) -> Outcome {
    let got = read!(device, 32, |out| scaled(out, Scale { by: 3 }).grid(1));
    equal(&got, &(0..32).map(|i| i * 12).collect::<Vec<u32>>())
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "fields",
        checks: check_list![heaps_of_fields, traits_of_values],
        kernels: kernel_list![heaps, scaled],
    }]
}
