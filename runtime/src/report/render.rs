//! Renders the source of a report's locations as rustc does, if the files can be read. `failure`, `race` and `warning`
//! provide the texts.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::ops::Range;

pub(crate) use annotate_snippets::Level;
use annotate_snippets::{AnnotationKind, Renderer, Snippet};

use crate::location::Location;

/// A location with its label.
pub(crate) struct Note<'a> {
    pub(crate) location: &'a Location,
    pub(crate) text: String,
    /// Whether the failure was detected at this location.
    pub(crate) is_primary: bool,
}

/// Returns the labelled source below a title and above the calls that led there and the help; `None` if a file cannot be read or does not match.
pub(crate) fn rendered(
    level: Level<'_>,
    title: &str,
    notes: &[Note<'_>],
    calls: &[String],
    help: &[String],
) -> Option<String> {
    let mut files: BTreeMap<&str, (String, Vec<&Note<'_>>)> = BTreeMap::new();
    for note in notes {
        let file = &*note.location.file;
        if !files.contains_key(file) {
            files.insert(file, (read(file)?, Vec::new()));
        }
        files.get_mut(file)?.1.push(note);
    }
    // The file in which the failure was detected comes first.
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by_key(|(_, (_, notes))| !notes.iter().any(|note| note.is_primary));
    let mut group =
        level.primary_title(title).elements(std::iter::empty::<Snippet<'_, annotate_snippets::Annotation<'_>>>());
    for (file, (source, notes)) in &files {
        let mut snippet = Snippet::source(source.as_str()).path(*file);
        for note in notes {
            let kind = if note.is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            snippet = snippet.annotation(kind.span(span(source, note.location)?).label(note.text.as_str()));
        }
        group = group.element(snippet);
    }
    for call in calls {
        group = group.element(Level::NOTE.message(call.as_str()));
    }
    for help in help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    Some(Renderer::plain().render(&[group]))
}

/// Reads a file. rustc names it relative to the folder in which it ran, which is the current one or one above it.
pub(super) fn read(file: &str) -> Option<String> {
    let folder = env::current_dir().ok()?;
    folder.ancestors().find_map(|folder| fs::read_to_string(folder.join(file)).ok())
}

/// Returns the name that a `let` gives to what is made at the location, if the file is there and says `let name =` in that line.
pub(super) fn declared_name(location: &Location) -> Option<String> {
    let source = read(&location.file)?;
    let line: String =
        source.lines().nth(location.line as usize - 1)?.chars().take(location.column as usize - 1).collect();
    let (before, pattern) = line.rsplit_once("let ")?;
    let pattern = pattern.trim_end().strip_suffix('=')?.trim();
    let name = pattern.strip_prefix("mut ").unwrap_or(pattern);
    let is_word = |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    (is_word(name) && !before.ends_with(|letter: char| letter.is_alphanumeric())).then(|| name.to_owned())
}

/// Returns the span of the expression that begins at the location: a name with its indexes and method calls.
pub(super) fn span(source: &str, location: &Location) -> Option<Range<usize>> {
    let line = source.split_inclusive('\n').nth(location.line as usize - 1)?;
    let in_line: usize = line.chars().take(location.column as usize - 1).map(char::len_utf8).sum();
    let mut depth = 0;
    let mut length = 0;
    for (at, letter) in line.get(in_line..)?.char_indices() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' if depth > 0 => depth -= 1,
            _ if depth > 0 && letter != '\n' => {}
            '.' | '_' | ':' => {}
            _ if letter.is_alphanumeric() => {}
            _ => break,
        }
        length = at + letter.len_utf8();
    }
    let start = line.as_ptr().addr() - source.as_ptr().addr() + in_line;
    Some(start..start + length.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_marked() {
        let source = "fn k() {\n    größe[i + 1] = x.atomic(0).load(Relaxed); // f(\n}\n";
        let marked =
            |line, column| span(source, &Location { file: String::new(), line, column }).map(|span| &source[span]);
        assert_eq!(marked(2, 5), Some("größe[i + 1]"));
        assert_eq!(marked(2, 20), Some("x.atomic(0).load(Relaxed)"));
        assert_eq!(marked(2, 32), Some("load(Relaxed)"));
        assert_eq!(marked(9, 1), None);
    }
}
