//! `docs/shipped_bugs.md` says of each bug what the tests show: the rules that refuse its kernel, or the simulator's words.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const SIMULATED: &str = include_str!("../conformance/tests/shipped.rs");

/// What the names of right kernels begin with; the rest is that of the wrong one above.
const MEND: &str = "mend_of_";

/// A kernel: its links, its name, and the lines of its file that it has.
struct Kernel {
    links: Vec<String>,
    name: String,
    lines: std::ops::Range<usize>,
}

fn links(text: &str, from: &str, to: char) -> Vec<String> {
    let found = text.split(from).skip(1).filter_map(|rest| rest.split_once(to));
    found.map(|(link, _)| format!("https://{link}")).collect()
}

/// The items of a file that have links in their comments, and their mends, which have none.
fn kernels(text: &str) -> Vec<Kernel> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found: Vec<Kernel> = Vec::new();
    let mut comment = String::new();
    for (at, line) in lines.iter().enumerate() {
        match (line.strip_prefix("/// "), line.strip_prefix("fn ")) {
            (Some(text), _) => comment += text,
            (None, Some(rest)) => {
                let links = links(&std::mem::take(&mut comment), "<https://", '>');
                let end = at + lines[at..].iter().take_while(|line| **line != "}").count();
                let name = rest.split('(').next().unwrap_or_default().to_owned();
                let is_shown = !links.is_empty() || name.starts_with(MEND);
                found.extend(is_shown.then_some(Kernel { links, name, lines: at + 1..end + 2 }));
            }
            (None, None) => {}
        }
    }
    found
}

/// The rules of rustc's output for a file's lines.
fn rules(stderr: &str, file: &str, lines: &std::ops::Range<usize>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut rule = None;
    for line in stderr.lines() {
        if line.starts_with("error") {
            rule = line.strip_suffix(']').and_then(|line| line.rsplit_once('[')).map(|(_, rule)| rule.to_owned());
        }
        let place = line.trim_start().strip_prefix("--> ").and_then(|place| place.strip_prefix(file));
        let at = place.and_then(|place| place.trim_start_matches(':').split(':').next()?.parse::<usize>().ok());
        if at.is_some_and(|at| lines.contains(&at)) {
            found.extend(rule.take());
        }
    }
    found
}

/// The last cell of the row with this link.
fn said<'p>(page: &'p str, link: &str) -> &'p str {
    let rows: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| [") && line.contains(&format!("({link})"))).collect();
    let [row] = rows[..] else { panic!("{} rows for {link}", rows.len()) };
    row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default()
}

#[test]
fn the_page_says_what_the_tests_show() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(here.join("../docs/shipped_bugs.md")).expect("the page is in the repository");
    let mut shown: BTreeSet<String> = BTreeSet::new();
    for file in ["clusters", "barriers", "copies", "divergence", "races"] {
        let file = format!("shipped/{file}.rs");
        let text = fs::read_to_string(here.join(&file)).expect("the file is in the repository");
        let stderr = fs::read_to_string(here.join(&file).with_extension("stderr")).expect("its messages are beside it");
        for kernel in kernels(&text) {
            let found = rules(&stderr, &file, &kernel.lines);
            if let Some(wrong) = kernel.name.strip_prefix(MEND) {
                assert!(found.is_empty(), "{} is refused: {found:?}", kernel.name);
                assert!(text.contains(&format!("\nfn {wrong}(")), "{} mends nothing", kernel.name);
                continue;
            }
            assert!(!found.is_empty(), "{} is not refused", kernel.name);
            for link in kernel.links {
                let said: BTreeSet<String> =
                    said(&page, &link).split(", ").map(|rule| rule.trim_matches('`').to_owned()).collect();
                assert_eq!(said, found, "{}", kernel.name);
                shown.insert(link);
            }
        }
    }
    for kernel in kernels(SIMULATED) {
        let row = format!("{} says \"", kernel.name);
        let words = SIMULATED.split_once(&row).and_then(|(_, rest)| rest.split_once('"')).map(|(words, _)| words);
        for link in kernel.links {
            match words {
                Some(words) => assert_eq!(said(&page, &link), words, "{}", kernel.name),
                // What holds of the text of all kernels.
                None => assert_eq!(said(&page, &link), "each copy's function has the fence", "{}", kernel.name),
            }
            shown.insert(link);
        }
    }
    let rows = page.lines().filter(|line| line.starts_with("| ["));
    let listed: BTreeSet<String> = rows.flat_map(|row| links(row, "](https://", ')')).collect();
    assert_eq!(listed, shown);
    assert!(shown.len() >= 25, "{} bugs", shown.len());
}

#[test]
fn rules_are_read_from_the_lines_of_a_kernel() {
    let stderr = "error: a [one]\n  --> shipped/x.rs:3:1\nerror: b [two]\n  note: line 3\n  --> shipped/x.rs:9:1\n  --> shipped/x.rs:3:1\n";
    assert_eq!(rules(stderr, "shipped/x.rs", &(2..5)), BTreeSet::from(["one".to_owned(), "two".to_owned()]));
    assert_eq!(rules(stderr, "shipped/x.rs", &(9..10)), BTreeSet::from(["two".to_owned()]));
    assert!(rules(stderr, "shipped/y.rs", &(2..5)).is_empty());
}
