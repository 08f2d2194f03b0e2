//! A function read once more: with the values of constants, or with the bodies of what it calls.

use std::path::Path;

use proc_macro2::TokenStream;

use super::{Parsed, parse_as};
use crate::diag::Diags;
use crate::model::Function;
use crate::model::followed::Followed;
use crate::parse;
use crate::parse::files::Files;
use crate::parse::inline::Inlined;
use crate::parse::readable::Reads;
use crate::session::Session;
use crate::source;
use crate::values::WithValues;

/// A function with the values of constants that its file shows.
pub(super) type Valued = (WithValues, Box<Function>);

/// A function with the bodies of the functions that it calls.
pub(super) struct WithBodies {
    pub(super) function: Box<Function>,
    pub(super) known: Option<Valued>,
    pub(super) followed: Vec<Followed>,
    /// The text of the function.
    pub(super) item: TokenStream,
}

/// Reads a function that was understood once more with the values of constants that its file shows.
pub(super) fn with_values(
    function: &Function,
    options: &TokenStream,
    item: &TokenStream,
    session: Session,
) -> Option<Valued> {
    let known = WithValues::of(function, options, item)?;
    let mut function = read_again(function, known.options.clone(), known.item.clone(), session)?;
    function.definitions.clear();
    Some((known, function))
}

/// Reads the function once more with the bodies of device functions in place of their calls: of those that the file shows, which has this
/// text, or that other files of the crate show, if it is known where it is.
pub(super) fn with_bodies(
    function: &Function,
    (file, path): (&str, Option<&Path>),
    options: &TokenStream,
    item: &TokenStream,
    session: Session,
) -> Option<WithBodies> {
    let read = |files: &Files, reads| {
        let Inlined { item, followed } = parse::inline::inlined(item, files, reads)?;
        let item = parse::imported::marked(&item, file).unwrap_or(item);
        let mut function = read_again(function, options.clone(), item.clone(), session)?;
        // What the file itself defines is meant more often.
        for (name, defined) in files.others.iter().flat_map(|text| source::definitions(text)) {
            function.definitions.entry(name).or_insert(defined);
        }
        Some((function, item, followed))
    };
    let read_all = |files: &Files| read(files, Reads::All).or_else(|| read(files, Reads::Plain));
    let several = path.and_then(|path| Files::around(path, file, item));
    let (again, item, followed) = several.as_ref().and_then(read_all).or_else(|| read_all(&Files::alone(file)?))?;
    let known = with_values(&again, options, &item, session);
    Some(WithBodies { function: again, known, followed, item })
}

/// Parses another text of a function, which has the same constants in scope; `None` if it is not understood.
pub(super) fn read_again(
    function: &Function,
    options: TokenStream,
    item: TokenStream,
    session: Session,
) -> Option<Box<Function>> {
    let mut faults = Diags::new(session);
    match parse_as(function.role, options, item, &mut faults) {
        Parsed::Function { function: mut again, .. } if faults.is_empty() => {
            again.definitions.clone_from(&function.definitions);
            Some(again)
        }
        _ => None,
    }
}
