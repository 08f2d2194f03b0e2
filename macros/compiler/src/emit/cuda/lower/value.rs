//! Lowers expressions to C++ expressions.

use proc_macro2::Ident;

use super::literal::{bare_integer, literal};
use super::operands::has_value;
use super::parts::as_constant;
use super::{Dest, Lower, peers};
use crate::emit::cuda::ast::{CuExpr, CuStmt, Fragment};
use crate::emit::cuda::name::{field_name, variant_name};
use crate::emit::cuda::signature::{cast, shape, template};
use crate::model::effect::effect;
use crate::model::expr::{BinaryOp, Callee, Expr, ExprKind, LiteralType, Member, UnaryOp, outcome_of};
use crate::model::facts::Effect;
use crate::model::kind::Kind;
use crate::model::method::ScalarFunction;
use crate::model::op::Variant;
use crate::model::place::{local_of, may_write};
use crate::model::ty::ValueType;
use crate::model::{LocalId, SiteId, SlotId};

impl Lower<'_> {
    pub(super) fn value(&mut self, expr: &Expr) -> CuExpr {
        match &expr.kind {
            ExprKind::Int { digits, ty } | ExprKind::Float { digits, ty } => literal(digits, *ty),
            ExprKind::Bool(value) => CuExpr::name(if *value { "true" } else { "false" }),
            ExprKind::Local(local) => CuExpr::name(self.names.local(*local)),
            ExprKind::Constant(value) => CuExpr::Atom(vec![Fragment::Constant(*value)]),
            ExprKind::Operator(operator, _) => CuExpr::call(operator.cuda_name, Vec::new()),
            // A reference parameter of C++ is used by its name.
            ExprKind::Deref(target) | ExprKind::Borrow { target, mutable: false } => self.value(target),
            ExprKind::Borrow { target, mutable: true } => self.named(target),
            ExprKind::Unary(op, value) => self.unary(*op, value),
            ExprKind::Binary { op, left, right, site } => self.binary(expr, *op, [left, right], *site),
            ExprKind::Cast(value, ty) => {
                if let ExprKind::Binary { op: BinaryOp::Shr, left, right, .. } = &value.kind
                    && right.integer() == Some(32)
                {
                    let callee = template("upper_word", shape(&ty.shape));
                    return CuExpr::Call { callee, arguments: vec![self.value(left)], site: None };
                }
                let value = self.value(value);
                CuExpr::Call { callee: cast(ty), arguments: vec![self.word(expr, value)], site: None }
            }
            ExprKind::Typed(value, slot) => {
                CuExpr::Call { callee: vec![Fragment::Type(*slot)], arguments: vec![self.value(value)], site: None }
            }
            ExprKind::Index { .. } | ExprKind::Field { .. } | ExprKind::UncheckedPlace { .. } => {
                let place = self.named(expr);
                self.read_of_peer(peers::is_element(expr), place)
            }
            ExprKind::Axis(base, axis) => CuExpr::Member(Box::new(self.value(base)), axis.to_string()),
            ExprKind::Array { elements, slot } => {
                let elements = self.operands(&elements.iter().collect::<Vec<_>>());
                CuExpr::Braces(vec![Fragment::Type(*slot)], elements)
            }
            ExprKind::Repeat { element, slot, .. } => CuExpr::Call {
                callee: vec![Fragment::Type(*slot), "::filled".into()],
                arguments: vec![self.value(element)],
                site: None,
            },
            ExprKind::Struct { path, variant, fields, base, slot } => match outcome_of(path) {
                Some(variant) => {
                    let function = if variant == Variant::Ok { "::ok" } else { "::err" };
                    let arguments = fields.iter().map(|(_, value)| match value.result_kind {
                        // `()`, which syntax shows.
                        Kind::Unit => CuExpr::Braces(Vec::new(), Vec::new()),
                        _ => self.value(value),
                    });
                    let arguments = arguments.collect();
                    CuExpr::Call { callee: vec![Fragment::Type(*slot), function.into()], arguments, site: None }
                }
                None => self.structure(variant.as_ref(), fields, base.as_deref(), *slot),
            },
            ExprKind::Tuple { elements, slot } => {
                let elements = self.operands(&elements.iter().collect::<Vec<_>>());
                CuExpr::Braces(vec![Fragment::Type(*slot)], elements)
            }
            ExprKind::Some(value) => CuExpr::call("some", vec![self.value(value)]),
            ExprKind::None(slot) => {
                CuExpr::Call { callee: vec![Fragment::Type(*slot)], arguments: vec![CuExpr::name("none")], site: None }
            }
            ExprKind::Op { op, operands, site, types } => self.op(*op, operands, (*site, expr.span), types.as_ref()),
            ExprKind::Vector { splat, argument, slot, .. } => self.vector(*splat, argument, *slot),
            ExprKind::Method { method, operands, site } => {
                let mut arguments = self.operands(&operands.iter().collect::<Vec<_>>());
                if let Some(first) = arguments.first_mut() {
                    *first = self.word(expr, first.clone());
                }
                // The only method that is tested before a run.
                let is_tested = site.is_some_and(|site| self.unchecked.contains(&site));
                let (name, site) = if is_tested { ("clamped", None) } else { (method.name, *site) };
                CuExpr::Call { callee: vec![name.into()], arguments, site }
            }
            ExprKind::Call { callee, slot, arguments } => {
                let values = match (callee, arguments.split_first()) {
                    (Callee::Method(..), Some((receiver, rest))) => self.method_operands(receiver, rest),
                    _ => self.operands(&arguments.iter().collect::<Vec<_>>()),
                };
                match callee {
                    Callee::Operator(operator) => CuExpr::Operation {
                        callee: *slot,
                        symbol: operator.op.symbol(),
                        operands: values,
                        site: operator.site,
                    },
                    Callee::Function(_) | Callee::Associated(..) | Callee::Method(..) => {
                        CuExpr::Call { callee: vec![Fragment::Callee(*slot)], arguments: values, site: None }
                    }
                }
            }
            ExprKind::ScalarCall { ty, function, operands, site, .. } => {
                let arguments = self.operands(&operands.iter().collect::<Vec<_>>());
                let callee = match function {
                    ScalarFunction::Default => vec![Fragment::Named(*ty)],
                    ScalarFunction::From => template("as", vec![Fragment::Named(*ty)]),
                    ScalarFunction::CheckedFrom => template("checked_from", vec![Fragment::Named(*ty)]),
                    ScalarFunction::Constructor(name) => {
                        vec![Fragment::Named(*ty), format!("::{name}").as_str().into()]
                    }
                    ScalarFunction::Method(method) => vec![method.name.into()],
                };
                CuExpr::Call { callee, arguments, site: *site }
            }
            ExprKind::Intrinsic { function, operands, .. } => {
                let arguments = self.operands(&operands.iter().collect::<Vec<_>>());
                let callee = format!("{}::{}", function.module, function.name);
                CuExpr::Call { callee: vec![callee.as_str().into()], arguments, site: None }
            }
            ExprKind::CallClosure { closure, arguments, site } => {
                let tested = self.tested_calls.get(site).cloned();
                let callee = vec![Fragment::Text(tested.unwrap_or_else(|| self.names.local(*closure).to_string()))];
                let arguments = self.operands(&arguments.iter().collect::<Vec<_>>());
                CuExpr::Call { callee, arguments, site: None }
            }
            ExprKind::Closure { params, body, by_value } => self.lambda(params, body, by_value.as_deref()),
            ExprKind::Block(block) | ExprKind::Unsafe(block) => {
                self.block(block, |lower, tail| lower.value(tail)).unwrap_or_else(|| CuExpr::name("0"))
            }
            ExprKind::If { condition, then, otherwise: Some(otherwise), .. } if expr.result_kind == Kind::Value => {
                match self.ternary(condition, then, otherwise) {
                    Some(value) => value,
                    None => self.through_variable(expr),
                }
            }
            ExprKind::Match { scrutinee, arms, .. } => {
                let used = Dest::Assign(String::new());
                self.selection(expr, scrutinee, arms, &used).unwrap_or_else(|| self.through_variable(expr))
            }
            ExprKind::If { .. } | ExprKind::Labelled { .. } | ExprKind::Loop { .. } => self.through_variable(expr),
            // These expressions have no value: nothing reads the one that replaces it.
            ExprKind::Error
            | ExprKind::While { .. }
            | ExprKind::For { .. }
            | ExprKind::Assign(..)
            | ExprKind::AssignOp { .. }
            | ExprKind::Break { .. }
            | ExprKind::Continue { .. }
            | ExprKind::Return { .. }
            | ExprKind::Assert(..)
            | ExprKind::Panic(_)
            | ExprKind::Print(_)
            | ExprKind::Cuda(_) => {
                self.into(expr, &Dest::Discard);
                CuExpr::name("0")
            }
        }
    }

    /// Lowers an expression that may be a place as one, which its user reads or writes.
    fn named(&mut self, expr: &Expr) -> CuExpr {
        let (ExprKind::Index { .. } | ExprKind::Field { .. } | ExprKind::UncheckedPlace { .. }) = &expr.kind else {
            return self.value(expr);
        };
        let place = self.place(expr, false);
        match self.parts.read_only(self.function, expr) {
            Some(local) if !self.constant.contains(&local) => as_constant(place),
            _ => place,
        }
    }

    /// Lowers the operands of a method. A receiver that is a place is passed by reference, because the method may
    /// change it; any other is copied, as the host body copies it. If an argument writes the receiver, the method takes
    /// it by value, as rustc has checked.
    fn method_operands(&mut self, receiver: &Expr, rest: &[Expr]) -> Vec<CuExpr> {
        let written = |local| rest.iter().any(|argument| may_write(argument, local));
        let rest: Vec<&Expr> = rest.iter().collect();
        let changes = rest.iter().any(|argument| effect(self.function, argument) == Effect::Changes);
        let receiver = match local_of(receiver) {
            Some(local) if !written(local) => self.place(receiver, changes),
            _ => {
                let value = self.value(receiver);
                self.spill(value)
            }
        };
        [receiver].into_iter().chain(self.operands(&rest)).collect()
    }

    pub(super) fn lambda(
        &mut self,
        params: &[(LocalId, Option<ValueType>)],
        body: &Expr,
        by_value: Option<&[LocalId]>,
    ) -> CuExpr {
        let capture = match by_value {
            None => "[&]".to_string(),
            Some(arrays) => {
                let arrays = arrays.iter().map(|array| self.names.local(*array));
                let referred = arrays.chain(self.peer_reads.as_deref());
                let referred: String = referred.map(|name| format!(", &{name} = {name}")).collect();
                format!("[={referred}]")
            }
        };
        let params = params.iter().map(|(local, ty)| {
            let ty = ty.as_ref().map_or_else(|| vec!["auto".into()], |ty| shape(&ty.shape));
            (ty, self.names.local(*local).to_string())
        });
        let params = params.collect();
        let jump_targets = std::mem::take(&mut self.jump_targets);
        let dest = if matches!(body.result_kind, Kind::Unit | Kind::Never) { Dest::Discard } else { Dest::Return };
        // It may be called where threads of a warp are apart.
        let ((), body) = self.nested(|lower| lower.apart(true, |lower| lower.into(body, &dest)));
        self.jump_targets = jump_targets;
        CuExpr::Lambda { capture, params, body }
    }

    /// Lowers a place expression such as `a[i][j]`: the array is never copied, and the indexes are evaluated from left
    /// to right. A base that is no place is a value without a name, evaluated before the indexes.
    fn place(&mut self, expr: &Expr, changes_later: bool) -> CuExpr {
        match &expr.kind {
            ExprKind::Field { base, member } => self.place(base, changes_later).field(field_name(member)),
            ExprKind::Index { site, .. } if self.loaded.contains_key(site) => {
                let [loaded, variable] = self.loaded[site].each_ref().map(|name| CuExpr::name(name));
                CuExpr::Method { base: Box::new(loaded), name: "get_unchecked", arguments: vec![variable], site: None }
            }
            ExprKind::Index { base, index, site } if self.unchecked.contains(site) => {
                match self.widened.get(site).cloned() {
                    Some(index) => {
                        let base = Box::new(self.place(base, changes_later));
                        CuExpr::Method { base, name: "get_unchecked", arguments: vec![index], site: None }
                    }
                    None => match self.adjacent.get(site).copied() {
                        Some(neighbours) => self.adjacent_place(neighbours, base, index, changes_later),
                        None => {
                            let (base, index) = self.indexed(base, index, changes_later);
                            let arguments = vec![self.word_if_scattered(*site, index)];
                            CuExpr::Method { base: Box::new(base), name: "get_unchecked", arguments, site: None }
                        }
                    },
                }
            }
            ExprKind::Index { base, index, site } if self.deferred.contains_key(site) => {
                let (base, index) = self.indexed(base, index, changes_later);
                let index = self.noted(vec!["deferred".into()], base.clone(), index, *site);
                CuExpr::Method { base: Box::new(base), name: "get_unchecked", arguments: vec![index], site: None }
            }
            ExprKind::Index { base, index, site } => {
                let (base, index) = self.indexed(base, index, changes_later);
                let index = self.checked_index(*site, index);
                CuExpr::Index { base: Box::new(base), index: Box::new(index), site: *site }
            }
            ExprKind::UncheckedPlace { base, index } => {
                self.unchecked_place("get_unchecked", base, index, changes_later)
            }
            ExprKind::Local(_) | ExprKind::Deref(_) => self.value(expr),
            _ => {
                let value = self.value(expr);
                let is_seen = has_value(expr) && effect(self.function, expr) != Effect::Pure;
                if changes_later && is_seen { self.spill(value) } else { value }
            }
        }
    }

    pub(super) fn unchecked_place(
        &mut self,
        name: &'static str,
        base: &Expr,
        index: &Expr,
        changes_later: bool,
    ) -> CuExpr {
        let (base, index) = self.indexed(base, index, changes_later);
        CuExpr::Method { base: Box::new(base), name, arguments: vec![index], site: None }
    }

    /// Returns an index that is within bounds: this one, or another if this one is not, which the variable of the loop then says.
    pub(super) fn noted(&self, callee: Vec<Fragment>, memory: CuExpr, index: CuExpr, site: SiteId) -> CuExpr {
        let outside = self.deferred.get(&site).map(|outside| CuExpr::name(outside));
        let arguments = [memory, index].into_iter().chain(outside).collect();
        CuExpr::Call { callee, arguments, site: None }
    }

    pub(super) fn indexed(&mut self, base: &Expr, index: &Expr, changes_later: bool) -> (CuExpr, CuExpr) {
        let own = effect(self.function, index);
        let base = self.place(base, changes_later || own == Effect::Changes);
        let index = self.value(index);
        (base, if changes_later && own != Effect::Pure { self.spill(index) } else { index })
    }

    /// Lowers a struct. Its fields are evaluated in Rust's order where that can be observed; the text lists them in the
    /// order of the type.
    fn structure(
        &mut self,
        variant: Option<&Ident>,
        fields: &[(Member, Expr)],
        base: Option<&Expr>,
        slot: SlotId,
    ) -> CuExpr {
        let operands: Vec<&Expr> = fields.iter().map(|(_, field)| field).chain(base).collect();
        let mut values = self.operands(&operands).into_iter();
        let fields =
            fields.iter().zip(values.by_ref()).map(|((member, _), value)| (field_name(member), value)).collect();
        // The text repeats the base for each field that comes from it.
        let base = values.next().map(|base| Box::new(self.spill_unless_name(base)));
        let variant = variant.map(variant_name).unwrap_or_default();
        CuExpr::Struct { slot, variant, fields, base }
    }

    /// Lowers an expression that needs statements: they assign its value to a variable.
    fn through_variable(&mut self, expr: &Expr) -> CuExpr {
        let Some(ty) = self.type_of(expr) else {
            self.into(expr, &Dest::Discard);
            return CuExpr::name("0");
        };
        let name = self.names.fresh("value");
        self.out.push(CuStmt::Declare { ty, name: name.clone(), init: None });
        self.into(expr, &Dest::Assign(name.clone()));
        CuExpr::name(&name)
    }

    fn unary(&mut self, op: UnaryOp, value: &Expr) -> CuExpr {
        if let (UnaryOp::Neg, ExprKind::Int { digits, ty: LiteralType::Beside }) = (op, &value.kind) {
            return CuExpr::Prefix("-", Box::new(CuExpr::Atom(vec![Fragment::Text(bare_integer(digits, true))])));
        }
        let symbol = match op {
            UnaryOp::Not => "!",
            UnaryOp::Neg => "-",
        };
        CuExpr::Prefix(symbol, Box::new(self.value(value)))
    }

    fn binary(&mut self, expr: &Expr, op: BinaryOp, [left, right]: [&Expr; 2], site: Option<SiteId>) -> CuExpr {
        if op.short_circuits() {
            return self.short_circuit(op, left, right);
        }
        let mut operands = self.operands(&[left, right]).into_iter();
        match (operands.next(), operands.next()) {
            (Some(left), Some(right)) => {
                let left = self.word(expr, left);
                CuExpr::infix(op.symbol(), left, right, site)
            }
            _ => CuExpr::name("0"),
        }
    }

    fn short_circuit(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> CuExpr {
        if let Some(both) = self.eager_if_mixed(op, left, right) {
            return CuExpr::call("bool", vec![both]);
        }
        let first = self.value(left);
        let (second, statements) = self.nested(|lower| lower.value(right));
        if statements.is_empty() {
            return CuExpr::Infix { op: op.symbol(), left: Box::new(first), right: Box::new(second), site: None };
        }
        // The right operand needs statements, which run only if the left operand does not decide.
        let name = self.names.fresh("value");
        self.out.push(CuStmt::Declare { ty: vec!["bool".into()], name: name.clone(), init: Some(first) });
        let test = CuExpr::name(&name);
        let condition = if op == BinaryOp::And { test } else { test.not() };
        let mut then = statements;
        let place = Box::new(CuExpr::name(&name));
        then.push(CuStmt::Expr(CuExpr::Assign { op: "=", place, value: Box::new(second), site: None }));
        self.out.push(CuStmt::If { condition, then, otherwise: Vec::new() });
        CuExpr::name(&name)
    }

    /// Lowers an assignment. As in Rust, the value is evaluated before the place.
    pub(super) fn assign(&mut self, place: &Expr, value: &Expr) {
        if let (ExprKind::Local(local), true) = (&place.kind, self.takes_statements(value)) {
            let name = self.names.local(*local).to_string();
            self.into(value, &Dest::Assign(name));
            return;
        }
        self.store("=", place, value, None);
    }

    pub(super) fn assign_op(&mut self, op: BinaryOp, place: &Expr, value: &Expr, site: Option<SiteId>) {
        self.store(op.assigning(), place, value, site);
    }

    fn store(&mut self, op: &'static str, place: &Expr, value: &Expr, site: Option<SiteId>) {
        self.store_by(place, value, |place, value| CuExpr::Assign { op, place, value, site });
    }

    /// Lowers an operator that assigns and may be a function.
    pub(super) fn assign_by_function(
        &mut self,
        callee: SlotId,
        (symbol, site): (&'static str, Option<SiteId>),
        place: &Expr,
        value: &Expr,
    ) {
        self.store_by(place, value, |place, value| CuExpr::Operation {
            callee,
            symbol,
            operands: vec![*place, *value],
            site,
        });
    }

    fn store_by(&mut self, place: &Expr, value: &Expr, store: impl FnOnce(Box<CuExpr>, Box<CuExpr>) -> CuExpr) {
        let mut value = self.value(value);
        let guard = self.store_guard.clone().filter(|_| place.memory().is_some());
        if guard.is_some() || effect(self.function, place) == Effect::Changes {
            value = self.spill(value);
        }
        let mut place = self.named(place);
        if guard.is_some() {
            // Its check is made, and whether it holds is noted, before the condition is looked at.
            place = self.bind("auto&", place);
        }
        let store = store(Box::new(place), Box::new(value));
        self.store_if(guard, store);
    }

    /// Prints a store to memory, which is made if a condition holds.
    pub(super) fn store_if(&mut self, guard: Option<CuExpr>, store: CuExpr) {
        let store = CuStmt::Expr(store);
        self.out.push(match guard {
            Some(condition) => CuStmt::If { condition, then: vec![store], otherwise: Vec::new() },
            None => store,
        });
    }

    pub(super) fn spill_unless_name(&mut self, value: CuExpr) -> CuExpr {
        match value {
            CuExpr::Atom(_) => value,
            value => self.spill(value),
        }
    }
}
