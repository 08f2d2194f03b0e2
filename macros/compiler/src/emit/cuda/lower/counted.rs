//! Lowers loops that count: with a test of their accesses before them, if it shows anything (`hoist`), and what follows such a loop with it.

use super::Lower;
use super::deferred::{Reported, counter};
use super::hoist::Hoisted;
use super::nest::Form;
use super::rest::Joined;
use crate::emit::cuda::ast::{CuExpr, CuStmt, Unrolling};
use crate::model::expr::{Block, Condition, Expr, ExprKind, Stmt};
use crate::model::range::{Adaptor, Range};
use crate::model::{LoopId, SiteId, SlotId};

/// A loop without checks, which runs if the test holds, and the same loop with checks.
struct Choice {
    test: CuExpr,
    callees: Vec<SlotId>,
    unchecked: Vec<CuStmt>,
    checked: CuStmt,
    is_of_warp: bool,
}

impl Lower<'_> {
    /// Lowers a loop over a range: twice if its checks can move to before it, once with a test of all of its iterations
    /// before it if the loop cannot be printed twice. Returns whether it lowered the statements after it, too.
    pub(super) fn counted_loop(
        &mut self,
        whole: &Expr,
        (unroll, name, used): (Option<Unrolling>, String, bool),
        range: CuExpr,
        body: &Block,
        rest: &[Stmt],
    ) -> bool {
        let steps = self.names.free("steps");
        // The number of rounds takes a division, which is made once.
        let divides = matches!(&whole.kind, ExprKind::For { range, .. } if divides(range));
        let values = divides.then(|| self.names.free("values"));
        let hoisted = if self.checks_all { None } else { self.hoist(whole, &steps, values.as_deref()) };
        let Some(Hoisted {
            test,
            accesses,
            widened,
            form,
            callees,
            deferred,
            unroll: ahead,
            counted: _,
            is_left,
            is_of_slices,
            is_of_warp,
            array,
        }) = hoisted
        else {
            let array = self.array_of_range(whole, |site| self.unchecked.contains(&site)).filter(|_| unroll.is_none());
            if let Some(array) = array {
                let steps = self.declare_constant(&steps, range);
                let body = self.loop_body(Vec::new(), body);
                let whole = self.loop_over_array(array, &steps, name, body);
                self.out.push(whole);
                return false;
            }
            let loads = self.loads_ahead(whole, &steps, &name);
            let mut range = if self.is_tested(whole) { CuExpr::call("unclamped", vec![range]) } else { range };
            if !loads.is_empty() {
                range = CuExpr::name(&self.declare_constant(&steps, range));
            }
            self.out.extend(loads);
            let body = self.loop_body(Vec::new(), body);
            self.end_loads_ahead();
            self.out.push(CuStmt::For { unroll, name, used, range, body });
            return false;
        };
        let steps = self.declare_constant(&steps, range);
        let mut unclamped = CuExpr::call("unclamped", vec![CuExpr::name(&steps)]);
        if let Some(values) = values {
            unclamped = CuExpr::name(&self.declare_constant("rounds", unclamped));
            let of = vec![CuExpr::name(&steps), unclamped.clone()];
            self.declare_constant(&values, CuExpr::call("values_of", of));
        }
        if form != Form::Twice {
            let test = self.agreed(test, is_of_warp);
            self.declare_all_within(test, accesses, is_of_warp);
            let body = self.loop_body(Vec::new(), body);
            self.out.push(CuStmt::For { unroll: unroll.or(ahead), name, used, range: CuExpr::name(&steps), body });
            return false;
        }
        let reported = deferred.map(|deferred| self.defer(&deferred, test.clone()));
        self.widened.extend(widened);
        let (mut loads, unchecked) = self.without_checks(&accesses, is_of_warp, |lower| {
            let loads = if reported.is_none() { lower.loads_ahead(whole, &steps, &name) } else { Vec::new() };
            let body = lower.loop_body(Vec::new(), body);
            lower.end_loads_ahead();
            (loads, body)
        });
        let unchecked = match array.filter(|_| unroll.is_none()) {
            Some(array) => self.loop_over_array(array, &steps, name.clone(), unchecked),
            None => {
                let unroll = unroll.or(ahead);
                CuStmt::For { unroll, name: name.clone(), used, range: unclamped, body: unchecked }
            }
        };
        loads.push(unchecked);
        let unchecked = loads;
        if let Some(reported) = &reported {
            self.end_deferral(reported);
        }
        let checked = self.with_checks(is_of_warp, |lower| lower.loop_body(Vec::new(), body));
        self.store_guard = None;
        let checked = CuStmt::For { unroll, name, used, range: CuExpr::name(&steps), body: checked };
        match reported {
            None => {
                let rest = if is_of_slices && !is_left { rest } else { &[] };
                self.choice(whole, rest, Choice { test, callees, unchecked, checked, is_of_warp })
            }
            Some(Reported { outside, .. }) => {
                self.reporting(&outside, unchecked, vec![checked]);
                false
            }
        }
    }

    /// Lowers a `while` loop that counts, if a test before it shows anything: to a loop over the values of its counter without
    /// checks and to itself with checks, or once after the test. Returns whether it lowered the statements after it, too, if it did.
    pub(super) fn counting_while(
        &mut self,
        whole: &Expr,
        id: LoopId,
        condition: &Condition,
        body: &Block,
        rest: &[Stmt],
    ) -> Option<bool> {
        let steps = self.names.free("steps");
        let hoisted = if self.checks_all { None } else { self.hoist(whole, &steps, None) };
        let Hoisted {
            test,
            accesses,
            form,
            callees,
            deferred,
            unroll: ahead,
            counted,
            is_left,
            is_of_slices,
            is_of_warp,
            ..
        } = hoisted?;
        let counted = counted?;
        let unroll = self.unroll(id);
        let steps = self.declare_constant(&steps, counted);
        if form != Form::Twice {
            let test = self.agreed(test, is_of_warp);
            self.declare_all_within(test, accesses, is_of_warp);
            let whole = self.plain_while(unroll.or(ahead), condition, body);
            self.out.push(whole);
            return Some(false);
        }
        let ahead = unroll.or(ahead);
        let counts = CuExpr::call("is_counting", vec![CuExpr::name(&steps)]);
        // The loop that reports accesses begins with the counter's first value again.
        let begin = deferred.and_then(|deferred| {
            let local = self.names.local(counter(whole)?).to_string();
            let begin = self.declare_constant("begin", CuExpr::name(&local));
            Some((self.defer(&deferred, counts.clone().and(test.clone())), local, begin))
        });
        let unchecked = self.without_checks(&accesses, is_of_warp, |lower| {
            if is_left {
                return lower.plain_while(ahead, condition, body);
            }
            let range = CuExpr::call("unclamped", vec![CuExpr::name(&steps)]);
            let name = lower.names.fresh("i");
            CuStmt::For { unroll: ahead, name, used: false, range, body: lower.loop_body(Vec::new(), body) }
        });
        if let Some((reported, ..)) = &begin {
            self.end_deferral(reported);
        }
        let checked = self.with_checks(is_of_warp, |lower| lower.plain_while(unroll, condition, body));
        self.store_guard = None;
        if let Some((Reported { outside, .. }, local, begin)) = begin {
            let (place, value) = (Box::new(CuExpr::name(&local)), Box::new(CuExpr::name(&begin)));
            let again = CuStmt::Expr(CuExpr::Assign { op: "=", place, value, site: None });
            self.reporting(&outside, vec![unchecked], vec![again, checked]);
            return Some(false);
        }
        let rest = if is_of_slices && !is_left { rest } else { &[] };
        Some(self.choice(
            whole,
            rest,
            Choice { test: counts.and(test), callees, unchecked: vec![unchecked], checked, is_of_warp },
        ))
    }

    /// Adds a loop without checks, and behind it the one that reports what was out of bounds.
    fn reporting(&mut self, outside: &str, unchecked: Vec<CuStmt>, checked: Vec<CuStmt>) {
        let outside = CuExpr::name(outside);
        self.out.push(CuStmt::If { condition: outside.clone().not(), then: unchecked, otherwise: Vec::new() });
        self.out.push(CuStmt::If { condition: outside, then: checked, otherwise: Vec::new() });
    }

    /// Lowers the choice between a loop without checks and one with them, and with it the statements after the loop that
    /// share its test. Returns whether there are any.
    fn choice(&mut self, whole: &Expr, rest: &[Stmt], choice: Choice) -> bool {
        let Choice { mut test, mut callees, mut unchecked, checked, is_of_warp } = choice;
        let mut checked = vec![checked];
        let joined = if rest.is_empty() { None } else { self.join(whole, rest) };
        let joins = joined.is_some();
        if let Some(Joined { tested, callees: called }) = joined {
            test = test.and(tested.holds());
            callees.extend(called);
            let ((), without) = self.nested(|lower| {
                lower.begin_tested(&tested);
                lower.apart(!is_of_warp, |lower| lower.all_statements(rest));
                lower.end_tested(&tested);
            });
            unchecked.extend(without);
            self.checks_all = true;
            let ((), with) = self.nested(|lower| lower.apart(!is_of_warp, |lower| lower.all_statements(rest)));
            self.checks_all = false;
            checked.extend(with);
        }
        let test = self.agreed(test, is_of_warp);
        self.out.push(CuStmt::Hoisted { test, callees, unchecked, checked });
        joins
    }

    /// Lowers what is printed twice without the checks of these accesses.
    pub(super) fn without_checks<R>(
        &mut self,
        accesses: &[SiteId],
        is_of_warp: bool,
        lower: impl FnOnce(&mut Self) -> R,
    ) -> R {
        self.unchecked.extend(accesses);
        let lowered = self.apart(!is_of_warp, lower);
        accesses.iter().for_each(|site| {
            self.unchecked.remove(site);
            self.widened.remove(site);
        });
        lowered
    }

    /// Lowers what is printed twice with all checks.
    pub(super) fn with_checks<R>(&mut self, is_of_warp: bool, lower: impl FnOnce(&mut Self) -> R) -> R {
        self.checks_all = true;
        let lowered = self.apart(!is_of_warp, lower);
        self.checks_all = false;
        lowered
    }

    /// Declares a variable of this name or a similar one, and returns its name.
    fn declare_constant(&mut self, name: &str, value: CuExpr) -> String {
        let name = self.names.fresh(name);
        self.out.push(CuStmt::Declare { ty: vec!["const auto".into()], name: name.clone(), init: Some(value) });
        name
    }

    /// Declares a variable with the value of a test, without which the accesses in all iterations of a loop are tested.
    fn declare_all_within(&mut self, test: CuExpr, accesses: Vec<SiteId>, is_of_warp: bool) {
        let all_within = self.names.fresh("all_within");
        self.agreed.extend(is_of_warp.then(|| all_within.clone()));
        let ty = vec!["const bool".into()];
        self.out.push(CuStmt::Declare { ty, name: all_within.clone(), init: Some(test) });
        // Threads that vote do so where the vote is.
        if !is_of_warp {
            self.out.push(CuStmt::Expr(CuExpr::call("keep_test", vec![CuExpr::name(&all_within)])));
        }
        self.all_within.extend(accesses.into_iter().map(|site| (site, all_within.clone())));
    }
}

/// Whether it takes a division by a variable to know how often a loop over a range runs.
fn divides(range: &Range) -> bool {
    let is_variable = |step: &Expr| step.integer().is_none() && !matches!(step.kind, ExprKind::Constant(_));
    range.adaptors.iter().filter_map(Adaptor::step).any(is_variable)
}
