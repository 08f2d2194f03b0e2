//! Whether each thread ends the accesses that it begins, and only those. A skeleton in which one does not is not checked.

use super::automaton::{Action, Automaton};
use super::verdict::Reason;

/// Returns why the accesses of an automaton are not paired, if they are not.
pub(super) fn unpaired(automaton: &Automaton) -> Option<Reason> {
    // For each node the slots that are being filled (`true`) or read when a thread comes to it.
    let mut open: Vec<Option<Vec<(usize, bool)>>> = vec![None; automaton.nodes.len()];
    let mut work = vec![(automaton.start.0, Vec::new())];
    while let Some((number, mut accesses)) = work.pop() {
        let node = &automaton.nodes[usize::from(number)];
        let unpaired = Some(Reason::Unpaired { step: node.id });
        match &open[usize::from(number)] {
            Some(known) if *known == accesses => continue,
            Some(_) => return unpaired,
            None => open[usize::from(number)] = Some(accesses.clone()),
        }
        match node.action {
            Action::BeginFill { slot, .. } | Action::BeginRead { slot, .. } => {
                let access = (slot, matches!(node.action, Action::BeginFill { .. }));
                match accesses.binary_search(&access) {
                    Ok(_) => return unpaired,
                    Err(at) => accesses.insert(at, access),
                }
            }
            Action::EndFill { slot } | Action::EndRead { slot } => {
                let access = (slot, matches!(node.action, Action::EndFill { .. }));
                match accesses.binary_search(&access) {
                    Ok(at) => drop(accesses.remove(at)),
                    Err(_) => return unpaired,
                }
            }
            Action::End if !accesses.is_empty() => return unpaired,
            Action::End | Action::Missing => continue,
            Action::Wait { .. }
            | Action::WaitToken { .. }
            | Action::Arrive { .. }
            | Action::Expect { .. }
            | Action::Copy { .. }
            | Action::Share { .. }
            | Action::Store { .. }
            | Action::WaitStores { .. }
            | Action::Sync { .. }
            | Action::Shared
            | Action::Ahead(_)
            | Action::Constant(_)
            | Action::Free
            | Action::Over { .. }
            | Action::Past { .. } => {}
        }
        work.extend(node.next.iter().map(|(next, _)| (*next, accesses.clone())));
    }
    None
}
