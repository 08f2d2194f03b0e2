//! What a function does to memory, with its barriers and its calls, as data of its template: the runtime adds the effects of callees and
//! of callers, and chooses the fences.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeSet;

use phalanx_contract::fence::MemoryEffects;
use proc_macro2::TokenStream;
use quote::quote;

use crate::check::Checked;
use crate::check::fences::{Barrier, CallNeeds, EffectOf, Effects, Fences};
use crate::model::SlotId;
use crate::span::SpanRange;

/// Makes the value of the template's field.
pub(super) fn of(checked: &Checked<'_>) -> TokenStream {
    let fences = checked.fences();
    let together = |effects| together(fences, effects);
    let (all, left, keeps_full) = (together(&fences.effects), together(&fences.left), fences.keeps_full);
    let barriers = fences.barriers.iter().map(|barrier| self::barrier(fences, barrier));
    let calls = fences.calls.iter().map(|CallNeeds { slot: SlotId(slot), before, after, follows_entry }| {
        let (before, after) = (together(before), together(after));
        quote!(Call { slot: #slot, before: #before, after: #after, follows_entry: #follows_entry })
    });
    quote!({
        use ::phalanx::__private::contract::fence::*;
        FunctionFences {
            all: #all,
            left: #left,
            barriers: &[#(#barriers),*],
            calls: &[#(#calls),*],
            keeps_full: #keeps_full,
        }
    })
}

fn barrier(fences: &Fences<'_>, Barrier { at, operation, needs }: &Barrier) -> TokenStream {
    let (method, waits, follows_entry) = (operation.name(), operation.waits(), needs.follows_entry);
    let (line, column) = (at.line(), at.column());
    let (before, between) = (causes(fences, &needs.before), causes(fences, &needs.between));
    let after = together(fences, &needs.after);
    quote!(Barrier {
        line: #line,
        column: #column,
        method: #method,
        waits: #waits,
        before: &[#(#before),*],
        between: &[#(#between),*],
        after: #after,
        follows_entry: #follows_entry,
    })
}

/// The effects as a list of causes, in the order of the source.
fn causes(fences: &Fences<'_>, effects: &Effects) -> Vec<TokenStream> {
    let mut effects: Vec<_> = effects.iter().collect();
    effects.sort_by_key(|(_, at)| (at.line(), at.column()));
    let cause = |(effect, at): (EffectOf, SpanRange)| {
        let line = at.line();
        let (bits, call, what) = match effect {
            EffectOf::Own(what, bits) => (bits, quote!(::core::option::Option::None), what.to_owned()),
            EffectOf::Call(slot @ SlotId(number)) => {
                let what = format!("calls `{}`, which accesses memory", fences.callee(slot));
                (0, quote!(::core::option::Option::Some(#number)), what)
            }
        };
        let effects = bits_of(MemoryEffects::from_bits_truncate(bits));
        quote!(Cause { effects: #effects, call: #call, line: #line, what: #what })
    };
    effects.into_iter().map(cause).collect()
}

/// The union of effects.
fn together(fences: &Fences<'_>, effects: &Effects) -> TokenStream {
    let (mut own, mut calls) = (MemoryEffects::empty(), BTreeSet::new());
    for (effect, _) in effects.iter() {
        match effect {
            EffectOf::Own(_, bits) => own |= MemoryEffects::from_bits_truncate(bits),
            EffectOf::Call(slot) => _ = calls.insert(slot),
        }
    }
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    let mut is_open = false;
    for slot @ SlotId(number) in fences.called() {
        match (calls.contains(&slot), ranges.last_mut()) {
            (true, Some((_, last))) if is_open => *last = number,
            (true, _) => ranges.push((number, number)),
            (false, _) => {}
        }
        is_open = calls.contains(&slot);
    }
    let (own, ranges) = (bits_of(own), ranges.iter().map(|(first, last)| quote!((#first, #last))));
    quote!(PlaceEffects { own: #own, calls: &[#(#ranges),*] })
}

fn bits_of(effects: MemoryEffects) -> TokenStream {
    let bits = effects.bits();
    quote!(MemoryEffects::from_bits_truncate(#bits))
}
