//! Tests that the pages open in a browser without an error, show their pictures, and fit a phone.

use std::path::PathBuf;
use std::{env, fs};

use crate::browser::{Browser, WIDTHS};
use crate::{book, pages};

#[test]
fn every_page_opens_on_a_phone_and_on_a_desktop() {
    let Some(mut browser) = Browser::start() else { return };
    // A folder for screenshots, to look at.
    let pictures = env::var_os("BOOK_PICTURES").map(PathBuf::from);
    if let Some(folder) = &pictures {
        fs::create_dir_all(folder).expect("a folder to write to");
    }
    let mut faults = Vec::new();
    for page in pages() {
        let name = page.strip_prefix(book()).expect("a page of the book").display().to_string();
        for width in WIDTHS {
            faults.extend(browser.look(&page, width).iter().map(|fault| format!("{name} at {width}: {fault}")));
            if let Some(folder) = &pictures {
                browser.picture(&folder.join(format!("{}-{width}.png", name.replace(['/', '.'], "-"))));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_is_wrong_with_a_page_is_found() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let page = folder.path().join("page.html");
    let mut faults = |body: &str| {
        fs::write(&page, format!("<!DOCTYPE html><title>x</title><body>{body}")).expect("a temporary file");
        browser.look(&page, 390).join("\n")
    };
    assert_eq!(faults("<p>Text.</p><div style='overflow-x: auto'><div style='width: 900px'>wide</div></div>"), "");
    assert!(faults("<div style='width: 900px'>wide</div>").contains("pixels wide on a screen of 390: <div"));
    assert!(faults("<img src='none.svg'>").contains("the picture none.svg is not shown"));
    assert!(faults("<script>console.error('no')</script>").contains("the console says"));
    assert!(faults("<script>nothing()</script>").contains("nothing is not defined"));
    assert!(faults("<link rel=stylesheet href=none.css>").contains("does not load"));
}
