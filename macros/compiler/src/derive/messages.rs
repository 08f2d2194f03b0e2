//! The messages of `#[derive(DeviceCopy)]`. What only rustc can find wrong is reported by the checks in `phalanx`.

use crate::diag::Diag;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(super) fn union(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::DeriveTarget, at, format!("the union `{name}` cannot be kept in device memory"))
        .help("write a struct: the fields of a union share bytes, which may be values of none of them")
}

pub(super) fn enum_fields(at: SpanRange, variant: &str) -> Diag {
    Diag::new(Rule::DeriveTarget, at, format!("the variant `{variant}` has fields, which device memory cannot hold"))
        .help("derive `DeviceType` instead, if only variables hold its values; for memory, write a struct with a fieldless enum and the fields of all variants")
}

pub(super) fn no_enum(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::DeriveTarget, at, format!("`{name}` is no enum, for which `DeviceType` is derived"))
        .help("derive `DeviceCopy`, which makes a struct a type of kernels and of their memory")
}

pub(super) fn no_fields(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::DeriveTarget, at, format!("no variant of `{name}` has fields"))
        .help("derive `DeviceCopy`, with `#[repr(u8)]` above the enum and `PartialEq` among its derives")
}

pub(super) fn generic_cases(at: SpanRange) -> Diag {
    Diag::new(Rule::DeriveTarget, at, "an enum with fields cannot be generic in a kernel")
        .help("write an enum for each type")
}

pub(super) fn generic_enum(at: SpanRange) -> Diag {
    Diag::new(Rule::DeriveTarget, at, "an enum in device memory cannot be generic")
}

pub(super) fn lifetime(at: SpanRange) -> Diag {
    Diag::new(Rule::DeriveTarget, at, "a type in device memory cannot hold references").help("hold an index instead")
}

pub(super) fn struct_repr(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::DeriveRepr, at, format!("the layout of `{name}` is not fixed"))
        .help("write `#[repr(C)]` above it, so that Rust and CUDA C++ lay it out alike")
}

pub(super) fn enum_repr(at: SpanRange, name: &str) -> Diag {
    Diag::new(Rule::DeriveRepr, at, format!("the integer of the enum `{name}` is not fixed"))
        .help("write `#[repr(u8)]` or another integer type above it, so that Rust and CUDA C++ lay it out alike")
}

pub(super) fn packed(at: SpanRange) -> Diag {
    Diag::new(Rule::DeriveRepr, at, "a packed type cannot be kept in device memory, whose accesses are aligned")
        .help("order the fields by size, and put explicit fields where padding would be")
}

pub(super) fn empty(at: SpanRange, name: &str, what: &str) -> Diag {
    Diag::new(Rule::DeriveEmpty, at, format!("`{name}` has no {what}: there is nothing to keep in device memory"))
}

pub(super) fn names(at: SpanRange, name: &str, other: &str) -> Diag {
    Diag::new(Rule::DeriveNames, at, format!("`{name}` and `{other}` have the same name in CUDA C++"))
        .help("rename one of them")
}
