//! Enumerates every pair of an attacker and a detector, at every pair of positions in and around a loop and a branch: a
//! jump, an arrival or the loss of a token at one position, and what detects it at another. It follows Tint's tests of
//! loops; one token in one variable, no `Option`s.

use super::tree::{Block, Group, Jump, Kernel, Site, Stmt, Test, Value, Var};

const LABEL: usize = 0;
const TOKEN: Var = Var { id: 0, name: 0, group: Group::Cluster, optional: false };

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    While,
    For,
    /// A loop left only by `break`.
    Loop,
    Labelled,
    Block,
}

/// The positions of a skeleton.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Before,
    First,
    Then,
    Else,
    Last,
    After,
}

#[derive(Clone, Copy, PartialEq)]
enum Act {
    Break,
    Continue,
    Return,
    Wait,
    Forget,
    Finish,
    Rearrive,
    ArriveBeside,
    ArriveAndWait,
    ArriveSmaller,
    Drop,
    Name,
    Sync,
    SyncSmaller,
}

const SHAPES: [Shape; 5] = [Shape::While, Shape::For, Shape::Loop, Shape::Labelled, Shape::Block];
const PLACES: [At; 6] = [At::Before, At::First, At::Then, At::Else, At::Last, At::After];
const ATTACKERS: [Act; 9] = [
    Act::Break,
    Act::Continue,
    Act::Return,
    Act::Wait,
    Act::Forget,
    Act::Rearrive,
    Act::ArriveSmaller,
    Act::Drop,
    Act::Name,
];
const DETECTORS: [Act; 7] =
    [Act::Wait, Act::Finish, Act::Sync, Act::SyncSmaller, Act::Rearrive, Act::ArriveBeside, Act::ArriveAndWait];

/// Returns all kernels that are valid, without a jump that has no target.
pub(super) fn kernels() -> impl Iterator<Item = Kernel> {
    SHAPES.into_iter().flat_map(|shape| {
        let attacks = PLACES.into_iter().flat_map(move |at| ATTACKERS.into_iter().map(move |act| (at, act)));
        let attacks = attacks.filter(move |(at, act)| has_target(shape, *at, *act));
        attacks.flat_map(move |attack| {
            let detections = PLACES.into_iter().flat_map(|at| DETECTORS.into_iter().map(move |act| (at, act)));
            detections.flat_map(move |detection| [false, true].map(|waits| kernel(shape, attack, detection, waits)))
        })
    })
}

fn has_target(shape: Shape, at: At, act: Act) -> bool {
    let inside = !matches!(at, At::Before | At::After);
    match act {
        Act::Break => inside && shape != Shape::Block,
        Act::Continue => inside && matches!(shape, Shape::While | Shape::For | Shape::Loop),
        _ => true,
    }
}

/// Builds a kernel, with a wait at the end if `waits`, as most kernels have.
fn kernel(shape: Shape, attack: (At, Act), detection: (At, Act), waits: bool) -> Kernel {
    let mut ids = 1;
    let mut place = |at| {
        let acts = [attack, detection].into_iter().filter(|(place, _)| *place == at);
        acts.flat_map(|(_, act)| statements(act, &mut ids)).collect::<Block>()
    };
    let before = place(At::Before);
    let mut body = place(At::First);
    let (then, otherwise) = (place(At::Then), place(At::Else));
    body.push(Stmt::If(Test::Opaque, then, Some(otherwise)));
    body.extend(place(At::Last));
    let after = place(At::After);
    let round = match shape {
        Shape::While => Stmt::While(LABEL, Test::Opaque, body),
        Shape::For => Stmt::For(LABEL, body),
        Shape::Loop => {
            body.push(Stmt::If(Test::Opaque, vec![Stmt::Jump(Jump::Break(LABEL))], None));
            Stmt::Loop(LABEL, body)
        }
        Shape::Labelled => Stmt::Labelled(LABEL, body),
        Shape::Block => Stmt::Block(body),
    };
    let arrival = Stmt::Let(TOKEN, Value::Arrive(site(&mut ids, Group::Cluster)));
    let end = if waits { statements(Act::Wait, &mut ids) } else { Vec::new() };
    Kernel { parameters: Vec::new(), body: [vec![arrival], before, vec![round], after, end].concat() }
}

fn site(ids: &mut usize, group: Group) -> Site {
    *ids += 1;
    Site { id: *ids, group }
}

fn statements(act: Act, ids: &mut usize) -> Block {
    let site =
        site(ids, if matches!(act, Act::ArriveSmaller | Act::SyncSmaller) { Group::Block } else { Group::Cluster });
    let other = Var { id: site.id, name: site.id, group: site.group, optional: false };
    match act {
        Act::Break => vec![Stmt::Jump(Jump::Break(LABEL))],
        Act::Continue => vec![Stmt::Jump(Jump::Continue(LABEL))],
        Act::Return => vec![Stmt::Jump(Jump::Return)],
        Act::Wait => vec![Stmt::Wait(site, Value::Move(TOKEN))],
        Act::Forget => vec![Stmt::Forget(site, Value::Move(TOKEN))],
        Act::Finish => vec![Stmt::Finish(Value::Move(TOKEN))],
        Act::Rearrive => vec![Stmt::Assign(TOKEN, Value::Arrive(site))],
        Act::ArriveBeside | Act::ArriveSmaller => vec![Stmt::Let(other, Value::Arrive(site))],
        Act::ArriveAndWait => {
            let wait = self::site(ids, Group::Cluster);
            vec![Stmt::Wait(wait, Value::Arrive(site))]
        }
        Act::Drop => vec![Stmt::Unused(Value::Move(TOKEN))],
        Act::Name => vec![Stmt::Discard(Value::Move(TOKEN))],
        Act::Sync | Act::SyncSmaller => vec![Stmt::Sync(site)],
    }
}
