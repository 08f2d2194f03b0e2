//! The names of fields and variants in C++: Rust's own, unless that is a word of C++, a macro, or the name of a type
//! that the struct's other fields may have. A definition and its uses are printed apart, so the name depends on Rust's
//! name alone.

/// Words of C++20 that a Rust identifier can be, macros that NVRTC has without headers, and types of the prelude.
const RESERVED: &str = "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t \
    class co_await co_return co_yield compl concept const consteval constexpr constinit const_cast continue decltype default delete do double \
    dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or \
    or_eq private protected public register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch \
    template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq \
    NULL assert va_arg va_copy va_end va_list va_start \
    i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f16 bf16 e4m3 e5m2 f32 f64 local_array tuple option vector integer floating phalanx";

/// Returns the C++ name of a field or variant. That of an unnamed field is its number: `_0`.
pub(crate) fn member(rust: &str) -> String {
    let rust = rust.strip_prefix("r#").unwrap_or(rust);
    if rust.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("_{rust}");
    }
    let reserved = RESERVED.split_whitespace().any(|word| word == rust);
    let prefixed = ["CUDA", "NV_", "PHALANX"].iter().any(|prefix| rust.starts_with(prefix));
    // C++ reserves names with two underscores, and those that begin with one and a capital.
    let kept = rust.contains("__") || rust.strip_prefix('_').is_some_and(|rest| rest.starts_with(char::is_uppercase));
    if rust.is_ascii() && !reserved && !prefixed && !kept && rust != "_" {
        return rust.into();
    }
    let ascii = |c: char| match c.is_ascii_alphanumeric() || c == '_' {
        true => c.to_string(),
        false => format!("u{:x}", u32::from(c)),
    };
    let ascii: String = rust.chars().map(ascii).collect();
    let words: Vec<&str> = ascii.split('_').filter(|word| !word.is_empty()).collect();
    let mark = if prefixed { "rust_" } else { "" };
    format!("{mark}{}_", words.join("_"))
}

#[cfg(test)]
mod tests {
    use super::member;

    #[test]
    fn names_stay_unless_cpp_has_them() {
        for name in ["x", "min", "_pad", "kind", "x_"] {
            assert_eq!(member(name), name);
        }
        let changed = [
            ("0", "_0"),
            ("12", "_12"),
            ("r#type", "type"),
            ("double", "double_"),
            ("r#struct", "struct_"),
            ("u32", "u32_"),
            ("a__b", "a_b_"),
            ("_Pad", "Pad_"),
            ("größe", "gruf6udfe_"),
            ("NULL", "NULL_"),
            ("CUDA_ARCH", "rust_CUDA_ARCH_"),
        ];
        for (rust, cpp) in changed {
            assert_eq!(member(rust), cpp);
        }
    }
}
