//! What is known of a kernel's rings, as plain data for tools.

use proc_macro2::TokenStream;

use super::{Parsed, define, judge, judge_with_bodies, parse_kernel, with_bodies, with_values};
use crate::check::rings::{Case, Known};
use crate::diag::{Diags, Fault};
use crate::rules::Rule;
use crate::session::Session;
use crate::values::Conditional;

/// What is known of a kernel's rings of phase barriers if constants have certain values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingCase {
    /// The constants that rustc has to confirm, with the values that are taken for them.
    pub values: Vec<(String, i64)>,
    /// What is known.
    pub report: RingReport,
}

/// What is known of a kernel's rings of phase barriers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RingReport {
    /// No run of the kernel has a fault at these barriers, or in the accesses of these arrays.
    Proved {
        /// The names of the barriers.
        barriers: Vec<String>,
        /// The names of the shared arrays.
        arrays: Vec<String>,
        /// The number of states that were visited.
        states: usize,
    },
    /// rustc reports this fault if the constants have the values.
    Refused(Fault),
    /// The kernel switches the rule off that it breaks.
    Waived,
    /// There is neither a proof nor a fault.
    Open {
        /// The line of what is not followed, from 1.
        line: u32,
        /// The reason.
        why: String,
    },
}

impl RingCase {
    pub(super) fn of(case: &Case) -> RingCase {
        let report = match &case.known {
            Known::Proved { barriers, arrays, states, .. } => {
                RingReport::Proved { barriers: barriers.clone(), arrays: arrays.clone(), states: *states }
            }
            Known::Faulty(Some(fault)) => RingReport::Refused(fault.to_fault()),
            Known::Faulty(None) => RingReport::Waived,
            Known::Open(refusal) => RingReport::Open { line: refusal.at.line(), why: refusal.why.clone() },
        };
        RingCase { values: case.values(), report }
    }
}

/// Returns what is known of a kernel's rings of phase barriers, or its faults. The text is that of the file around it.
pub(crate) fn rings(
    session: Session,
    file: &str,
    options: TokenStream,
    item: TokenStream,
) -> Result<Vec<RingCase>, Vec<Fault>> {
    let mut diags = Diags::new(session);
    if let Parsed::Function { mut function, .. } = parse_kernel(options.clone(), item.clone(), &mut diags) {
        define(&mut function, Some(file));
        let known = with_values(&function, &options, &item, session);
        let judged = judge(&function, || known.as_ref(), &mut diags);
        let open = judged.checked.as_ref().is_ok_and(|checked| checked.rings().are_open());
        let bodies = if open { with_bodies(&function, (file, None), &options, &item, session) } else { None };
        let judged = match &bodies {
            Some(bodies) => judge_with_bodies(judged, bodies, &mut diags),
            None => judged,
        };
        if let Ok(checked) = &judged.checked {
            let is_of_rings = |fault: &&Conditional| fault.if_right && Rule::OF_RINGS.contains(&fault.fault.rule);
            if let Some(conditional) = judged.conditional.iter().find(is_of_rings) {
                let report = RingReport::Refused(conditional.fault.to_fault());
                return Ok(vec![RingCase { values: Vec::new(), report }]);
            }
            let rings = checked.rings_if().map_or(checked.rings(), |(rings, _)| rings);
            return Ok(rings.cases.iter().map(RingCase::of).collect());
        }
    }
    Err(diags.into_faults())
}
