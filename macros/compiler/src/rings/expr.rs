//! Expressions over counters, in postfix order, so that nothing about them is recursive. Values are integers without
//! bounds: an expression that the machine would wrap is not one of these.

use super::verdict::Reason;

/// An expression over a role's counters and the rank of the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    pub(crate) terms: Vec<Term>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    Constant(i64),
    Counter(u32),
    Rank,
    Unknown,
    Apply(Operator),
}

/// A binary operator of an [`Expr`]. Comparisons are 1 or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of Rust's traits")]
pub enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Xor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
}

impl Expr {
    /// Returns a literal.
    pub fn constant(value: i64) -> Expr {
        Expr { terms: vec![Term::Constant(value)] }
    }

    /// Returns a counter of the role, which is 0 at the start.
    pub fn counter(counter: u32) -> Expr {
        Expr { terms: vec![Term::Counter(counter)] }
    }

    /// Returns the rank of the thread's block.
    pub fn rank() -> Expr {
        Expr { terms: vec![Term::Rank] }
    }

    /// Returns a value that depends on data. A skeleton with one is not proved.
    pub fn unknown() -> Expr {
        Expr { terms: vec![Term::Unknown] }
    }

    /// Applies an operator to this expression and another.
    #[must_use]
    pub fn apply(mut self, operator: Operator, right: Expr) -> Expr {
        self.terms.extend(right.terms);
        self.terms.push(Term::Apply(operator));
        self
    }

    /// Returns whether the value depends on counters.
    pub fn has_counters(&self) -> bool {
        self.counters().next().is_some()
    }

    /// Returns whether the value may depend on the rank of the block.
    pub(crate) fn has_rank(&self) -> bool {
        self.terms.contains(&Term::Rank)
    }

    /// Returns the value if it is the same for all counters and ranks.
    pub fn known(&self) -> Option<i64> {
        // Most are literals, or nothing but a counter.
        if let [term] = self.terms[..] {
            return if let Term::Constant(value) = term { Some(value) } else { None };
        }
        let varies = |term: &Term| match term {
            Term::Counter(_) | Term::Rank | Term::Unknown => true,
            Term::Constant(_) | Term::Apply(_) => false,
        };
        if self.terms.iter().any(varies) { None } else { self.value(&[], 0, 0).ok() }
    }

    /// Returns the value, or why it is not known. A division whose operands Rust and floor division treat differently has none.
    pub(crate) fn value(&self, counters: &[i64], rank: i64, id: u32) -> Result<i64, Reason> {
        let mut stack: Vec<i64> = Vec::new();
        for term in &self.terms {
            let value = match *term {
                Term::Constant(value) => value,
                Term::Counter(counter) => counters.get(counter as usize).copied().unwrap_or(0),
                Term::Rank => rank,
                Term::Unknown => return Err(Reason::Data { step: id }),
                Term::Apply(operator) => {
                    let operands = (stack.pop(), stack.pop());
                    let (Some(right), Some(left)) = operands else { return Err(Reason::Arithmetic { step: id }) };
                    operator.apply(left, right).ok_or(Reason::Arithmetic { step: id })?
                }
            };
            stack.push(value);
        }
        stack.pop().ok_or(Reason::Arithmetic { step: id })
    }

    pub(crate) fn counters(&self) -> impl Iterator<Item = u32> + '_ {
        self.terms.iter().filter_map(|term| match term {
            Term::Counter(counter) => Some(*counter),
            Term::Constant(_) | Term::Rank | Term::Unknown | Term::Apply(_) => None,
        })
    }
}

impl Operator {
    pub(crate) fn apply(self, left: i64, right: i64) -> Option<i64> {
        let natural = left >= 0 && right >= 0;
        match self {
            Operator::Add => left.checked_add(right),
            // An unsigned number of the machine would wrap.
            Operator::Sub => left.checked_sub(right).filter(|rest| *rest >= 0 || !natural),
            Operator::Mul => left.checked_mul(right),
            Operator::Div => left.checked_div(right).filter(|_| natural),
            Operator::Rem => left.checked_rem(right).filter(|_| natural),
            Operator::And => natural.then_some(left & right),
            Operator::Xor => natural.then_some(left ^ right),
            // What a number of the machine would lose has no value, nor a shift by as many bits as it has.
            Operator::Shl => bits(right).and_then(|by| left.checked_mul(1 << by)).filter(|moved| moved >> 31 == 0),
            Operator::Shr => bits(right).filter(|_| natural).map(|by| left >> by),
            Operator::Eq => Some(i64::from(left == right)),
            Operator::Ne => Some(i64::from(left != right)),
            Operator::Lt => Some(i64::from(left < right)),
            Operator::Le => Some(i64::from(left <= right)),
        }
    }
}

/// The number of bits of a shift, which every type of at least 32 bits has.
fn bits(number: i64) -> Option<u32> {
    u32::try_from(number).ok().filter(|bits| *bits < 32)
}
