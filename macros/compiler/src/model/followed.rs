//! A device function whose body was read in the file around its caller. rustc confirms that the call is one of this function.

use proc_macro2::Ident;

/// A function that the checks have followed.
#[derive(Debug, Clone)]
pub(crate) struct Followed {
    /// The name by which it is called.
    pub(crate) name: Ident,
    /// The identity of its text.
    pub(crate) text: u64,
    /// Of a method or an associated function: its type, its number of arguments beside the receiver, and how it is selected.
    pub(crate) method: Option<(Ident, usize, Selected)>,
}

/// How rustc selects a function of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selected {
    /// `Type::name(..)`
    ByType,
    /// `value.name(..)`
    ByReceiver,
}

impl Followed {
    /// Whether rustc has to confirm the same of both.
    pub(crate) fn is_same(&self, other: &Followed) -> bool {
        let method = |of: &Followed| of.method.as_ref().map(|(ty, _, selected)| (ty.to_string(), *selected));
        self.name == other.name && self.text == other.text && method(self) == method(other)
    }

    /// Returns the name of its marker.
    pub(crate) fn marker(&self) -> Ident {
        match &self.method {
            None => self.name.clone(),
            Some((ty, ..)) => Ident::new(&method_marker(&ty.to_string(), &self.name), self.name.span()),
        }
    }
}

/// Returns the name of a method's marker; `of` is the type, and the trait, as words.
pub(crate) fn method_marker(of: &str, method: &Ident) -> String {
    let method = method.to_string();
    format!("__phalanx_{of}_{}", method.trim_start_matches("r#"))
}
