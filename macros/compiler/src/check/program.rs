//! Whole programs, for tools that have all functions at hand: the protocols that rustc joins for users, by the constants of
//! `emit/protocol`, are joined here by the same `const fn`s. What rustc knows of uniformity and of tokens across functions is not.

use std::collections::BTreeMap;

use phalanx_contract::constant::is_one_of;
use phalanx_contract::protocol::{self as contract, ProtocolSummary};

use super::Checked;
use super::dsm::overlap::ConstantIs;
use super::dsm::protocol::{Demand, Guard};
use super::rings::Constants;
use crate::diag::Fault;

/// The most parameters of a function here.
const PARAMETERS: usize = 16;

/// The functions that were checked so far, by name.
#[derive(Default)]
pub(crate) struct Program(BTreeMap<String, ProtocolSummary>);

/// The slots of the calls that a function asks about, and the summaries of the callees.
struct Table {
    slots: Vec<u16>,
    callees: Vec<ProtocolSummary>,
}

impl Program {
    /// Adds a function, after those that it calls, and returns its faults that depend on these.
    pub(crate) fn add(&mut self, checked: &Checked<'_>) -> Vec<Fault> {
        let protocol = checked.protocol();
        let slots: Vec<u16> = protocol.calls().into_iter().collect();
        let calls = &checked.summary().calls;
        let name = |slot: &u16| calls.iter().find(|call| call.slot == *slot).map(|call| call.function.name.to_string());
        let summary = |slot| name(slot).and_then(|name| self.0.get(&name)).copied();
        let callees = slots.iter().map(|slot| summary(slot).unwrap_or(ProtocolSummary::UNKNOWN)).collect();
        let table = Table { slots, callees };
        let effects: Vec<_> = protocol
            .effects
            .iter()
            .map(|(effect, guard)| (effect.rename(|slot| table.position(slot)), table.guard(guard)))
            .collect();
        let (name, callees) = (checked.function().name.to_string(), &table.callees[..]);
        let own = ProtocolSummary {
            behavior: contract::behavior(&effects, callees),
            parameters: leak(contract::parameter_uses::<PARAMETERS>(&effects, callees).to_vec()),
            dynamic: contract::dynamic_uses(&effects, callees),
            executions: contract::executions(contract::identity("", "", (0, 0), &name), &effects, callees),
            clashes: contract::clashes(&effects, callees),
            rows: leak(protocol.rows.clone()),
        };
        self.0.insert(name, own);
        let constants = Constants::new(checked.function(), BTreeMap::new());
        // What is not known may have any value.
        let may_hold = |is: &ConstantIs| {
            let values: Vec<i128> = is.one_of.iter().copied().map(i128::from).collect();
            let is_one_of = |value| is_one_of(value, i128::from(is.below), &values, is.or_no_power_of_two);
            constants.of(is.constant).is_none_or(|value| is_one_of(i128::from(value)))
        };
        let asked = protocol.demands.iter().filter(|demand| {
            table.guard(&demand.guard).holds(&table.callees) && demand.guard.constants.iter().all(may_hold)
        });
        asked.map(|Demand { rule, at, message, .. }| Fault::new(*rule, *at, message.clone())).collect()
    }
}

impl Table {
    fn position(&self, slot: u16) -> usize {
        self.slots.iter().position(|known| *known == slot).unwrap_or(usize::MAX)
    }

    fn guard(&self, guard: &Guard) -> contract::Guard {
        contract::Guard {
            when: leak(guard.when.iter().map(|what| what.rename(|slot| self.position(slot))).collect()),
            unless: leak(guard.unless.iter().map(|(slot, behavior)| (self.position(*slot), *behavior)).collect()),
        }
    }
}

/// Keeps a list for as long as the tool runs, as the constants of a program are kept.
fn leak<T>(list: Vec<T>) -> &'static [T] {
    list.leak()
}
