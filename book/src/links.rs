//! Rewrites the links of pages for the book. In the repository a page links to sources and to other documents, which are no pages
//! of the book: the page of rules is one under another path, and of the others the text remains.

use std::path::{Component, Path, PathBuf};

use mdbook_preprocessor::book::Book;
use mdbook_preprocessor::errors::Result;
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

/// The rules, whose page includes this file of the library.
const RULES: (&str, &str) = ("runtime/src/rules.md", "rules.md");

pub(crate) struct Links;

impl Preprocessor for Links {
    fn name(&self) -> &str {
        "links-of-the-repository"
    }

    fn run(&self, _: &PreprocessorContext, mut book: Book) -> Result<Book> {
        book.for_each_chapter_mut(|chapter| {
            if let Some(path) = &chapter.source_path {
                chapter.content = within_the_book(&chapter.content, path);
            }
        });
        Ok(book)
    }
}

/// Returns the text of the page at `page`, a path from `docs/`, with links that hold in the book.
fn within_the_book(text: &str, page: &Path) -> String {
    let mut out = String::new();
    let mut copied = 0;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let Event::Start(Tag::Link { link_type: LinkType::Inline, dest_url, .. }) = event else { continue };
        let link = &text[range.clone()];
        let (Some(replaced), Some(label)) = (target(&dest_url, page), link.rfind("](").map(|end| &link[1..end])) else {
            continue;
        };
        out.push_str(&text[copied..range.start]);
        match replaced {
            Target::Page(path) => out.push_str(&format!("[{label}]({path})")),
            Target::Outside => out.push_str(label),
        }
        copied = range.end;
    }
    out + &text[copied..]
}

enum Target {
    Page(String),
    Outside,
}

/// Returns where a link leads instead; nothing, if it holds as it is.
fn target(link: &str, page: &Path) -> Option<Target> {
    let (path, heading) = link.split_once('#').map_or((link, None), |(path, heading)| (path, Some(heading)));
    if path.is_empty() || link.contains("://") {
        return None;
    }
    let folder = page.parent().unwrap_or(Path::new(""));
    let file = normal(&Path::new("docs").join(folder).join(path));
    // A page that includes a part of README.md has links from the root.
    let is_from_root = !is_there(&file) && is_there(Path::new(path));
    let file = if is_from_root { PathBuf::from(path) } else { file };
    let within = match file.strip_prefix("docs") {
        Ok(_) if !is_from_root => return None,
        Ok(within) => within,
        Err(_) if file == Path::new(RULES.0) => Path::new(RULES.1),
        Err(_) => return Some(Target::Outside),
    };
    let up = "../".repeat(folder.components().count());
    let heading = heading.map_or(String::new(), |heading| format!("#{heading}"));
    Some(Target::Page(format!("{up}{}{heading}", within.display())))
}

/// Whether the repository has this file.
fn is_there(file: &Path) -> bool {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file).exists()
}

/// Returns the path without `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            part => path.push(part),
        }
        path
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(page: &str, text: &str, expected: &str) {
        assert_eq!(within_the_book(text, Path::new(page)), expected);
    }

    #[test]
    fn links_between_pages_and_to_the_web_stay() {
        for link in ["[a](loops.md#x)", "[a](#here)", "[a](https://docs.rs/phalanx)", "[a](../host.md)"] {
            becomes("language/memory.md", link, link);
        }
    }

    #[test]
    fn the_rules_have_a_page() {
        becomes(
            "language/memory.md",
            "see [`x`](../../runtime/src/rules.md#x), [y](y.md)",
            "see [`x`](../rules.md#x), [y](y.md)",
        );
        becomes("host.md", "| a |\n|---|\n| [rules](../runtime/src/rules.md) |", "| a |\n|---|\n| [rules](rules.md) |");
    }

    #[test]
    fn links_of_the_readme_are_from_the_root() {
        becomes(
            "limits.md",
            "[a](docs/performance.md#x), [b](runtime/src/rules.md)",
            "[a](performance.md#x), [b](rules.md)",
        );
        becomes("tour/gpu.md", "[a](docs/host.md)", "[a](../host.md)");
    }

    #[test]
    fn of_a_link_to_a_source_the_text_stays() {
        becomes("host.md", "in [`a\nb`](../examples/a.rs), too", "in `a\nb`, too");
        becomes("host.md", "```text\n[a](../examples/a.rs)\n```\n", "```text\n[a](../examples/a.rs)\n```\n");
    }
}
