//! The macro that turns a table of methods into a hidden trait, its implementations and the functions that generated
//! code calls. In a table, `T` is the type of the numbers, which is the implementing type in the trait and a parameter
//! elsewhere.

/// Declares methods of `$bound` and implements them for each type. A method without `= body` is the type's own of that
/// name.
///
/// The functions take no `self`, so that they do not compete with Rust's methods.
macro_rules! methods {
    ($trait:ident of $bound:ident, for $($t:ident)*: $table:tt) => {
        methods!(@declare $trait $bound $table);
        $(methods!(@implement $trait $t $table);)*
    };
    (@declare $trait:ident $bound:ident {
        $($(#[$meta:meta])* $name:ident($first:ident $(, $arg:ident: $ty:ty)*) -> $result:ty $(= $body:expr)?;)*
    }) => {
        #[doc(hidden)]
        pub trait $trait<T: $bound> {
            $($(#[$meta])* fn $name($first: T $(, $arg: $ty)*) -> $result;)*
        }
        $(
            #[doc = concat!("Calls the method `", stringify!($name), "`.")]
            #[inline]
            $(#[$meta])*
            pub fn $name<T: $bound>($first: T $(, $arg: $ty)*) -> $result {
                <T as $trait<T>>::$name($first $(, $arg)*)
            }
        )*
    };
    (@implement $trait:ident $t:ident {
        $($(#[$meta:meta])* $name:ident($first:ident $(, $arg:ident: $ty:ty)*) -> $result:ty $(= $body:expr)?;)*
    }) => {
        const _: () = {
            type T = $t;
            impl $trait<T> for T {
                $(
                    #[inline]
                    $(#[$meta])*
                    fn $name($first: T $(, $arg: $ty)*) -> $result {
                        $crate::kernel::numeric::methods::or!([$($body)?] T::$name($first $(, $arg)*))
                    }
                )*
            }
        };
    };
}

/// Expands to the first expression, if there is one.
macro_rules! or {
    ([$body:expr] $default:expr) => {
        $body
    };
    ([] $default:expr) => {
        $default
    };
}

pub(super) use {methods, or};
