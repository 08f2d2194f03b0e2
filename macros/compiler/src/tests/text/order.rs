//! Tests of the order of evaluation: Rust evaluates operands from left to right and the value before the place; C++
//! mostly does not specify it. An operand gets a name only where another one changes something that it reads.

use super::check;

#[test]
fn nothing_changes() {
    check(
        "let x = a + m[b] * m[c];",
        "require(within(m, b) & within(m, c));
         auto x = a + m.get_unchecked(b) * m.get_unchecked(c);",
    );
    check("let x = g(a, m[b], *r, a / b);", "auto x = <callee0>(a, m[b], r, a / b);");
    check(
        "m[m[a]] = m[b];",
        "require(within(m, b) & within(m, a));
         m[m.get_unchecked(a)] = m.get_unchecked(b);",
    );
}

#[test]
fn one_operand_changes_something() {
    // What never changes needs no name, and the last that could is evaluated last.
    check("let x = a + h(a) + b;", "auto x = a + <callee0>(a) + b;");
    check(
        "let x = m[a] + h(a);",
        "auto value = m[a];
         auto x = value + <callee0>(a);",
    );
    check(
        "let x = a / b + h(a);",
        "auto value = a / b;
         auto x = value + <callee0>(a);",
    );
    check(
        "let mut z = a; let x = z + h(&mut z) + z;",
        "auto z = a;
         auto value = z;
         auto value_2 = value + <callee0>(z);
         auto x = value_2 + z;",
    );
}

#[test]
fn several_operands_change_something() {
    check(
        "let x = h(a) + h(b);",
        "auto value = <callee0>(a);
         auto x = value + <callee1>(b);",
    );
    check(
        "let x = g(a, h(b), m[c], h(c), a);",
        "auto value = <callee0>(b);
         auto value_2 = m[c];
         auto x = <callee2>(a, value, value_2, <callee1>(c), a);",
    );
    check(
        "let x = [a, h(b), m[c]];",
        "auto value = <callee0>(b);
         auto x = <slot1>{a, value, m[c]};",
    );
    check(
        "let x = a.min(h(b)).max(h(c));",
        "auto value = min(a, <callee0>(b));
         auto x = max(value, <callee1>(c));",
    );
    check(
        "for i in h(a)..h(b) {}",
        "auto value = <callee0>(a);
         for (auto i : range(value, <callee1>(b))) {
         }",
    );
}

#[test]
fn statements_among_operands() {
    check(
        "let mut y = a; let x = y + { y += 1; y };",
        "auto y = a;
         auto value = y;
         y += 1;
         auto x = value + y;",
    );
    check(
        "let x = m[a] + { m[a] = 1; b };",
        "auto value = m[a];
         m[a] = 1;
         auto x = value + b;",
    );
    check(
        "let x = h(a) + if p { *r = 1; a } else { b };",
        "auto value = <callee0>(a);
         <slot1> value_2;
         if (p) {
             r = 1;
             value_2 = a;
         } else {
             value_2 = b;
         }
         auto x = value + value_2;",
    );
    check(
        "let x = b + loop { break h(a); };",
        "<slot1> value;
         while (true) {
             value = <callee0>(a);
             break;
         }
         auto x = b + value;",
    );
}

/// A reference is printed by its name, like a variable, but what it refers to changes.
#[test]
fn behind_a_reference() {
    check(
        "let x = *r + h(r);",
        "auto value = r;
         auto x = value + <callee0>(r);",
    );
    check(
        "let x = *r + { *r += 1; *r };",
        "auto value = r;
         r += 1;
         auto x = value + r;",
    );
    check(
        "m[{ *r += 1; *r }] = *r;",
        "auto value = r;
         r += 1;
         m[r] = value;",
    );
}

#[test]
fn the_value_before_the_place() {
    check("m[a] = h(b);", "m[a] = <callee0>(b);");
    check(
        "m[h(a)] = h(b);",
        "auto value = <callee1>(b);
         m[<callee0>(a)] = value;",
    );
    check(
        "m[h(a)] += h(b);",
        "auto value = <callee1>(b);
         m[<callee0>(a)] += value;",
    );
    check(
        "let mut i = a; m[{ i += 1; i }] = i; m[i] = { i += 1; i };",
        "auto i = a;
         auto value = i;
         i += 1;
         m[i] = value;
         i += 1;
         m[i] = i;",
    );
    check(
        "m[a] = if p { *r = 1; a } else { b };",
        "<slot0> value;
         if (p) {
             r = 1;
             value = a;
         } else {
             value = b;
         }
         m[a] = value;",
    );
}

/// A local array is a place: it is never copied to be indexed.
#[test]
fn elements_of_arrays() {
    check(
        "let mut x = [0; 4]; x[h(a)] = 1; x[h(b)] += h(c);",
        "auto x = <slot0>::filled(0);
         x[<callee1>(a)] = 1;
         auto value = <callee3>(c);
         x[<callee2>(b)] += value;",
    );
    check(
        "let mut x = [[0; 4]; 4]; x[h(a)][h(b)] = 1; let y = x[h(a)][b];",
        "auto x = <slot1>::filled(<slot0>::filled(0));
         auto value = <callee2>(a);
         x[value][<callee3>(b)] = 1;
         auto y = x[<callee4>(a)][b];",
    );
}

#[test]
fn short_circuit() {
    check("let x = p && k() || q;", "auto x = p && <callee0>() || q;");
    check(
        "let x = p && { *r += 1; q };",
        "bool value = p;
         if (value) {
             r += 1;
             value = q;
         }
         auto x = value;",
    );
    check(
        "if p || { *r += 1; q } { *r = 1; }",
        "bool value = p;
         if (!value) {
             r += 1;
             value = q;
         }
         if (value) {
             r = 1;
         }",
    );
    // The inner one runs only if the outer one gets there.
    check(
        "let x = p && (q || { *r += 1; p });",
        "bool value_2 = p;
         if (value_2) {
             bool value = q;
             if (!value) {
                 r += 1;
                 value = p;
             }
             value_2 = value;
         }
         auto x = value_2;",
    );
    check(
        "let x = h(a) + (p && k()) as i32;",
        "auto value = <callee0>(a);
         auto x = value + as<i32>(p && <callee1>());",
    );
}

#[test]
fn assertions() {
    check(
        "assert!(a < b); assert!(m[a] < h(b)); assert!(p, \"{} {}\", m[a], b); assert!(a == b);",
        "if (!(a < b)) {
             assertion_failed(here(), a, b);
         }
         auto value = m[a];
         auto value_2 = <callee1>(b);
         if (!(value < value_2)) {
             assertion_failed(here(), value, value_2);
         }
         if (!p) {
             assertion_failed(here(), m[a], b);
         }
         if (!(a == b)) {
             assertion_failed(here());
         }",
    );
    // The message's values are evaluated only if it fails.
    check(
        "assert!({ *r += 1; p }, \"{}\", { *r += 2; a });",
        "r += 1;
         if (!p) {
             r += 2;
             assertion_failed(here(), a);
         }",
    );
    check(
        "assert_eq!(a, b); assert_ne!(m[a], b + c, \"{p}\"); debug_assert!(q);",
        "constexpr auto debug_assertions = <value0>;
         if (!(a == b)) {
             assertion_failed(here(), a, b);
         }
         auto value = m[a];
         auto value_2 = b + c;
         if (!(value != value_2)) {
             assertion_failed(here(), value, value_2, p);
         }
         if (debug_assertions) {
             if (!q) {
                 assertion_failed(here());
             }
         }",
    );
    // What was compared is shown, whatever the message's values make of it.
    check(
        "assert_eq!(*r, a, \"{}\", { *r += 2; b });",
        "auto value = r;
         if (!(value == a)) {
             r += 2;
             assertion_failed(here(), value, a, b);
         }",
    );
}

/// Fields are evaluated as they are written; the runtime lists them as they are declared.
#[test]
fn structs() {
    check(
        "let s = S { y: a, x: h(b), ..k(c) };",
        "auto value = <callee0>(b);
         auto value_2 = <callee1>(c);
         auto s = <slot2>{.y = a, .x = value, ..value_2};",
    );
    check("let s = S(a + 1, m[0]); let x = s.1;", "auto s = <slot0>{._0 = a + 1, ._1 = m[0]};\nauto x = s._1;");
    check(
        "let mut s = S { x: 1 }; s.x.y += m[0].z; s.0 = 1;",
        "auto s = <slot0>{.x = 1};\ns.x.y += m[0].z;\ns._0 = 1;",
    );
}

/// A format string's arguments are evaluated from left to right, then the names that it mentions, each once.
#[test]
fn messages() {
    check(
        "println!(); println!(\"{b} {} {x:>1$} {b}\", a, 8, x = c); print!(\"{r}\"); unreachable!(\"{p}\");",
        "print(here());
         print(here(), a, <slot1 8>, c, b);
         print(here(), r);
         panicked(here(), p);",
    );
    check(
        "println!(\"{} {}\", m[a], h(b));",
        "auto value = m[a];
         print(here(), value, <callee0>(b));",
    );
}

/// A call that becomes a loop or a branch evaluates its operands before it, in the order of the source.
#[test]
fn rewritten_calls() {
    check(
        "let x = (a..h(b)).contains(&h(c));",
        "auto operand_1 = a;
         auto operand_2 = <callee0>(b);
         auto value = <callee1>(c);
         auto x = true && operand_1 <= value && value < operand_2;",
    );
    check(
        "let mut v = [1, 2]; let x = std::mem::replace(&mut v[a], h(b));",
        "auto v = <slot0>{1, 2};
         auto operand_1 = a;
         auto new_2 = <callee1>(b);
         auto held = v[operand_1];
         v[operand_1] = new_2;
         auto x = held;",
    );
    check(
        "let x = (a..b).fold(h(c), |t, i| { t } - i);",
        "auto operand_1 = a;
         auto operand_2 = b;
         auto total = <callee0>(c);
         for (auto i : range(operand_1, operand_2)) {
             auto t = total;
             total = t - i;
         }
         auto x = total;",
    );
    // Nothing is bound where no order can be observed.
    check("let x = (a..b).contains(&c);", "auto value = c;\nauto x = true && a <= value && value < b;");
}
