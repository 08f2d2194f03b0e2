//! Messages about patterns and what they match.

use crate::diag::Diag;
use crate::model::kind::Kind;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn unsupported_pattern(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedPattern, at, "this pattern is not part of the kernel language").help(
        "supported patterns are names, `_`, integers and their ranges, constants, tuples, structs, arrays, `Some`, `None`, `Ok`, `Err`, `a | b`, and `..` in arrays or as the last part of a tuple or struct; `for` binds one name or `_`",
    )
}

pub(crate) fn letter_pattern(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedPattern, at, "a `char` is not a pattern of the kernel language")
        .help("match bytes: `b'x' => ..` of a `u8`, or a constant of any letter: `const PI: u32 = 'π' as u32;`")
}

pub(crate) fn float_pattern(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedPattern, at, "a float is not a pattern of the kernel language")
        .help("compare it: `if x == 1.0`, or in a guard: `x if x < 1.0 => ..`")
}

pub(crate) fn pattern_without_value(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedPattern, at, "a `let` with a pattern must have a value")
        .help("declare the names one by one: `let a; let b;`")
}

pub(crate) fn scrutinee_kind(at: SpanRange, found: Kind) -> Diag {
    let diag = Diag::new(Rule::WrongKind, at, format!("{} cannot be matched", found.noun()));
    match found {
        Kind::Reference { .. } => diag.help(
            "match on the value that it refers to, `*state`, and assign what changes as a whole: `*state = State::Run(left - 1);`",
        ),
        Kind::Memory(_) => diag.help(
            "a slice that has a name is matched by patterns of its elements, with a last arm for all others: `match bytes { [first, rest @ ..] => .., _ => .. }`; a guard does not name `rest`",
        ),
        _ => diag,
    }
}

pub(crate) fn mutable_binding(at: SpanRange) -> Diag {
    Diag::new(Rule::UnsupportedPattern, at, "`ref mut` is not part of the kernel language")
        .help("bind the value, and assign what changes as a whole: `held = Some(x + 1);`")
}

pub(crate) fn matches_form(at: SpanRange) -> Diag {
    Diag::new(Rule::FormatString, at, "expected `matches!(value, pattern)` or `matches!(value, pattern if condition)`")
}
