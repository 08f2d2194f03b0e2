//! Accesses that one test shows to be within bounds: they are lowered without checks where it holds, those of a closure by a second
//! closure.

use std::collections::BTreeSet;

use super::Lower;
use super::access::Access;
use super::nest::Closure;
use crate::emit::cuda::ast::{CuExpr, CuStmt};
use crate::model::walk::walk;
use crate::model::{LocalId, SiteId};

/// The test of some accesses, and what needs no check where it holds.
pub(super) struct Tested {
    /// The variable that, if it is true, makes the test unnecessary.
    pub(super) unless: Option<String>,
    pub(super) test: CuExpr,
    pub(super) accesses: Vec<SiteId>,
    pub(super) calls: Vec<(SiteId, LocalId)>,
}

impl Tested {
    /// Returns the test as one that fails nobody.
    pub(super) fn holds(&self) -> CuExpr {
        let test = CuExpr::call("holds", vec![self.test.clone()]);
        match &self.unless {
            Some(all_within) => CuExpr::name(all_within).or(test),
            None => test,
        }
    }
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
        walk(body, &mut |inner| accesses.extend(Access::of(inner).map(|access| access.site)));
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
