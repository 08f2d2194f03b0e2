//! A report as one HTML file that needs no other: its frame, and the source of its locations with their labels. `failure` and `timeline`
//! say what is in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::render::{Note, read, span};

/// The lines that are shown above and below a location.
const AROUND: usize = 4;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:76rem;padding:1rem;background:Canvas;color:CanvasText}\
h1{font-size:1.15rem;overflow-wrap:anywhere}h2{font-size:1rem;margin:1.5rem 0 .5rem}\
pre,.scrolls{overflow-x:auto;border:1px solid color-mix(in srgb,CanvasText 20%,transparent);border-radius:4px}\
pre{margin:0;padding:.5rem 0;font:13px/1.5 ui-monospace,monospace}\
.line{display:block;width:max-content;min-width:100%;padding:0 .75rem;box-sizing:border-box}\
.line i{display:inline-block;width:4ch;margin-right:1.5ch;text-align:right;font-style:normal;opacity:.55}\
.at{background:color-mix(in srgb,#d9a03f 22%,transparent)}.at.primary{background:color-mix(in srgb,#d9534f 22%,transparent)}\
mark{background:none;color:inherit;font-weight:bold;text-decoration:underline 2px #d9a03f}mark.primary{text-decoration-color:#d9534f}\
.note{font-family:system-ui,sans-serif;padding-left:calc(5.5ch + .75rem);opacity:.9}\
.scrolls svg{display:block;min-width:44rem;width:100%;height:auto}\
table{border-collapse:collapse;width:100%}td,th{padding:.3rem .6rem;text-align:left}tr+tr{border-top:1px solid color-mix(in srgb,CanvasText 15%,transparent)}\
li{overflow-wrap:anywhere}.same{outline:2px solid #3a74c4;outline-offset:-1px;stroke:#3a74c4;stroke-width:1.5}";

/// What belongs to one position in the source is marked together under the mouse.
const SCRIPT: &str = "\
document.addEventListener('mouseover',event=>{const over=event.target.closest('[data-at]');\
for(const part of document.querySelectorAll('[data-at]'))\
part.classList.toggle('same',!!over&&part.dataset.at===over.dataset.at)})";

/// Returns the file. The body is HTML.
pub(crate) fn page(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// Returns a list of sentences; nothing for none.
pub(crate) fn list(title: &str, sentences: &[String]) -> String {
    if sentences.is_empty() {
        return String::new();
    }
    let items: String = sentences.iter().map(|sentence| format!("<li>{}</li>\n", escaped(sentence))).collect();
    format!("<h2>{title}</h2>\n<ul>\n{items}</ul>\n")
}

/// Returns the lines around the locations, each followed by its labels. Of a file that cannot be read, the labels are listed.
pub(crate) fn listing(notes: &[Note<'_>]) -> String {
    let mut files: BTreeMap<&str, Vec<&Note<'_>>> = BTreeMap::new();
    for note in notes {
        files.entry(&note.location.file).or_default().push(note);
    }
    // The file in which the failure was detected comes first.
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by_key(|(_, notes)| !notes.iter().any(|note| note.is_primary));
    let mut html = String::new();
    for (file, notes) in files {
        match read(file) {
            Some(source) => {
                let _ = writeln!(html, "<h2>{}</h2>\n<pre>{}</pre>", escaped(file), excerpt(&source, &notes));
            }
            None => {
                html += &list(
                    &escaped(file),
                    &notes.iter().map(|note| format!("{}: {}", note.location, note.text)).collect::<Vec<_>>(),
                )
            }
        }
    }
    html
}

fn excerpt(source: &str, notes: &[&Note<'_>]) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let shown: BTreeSet<usize> = notes
        .iter()
        .map(|note| note.location.line as usize)
        .flat_map(|line| line.saturating_sub(AROUND).max(1)..=(line + AROUND).min(lines.len()))
        .collect();
    let mut html = String::new();
    let mut last = None;
    for &number in &shown {
        if last.is_some_and(|last| last + 1 < number) {
            html += "<span class=\"line\"><i>⋮</i></span>";
        }
        last = Some(number);
        let here: Vec<&&Note<'_>> = notes.iter().filter(|note| note.location.line as usize == number).collect();
        let class = match here.iter().any(|note| note.is_primary) {
            _ if here.is_empty() => "line",
            true => "line at primary",
            false => "line at",
        };
        let at =
            here.first().map_or(String::new(), |note| format!(" data-at=\"{}\"", escaped(&note.location.to_string())));
        let code = marked(source, lines[number - 1], &here);
        let _ = write!(html, "<span class=\"{class}\"{at}><i>{number}</i>{code}</span>");
        for note in here {
            let _ = write!(
                html,
                "<span class=\"line note\">{} {}</span>",
                if note.is_primary { "▲" } else { "△" },
                escaped(&note.text)
            );
        }
    }
    html
}

/// Returns a line of the source in which the notes' expressions are marked; their labels are tooltips.
fn marked(source: &str, line: &str, notes: &[&&Note<'_>]) -> String {
    let start = line.as_ptr().addr() - source.as_ptr().addr();
    let spans = notes.iter().filter_map(|note| {
        let span = span(source, note.location)?;
        Some((span.start - start, (span.end - start).min(line.len()), note))
    });
    let mut spans: Vec<_> = spans.collect();
    spans.sort_by_key(|(start, ..)| *start);
    let (mut html, mut copied) = (String::new(), 0);
    for (start, end, note) in spans {
        // One expression may be part of another one, which is marked already.
        if start < copied {
            continue;
        }
        let (before, expression) = (escaped(&line[copied..start]), escaped(&line[start..end]));
        let class = if note.is_primary { " class=\"primary\"" } else { "" };
        let _ = write!(html, "{before}<mark{class} title=\"{}\">{expression}</mark>", escaped(&note.text));
        copied = end;
    }
    html + &escaped(&line[copied..])
}

/// Returns the text with the characters replaced that mean something in HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::Location;

    fn note(location: &Location, is_primary: bool) -> Note<'_> {
        Note { location, text: "a \"write\" of <1>".into(), is_primary }
    }

    #[test]
    fn lines_far_apart_have_their_surroundings() {
        let source: String = (1..=40).map(|line| format!("x[{line}] &= 1;\n")).collect();
        let places = [2, 30].map(|line| Location { file: "a.rs".into(), line, column: 1 });
        let html = excerpt(&source, &[&note(&places[0], false), &note(&places[1], true)]);
        let has = |line: usize| html.contains(&format!("<i>{line}</i>"));
        assert!(has(1) && has(6) && !has(7) && !has(25) && has(26) && has(34) && !has(35), "{html}");
        assert_eq!(html.matches("⋮").count(), 1);
        let marked = "<mark class=\"primary\" title=\"a &quot;write&quot; of &lt;1&gt;\">x[30]</mark> &amp;= 1;";
        assert!(html.contains(marked) && html.contains("class=\"line at primary\" data-at=\"a.rs:30:1\""), "{html}");
    }

    #[test]
    fn an_expression_inside_of_another_one_is_marked_once() {
        let places = [1, 3].map(|column| Location { file: "a.rs".into(), line: 1, column });
        let html = excerpt("x[y[0]] = größe;\n", &[&note(&places[1], false), &note(&places[0], true)]);
        assert_eq!((html.matches("<mark").count(), html.matches("class=\"line note\"").count()), (1, 2), "{html}");
    }

    #[test]
    fn without_the_source_the_labels_are_listed() {
        let place = Location { file: "no such file.rs".into(), line: 3, column: 1 };
        let html = listing(&[note(&place, true)]);
        assert!(
            html.contains("<h2>no such file.rs</h2>") && html.contains("<li>no such file.rs:3:1: a &quot;write"),
            "{html}"
        );
    }
}
