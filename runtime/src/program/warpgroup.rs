//! The instructions of a warpgroup's products, which differ in the number of registers for each number of columns (PTX ISA,
//! wgmma.mma_async). A program has those of its own types, as specializations of `warpgroup_cores` (warpgroup.cuh).

use std::fmt::Write;

use super::type_info::{TypeArgument, TypeInfo, TypeName};
use crate::scalar::Scalar;

/// Returns the instruction for a product of this type, `in_flight<accumulator<f32, 64, 128>, bf16, bf16>`.
pub(super) fn instruction(arguments: &[TypeArgument]) -> Option<String> {
    let [TypeArgument::Type(sum), TypeArgument::Type(left), TypeArgument::Type(right)] = arguments else { return None };
    let TypeName::Template { arguments: sum, .. } = &sum.name else { return None };
    let [TypeArgument::Type(sum), _, TypeArgument::Value(Scalar::Unsigned(columns, _))] = &sum[..] else { return None };
    let [sum, left, right] = [sum, left, right].map(scalar);
    let (sum, left, right) = (sum?, left?, right?);
    let is_half = matches!(left, "f16" | "bf16");
    let is_integer = matches!(left, "i8" | "u8");
    // The sums of 16 bits lie in words of two.
    let words = if sum == "f16" { columns / 4 } else { columns / 2 };
    // As many as 32 bytes of a row hold.
    let depth = match left {
        "tf32" => 8,
        _ if is_half => 16,
        _ => 32,
    };
    let list = |item: &dyn Fn(u128) -> String| (0..words).map(item).collect::<Vec<_>>().join(", ");
    let registers = list(&|number| format!("%{number}"));
    let kind = if sum == "f32" { "f" } else { "r" };
    let operands = list(&|number| format!("\"+{kind}\"(sum.registers[{number}])"));
    let (a, b) = (words, words + 1);
    // Neither operand is negated. Only those of 16 bits may be transposed.
    let (scales, transposes) = match is_half {
        true => (format!(", 1, 1, %{}, %{}", b + 1, b + 2), ", \"n\"(LeftTransposed), \"n\"(RightTransposed)"),
        false if is_integer => (String::new(), ""),
        false => (", 1, 1".to_owned(), ""),
    };
    let types = [sum, left, right].map(ptx).join(".");
    // A step has four words of a left operand in registers.
    let matrix = (words..words + 4).map(|number| format!("%{number}")).collect::<Vec<_>>().join(", ");
    let (b_of_registers, transposed) = (words + 4, words + 5);
    let (scales_of_registers, transpose) = match is_half {
        true => (format!(", 1, 1, %{transposed}"), ", \"n\"(RightTransposed)"),
        false => (scales.clone(), ""),
    };
    let mut out = String::new();
    writeln!(
        out,
        "
template <>
struct phalanx::detail::warpgroup_cores<{left}, {right}, {sum}, {columns}> {{
    template <int LeftTransposed, int RightTransposed>
    __device__ __forceinline__ static void multiply(accumulator<{sum}, 64, {columns}>& sum, unsigned long long a, unsigned long long b) {{
        asm volatile(\"{{ .reg .pred adds; setp.eq.u32 adds, 0, 0; wgmma.mma_async.sync.aligned.m64n{columns}k{depth}.{types} {{{registers}}}, %{a}, %{b}, adds{scales}; }}\"
                     : {operands}
                     : \"l\"(a), \"l\"(b){transposes});
    }}
    template <int RightTransposed>
    __device__ __forceinline__ static void multiply(accumulator<{sum}, 64, {columns}>& sum, const unsigned* a, unsigned long long b) {{
        asm volatile(\"{{ .reg .pred adds; setp.eq.u32 adds, 0, 0; wgmma.mma_async.sync.aligned.m64n{columns}k{depth}.{types} {{{registers}}}, {{{matrix}}}, %{b_of_registers}, adds{scales_of_registers}; }}\"
                     : {operands}
                     : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"l\"(b){transpose});
    }}
}};"
    )
    .ok()?;
    Some(out)
}

fn scalar(ty: &TypeInfo) -> Option<&'static str> {
    match ty.name {
        TypeName::Prelude(name) => Some(name),
        TypeName::Template { .. } | TypeName::User(_) => None,
    }
}

/// Returns PTX's name of a type.
fn ptx(name: &str) -> &str {
    match name {
        "i8" => "s8",
        "i32" => "s32",
        other => other,
    }
}
