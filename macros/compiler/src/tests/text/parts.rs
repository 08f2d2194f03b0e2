//! Parts of variables that are only read: which variables are `const`, and which are read as if they were.

use super::check;

#[test]
fn a_variable_is_constant_if_it_is_not_mut_and_a_part_is_named() {
    check(
        "let v = g(a); let x = v[a]; let y = v;",
        "const auto v = <callee0>(a);
         auto x = v[a];
         auto y = v;",
    );
}

#[test]
fn parts_that_are_never_written_by_themselves_are_read_as_constants() {
    check(
        "let mut v = g(a); let x = v[a]; v = g(b); let y = v;",
        "auto v = <callee0>(a);
         auto x = as_const(v)[a];
         v = <callee1>(b);
         auto y = v;",
    );
    check(
        "let mut v = g(a); let x = v[a][b]; v[c] = x; let y = v[c];",
        "auto v = <callee0>(a);
         auto x = as_const(v)[a][b];
         v[c] = x;
         auto y = v[c];",
    );
    // The parameters of closures have no `const`.
    check(
        "let f = |v| v[0].y[a];",
        "auto f = [&](auto v) __attribute__((always_inline)) { return as_const(v)[0].y[a]; };",
    );
}

#[test]
fn parts_that_are_written_are_not() {
    check(
        "let mut v = g(a); v[b] = v[a]; v[c] += v[b];",
        "auto v = <callee0>(a);
         v[b] = v[a];
         v[c] += v[b];",
    );
    check(
        "let mut v = g(a); h(&mut v); let x = v[a];",
        "auto v = <callee0>(a);
         <callee1>(v);
         auto x = v[a];",
    );
    check(
        "let mut v = g(a); v.change(); let x = v[a];",
        "auto v = <callee0>(a);
         <callee1>(v);
         auto x = v[a];",
    );
}

#[test]
fn parts_of_arrays_as_arguments_are_slices() {
    check(
        "let v = [a, b, c]; let x = h(&v[1..]); let y = h(&v[..b]);",
        "auto v = <slot0>{a, b, c};
         auto x = <callee1>(subslice_from(slice_of(v), 1));
         auto y = <callee2>(subslice(slice_of(v), 0, b));",
    );
}

#[test]
fn a_sum_begins_as_its_type_says() {
    check(
        "let mut x = [a, b]; x[0] = (0..c).sum();",
        "auto x = <slot0>{a, b};
         auto total = <slot1 -0.0>;
         for (auto item : range(0, c)) {
             total += item;
         }
         x[0] = total;",
    );
}
