//! Whether two types are one, as a constant: generated code asks it of a type with another name, of which the file shows what it names.

use std::marker::PhantomData;

/// Two types.
#[expect(missing_debug_implementations, reason = "there is no value of it")]
pub struct Types<T: ?Sized, U: ?Sized>(PhantomData<(*const T, *const U)>);

impl<T: ?Sized> Types<T, T> {
    /// Comes before the constant of [`OtherTypes`].
    pub const ARE_ONE: bool = true;
}

/// What generated code asks of two types that need not be one.
pub trait OtherTypes {
    /// Whether both are one type.
    const ARE_ONE: bool = false;
}

impl<T: ?Sized, U: ?Sized> OtherTypes for Types<T, U> {}

#[cfg(test)]
mod tests {
    use super::*;

    type Rows = [[f32; 32]; 2];

    #[test]
    fn other_names() {
        const { assert!(Types::<Rows, [[f32; 32]; 2]>::ARE_ONE) };
        const { assert!(!Types::<Rows, [[f32; 2]; 32]>::ARE_ONE) };
        const { assert!(!Types::<Rows, [f32; 64]>::ARE_ONE) };
    }
}
