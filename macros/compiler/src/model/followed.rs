//! A device function whose body was read in the file around its caller. rustc confirms that the call is one of this function.

use proc_macro2::{Ident, TokenStream, TokenTree};

/// A function that the checks have followed.
#[derive(Debug, Clone)]
pub(crate) struct Followed {
    /// The name by which it is called.
    pub(crate) name: Ident,
    /// The path by which a function of another module is called, or of a method that of the module of its `impl`, and where that module
    /// stands; `None` for one of the caller's module.
    pub(crate) elsewhere: Option<(TokenStream, Place)>,
    /// The identity of its text.
    pub(crate) text: u64,
    /// Of a method or an associated function: what rustc selects it by.
    pub(crate) method: Option<FollowedMethod>,
}

/// Where a module stands, seen from another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of modules to leave.
    pub(crate) up: usize,
    /// The modules to enter then.
    pub(crate) down: Vec<String>,
}

/// A function of a type that the checks have followed.
#[derive(Debug, Clone)]
pub(crate) struct FollowedMethod {
    /// The type, as the caller writes it.
    pub(crate) ty: TokenStream,
    /// The words of the type, and of the trait, where the function is defined.
    pub(crate) of: String,
    /// The type's arguments.
    pub(crate) constants: Vec<TokenTree>,
    /// The number of arguments beside the receiver.
    pub(crate) arguments: usize,
    pub(crate) selected: Selected,
}

/// How rustc selects a function of a type.
#[derive(Debug, Clone)]
pub(crate) enum Selected {
    /// `Type::name(..)`
    ByType,
    /// `value.name(..)`, or `value.name::<3>(..)` with these constants
    ByReceiver(Vec<TokenTree>),
}

impl Followed {
    /// Whether rustc has to confirm the same of both.
    pub(crate) fn is_same(&self, other: &Followed) -> bool {
        let by_type = |method: &FollowedMethod| matches!(method.selected, Selected::ByType);
        let method = |of: &Followed| of.method.as_ref().map(|method| (method.ty.to_string(), by_type(method)));
        let path = |of: &Followed| of.elsewhere.as_ref().map(|(path, place)| (path.to_string(), place.clone()));
        (&self.name, self.text, method(self), path(self)) == (&other.name, other.text, method(other), path(other))
    }

    /// Returns the name of its marker.
    pub(crate) fn marker(&self) -> Ident {
        match &self.method {
            None => self.name.clone(),
            Some(FollowedMethod { of, .. }) => Ident::new(&method_marker(of, &self.name), self.name.span()),
        }
    }
}

/// Returns the words that distinguish one `impl` from another, as part of a name: `S_u32`.
pub(crate) fn joined_words(tokens: &TokenStream) -> String {
    let text = tokens.to_string().replace("r#", "");
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// Returns the name of a method's marker; `of` is the type, and the trait, as words.
pub(crate) fn method_marker(of: &str, method: &Ident) -> String {
    let method = method.to_string();
    format!("__phalanx_{of}_{}", method.trim_start_matches("r#"))
}

/// Returns the name of what confirms the text of a function that other modules may not name.
pub(crate) fn text_marker(function: &Ident) -> String {
    let function = function.to_string();
    format!("__phalanx_text_{}", function.trim_start_matches("r#"))
}
