//! Names in the text. Each is a valid C++ identifier, is no word of C++ or of the prelude, and differs from every other
//! name in the function, so that shadowing in Rust needs no scopes in C++.

use std::collections::BTreeSet;

use proc_macro2::Ident;

use crate::member::member;
use crate::model::expr::{ExprKind, Member};
use crate::model::method::ScalarFunction;
use crate::model::walk::walk_block;
use crate::model::{Function, LocalId};

/// Words of C++20 and CUDA that a Rust identifier can be, raw or not, and names that generated text uses unqualified.
const RESERVED: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t \
    class co_await co_return co_yield compl concept const consteval constexpr constinit const_cast continue decltype default delete do double \
    dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or \
    or_eq private protected public register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch \
    template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq \
    main NULL assert va_arg va_copy va_end va_list va_start \
    threadIdx blockIdx blockDim gridDim warpSize dim3 \
    phalanx cmp phalanx_launch launch_block phalanx_dynamic_shared integer as as_const upper_word constant_quotient constant_remainder local_array slice slice_mut readonly_slice writable \
    shared_array shared_slice tensor_map tensor_map_mut swizzled dynamic_shared dynamic_shared_slice remote_array remote_slice \
    subslice subslice_unchecked copied_part copied_part_unchecked subslice_inclusive subslice_from subslice_from_unchecked row_of rest_of chunk_of exact_chunk_of slice_of slice_of_mut split_at load_vec store_vec load_vec_unchecked store_vec_unchecked vector \
    load_matrix load_matrix_transposed store_matrix store_matrix_transposed matrix_a matrix_b accumulator tf32 mma_async transposed wait_mma wait_mma_prior wait_mma_except_last increase_registers decrease_registers in_flight \
    values_of values_in increased decreased increased_at_most decreased_at_most keep_address keep_test begin_timed_launch counting counting_through is_counting counted_below counted_through values_below values_through anything_like threads_of_warp spread_by up_by down_by limited confined at_least more_than at_most less_than other_than is_natural covers covers_as covers_below covers_next found_in hull middle_of covers_row covers_vectors covers_row_vectors row_of_unchecked lanes_of unclamped positions_of is_in get_adjacent_of length_of loaded_ahead \
    assume_arguments at_launch scattered_at_launch word_of word_at_launch once_at_launch holds_at_launch at_once require require_of_warp all_of_warp holds when within within_row range_within row_range_within from_within vector_within row_vector_within deferred deferred_vector \
    i8x2 i8x4 i8x8 i8x16 u8x2 u8x4 u8x8 u8x16 i16x2 i16x4 i16x8 u16x2 u16x4 u16x8 f16x2 f16x4 f16x8 bf16x2 bf16x4 bf16x8 i32x2 i32x4 u32x2 u32x4 f32x2 f32x4 i64x2 u64x2 f64x2 \
    option result none some whole if_some Then tuple relaxed acquire release acq_rel seq_cst block_scope cluster_scope device_scope system_scope fence nanosleep launch_dependents wait_previous \
    memcpy_async bulk_copy_async store_async wait_async wait_prior bulk_wait_group bulk_wait_group_read profiled \
    load_async prefetch multicast_async expect_multicast reduce_add_async reduce_min_async reduce_max_async reduce_and_async reduce_or_async reduce_xor_async \
    barrier cluster_barrier barriers cluster_barriers remote_barrier \
    range range_inclusive extent thread_block thread_block_tile coalesced_group cluster_group grid_group \
    op checked_from tiled_partition coalesced_threads labeled_partition binary_partition \
    reads_of_peers this_cluster this_thread_block this_grid here assertion_failed panicked print detail \
    atomic_element global_atomic shared_atomic remote_atomic none_type floating \
    i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 f16 bf16 half_float e4m3 e5m2 float8 fast cuda";

/// The C++ name of a field.
pub(crate) fn field_name(field: &Member) -> String {
    match field {
        Member::Named(name) => member(&name.to_string()),
        Member::Unnamed(index) => member(&index.to_string()),
    }
}

/// The C++ name of a variant, of which those of its fields, its test and its constructor are made.
pub(crate) fn variant_name(variant: &Ident) -> String {
    member(&variant.to_string())
}

/// The names in use, and the name of each local and constant.
pub(crate) struct Names {
    taken: BTreeSet<String>,
    locals: Vec<String>,
    constants: Vec<String>,
}

impl Names {
    pub(crate) fn of(function: &Function) -> Names {
        let mut names = Names {
            taken: reserved(function).into_iter().map(String::from).collect(),
            locals: Vec::new(),
            constants: Vec::new(),
        };
        for local in &function.locals {
            let name = names.fresh(&local.name.to_string());
            names.locals.push(name);
        }
        for constant in &function.values {
            let name = if constant.declared { names.fresh(&constant.name) } else { String::new() };
            names.constants.push(name);
        }
        names
    }

    /// Asserts that no local can have the name of a function that the text calls, and so hide the function. The kernels of
    /// `tests/corpus.rs` call all of them; in a user's build nothing panics.
    #[cfg(test)]
    pub(crate) fn assert_callable(&self, callee: &str) {
        let name = callee.split(['<', ':']).next().unwrap_or(callee);
        assert!(self.taken.contains(name), "`{name}` is missing from `RESERVED`, in emit/cuda/name.rs");
    }

    pub(crate) fn local(&self, local: LocalId) -> &str {
        &self.locals[local.0]
    }

    /// Takes the name that [`Names::free`] returns.
    pub(crate) fn fresh(&mut self, wanted: &str) -> String {
        let name = self.free(wanted);
        self.taken.insert(name.clone());
        name
    }

    /// Returns `wanted`, or the first of `wanted_2`, `wanted_3`, ... that is free.
    pub(crate) fn free(&self, wanted: &str) -> String {
        let wanted = sanitize(wanted);
        let mut name = wanted.clone();
        let mut number = 2;
        while self.taken.contains(&name) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }

    /// Returns the names that the function declares, without its constants, and the names of the constants, in order.
    pub(crate) fn declared(self, function: &Function) -> (Vec<String>, Vec<String>) {
        let reserved = reserved(function);
        let is_own = |name: &String| !reserved.contains(name.as_str()) && !self.constants.contains(name);
        (self.taken.into_iter().filter(is_own).collect(), self.constants)
    }
}

/// Returns the names in use from the start: those of every text, and the methods that this one calls.
fn reserved(function: &Function) -> BTreeSet<&'static str> {
    let mut names: BTreeSet<&str> = RESERVED.split_whitespace().collect();
    walk_block(&function.body, &mut |expr| {
        if let ExprKind::Method { method, .. } | ExprKind::ScalarCall { function: ScalarFunction::Method(method), .. } =
            &expr.kind
        {
            names.insert(method.name);
            // The test of a clamped index.
            if method.name == "clamp" {
                names.extend(["min", "max", "clamped", "ordered"]);
            }
        }
    });
    names
}

/// Makes a valid identifier: raw identifiers lose their mark, letters beyond ASCII become their numbers, and names that
/// C++, NVRTC's macros and the prelude reserve (two underscores, one at the start, some prefixes) are avoided.
fn sanitize(name: &str) -> String {
    let name = name.strip_prefix("r#").unwrap_or(name);
    let ascii = |c: char| match c.is_ascii_alphanumeric() || c == '_' {
        true => c.to_string(),
        false => format!("u{:x}", u32::from(c)),
    };
    let ascii: String = name.chars().map(ascii).collect();
    let words: Vec<&str> = ascii.split('_').filter(|word| !word.is_empty()).collect();
    let name = words.join("_");
    let is_kept = ["CUDA", "NV_"].iter().any(|prefix| name.starts_with(prefix));
    match name.is_empty() {
        true => "unnamed".into(),
        false if is_kept || name.starts_with(|c: char| c.is_ascii_digit()) => format!("rust_{name}"),
        false => name,
    }
}
