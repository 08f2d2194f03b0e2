//! `&memory[index]` as an argument of a device function. The macro does not know the type of the elements: if they are arrays,
//! the function gets a slice, and otherwise a reference to a copy of the element, which nothing writes during the launch.

use std::ops::Deref;
use std::panic::Location;

use super::index::position;
use super::slice::{Row, row};
use super::{Global, Index, Memory};
use crate::program::types::DeviceCopy;
use crate::sim::Site;

/// An element of global memory that is passed by reference. The method `held` is that of arrays if it is one, and otherwise
/// that of [`Element`], as rustc looks for methods.
#[derive(Debug, Clone, Copy)]
pub struct Lent<'m, T: DeviceCopy>(Element<'m, T>);

/// The element as a value.
#[derive(Debug, Clone, Copy)]
pub struct Element<'m, T: DeviceCopy> {
    memory: Global<'m, T>,
    index: usize,
    site: Site,
}

/// Begins `f(&memory[index])`.
#[inline]
#[track_caller]
pub fn lent<'m, T: DeviceCopy>(memory: &Global<'m, T>, index: impl Index) -> Lent<'m, T> {
    let index = position(index, memory.length());
    Lent(Element { memory: *memory, index, site: Location::caller() })
}

impl<'m, T: Row> Lent<'m, T> {
    /// Returns the array as a slice.
    #[inline]
    pub fn held(self) -> HeldRow<'m, T::Element> {
        HeldRow(row(&self.0.memory, self.0.index))
    }
}

impl<'m, T: DeviceCopy> Deref for Lent<'m, T> {
    type Target = Element<'m, T>;

    #[inline]
    fn deref(&self) -> &Element<'m, T> {
        &self.0
    }
}

impl<T: DeviceCopy> Element<'_, T> {
    /// Reads the element.
    #[inline]
    pub fn held(&self) -> HeldElement<T> {
        HeldElement(self.memory.read(self.index, self.site))
    }
}

/// What the function gets of an array.
#[derive(Debug, Clone, Copy)]
pub struct HeldRow<'m, T: DeviceCopy>(Global<'m, T>);

/// What the function gets of another element, until it returns.
#[derive(Debug, Clone, Copy)]
pub struct HeldElement<T>(T);

impl<'m, T: DeviceCopy> HeldRow<'m, T> {
    /// Returns the argument.
    #[inline]
    pub fn given(&self) -> Global<'m, T> {
        self.0
    }
}

impl<T> HeldElement<T> {
    /// Returns the argument.
    #[inline]
    pub fn given(&self) -> &T {
        &self.0
    }
}
