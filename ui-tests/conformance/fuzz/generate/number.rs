//! Operations of numbers and of `bool`.

use super::code::Code;
use super::generator::Generator;
use super::types::{self, BOOL, FLOATS, INTEGERS, Type};

/// The methods of all integers with an argument of the same type.
const SAME: [&str; 14] = [
    "wrapping_add",
    "wrapping_sub",
    "wrapping_mul",
    "saturating_add",
    "saturating_sub",
    "saturating_mul",
    "min",
    "max",
    "abs_diff",
    "midpoint",
    "wrapping_div",
    "rem_euclid",
    "div_euclid",
    "clamp",
];
const AMOUNT: [&str; 5] = ["rotate_left", "rotate_right", "wrapping_shl", "wrapping_shr", "wrapping_pow"];
const NONE: [&str; 5] = ["swap_bytes", "reverse_bits", "wrapping_neg", "isqrt", "pow"];
const COUNT: [&str; 5] = ["count_ones", "leading_zeros", "trailing_zeros", "leading_ones", "trailing_ones"];
/// Functions of `cuda` of two and of three words.
const OF_TWO: [&str; 8] = ["mulhi", "vadd4", "vsub2", "vmaxs4", "vabsdiffu2", "vcmpgts4", "vaddss2", "vsadu4"];
const OF_THREE: [&str; 7] = ["dp4a", "dp2a_lo", "dp2a_hi", "byte_perm", "funnelshift_l", "funnelshift_rc", "sad"];
const ROUNDED: [&str; 9] = ["abs", "sqrt", "floor", "ceil", "trunc", "round", "round_ties_even", "signum", "recip"];

impl Generator {
    /// Two operands of one type, of which one fixes it.
    fn pair_of(&mut self, ty: &Type, depth: usize) -> (Code, Code) {
        if self.random.chance(20) {
            let left = self.value(ty, 0, true);
            return (left, self.value(ty, depth - 1, false));
        }
        let left = self.value(ty, depth - 1, false);
        (left, self.value(ty, depth - 1, true))
    }

    pub(super) fn integer(&mut self, name: &'static str, depth: usize) -> Option<Code> {
        let ty = Type::Scalar(name);
        Some(match self.random.weighted(&[8, 2, 3, 4, 2, 4, 1, 4]) {
            0 => {
                let op = ["+", "-", "*", "&", "|", "^"][self.random.below(6)];
                let (left, right) = self.pair_of(&ty, depth);
                Code::binary(left, op, right)
            }
            1 => {
                let op = ["/", "%"][self.random.below(2)];
                let (left, right) = (self.value(&ty, depth - 1, false), self.value(&ty, depth - 1, true));
                let right = match self.random.chance(10) {
                    true => right,
                    false => Code::atom(format!("({} & 15 | 1)", right.operand())),
                };
                Code::binary(left, op, right)
            }
            2 => {
                let amount = Type::integer(&mut self.random);
                let op = ["<<", ">>"][self.random.below(2)];
                Code::binary(self.value(&ty, depth - 1, false), op, self.value(&amount, depth - 1, false))
            }
            3 => {
                let from = Type::scalar(&mut self.random);
                let value = self.value(&from, depth - 1, false);
                Code::cast(value, name)
            }
            4 => {
                let value = self.value(&ty, depth - 1, false);
                let op = if types::is_signed(name) && self.random.chance(50) { "-" } else { "!" };
                Code::unary(format!("{op}{}", value.receiver()))
            }
            5 => self.integer_method(name, depth),
            6 if name == "u32" => {
                let from = Type::integer(&mut self.random);
                let method = COUNT[self.random.below(COUNT.len())];
                Code::method(self.value(&from, depth - 1, false), &format!("{method}()"))
            }
            _ => return self.consumed(&ty, depth),
        })
    }

    /// A function of `cuda`, whose operands have the type of the result.
    fn of_cuda(&mut self, depth: usize) -> Code {
        let (function, count) = match self.random.chance(50) {
            true => (OF_TWO[self.random.below(OF_TWO.len())], 2),
            false => (OF_THREE[self.random.below(OF_THREE.len())], 3),
        };
        let ty = Type::Scalar("u32");
        let operands: Vec<String> = (0..count).map(|_| self.value(&ty, depth - 1, false).text).collect();
        Code::atom(format!("cuda::{function}({})", operands.join(", ")))
    }

    fn integer_method(&mut self, name: &'static str, depth: usize) -> Code {
        let ty = Type::Scalar(name);
        if name == "u32" && self.random.chance(25) {
            return self.of_cuda(depth);
        }
        let receiver = self.value(&ty, depth - 1, false);
        match self.random.weighted(&[6, 2, 2]) {
            0 => {
                let method = SAME[self.random.below(SAME.len())];
                let argument = self.value(&ty, depth - 1, true);
                match method {
                    "abs_diff" if types::is_signed(name) => {
                        Code::cast(Code::method(receiver, &format!("abs_diff({})", argument.text)), name)
                    }
                    "clamp" => Code::method(receiver, &format!("clamp(1, 1 + ({} & 7))", argument.operand())),
                    "wrapping_div" | "rem_euclid" | "div_euclid" => {
                        Code::method(receiver, &format!("{method}({} | 1)", argument.operand()))
                    }
                    _ => Code::method(receiver, &format!("{method}({})", argument.text)),
                }
            }
            1 => {
                let method = AMOUNT[self.random.below(AMOUNT.len())];
                let amount = self.value(&Type::Scalar("u32"), depth - 1, true);
                Code::method(receiver, &format!("{method}({})", amount.text))
            }
            _ => match NONE[self.random.below(NONE.len())] {
                "isqrt" if types::is_signed(name) => Code::method(receiver, "saturating_abs().isqrt()"),
                "pow" => Code::method(receiver, &format!("pow({})", self.random.below(5))),
                method => Code::method(receiver, &format!("{method}()")),
            },
        }
    }

    pub(super) fn float(&mut self, name: &'static str, depth: usize) -> Code {
        let ty = Type::Scalar(name);
        match self.random.weighted(&[6, 3, 2, 1, 1]) {
            0 => {
                let op = ["+", "-", "*", "/", "%"][self.random.below(5)];
                let (left, right) = self.pair_of(&ty, depth);
                Code::binary(left, op, right)
            }
            1 => {
                let method = ROUNDED[self.random.below(ROUNDED.len())];
                Code::method(self.value(&ty, depth - 1, false), &format!("{method}()"))
            }
            2 => {
                let all: Vec<&'static str> = INTEGERS.into_iter().chain(FLOATS).collect();
                let from = Type::Scalar(all[self.random.below(all.len())]);
                let value = self.value(&from, depth - 1, false);
                Code::cast(value, name)
            }
            3 => {
                let receiver = self.value(&ty, depth - 1, false);
                let (by, plus) = (self.value(&ty, depth - 1, true), self.value(&ty, depth - 1, true));
                Code::method(receiver, &format!("mul_add({}, {})", by.text, plus.text))
            }
            _ => {
                let value = self.value(&ty, depth - 1, false);
                Code::unary(format!("-{}", value.receiver()))
            }
        }
    }

    pub(super) fn truth(&mut self, depth: usize) -> Code {
        match self.random.weighted(&[6, 4, 2, 1, 2, 2, 2, 1]) {
            0 => {
                let ty = if self.random.chance(20) {
                    Type::Tuple((0..2).map(|_| Type::integer(&mut self.random)).collect())
                } else {
                    Type::scalar(&mut self.random)
                };
                let ordered = ["<", "<=", ">", ">=", "==", "!="];
                let op =
                    if ty.is_ordered() { ordered[self.random.below(6)] } else { ordered[4 + self.random.below(2)] };
                let (left, right) = self.pair_of(&ty, depth);
                Code::binary(left, op, right)
            }
            1 => {
                let op = ["&&", "||"][self.random.below(2)];
                Code::binary(self.value(&BOOL, depth - 1, true), op, self.value(&BOOL, depth - 1, true))
            }
            2 => {
                let op = ["&", "|", "^"][self.random.below(3)];
                Code::binary(self.value(&BOOL, depth - 1, true), op, self.value(&BOOL, depth - 1, true))
            }
            3 => Code::unary(format!("!{}", self.value(&BOOL, depth - 1, true).receiver())),
            4 => self.contained(depth),
            5 => {
                let inner = Type::any(&mut self.random, 1);
                let option = self.value(&Type::Option(Box::new(inner.clone())), depth - 1, false);
                let closure = ["is_some_and", "is_none_or"][self.random.below(2)];
                match self.random.below(3) {
                    0 => Code::method(option, ["is_some()", "is_none()"][self.random.below(2)]),
                    _ => {
                        let function = self.closure(&inner, &BOOL, depth - 1);
                        Code::method(option, &format!("{closure}({function})"))
                    }
                }
            }
            6 => self.consumed(&BOOL, depth).unwrap_or_else(|| Code::atom("true")),
            _ => {
                let ty = Type::integer(&mut self.random);
                let value = self.value(&ty, depth - 1, false);
                let low = self.random.below(5);
                Code::atom(format!("matches!({}, {low}..={} | 9)", value.text, low + 2))
            }
        }
    }

    fn contained(&mut self, depth: usize) -> Code {
        let ty = Type::integer(&mut self.random);
        let low = self.value(&ty, depth - 1, false);
        let high = self.value(&ty, depth - 1, true);
        let item = self.value(&ty, depth - 1, true);
        let range = match self.random.below(4) {
            0 => format!("{}..", low.operand()),
            1 => format!("{}..={}", low.operand(), high.operand()),
            _ => format!("{}..{}", low.operand(), high.operand()),
        };
        Code::method(Code::atom(format!("({range})")), &format!("contains(&{})", item.operand()))
    }
}
