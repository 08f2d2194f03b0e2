//! Methods of Rust's own types that kernels do not have. rustc finds out that a value has such a type (`emit/host/methods`), so that these
//! are texts and no faults.

use crate::diag::Diag;
use crate::model::method::VALUE_METHODS;
use crate::nearest::nearest;
use crate::rules::Rule;
use crate::span::SpanRange;

/// The sentence about a call of such a method; rustc puts the type in.
pub(crate) fn method_of_rust(name: &str) -> String {
    let (of, rule) = ("{Self}", Rule::UnknownMethod);
    format!("`{name}` of `{of}` is not supported in a kernel [{rule}]")
}

/// What to write instead of a method of Rust's own types, if it is one.
pub(crate) fn instead_of_method(name: &str) -> Option<String> {
    let listed = METHODS_OF_RUST.iter().find(|(_, names)| names.contains(&name));
    if let Some((instead, _)) = listed {
        return Some((*instead).to_string());
    }
    let known = VALUE_METHODS.iter().map(|method| method.name);
    let meant = nearest(name, known.chain(OF_LIBRARY.iter().copied())).filter(|meant| *meant != name)?;
    Some(format!("did you mean `{meant}`?"))
}

/// What to write instead of an associated function of Rust's numbers, if it is one that kernels do not have.
pub(crate) fn instead_of_number_function(name: &str) -> Option<&'static str> {
    Some(match name {
        "from_be" | "from_le" => "the number is its own inverse: write `x.to_be()` or `x.to_le()`",
        "from_ne_bytes" => "state the order: `u32::from_le_bytes(bytes)`",
        "min_value" => "write the constant: `u32::MIN`",
        "max_value" => "write the constant: `u32::MAX`",
        "from_str_radix" | "from_str" => "a kernel has no strings",
        "try_from" => {
            "use the result where it is made: `u8::try_from(x).unwrap_or(255)`, or `if let Ok(y) = u8::try_from(x)`"
        }
        _ => return None,
    })
}

/// A function of Rust's, by its path as the user wrote it.
pub(crate) fn function_of_rust(at: SpanRange, path: &str, instead: &str) -> Diag {
    Diag::new(Rule::UnsupportedCall, at, format!("`{path}` is not part of the kernel language")).help(instead)
}

/// Whether a function of this name is among those that are written in the kernel language.
pub(crate) fn is_of_library(name: &str) -> bool {
    OF_LIBRARY.contains(&name)
}

macro_rules! names {
    ($($name:ident)*) => { &[$(stringify!($name)),*] };
}

/// Lists methods after what to write instead of them.
macro_rules! methods {
    ($($instead:literal: $($name:ident)*;)*) => { &[$(($instead, names![$($name)*])),*] };
}

/// The functions in `runtime/src/kernel/methods_of_rust.rs` and `ascii.rs`. Other types than those there may have one in Rust.
static OF_LIBRARY: &[&str] = names![
    and zip or xor replace flatten unwrap_or_default eq ne lt le gt ge partial_cmp cmp is_eq is_ne is_lt is_le
    is_gt is_ge reverse swap fill then contains to_le_bytes to_be_bytes from_le_bytes from_be_bytes total_cmp
    into is_ascii is_ascii_uppercase is_ascii_lowercase is_ascii_alphabetic is_ascii_digit is_ascii_hexdigit
    is_ascii_alphanumeric is_ascii_graphic is_ascii_punctuation is_ascii_whitespace is_ascii_control
    to_ascii_uppercase to_ascii_lowercase eq_ignore_ascii_case default sort sort_unstable
];

/// The stable methods of Rust's numbers, `bool`, `Option`, `Result`, `Ordering`, arrays and tuples that are no operations, after what to
/// write instead.
static METHODS_OF_RUST: &[(&str, &[&str])] = methods! {
    "values are copied: leave the call out":
        clone cloned copied to_owned borrow as_ref as_deref by_ref each_ref;
    "write the value: `0`, or `T::default()` of a type parameter":
        default;
    "write the operator":
        add sub mul div rem neg not bitand bitor bitxor shl shr add_assign sub_assign mul_assign div_assign
        rem_assign;
    "only numbers have the methods of comparisons: write `==` or `<`, or compare part by part, as in `a.0 < b.0 || a.0 == b.0 && a.1 < b.1`":
        eq ne lt le gt ge partial_cmp;
    "integers have `cmp`, floats `total_cmp` and `partial_cmp`: compare what has parts part by part":
        cmp total_cmp;
    "use the result where it is made: `x.try_into().unwrap_or(0)`, or `u8::try_from(x)`":
        try_into;
    "integers and floats that hold all values of the number have it; otherwise cast: `x as f32`":
        into;
    "numbers of 2, 4 and 8 bytes have `to_le_bytes` and `to_be_bytes`; otherwise shift: `(x >> 8) as u8`":
        to_ne_bytes to_le_bytes to_be_bytes;
    "use `checked_` with a `match`, or `wrapping_`: a kernel has no overflow checks":
        strict_add strict_sub strict_mul strict_div strict_rem strict_div_euclid strict_rem_euclid strict_neg
        strict_abs strict_shl strict_shr strict_pow strict_add_signed strict_sub_signed strict_add_unsigned
        strict_sub_unsigned unchecked_add unchecked_sub unchecked_mul unchecked_neg unchecked_shl unchecked_shr;
    "test first: `if n < 32 { x << n } else { 0 }`":
        unbounded_shl unbounded_shr;
    "cast first: `a.wrapping_sub(b as u32)`":
        checked_sub_signed wrapping_sub_signed saturating_sub_signed overflowing_sub_signed;
    "cast both first: `a as i64 - b as i64`":
        checked_signed_diff;
    "compute in a wider type: `a as u64 * b as u64`":
        carrying_add borrowing_sub carrying_mul carrying_mul_add widening_mul;
    "divide the logarithms, `x.ilog2() / b.ilog2()` for powers of two, or divide in a loop":
        ilog checked_ilog;
    "compute with the bits, for a positive number `f32::from_bits(x.to_bits() + 1)`":
        next_up next_down;
    "ask `is_nan`, `is_infinite`, `is_subnormal` and `is_normal`":
        classify;
    "write `(a - b).max(0.0)`":
        abs_sub;
    "cast: `x as u32`":
        to_int_unchecked;
    "only bytes have it, and it returns the byte: `b = b.to_ascii_uppercase();`":
        make_ascii_uppercase make_ascii_lowercase;
    "only bytes, `u8`, have it":
        is_ascii is_ascii_uppercase is_ascii_lowercase is_ascii_alphabetic is_ascii_digit is_ascii_hexdigit
        is_ascii_alphanumeric is_ascii_graphic is_ascii_punctuation is_ascii_whitespace is_ascii_control
        to_ascii_uppercase to_ascii_lowercase eq_ignore_ascii_case;
    "a kernel has no strings: print with `println!`":
        to_string escape_ascii hash;
    "write `match option { Some(x) => .., None => .. }`":
        as_mut as_deref_mut as_slice as_mut_slice as_pin_ref as_pin_mut map_or_else inspect ok_or ok_or_else
        take_if unzip transpose;
    "assign: `option = Some(x);`":
        insert get_or_insert get_or_insert_with get_or_insert_default;
    "an `Option` has it, with another `Option`: `option.or(other)`":
        or and xor zip;
    "an `Option` of an `Option` has it":
        flatten;
    "an `Option` of a number has it; otherwise state the value: `option.unwrap_or(x)`":
        unwrap_or_default;
    "it is the same as `unwrap` where that cannot fail: `option.unwrap()`":
        unwrap_unchecked unwrap_err_unchecked;
    "the only `Result` of a kernel is that of a compare-exchange: write `match result { Ok(x) => .., Err(x) => .. }`":
        ok err is_ok_and is_err_and map_err inspect_err expect_err unwrap_err;
    "an `Ordering` has it":
        is_eq is_ne is_lt is_le is_gt is_ge;
    "`then` takes a closure without parameters on a `bool`, and an `Ordering` on an `Ordering`":
        then then_with;
    "the length of an array is a constant above 0":
        is_empty;
    "write the index, `array[0]` or `array[array.len() - 1]`; or `array.get(i)`, where its reference is consumed: `if let Some(&x) = array.get(i)`":
        first last first_mut last_mut get_mut split_first split_last split_first_mut split_last_mut first_chunk
        first_chunk_mut last_chunk last_chunk_mut split_first_chunk split_last_chunk split_first_chunk_mut
        split_last_chunk_mut get get_unchecked get_unchecked_mut get_disjoint_mut get_disjoint_unchecked_mut;
    "write a loop over the indexes, `for i in 0..array.len()`; bind the array to a name, which has `chunks`, `windows` and parts":
        as_array as_mut_array each_mut chunks chunks_mut chunks_exact chunks_exact_mut array_windows windows rchunks rchunks_mut rchunks_exact rchunks_exact_mut
        split_at split_at_mut split_at_checked split_at_mut_checked split_at_unchecked
        split_at_mut_unchecked split_off_first split_off_last
        split_off_first_mut split_off_last_mut connect split split_mut split_inclusive split_inclusive_mut
        rsplit rsplit_mut splitn splitn_mut rsplitn rsplitn_mut starts_with ends_with strip_prefix strip_suffix
        rotate_left rotate_right fill_with clone_from_slice copy_from_slice copy_within swap_with_slice
        split_off split_off_mut as_flattened as_flattened_mut concat join repeat to_vec into_vec trim_ascii
        trim_ascii_start trim_ascii_end utf8_chunks element_offset contains;
    "bind the array to a name, which has `chunks_exact(n)`; what is left over is `array[array.len() / n * n..]`":
        as_chunks as_chunks_mut as_rchunks as_rchunks_mut as_chunks_unchecked as_chunks_unchecked_mut;
    "write a loop that compares each element with the one before it":
        chunk_by chunk_by_mut;
    "an array that is a variable, and a part of one, has `sort`, `sort_by`, `sort_by_key` and their `unstable` forms; otherwise write the sort as loops with comparisons, `if a[i] > a[i + 1] { a.swap(i, i + 1); }`":
        sort_by sort_by_key sort_by_cached_key sort_unstable_by sort_unstable_by_key
        select_nth_unstable select_nth_unstable_by select_nth_unstable_by_key is_sorted is_sorted_by
        is_sorted_by_key binary_search binary_search_by binary_search_by_key partition_point;
    "write a loop over the array: `for x in &array`":
        iter iter_mut into_iter next size_hint count nth step_by chain for_each filter_map enumerate peekable
        skip_while take_while map_while skip scan flat_map fuse collect partition try_fold try_for_each fold
        reduce all any find find_map position rposition max_by_key max_by min_by_key min_by rev cycle sum
        product;
    "a kernel has no pointers: pass the variable as `&mut array`":
        as_ptr as_mut_ptr as_ptr_range as_mut_ptr_range align_to align_to_mut;
};

/// A method of Rust's that an `Option` has, and no kernel.
pub(crate) fn refused_method(at: SpanRange, name: &str) -> Option<Diag> {
    let instead = instead_of_method(name)?;
    Some(
        Diag::new(Rule::UnknownMethod, at, format!("`{name}` of an `Option` is not supported in a kernel"))
            .help(instead),
    )
}

/// `array[i].take()`
pub(crate) fn take_of_element(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedBorrow, at, "`take` of an element of an array is not supported in a kernel")
        .help("keep each `Option` in a variable of its own, or in a tuple, and exchange variables with `std::mem::swap`; an `Option` of a number can be read and assigned: `let held = array[i]; array[i] = None;`")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_method_is_listed_once() {
        let mut seen = BTreeSet::new();
        for name in METHODS_OF_RUST.iter().flat_map(|(_, names)| *names) {
            assert!(seen.insert(name), "`{name}` is listed twice");
        }
    }

    #[test]
    fn what_is_written_in_the_kernel_language_is_listed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/src/kernel");
        let texts = ["methods_of_rust.rs", "ascii.rs"].map(|file| fs::read_to_string(folder.join(file)));
        let text: String = texts.map(|text| text.expect("the file is in the repository")).concat();
        let written: BTreeSet<&str> = text.split("fn ").skip(1).filter_map(|rest| rest.split('(').next()).collect();
        assert_eq!(written, OF_LIBRARY.iter().copied().collect());
    }

    #[test]
    fn a_misspelt_method_is_proposed() {
        assert_eq!(instead_of_method("wraping_add").as_deref(), Some("did you mean `wrapping_add`?"));
        assert_eq!(instead_of_method("to_le_byte").as_deref(), Some("did you mean `to_le_bytes`?"));
        assert_eq!(instead_of_method("replace"), None);
        assert_eq!(instead_of_method("energy_of_particle"), None);
    }
}
