//! Functions that return an `Option` and call what their caller does with it, and such callers.

use super::{check, text};

#[test]
fn callers() {
    check(
        "if let Some(x) = h(a) { m[0] = x; }",
        "<callee0>(a<then0, 0 inside>if_some([&](auto x) __attribute__((always_inline)) {
             m[0] = x;
         }));",
    );
    check(
        "match h(a) { None => {} Some(x) => r = x + g(b) }".replace("r =", "*r =").as_str(),
        "<callee0>(a<then0, 1 inside>if_some([&](auto x) __attribute__((always_inline)) {
             r = x + <callee1>(b);
         }));",
    );
    check(
        "if let Some((x, _)) = h(a) && x > b { *r = x; }",
        "<callee0>(a<then0, 0 inside>if_some([&](auto value) __attribute__((always_inline)) {
             auto x = value._0;
             if (x > b) {
                 r = x;
             }
         }));",
    );
    for body in [
        // They lead elsewhere, or have other patterns, another arm, or what threads do together.
        "if let Some(x) = h(a) { return; }",
        "for k in 0..9 { if let Some(x) = h(k) { break; } }",
        "if let Some(3) = h(a) { *r = 3; }",
        "if let Some(x) = h(a) { *r = x; } else { *r = 2; }",
        "match h(a) { Some(x) => *r = x, None => *r = 2 }",
        "match h(a) { _ => {} Some(x) => *r = x }",
        "match h(a) { Some(x) if x > 2 => *r = x, _ => {} }",
        "if let Some(x) = h(a) { nanosleep(3); }",
        "if let Some(x) = (if p { h(a) } else { h(b) }) { *r = x; }",
    ] {
        let text = text(&format!("#[device] {} {{ {body} }}", super::SIGNATURE), |_| None);
        assert!(!text.contains("if_some"), "{text}");
    }
}

#[test]
fn functions() {
    let of =
        |ret: &str, body: &str| text(&format!("#[device] fn subject(a: i32, p: bool) -> {ret} {{ {body} }}"), |_| None);
    let calls = |body: &str, parts: &[&str]| {
        let text = of("Option<i32>", body);
        parts.iter().for_each(|part| assert!(text.contains(part), "{text}"));
        assert!(!text.contains(" some(") && !text.contains("(none)"), "{text}");
    };
    calls("if p { Some(a) } else { None }", &["return p ? then.some(a) : then.none();"]);
    calls("if p { return None; } Some(a)", &["    return then.none();", "\n    return then.some(a);"]);
    calls("let then = a; if p { None } else { Some(then) }", &["return p ? then_2.none() : then_2.some(then);"]);
    calls("for k in 0..a { if k == 5 { return None; } } Some(a)", &["return then.none();", "return then.some(a);"]);
    for (ret, body) in [
        // `Some` at two places, in a loop, or nowhere; another value; another type.
        ("Option<i32>", "if p { return Some(1); } Some(a)"),
        ("Option<i32>", "for k in 0..a { if k == 5 { return Some(k); } } None"),
        ("Option<i32>", "None"),
        ("Option<i32>", "let x = Some(a); x"),
        ("Option<i32>", "h(a)"),
        ("Hit", "if p { Some(a) } else { None }"),
    ] {
        let text = of(ret, body);
        assert!(!text.contains("then."), "{text}");
    }
}
