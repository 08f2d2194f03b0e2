//! What generated code calls that belongs to no group and no memory: loop ticks, failed assertions, values of
//! messages.

use std::fmt::Write;
use std::panic::Location;

use super::context::{fail_at, try_with};
use super::{Context, Site, cost};
use crate::failure::Cause;
use crate::program::template::{Scalar, Segment};
use crate::types::DeviceScalar;

/// One iteration of a loop. Lets other threads run now and then, so that loops that wait for a flag come to an end.
/// Nothing outside of kernels.
#[inline]
#[track_caller]
pub fn tick() {
    let site = Location::caller();
    try_with(|context| context.tick(site));
}

/// `assert!` of something false.
#[cold]
#[track_caller]
pub fn fail_assertion(message: &'static [Segment], values: &[Scalar]) -> ! {
    fail_at(Cause::Assertion(render(message, values)), Location::caller())
}

/// `panic!`.
#[cold]
#[track_caller]
pub fn fail_panic(message: &'static [Segment], values: &[Scalar]) -> ! {
    fail_at(Cause::Panic(render(message, values)), Location::caller())
}

/// The step of a range, which Rust's `step_by` asserts too.
#[inline]
#[track_caller]
pub fn step(step: usize) -> usize {
    if step == 0 {
        fail_panic(&[Segment::Text("assertion failed: step != 0")], &[]);
    }
    step
}

/// `option.unwrap()` and `option.expect("..")`.
#[inline]
#[track_caller]
pub fn unwrap<T>(value: impl Held<T>, message: &'static [Segment]) -> T {
    match value.held() {
        Some(value) => value,
        None => fail_panic(message, &[]),
    }
}

/// `option.unwrap_or(other)`.
#[inline]
pub fn unwrap_or<T>(value: impl Held<T>, other: T) -> T {
    value.held().unwrap_or(other)
}

/// An `Option` or a `Result`.
#[diagnostic::on_unimplemented(message = "`{Self}` is neither an `Option` nor a `Result`")]
pub trait Held<T> {
    /// What is in it.
    fn held(self) -> Option<T>;
}

impl<T> Held<T> for Option<T> {
    #[inline]
    fn held(self) -> Option<T> {
        self
    }
}

impl<T, E> Held<T> for Result<T, E> {
    #[inline]
    fn held(self) -> Option<T> {
        self.ok()
    }
}

/// A value of a message.
#[inline]
pub fn scalar<T: DeviceScalar>(value: T) -> Scalar {
    value.scalar()
}

/// The message with its values.
fn render(message: &[Segment], values: &[Scalar]) -> String {
    let mut values = values.iter();
    let mut text = String::new();
    for segment in message {
        match segment {
            Segment::Text(part) => text.push_str(part),
            Segment::Value => {
                if let Some(value) = values.next() {
                    write!(text, "{value}").expect("a String takes all text");
                }
            }
        }
    }
    text
}

impl Context<'_> {
    #[inline]
    fn tick(&self, site: Site) {
        let ticks = self.thread.ticks.get() + 1;
        self.thread.ticks.set(ticks);
        let limit = self.cluster.launch.simulator.step_limit;
        if ticks > limit {
            self.fail(Cause::StepLimit(limit), site);
        }
        self.point(cost::TICK);
    }
}
