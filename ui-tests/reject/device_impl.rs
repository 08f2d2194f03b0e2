//! Items that `#[device] impl` and `#[device] trait` refuse.

use phalanx::prelude::*;

#[device]
trait Shape: Number {
    fn area(self) -> Self;
    fn twice(self) -> Self {
        self.area() * "ab".len()
    }
    fn generic<T: Number>(self, x: T) -> T;
    fn boxed(self: Box<Self>) -> u32;
}

#[device]
impl Shape for [u32] {
    fn area(self) -> Self {
        self
    }
}

trait Sync {
    fn wait(block: &ThreadBlock);
}

#[device]
impl Sync for u32 {
    fn wait(block: &ThreadBlock) {
        block.sync();
        helper(block);
    }
    unknown!();
}

struct Pair<T>(T);

#[device]
impl<T: Number> Pair<T> {
    fn twice(self) -> u32 {
        Self::<u32>::count()
    }
}

#[device]
fn helper(block: &ThreadBlock) {
    block.sync();
}

#[device]
impl std::ops::Index<usize> for Pair<u32> {
    type Output = u32;
    fn index(&self, _: usize) -> &u32 {
        &self.0
    }
}

#[device]
impl Default for Pair<u32> {
    fn default() -> Self {
        Pair(0)
    }
}

fn main() {}
