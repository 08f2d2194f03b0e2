//! Draws kernels: few accesses, most of them followed by a barrier, so that many kernels are right.

use super::super::random::Random;
use super::tree::{Block, Element, Kernel, Kind, Memory, Stmt};

/// Returns the kernel of this seed. It writes each array first, so that every element can be read.
pub(super) fn kernel(seed: u64) -> Kernel {
    let mut random = Random::new(seed);
    let mut body = Block::new();
    if random.chance(30) {
        body.push(Stmt::Sync(0));
    }
    body.push(Stmt::Access(Memory::Own(0), Element::Own, Kind::Write));
    body.push(Stmt::Access(Memory::Own(1), Element::Own, Kind::Write));
    body.push(Stmt::Sync(0));
    let length = 2 + random.below(5);
    block(&mut random, &mut body, length, 2);
    body.push(Stmt::Sync(0));
    if random.chance(40) {
        body.push(access(&mut random));
    }
    Kernel::new(body)
}

fn block(random: &mut Random, body: &mut Block, length: usize, depth: usize) {
    for _ in 0..length {
        match random.weighted(&[70, 12, 10, 8]) {
            1 if depth > 0 => {
                let (mut then, mut otherwise) = (Block::new(), Block::new());
                let uniform = random.chance(60);
                for arm in [&mut then, &mut otherwise] {
                    if uniform {
                        let length = random.below(3);
                        block(random, arm, length, depth - 1);
                    } else if random.chance(60) {
                        arm.push(access(random));
                    }
                }
                body.push(Stmt::If(uniform, then, otherwise));
            }
            2 if depth > 0 => {
                let mut inner = Block::new();
                let length = 1 + random.below(3);
                block(random, &mut inner, length, depth - 1);
                body.push(Stmt::Loop(inner));
            }
            3 => {
                let between = if random.chance(50) { vec![access(random)] } else { Block::new() };
                body.push(Stmt::Split(0, between));
            }
            _ => body.push(access(random)),
        }
        if random.chance(70) {
            body.push(Stmt::Sync(0));
        }
    }
}

fn access(random: &mut Random) -> Stmt {
    let which = random.below(2);
    let memory = match random.below(3) {
        0 => Memory::Own(which),
        1 => Memory::Peer(which),
        _ => Memory::Global(which),
    };
    let kind = [Kind::Read, Kind::Write, Kind::Atomic, Kind::AtomicLoad][random.weighted(&[40, 40, 12, 8])];
    let element = match kind {
        Kind::Write => [Element::Own, Element::Opposite][random.below(2)],
        Kind::Read | Kind::Atomic | Kind::AtomicLoad => {
            [Element::Own, Element::Neighbour, Element::Opposite][random.below(3)]
        }
    };
    Stmt::Access(memory, element, kind)
}
