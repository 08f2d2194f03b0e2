//! Whole programs, for tools that have all functions at hand: the protocols that rustc joins for users, by the constants of
//! `emit/protocol`, are joined here by the same `const fn`s. What rustc knows of uniformity and of tokens across functions is not.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::constant::is_one_of;
use phalanx_contract::protocol::{self as contract, ProtocolSummary};
use phalanx_contract::uniformity::Uniformity;

use super::Checked;
use super::dsm::overlap::ConstantIs;
use super::dsm::protocol::{Demand, Guard};
use super::rings::Constants;
use super::uniform::level::Unknown;
use crate::diag::Fault;
use crate::messages;
use crate::rules::Rule;
use crate::span::SpanRange;

/// The most parameters of a function here.
const PARAMETERS: usize = 16;

/// The functions that were checked so far, by name.
#[derive(Default)]
pub(crate) struct Program {
    protocols: BTreeMap<String, ProtocolSummary>,
    /// The parameters that all threads of the cluster must give one value.
    alike: BTreeMap<String, BTreeSet<usize>>,
    /// The functions whose results are no less uniform than that, if their arguments are not.
    uniform_results: BTreeSet<String>,
}

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
        let summary = |slot| name(slot).and_then(|name| self.protocols.get(&name)).copied();
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
        let differs = self.add_alike(checked);
        self.protocols.insert(name, own);
        let constants = Constants::new(checked.function(), BTreeMap::new());
        // What is not known may have any value; that of a parameter, an instance says.
        let may_hold = |is: &ConstantIs| {
            let values: Vec<i128> = is.one_of.iter().copied().map(i128::from).collect();
            let is_one_of = |value| is_one_of(value, i128::from(is.below), &values, is.or_no_power_of_two);
            let function = checked.function();
            let of_instance = function.generics.names_one_of(&function.values[usize::from(is.constant.0)].tokens);
            !of_instance && constants.of(is.constant).is_none_or(|value| is_one_of(i128::from(value)))
        };
        let asked = protocol.demands.iter().filter(|demand| {
            table.guard(&demand.guard).holds(&table.callees) && demand.guard.constants.iter().all(may_hold)
        });
        let asked = asked.map(|Demand { rule, at, message, .. }| Fault::new(*rule, *at, message.clone()));
        asked.chain(differs).collect()
    }

    /// Notes which parameters must be the same in all blocks, and returns the faults of calls that are given others.
    fn add_alike(&mut self, checked: &Checked<'_>) -> Vec<Fault> {
        let summary = checked.summary();
        let mut own: BTreeSet<usize> = summary.alike().collect();
        let mut faults = Vec::new();
        for call in &summary.calls {
            let name = call.function.name.to_string();
            for param in self.alike.get(&name).into_iter().flatten() {
                let Some(argument) = call.arguments.get(*param) else { continue };
                let is_known = |unknown: &Unknown| match unknown {
                    Unknown::Param(_) => true,
                    Unknown::Call(slot) => {
                        let of = summary.calls.iter().find(|call| call.slot == *slot);
                        of.is_some_and(|call| self.uniform_results.contains(&call.function.name.to_string()))
                    }
                    Unknown::Method(_) | Unknown::Multiple(_) => false,
                };
                own.extend(argument.unknown.iter().filter_map(|unknown| match unknown {
                    Unknown::Param(param) => Some(*param),
                    Unknown::Call(_) | Unknown::Method(_) | Unknown::Multiple(_) => None,
                }));
                if !argument.at_most.covers(Uniformity::Cluster) || !argument.unknown.iter().all(is_known) {
                    let at = SpanRange::of(&call.function.name);
                    let diag = messages::divergent_argument(at, Vec::new());
                    faults.push(Fault::new(Rule::DivergentCollective, at, diag.text()));
                }
            }
        }
        let name = checked.function().name.to_string();
        if summary.result.at_most.covers(Uniformity::Cluster) {
            self.uniform_results.insert(name.clone());
        }
        self.alike.insert(name, own);
        faults
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
