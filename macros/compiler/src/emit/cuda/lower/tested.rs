//! Accesses that one test shows to be within bounds: they are lowered without checks where it holds, those of a closure by a second
//! closure.

use std::collections::BTreeSet;

use super::Lower;
use super::access::Access;
use super::closures::Closure;
use super::known::Test;
use crate::emit::cuda::ast::{CuExpr, CuStmt};
use crate::model::expr::ExprKind;
use crate::model::walk::walk;
use crate::model::{LocalId, SiteId};

/// The test of an access.
pub(super) struct Guarded {
    /// The condition under which the access is made.
    pub(super) guard: Option<CuExpr>,
    /// The variable that says whether the access is within bounds in all iterations of a loop around the run.
    pub(super) all_within: Option<String>,
    pub(super) test: Test,
    pub(super) text: CuExpr,
    pub(super) is_of_warp: bool,
    /// Whether the compiler of CUDA C++ decides the test.
    pub(super) is_constant: bool,
}

/// The test of some accesses, and what needs no check where it holds.
pub(super) struct Tested {
    /// The variables that make the test unnecessary if all of them are true.
    pub(super) unless: Vec<String>,
    pub(super) test: CuExpr,
    /// What is to be tested even then: the part that the compiler of CUDA C++ decides.
    pub(super) constant: Option<CuExpr>,
    pub(super) accesses: Vec<SiteId>,
    pub(super) calls: Vec<(SiteId, LocalId)>,
}

impl Tested {
    /// Returns the test as one that fails nobody.
    pub(super) fn holds(&self) -> CuExpr {
        let holds = |test: &CuExpr| CuExpr::call("holds", vec![test.clone()]);
        let test = match self.all_within() {
            Some(all_within) => all_within.or(holds(&self.test)),
            None => holds(&self.test),
        };
        self.constant.iter().fold(test, |test, constant| test.and(holds(constant)))
    }

    /// Returns what makes the test unnecessary.
    pub(super) fn all_within(&self) -> Option<CuExpr> {
        self.unless.iter().map(|name| CuExpr::name(name)).reduce(CuExpr::and)
    }
}

/// Returns tests as one, each under the condition of its access, and unless it is unnecessary, if that is said of each of them.
pub(super) fn conjunction<'g>(tests: impl Iterator<Item = &'g Guarded>, unless_each: bool) -> Option<CuExpr> {
    let tests: Vec<&Guarded> = tests.collect();
    let parts = tests.chunk_by(|one, next| one.guard == next.guard && one.all_within == next.all_within);
    let tests = parts.filter_map(|part| {
        let first = part.first()?;
        let test = part.iter().map(|guarded| guarded.text.clone()).reduce(both)?;
        let all_within = first.all_within.as_ref().filter(|_| unless_each);
        let conditions = all_within.map(|name| CuExpr::name(name).not()).into_iter().chain(first.guard.clone());
        Some(match conditions.reduce(both) {
            Some(condition) => CuExpr::call("when", vec![condition, test]),
            None => test,
        })
    });
    tests.reduce(both)
}

/// Returns the conjunction of two tests or conditions, of which neither is skipped.
pub(super) fn both(left: CuExpr, right: CuExpr) -> CuExpr {
    CuExpr::Infix { op: "&", left: Box::new(left), right: Box::new(right), site: None }
}

impl Lower<'_> {
    /// Lowers accesses that are tested without checks from here on.
    pub(super) fn begin_tested(&mut self, tested: &Tested) {
        self.unchecked.extend(&tested.accesses);
        let closures: BTreeSet<LocalId> = tested.calls.iter().map(|(_, closure)| *closure).collect();
        for closure in closures {
            let name = self.unchecked_closure(closure);
            let calls = tested.calls.iter().filter(|(_, called)| *called == closure);
            self.tested_calls.extend(calls.map(|(site, _)| (*site, name.clone())));
        }
    }

    /// Declares a closure like another one, but without checks, and returns its name.
    fn unchecked_closure(&mut self, closure: LocalId) -> String {
        let name = self.names.fresh(&format!("{}_within", self.names.local(closure)));
        let Some(Closure { params, body, .. }) = self.closures.get(&closure) else { return name };
        let mut accesses = BTreeSet::new();
        walk(body, &mut |inner| {
            accesses.extend(Access::of(inner).map(|access| access.site));
            if let ExprKind::Method { method, site, .. } = &inner.kind {
                accesses.extend(site.filter(|_| method.name == "clamp"));
            }
        });
        self.unchecked.extend(&accesses);
        let init = Some(self.lambda(params, body, None));
        self.unchecked.retain(|site| !accesses.contains(site));
        self.out.push(CuStmt::Declare { ty: vec!["auto".into()], name: name.clone(), init });
        name
    }

    /// Lowers them with their checks again.
    pub(super) fn end_tested(&mut self, tested: &Tested) {
        for site in &tested.accesses {
            self.unchecked.remove(site);
        }
        for (site, _) in &tested.calls {
            self.tested_calls.remove(site);
        }
    }
}
