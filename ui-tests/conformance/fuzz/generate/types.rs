//! The types of the random programs, and constants of them.

use super::random::Random;

/// A type of local values. All of them are `Copy`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    /// A number or `bool`, by its name.
    Scalar(&'static str),
    Tuple(Vec<Type>),
    Array(Box<Type>, usize),
    Option(Box<Type>),
    /// The program's struct: `x` and `y` of one integer type, and `z`, an array of two.
    Pair,
}

pub(super) const INTEGERS: [&str; 12] =
    ["i32", "u32", "u64", "i64", "u8", "usize", "i8", "u16", "i16", "i128", "u128", "isize"];
pub(super) const FLOATS: [&str; 2] = ["f32", "f64"];
pub(super) const BOOL: Type = Type::Scalar("bool");

impl Type {
    pub(super) fn integer(random: &mut Random) -> Type {
        // The first ones are the most frequent in kernels.
        Type::Scalar(INTEGERS[random.below(INTEGERS.len()).min(random.below(INTEGERS.len()))])
    }

    pub(super) fn scalar(random: &mut Random) -> Type {
        match random.weighted(&[6, 1, 2]) {
            0 => Type::integer(random),
            1 => Type::Scalar(FLOATS[random.below(2)]),
            _ => BOOL,
        }
    }

    pub(super) fn any(random: &mut Random, depth: usize) -> Type {
        let kind = if depth == 0 { 0 } else { random.weighted(&[12, 2, 3, 3, 1]) };
        match kind {
            0 => Type::scalar(random),
            1 => Type::Tuple((0..2 + random.below(2)).map(|_| Type::any(random, depth - 1)).collect()),
            2 => Type::Array(Box::new(Type::scalar(random)), 2 + random.below(3)),
            3 => Type::Option(Box::new(Type::any(random, depth - 1))),
            _ => Type::Pair,
        }
    }

    pub(super) fn name(&self) -> String {
        match self {
            Type::Scalar(name) => (*name).into(),
            Type::Tuple(parts) => {
                format!("({})", parts.iter().map(Type::name).collect::<Vec<_>>().join(", "))
            }
            Type::Array(element, length) => format!("[{}; {length}]", element.name()),
            Type::Option(inner) => format!("Option<{}>", inner.name()),
            Type::Pair => "Pair".into(),
        }
    }

    pub(super) fn is_integer(&self) -> bool {
        matches!(self, Type::Scalar(name) if INTEGERS.contains(name))
    }

    pub(super) fn is_float(&self) -> bool {
        matches!(self, Type::Scalar(name) if FLOATS.contains(name))
    }

    /// Whether `==` and `<` compare such values.
    pub(super) fn is_ordered(&self) -> bool {
        match self {
            Type::Scalar(name) => *name != "bool",
            Type::Tuple(parts) => parts.iter().all(Type::is_ordered),
            _ => false,
        }
    }
}

/// Whether an integer type, by its name, is signed.
pub(super) fn is_signed(name: &str) -> bool {
    name.starts_with('i')
}

/// The width of an integer type.
pub(super) fn bits(name: &str) -> u32 {
    name[1..].parse().unwrap_or(64)
}

/// Returns a constant of a scalar type: its digits, and whether a suffix may follow them.
pub(super) fn constant(name: &str, random: &mut Random) -> (String, bool) {
    const SMALL: [&str; 8] = ["0", "1", "2", "3", "5", "7", "10", "100"];
    const FLOAT: [&str; 7] = ["0.0", "1.0", "0.5", "2.25", "1e10", "3.0e-3", "100.0"];
    if name == "bool" {
        return (random.chance(50).to_string(), false);
    }
    let is_float = FLOATS.contains(&name);
    let digits = if is_float { FLOAT[random.below(FLOAT.len())] } else { SMALL[random.below(SMALL.len())] };
    match random.below(12) {
        0 => (format!("{name}::MAX"), false),
        1 => (format!("{name}::MIN"), false),
        2 if is_float => (format!("{name}::INFINITY"), false),
        3 if is_float => (format!("{name}::NAN"), false),
        2 if bits(name) <= 64 => ((1_u64 << (bits(name) - 2)).to_string(), true),
        3 if bits(name) >= 32 => ("0x1234_5678".into(), true),
        4 | 5 if is_float || is_signed(name) => (format!("-{digits}"), true),
        _ => (digits.into(), true),
    }
}
