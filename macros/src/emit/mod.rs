//! Everything that is generated from a checked function. Takes a [`Checked`] only, which only `check` makes.

mod cuda;
mod host;
mod item;
mod template;

use proc_macro2::TokenStream;
use quote::quote;

use crate::check::Checked;
use crate::model::{Function, Role};

/// The items that take the function's place.
pub(crate) fn items(checked: &Checked<'_>) -> TokenStream {
    let function = checked.function();
    let marker = item::marker(function);
    let body = item::body(function, host::body(function, checked.pending_at_calls(), &item::bindings(function)));
    let definition = template::definition(function, &cuda::text(function), checked.collectives());
    let door = match function.role {
        Role::Kernel(_) => item::launcher(function),
        Role::Device => item::device_function(function),
    };
    quote!(#marker #body #definition #door)
}

/// The signature alone, so that call sites still resolve after a fault and rustc reports no more than the fault.
pub(crate) fn stub(function: &Function) -> TokenStream {
    item::stub(function)
}
