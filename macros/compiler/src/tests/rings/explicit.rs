//! An explicit machine for skeletons, the independent judge of the check: single threads, counters and phases without
//! bounds, each step alone, each landing at any time, one string of decisions at a time. It shares no code with the check.

use std::collections::{BTreeMap, BTreeSet};

use crate::rings::expr::Term;
use crate::rings::{Among, Condition, Data, Element, Expr, Op, Operator, Skeleton};

/// A thread: where it is, its counters, how many shared decisions it has taken, its rounds, the phases of its tokens, the slots
/// that its bulk copies read (`true` once they have).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Thread {
    at: usize,
    counters: Vec<i64>,
    decisions: usize,
    round: i64,
    tokens: BTreeMap<Name, u64>,
    stores: Vec<(Name, u8, bool)>,
}

/// An array, an index, a block.
type Name = (u32, i64, i64);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Barrier {
    phase: u64,
    lacks: i64,
    bytes: i64,
    expected: i64,
}

#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    data: Option<(i64, u8)>,
    writers: i64,
    parts: i64,
    readers: i64,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct World {
    threads: Vec<Thread>,
    barriers: BTreeMap<Name, Barrier>,
    slots: BTreeMap<Name, Slot>,
    /// The copies in flight: slot, barrier, bytes, and the slot that they read.
    copies: Vec<(Name, Name, i64, Option<Name>)>,
    /// The constants that a thread has asked for.
    constants: BTreeMap<u32, bool>,
}

/// A fault, in words for the test's failure.
type Fault = &'static str;

struct Run<'a> {
    skeleton: &'a Skeleton,
    /// For each thread its role and its block.
    threads: Vec<(usize, i64)>,
    /// The shared decisions; all that follow are `false`.
    decisions: &'a [bool],
}

/// Explores all interleavings under a string of decisions; returns a fault of one of them, and none if there are too many states.
pub(super) fn run(skeleton: &Skeleton, decisions: &[bool], limit: usize) -> Option<Result<usize, Fault>> {
    let mut threads = Vec::new();
    for block in 0..i64::from(skeleton.blocks) {
        for (number, role) in skeleton.roles.iter().enumerate() {
            threads.extend((0..role.threads).map(|_| (number, block)));
        }
    }
    let run = Run { skeleton, threads, decisions };
    let mut seen: BTreeSet<World> = BTreeSet::new();
    let mut open = run.local(run.start());
    while let Some(world) = open.pop() {
        if seen.contains(&world) {
            continue;
        }
        let mut next = Vec::new();
        for thread in 0..run.threads.len() {
            match run.step(&world, thread) {
                Ok(after) => next.extend(after),
                Err(fault) => return Some(Err(fault)),
            }
        }
        for copy in 0..world.copies.len() {
            match run.land(&world, copy) {
                Ok(after) => next.push(after),
                Err(fault) => return Some(Err(fault)),
            }
        }
        next.extend(run.stored(&world));
        if next.is_empty() && !(0..run.threads.len()).all(|thread| run.exited(&world, thread)) {
            return Some(Err("deadlock"));
        }
        seen.insert(world);
        if seen.len() > limit {
            return None;
        }
        for world in next {
            open.extend(run.local(world));
        }
    }
    // A thread must not exit while its bulk copy reads.
    for world in &seen {
        let leaves =
            |thread: usize| run.exited(world, thread) && world.threads[thread].stores.iter().any(|(.., over)| !over);
        if (0..run.threads.len()).any(leaves) {
            return Some(Err("exit with a store in flight"));
        }
    }
    Some(Ok(seen.len()))
}

impl Run<'_> {
    fn start(&self) -> World {
        let thread =
            Thread { at: 0, counters: vec![0; 8], decisions: 0, round: 0, tokens: BTreeMap::new(), stores: Vec::new() };
        let (mut barriers, mut slots) = (BTreeMap::new(), BTreeMap::new());
        for block in 0..i64::from(self.skeleton.blocks) {
            for (array, data) in (0..).zip(&self.skeleton.barriers) {
                let barrier = |count: &u32| {
                    let count = i64::from(*count);
                    Barrier { phase: 0, lacks: count, bytes: 0, expected: count }
                };
                barriers.extend(
                    (0..).zip(&data.counts).map(|(index, count): (i64, _)| ((array, index, block), barrier(count))),
                );
            }
            for (array, data) in (0..).zip(&self.skeleton.slots) {
                slots.extend((0..i64::from(data.stages)).map(|index| ((array, index, block), Slot::default())));
            }
        }
        World {
            threads: vec![thread; self.threads.len()],
            barriers,
            slots,
            copies: Vec::new(),
            constants: BTreeMap::new(),
        }
    }

    fn op(&self, world: &World, thread: usize) -> Option<&Op> {
        self.skeleton.roles[self.threads[thread].0].steps.get(world.threads[thread].at).map(|step| &step.op)
    }

    fn exited(&self, world: &World, thread: usize) -> bool {
        self.op(world, thread).is_none_or(|op| matches!(op, Op::Leave))
    }

    fn value(&self, world: &World, thread: usize, expr: &Expr) -> i64 {
        let mut stack = Vec::new();
        for term in &expr.terms {
            let value = match term {
                Term::Constant(value) => *value,
                Term::Counter(counter) => world.threads[thread].counters[*counter as usize],
                Term::Rank => self.threads[thread].1,
                Term::Unknown => panic!("the tests' expressions depend on no data"),
                Term::Apply(operator) => {
                    let (right, left): (i64, i64) = (stack.pop().unwrap(), stack.pop().unwrap());
                    match operator {
                        Operator::Add => left + right,
                        Operator::Sub => left - right,
                        Operator::Mul => left * right,
                        Operator::Div => left.div_euclid(right),
                        Operator::Rem => left.rem_euclid(right),
                        Operator::And => left & right,
                        Operator::Xor => left ^ right,
                        Operator::Shl => left << right,
                        Operator::Shr => left >> right,
                        Operator::Eq => i64::from(left == right),
                        Operator::Ne => i64::from(left != right),
                        Operator::Lt => i64::from(left < right),
                        Operator::Le => i64::from(left <= right),
                    }
                }
            };
            stack.push(value);
        }
        stack[0]
    }

    /// Executes what only concerns single threads; returns the worlds in which all of them stand at a step.
    fn local(&self, world: World) -> Vec<World> {
        let (mut open, mut found) = (vec![world], Vec::new());
        'worlds: while let Some(mut world) = open.pop() {
            for thread in 0..self.threads.len() {
                while let Some(op) = self.op(&world, thread) {
                    let next = world.threads[thread].at + 1;
                    world.threads[thread].at = match op {
                        Op::Set(values) => {
                            let set: Vec<i64> =
                                values.iter().map(|(_, expr)| self.value(&world, thread, expr)).collect();
                            for ((counter, _), value) in values.iter().zip(set) {
                                world.threads[thread].counters[*counter as usize] = value;
                            }
                            next
                        }
                        Op::NextRound => {
                            world.threads[thread].round += 1;
                            next
                        }
                        Op::Jump(target) => *target,
                        Op::Branch { condition: Condition::Counters(test), otherwise } => {
                            if self.value(&world, thread, test) != 0 { next } else { *otherwise }
                        }
                        Op::Branch { condition: Condition::Shared, otherwise } => {
                            let taken = world.threads[thread].decisions;
                            world.threads[thread].decisions += 1;
                            if self.decisions.get(taken) == Some(&true) { next } else { *otherwise }
                        }
                        Op::Branch { condition: Condition::Ahead(number), otherwise } => {
                            let taken = world.threads[thread].decisions;
                            let number = usize::try_from(self.value(&world, thread, number)).unwrap();
                            let all = (taken..taken + number).all(|at| self.decisions.get(at) == Some(&true));
                            if all { next } else { *otherwise }
                        }
                        Op::Branch { condition: Condition::Constant(number), otherwise } => {
                            let ways = match world.constants.get(number) {
                                Some(known) => vec![*known],
                                None => vec![true, false],
                            };
                            for taken in ways {
                                let mut other = world.clone();
                                other.constants.insert(*number, taken);
                                other.threads[thread].at = if taken { next } else { *otherwise };
                                open.push(other);
                            }
                            continue 'worlds;
                        }
                        Op::Branch { condition: Condition::Over { barrier, parity }, otherwise } => {
                            let parity = self.value(&world, thread, parity) % 2 == 1;
                            let name = self.name(&world, thread, barrier, None);
                            if (world.barriers[&name].phase % 2 == 1) != parity { next } else { *otherwise }
                        }
                        Op::Branch { condition: Condition::Past { barrier }, otherwise } => {
                            let name = self.name(&world, thread, barrier, None);
                            let token = world.threads[thread].tokens.get(&name);
                            if token.is_none_or(|token| world.barriers[&name].phase != *token) {
                                next
                            } else {
                                *otherwise
                            }
                        }
                        Op::Branch { condition: Condition::Free, otherwise } => {
                            let mut other = world.clone();
                            other.threads[thread].at = *otherwise;
                            world.threads[thread].at = next;
                            open.extend([world, other]);
                            continue 'worlds;
                        }
                        _ => break,
                    };
                }
            }
            found.push(world);
        }
        found
    }

    fn name(&self, world: &World, thread: usize, element: &Element, block: Option<&Expr>) -> Name {
        let block = block.map_or(self.threads[thread].1, |block| self.value(world, thread, block));
        (element.array, self.value(world, thread, &element.index), block)
    }

    /// Executes the step of a thread if it can be executed.
    fn step(&self, before: &World, thread: usize) -> Result<Option<World>, Fault> {
        let Some(op) = self.op(before, thread) else { return Ok(None) };
        let mut world = before.clone();
        let barrier_of = |element, block| {
            let name = self.name(before, thread, element, block);
            if before.barriers.contains_key(&name) { Ok(name) } else { Err("no such barrier") }
        };
        let slot_of = |element, block| {
            let name = self.name(before, thread, element, block);
            if before.slots.contains_key(&name) { Ok(name) } else { Err("no such slot") }
        };
        match op {
            Op::Wait { barrier, parity } => {
                let name = barrier_of(barrier, None)?;
                if before.barriers[&name].phase % 2 == self.value(before, thread, parity).rem_euclid(2).cast_unsigned()
                {
                    return Ok(None);
                }
            }
            Op::WaitToken { barrier } => {
                let name = barrier_of(barrier, None)?;
                let token = before.threads[thread].tokens.get(&name).ok_or("no token")?;
                match before.barriers[&name].phase - token {
                    0 => return Ok(None),
                    1 => world.threads[thread].tokens.remove(&name),
                    _ => return Err("stale token"),
                };
            }
            Op::Arrive { barrier, block, count, drops, token } => {
                let name = barrier_of(barrier, Some(block))?;
                self.inhabited(before, name.2)?;
                if *token {
                    world.threads[thread].tokens.insert(name, before.barriers[&name].phase);
                }
                let barrier = world.barriers.get_mut(&name).ok_or("no such barrier")?;
                let count = i64::from(*count);
                if count > barrier.lacks {
                    return Err("too many arrivals");
                }
                barrier.lacks -= count;
                barrier.expected -= if *drops { count } else { 0 };
                self.turn(&mut world, name)?;
            }
            Op::Expect { barrier, bytes } => {
                let name = barrier_of(barrier, None)?;
                world.barriers.get_mut(&name).ok_or("no such barrier")?.bytes += i64::from(*bytes);
            }
            Op::Copy { slot, barrier, block, signals, bytes, data, from } => {
                let (slot, barrier) = (slot_of(slot, Some(block))?, barrier_of(barrier, Some(signals))?);
                let from = from.as_ref().map(|from| slot_of(from, None)).transpose()?;
                if let Some(from) = from {
                    self.begin_read(&mut world, from, None)?;
                }
                self.begin_fill(&mut world, thread, slot, *data)?;
                world.copies.push((slot, barrier, i64::from(*bytes), from));
                world.copies.sort_unstable();
            }
            Op::Share { slot, barrier, data } => {
                let (slot, barrier) = (slot_of(slot, None)?, barrier_of(barrier, None)?);
                world.barriers.get_mut(&barrier).ok_or("no such barrier")?.bytes += 1;
                self.begin_fill(&mut world, thread, slot, *data)?;
                world.copies.push((slot, barrier, 1, None));
                world.copies.sort_unstable();
            }
            Op::BeginFill { slot, block, data } => {
                self.begin_fill(&mut world, thread, slot_of(slot, Some(block))?, *data)?;
            }
            Op::EndFill { slot, block } => {
                let counts = self.skeleton.slots[slot.array as usize].parts > 0;
                let slot = world.slots.get_mut(&slot_of(slot, Some(block))?).ok_or("no such slot")?;
                slot.writers -= 1;
                slot.parts += i64::from(counts);
            }
            Op::BeginRead { slot, block, data } => {
                let name = slot_of(slot, Some(block))?;
                let data = self.data(before, thread, *data);
                self.begin_read(&mut world, name, Some(data))?;
            }
            Op::EndRead { slot, block } => {
                world.slots.get_mut(&slot_of(slot, Some(block))?).ok_or("no such slot")?.readers -= 1;
            }
            Op::Store { slot, queue } => {
                let name = slot_of(slot, None)?;
                self.begin_read(&mut world, name, None)?;
                world.threads[thread].stores.push((name, *queue, false));
            }
            Op::WaitStores { queue, but } => {
                let stores = &before.threads[thread].stores;
                let of_queue: Vec<usize> = (0..stores.len()).filter(|store| stores[*store].1 == *queue).collect();
                let old = &of_queue[..of_queue.len().saturating_sub(*but as usize)];
                if old.iter().any(|store| !stores[*store].2) {
                    return Ok(None);
                }
                for store in old.iter().rev() {
                    world.threads[thread].stores.remove(*store);
                }
            }
            Op::Sync { meeting, among } => {
                let (_, block) = self.threads[thread];
                let meets = |other: &usize| {
                    let (role, rank) = self.threads[*other];
                    match among {
                        Among::Cluster => true,
                        Among::Block => rank == block,
                        Among::Roles(roles) => rank == block && roles.contains(&u32::try_from(role).unwrap_or(0)),
                    }
                };
                let group: Vec<usize> = (0..self.threads.len()).filter(meets).collect();
                let here = |other: &usize| matches!(self.op(before, *other), Some(Op::Sync { meeting: theirs, .. }) if theirs == meeting);
                if group[0] != thread || !group.iter().all(here) {
                    return Ok(None);
                }
                for other in group.iter().skip(1) {
                    world.threads[*other].at += 1;
                }
            }
            Op::Leave => return Ok(None),
            Op::Set(_) | Op::NextRound | Op::Jump(_) | Op::Branch { .. } => {}
        }
        world.threads[thread].at += 1;
        Ok(Some(world))
    }

    fn land(&self, before: &World, copy: usize) -> Result<World, Fault> {
        let mut world = before.clone();
        let (slot, barrier, bytes, from) = world.copies.remove(copy);
        if let Some(from) = from {
            self.inhabited(before, from.2)?;
            world.slots.get_mut(&from).ok_or("no such slot")?.readers -= 1;
        }
        self.inhabited(before, slot.2)?;
        self.inhabited(before, barrier.2)?;
        let counts = self.skeleton.slots[slot.0 as usize].parts > 0;
        let slot = world.slots.get_mut(&slot).ok_or("no such slot")?;
        slot.writers -= 1;
        slot.parts += i64::from(counts);
        world.barriers.get_mut(&barrier).ok_or("no such barrier")?.bytes -= bytes;
        self.turn(&mut world, barrier)?;
        Ok(world)
    }

    fn stored(&self, before: &World) -> Vec<World> {
        let mut found = Vec::new();
        for (thread, own) in before.threads.iter().enumerate() {
            for (number, (slot, _, over)) in own.stores.iter().enumerate() {
                if !over {
                    let mut world = before.clone();
                    world.threads[thread].stores[number].2 = true;
                    world.slots.entry(*slot).or_default().readers -= 1;
                    found.push(world);
                }
            }
        }
        found
    }

    fn inhabited(&self, world: &World, block: i64) -> Result<(), Fault> {
        let mut own = (0..self.threads.len()).filter(|thread| self.threads[*thread].1 == block);
        if own.all(|thread| self.exited(world, thread)) { Err("the block has exited") } else { Ok(()) }
    }

    /// Begins the next phase of a barrier if nothing lacks.
    fn turn(&self, world: &mut World, name: Name) -> Result<(), Fault> {
        let Some(barrier) = world.barriers.get_mut(&name).filter(|barrier| barrier.lacks == 0 && barrier.bytes == 0)
        else {
            return Ok(());
        };
        let over = barrier.phase;
        barrier.phase += 1;
        barrier.lacks = barrier.expected;
        for thread in 0..self.threads.len() {
            // A wait for the phase before the one that is over now would have gone on, and does not any more.
            if let Some(Op::Wait { barrier, parity }) = self.op(world, thread)
                && self.name(world, thread, barrier, None) == name
                && self.value(world, thread, parity).rem_euclid(2).cast_unsigned() != over % 2
            {
                return Err("overtaken");
            }
        }
        Ok(())
    }

    fn data(&self, world: &World, thread: usize, data: Data) -> (i64, u8) {
        match data {
            Data::Round { ahead, kind } => (world.threads[thread].round + i64::from(ahead), kind),
            Data::Fixed(kind) => (i64::MIN, kind),
        }
    }

    fn begin_fill(&self, world: &mut World, thread: usize, name: Name, data: Data) -> Result<(), Fault> {
        let data = self.data(world, thread, data);
        let parts = i64::from(self.skeleton.slots[name.0 as usize].parts);
        let slot = world.slots.get_mut(&name).ok_or("no such slot")?;
        if slot.readers > 0 {
            return Err("filled while it is read");
        }
        if parts == 0 {
            slot.writers += 1;
            return Ok(());
        }
        let joins = slot.data == Some(data) && slot.writers + slot.parts < parts;
        if !joins && slot.writers > 0 {
            return Err("filled while it is filled");
        }
        if !joins {
            (slot.data, slot.parts) = (Some(data), 0);
        }
        slot.writers += 1;
        Ok(())
    }

    fn begin_read(&self, world: &mut World, name: Name, data: Option<(i64, u8)>) -> Result<(), Fault> {
        let parts = i64::from(self.skeleton.slots[name.0 as usize].parts);
        let slot = world.slots.get_mut(&name).ok_or("no such slot")?;
        if slot.writers > 0 || parts > 0 && (slot.parts < parts || slot.data.is_none()) {
            return Err("read before it is filled");
        }
        if parts == 0 {
            slot.readers += 1;
            return Ok(());
        }
        if data.is_some() && data != slot.data {
            return Err("read of another round");
        }
        slot.readers += 1;
        Ok(())
    }
}
