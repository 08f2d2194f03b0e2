//! Tests that every link within the book leads to a page, a heading or a file that is there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use scraper::{Html, Selector};

use crate::{book, pages};

/// The links of a page, and the places in it that links can lead to.
struct Page {
    links: Vec<String>,
    ids: BTreeSet<String>,
}

fn read(path: &Path) -> Page {
    let html = Html::parse_document(&fs::read_to_string(path).expect("a page of the book"));
    let attributes = |selector: &str, name: &str| -> Vec<String> {
        let selector = Selector::parse(selector).expect("a selector");
        html.select(&selector).filter_map(|element| element.attr(name)).map(String::from).collect()
    };
    let links = [attributes("[href]", "href"), attributes("[src]", "src")].concat();
    Page { links, ids: attributes("[id]", "id").into_iter().collect() }
}

/// Returns what is wrong with a link of this page.
fn fault(link: &str, page: &Path, all: &mut BTreeMap<PathBuf, Page>) -> Option<String> {
    if link.contains("://") {
        return None;
    }
    let (file, heading) = link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
    let file = match file {
        "" => page.to_path_buf(),
        file => page.parent().expect("pages are in folders").join(file),
    };
    let Ok(file) = file.canonicalize() else { return Some(format!("`{link}` leads to no file")) };
    if file.extension().is_some_and(|end| end == "md" || end == "rs") {
        return Some(format!("`{link}` is no page"));
    }
    let heading = heading.filter(|heading| !heading.is_empty())?;
    let target = all.entry(file.clone()).or_insert_with(|| read(&file));
    (!target.ids.contains(heading)).then(|| format!("`{link}`: the page has no such heading"))
}

#[test]
fn every_link_leads_to_something() {
    let mut all = BTreeMap::new();
    let mut faults = Vec::new();
    let mut count = 0;
    for page in pages() {
        let page = page.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        let links = read(&page).links;
        count += links.len();
        let name =
            page.strip_prefix(book().canonicalize().expect("it is built")).expect("a page of the book").display();
        faults.extend(links.iter().filter_map(|link| Some(format!("{name}: {}", fault(link, &page, &mut all)?))));
    }
    assert!(count > 500, "the pages have {count} links");
    assert!(faults.is_empty(), "{} links are broken:\n  {}", faults.len(), faults.join("\n  "));
}

/// The compiler's messages name `rules/index.html#rule` of the library's documentation, which is this page under another address.
#[test]
fn the_page_of_rules_has_a_heading_for_each_rule() {
    let rules = include_str!("../../../runtime/src/rules.md");
    let names: Vec<&str> = rules.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let page = read(&book().join("rules.html"));
    let missing: Vec<&&str> = names.iter().filter(|name| name.contains('_') && !page.ids.contains(**name)).collect();
    assert!(names.len() > 30 && missing.is_empty(), "{missing:?}");
}

#[test]
fn broken_links_are_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let page = folder.path().join("page.html");
    fs::write(&page, "<h1 id=\"here\"></h1>").expect("a temporary file");
    fs::write(folder.path().join("a.md"), "").expect("a temporary file");
    let fault = |link: &str| fault(link, &page.canonicalize().expect("it is there"), &mut BTreeMap::new());
    assert_eq!(fault("#here"), None);
    assert_eq!(fault("page.html#here"), None);
    assert_eq!(fault("https://docs.rs/phalanx"), None);
    assert_eq!(fault("#there").as_deref(), Some("`#there`: the page has no such heading"));
    assert_eq!(fault("other.html").as_deref(), Some("`other.html` leads to no file"));
    assert_eq!(fault("a.md").as_deref(), Some("`a.md` is no page"));
}
