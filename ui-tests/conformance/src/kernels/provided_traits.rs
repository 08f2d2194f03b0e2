//! Device traits with methods that they provide, which `provided` implements. Their bodies name items of this file.

use phalanx::prelude::*;

/// Another number than that of the file with the `impl`s.
pub(super) const BONUS: i32 = 10;

/// What a shape has of each axis.
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
pub(super) struct Extent {
    pub(super) wide: i32,
    pub(super) high: i32,
}

/// Another function than that of the file with the `impl`s.
#[device]
pub(super) fn raised(x: i32) -> i32 {
    x + 1
}

#[device]
pub(super) trait Shape {
    /// How many sides it has.
    const SIDES: i32;

    fn area(&self) -> i32;
    fn unit() -> i32;

    fn extent(&self, by: i32) -> Extent {
        assert!(by > -100, "scaled by {by}, and not by {}", BONUS);
        Extent { wide: self.area() * by, high: BONUS }
    }
    fn scaled(&self, by: i32) -> i32 {
        let Extent { wide, high } = self.extent(by);
        let mut total = raised(wide) + high;
        for i in 0..Self::SIDES {
            total += i * by;
        }
        match self.spare(by) {
            Some(spare) => total + spare,
            None => total,
        }
    }
    fn spare(&self, by: i32) -> Option<i32> {
        if by > 1 { Some(by * Self::unit()) } else { None }
    }
}
