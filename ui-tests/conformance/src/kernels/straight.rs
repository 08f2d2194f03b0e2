//! Kernels that fail in straight-line code, whose bounds are tested before it: the first access that fails is reported, as
//! if each had a check of its own. A comment with the kernel's name stands before each expression that fails.

use phalanx::prelude::*;

use super::failing::still_works;
use crate::{Check, Kernel, Module, Outcome, fails, find};

const SOURCE: &str = include_str!("straight.rs");

failing! { input, out, n;
    straight_last, "index 71 out of bounds for length 64", {
        out[1] = input[n] + input[n + 1];
        out[2] = input[n + 2];
        /* straight_last */ out[n + 64] = 4;
    }
    straight_variable, "index 70 out of bounds for length 64", {
        out[1] = input[n];
        let k = n * 10;
        let j = k - 10;
        out[j] = /* straight_variable */ input[k];
    }
    straight_assigned, "index 67 out of bounds for length 64", {
        let mut k = n;
        out[k] = input[k] + 1;
        k += 60;
        out[0] = input[1] + /* straight_assigned */ input[k] + input[2];
    }
    straight_after_a_division, "attempt to divide 7 by zero", {
        out[1] = input[n] + input[n + 1];
        let m = /* straight_after_a_division */ n / (n - 7);
        out[2] = input[n * 10] + input[m];
    }
    straight_after_a_branch, "index 66 out of bounds for length 64", {
        out[1] = input[n] + input[n + 1];
        if input[n] == 3 {
            out[2] = input[n + 2] + /* straight_after_a_branch */ input[n + 59];
        }
        out[3] = input[n * 10] + input[n * 11];
    }
    straight_on_an_arm, "index 66 out of bounds for length 64", {
        out[1] = input[n];
        if n > 3 {
            out[2] = input[n + 1] + /* straight_on_an_arm */ input[n + 59];
        }
        out[3] = input[n * 10];
    }
    straight_after_an_arm, "index 70 out of bounds for length 64", {
        out[1] = input[n];
        let other = if n > 100 { input[n + 59] } else { input[n + 1] };
        if n < 9 && !(n == 7) {
            out[2] = input[n + 60];
        }
        out[3] = other + /* straight_after_an_arm */ input[n * 10] + input[n * 11];
    }
    straight_index_from_memory, "index 66 out of bounds for length 64", {
        out[1] = input[n] + input[/* straight_index_from_memory */ input[n + 59]] + input[n * 10];
    }
    straight_in_a_while, "index 64 out of bounds for length 64", {
        let mut k = n;
        while k < 100 {
            out[k - 1] = /* straight_in_a_while */ input[k] + input[k - 2];
            k += 1;
        }
    }
    straight_in_a_closure, "index 64 out of bounds for length 64", {
        let two = |k: i32| {
            let a = input[k];
            a + /* straight_in_a_closure */ input[k + 1]
        };
        out[0] = two(n) + two(n + 56);
    }
    straight_in_a_guarded_closure, "index 68 out of bounds for length 64", {
        let at = |k: i32| if k < 64 { input[k] } else { /* straight_in_a_guarded_closure */ input[k + 1] };
        out[0] = at(n) + at(n + 60) + at(n * 10);
    }
    straight_closure_called_again, "index 70 out of bounds for length 64", {
        let at = |k: i32| /* straight_closure_called_again */ input[k];
        out[1] = at(n) + at(n + 1);
        let m = n / (n - 6);
        out[2] = at(m * 10) + at(m * 11);
    }
    straight_float_division, "index 66 out of bounds for length 64", {
        let half = (input[n] + input[n + 1]) as f32 / 2.0;
        out[0] = half as i32 + /* straight_float_division */ input[n + 59];
    }
    straight_vectors, "range 61..65 out of bounds for length 64", {
        let v = input.load_vec::<4>(n + 1);
        out[0] = v[0];
        let w = input.load_vec::<4>(n + 5);
        /* straight_vectors */ out.store_vec(n + 54, w);
    }
    straight_misaligned, "a vector of 16 bytes must be aligned to 16 bytes, but the one at index 7 is not", {
        let v = input.load_vec::<4>(n + 1);
        let w = /* straight_misaligned */ input.load_vec::<4>(n);
        out.store_vec(n + 1, v);
        out.store_vec(n + 5, w);
    }
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let (checks, kernels) = simple();
    vec![Module { name: "straight", checks, kernels }]
}
