//! Operators of types, whose functions only rustc knows.

use super::rules;

fn of_impl(body: &str) -> Vec<String> {
    rules(&format!(
        "#[device] impl std::ops::Add for V {{ type Output = V; fn add(self, other: V) -> Self::Output {{ {body} self }} }}"
    ))
}

#[test]
fn what_an_operator_may_do() {
    assert!(of_impl("").is_empty());
    assert!(of_impl("let v = V { x: self.x + other.x, ..self };").is_empty());
    assert_eq!(of_impl("this_thread_block().sync();"), ["collective_in_method"]);
    assert_eq!(of_impl("let s = dynamic_shared::<f32>();"), ["unsupported_signature"]);
    assert_eq!(of_impl("let s = shared_array::<f32, 4>();"), ["unsupported_signature"]);
    assert_eq!(of_impl("bulk_wait_group_read::<0>();"), ["wait_in_method"]);
}

#[test]
fn which_traits_are_operators() {
    let of = |head: &str| rules(&format!("#[device] impl {head} {{ }}"));
    assert!(of("Mul<V> for f32").is_empty());
    assert!(of("core::ops::ShlAssign<u32> for V").is_empty());
    assert_eq!(of("Default for V"), ["unsupported_signature"]);
    assert_eq!(of("Add<&V> for V"), ["unsupported_signature"]);
    assert_eq!(of("Add for &V"), ["unsupported_signature"]);
    let reference = "#[device] impl AddAssign for V { fn add_assign(self, other: V) {} }";
    assert_eq!(rules(reference), ["unsupported_signature"]);
}

/// A thread's own value, whatever the function does with it.
#[test]
fn results_of_operators() {
    let kernel = |body: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 64)] fn k(given: V, out: &mut [f32]) {{
                let block = this_thread_block(); let t = block.thread_rank();
                let mine = V {{ x: t as f32 }}; let mut v = given;
                {body}
                if v.x > 2.0 {{ block.sync(); }}
            }}"
        ))
    };
    assert!(kernel("v = v + given;").is_empty(), "rustc is asked");
    assert!(kernel("v += given;").is_empty(), "rustc is asked");
    assert_eq!(kernel("v = v + mine;"), ["divergent_collective"]);
    assert_eq!(kernel("v = -mine;"), ["divergent_collective"]);
    assert_eq!(kernel("v += mine;"), ["divergent_collective"]);
    assert_eq!(kernel("if t > 2 { v += given; }"), ["divergent_collective"]);
    assert_eq!(kernel("v = mine - mine;"), ["divergent_collective"]);
}

/// Accesses in the operands are those of any expression.
#[test]
fn accesses_of_operands() {
    let kernel = |meets: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 64)] fn k(out: &mut [V]) {{
                let block = this_thread_block(); let t = block.thread_rank();
                let s = shared_array::<V, 64>();
                s[t] = out[t];
                {meets}
                out[t] += s[63 - t] * 2.0;
            }}"
        ))
    };
    assert_eq!(kernel(""), ["unsynchronized_access"]);
    assert!(kernel("block.sync();").is_empty());
}
