//! Names of elements of memory that are arrays: which refer to their element, and which have a copy of it.

use super::text;

/// Whether `row` refers to its element.
#[track_caller]
fn refers(body: &str) -> bool {
    let kernel = format!(
        "#[cluster_kernel(cluster = 2, block = 64)] fn subject(rows: &[[f32; 8]], own: &mut [[f32; 8]], out: &mut [f32], n: usize) {{
            let (cluster, block) = (this_cluster(), this_thread_block());
            let (tile, other) = (shared_array::<[f32; 8], 4>(), shared_array::<f32, 64>());
            let t = block.thread_rank() as usize; let mut sum = 0.0;
            if t < 4 {{ tile[t] = rows[t]; }} other[t] = 0.0; cluster.sync(); {body} cluster.sync();
        }}"
    );
    refers_in(&kernel)
}

#[track_caller]
fn refers_in(function: &str) -> bool {
    let text = text(function, |_| None);
    assert!(text.contains("auto& row = ") || text.contains("auto row = "), "{text}");
    text.contains("const auto& row = ")
}

#[test]
fn rows_of_which_an_element_is_found_by_a_computed_index() {
    assert!(refers("for row in tile.iter() { sum += row[n]; } out[t] = sum;"));
    assert!(refers("for (k, row) in rows.iter().enumerate() { sum += row[(n + k) % 8]; out[t] = sum; block.sync(); }"));
    assert!(refers("for (x, row) in other.iter().zip(tile.iter()) { sum += row[n] * x; }"));
    assert!(refers("sum = tile.iter().map(|row| row[n]).sum::<f32>();"));
    assert!(refers("for (k, row) in TABLE.iter().enumerate() { tile[k][n] = row[n]; block.sync(); }"));
    assert!(refers(
        "let mut all = [0.0; 4]; for (x, row) in all.iter_mut().zip(tile.iter()) { *x += row[n]; } sum = all[0];"
    ));
    assert!(refers("for row in own.iter() { sum += row[n]; }"));
    // What is written is other memory.
    assert!(refers("for row in tile.iter() { out[t] = row[n]; }"));
    assert!(refers("for row in tile.iter() { other[t] = row[n + 1]; }"));
    assert!(refers("for (k, row) in tile.iter().enumerate() { own.store_vec(k, f32x4::splat(row[n])); }"));
}

#[test]
fn rows_that_are_copied() {
    // Registers have no addresses, but these elements need none.
    assert!(!refers("for row in tile.iter() { sum += row[0] + row[7]; }"));
    assert!(!refers("for row in tile.iter() { for k in 0..4 { sum += row[2 * k]; } }"));
    assert!(!refers(
        "let all = [1.0; 8]; for row in rows.iter() { for (k, x) in all.iter().enumerate() { sum += row[k] * x; } }"
    ));
    assert!(!refers("for row in tile.iter() { for x in row.iter() { sum += x; } }"));
    // What is read there, is read before anything changes it.
    assert!(!refers("for row in tile.iter() { block.sync(); sum += row[n]; }"));
    assert!(!refers("for (k, row) in tile.iter().enumerate() { tile[k][n] = 0.0; sum += row[n]; }"));
    assert!(!refers("for row in tile.iter() { sum += helper(sum) * row[n]; }"));
    assert!(!refers("for row in own.iter() { out[t] = row[n]; }"));
    assert!(!refers("for row in tile.iter() { unsafe { *tile.get_unchecked_mut(t) = [sum; 8]; } sum += row[n]; }"));
    let of_pairs = |changed: &str| {
        refers_in(&format!(
            "#[cluster_kernel(block = 64)] fn subject(pairs: &[[Pair; 8]], out: &mut [f32], n: usize) {{
                let (block, tile) = (this_thread_block(), shared_array::<[Pair; 8], 4>());
                let t = block.thread_rank() as usize; if t < 4 {{ tile[t] = pairs[t]; }} block.sync(); for row in tile.iter() {{ {changed} out[t] = row[n].a; }}
            }}"
        ))
    };
    assert!(of_pairs("") && !of_pairs("tile[1][n].a = 0.0;"));
    assert!(!refers("let same = &tile; for row in tile.iter() { same[t % 4][n] = 1.0; sum += row[n]; }"));
    assert!(!refers("let peer = cluster.map_shared_rank(&tile, 0); for row in peer.iter() { sum += row[n]; }"));
}

/// What a device function reads may be shared memory.
#[test]
fn memory_that_is_written_elsewhere() {
    let sum = |meets: &str| {
        let parameters = "block: &ThreadBlock, rows: &[[f32; 8]], n: usize";
        format!(
            "#[device] fn subject({parameters}) -> f32 {{ let mut sum = 0.0; for row in rows.iter() {{ {meets} sum += row[n]; }} sum }}"
        )
    };
    assert!(refers_in(&sum("")));
    assert!(!refers_in(&sum("block.sync();")));
    assert!(refers("for row in rows.iter() { block.sync(); sum += row[n]; }"));
}

#[test]
fn names_that_change_are_slices_of_arrays() {
    let subject = |body: &str| {
        let kernel = format!(
            "#[cluster_kernel(block = 64)] fn subject(out: &mut [f32], n: usize) {{
                let (one, other) = (shared_array::<f32, 64>(), shared_array::<f32, 64>());
                let t = this_thread_block().thread_rank() as usize; one[t] = 0.0; other[t] = 1.0; {body} out[t] = a[t];
            }}"
        );
        text(&kernel, |_| None)
    };
    // An array that is assigned would be copied.
    for body in [
        "let mut a = one; if n > 3 { a = other; }",
        "let mut a = &one; if n > 3 { a = &other; }",
        "let (mut a, mut b) = (one, other); std::mem::swap(&mut a, &mut b);",
        "let first = &one; let mut a = first; let second = first; if n > 3 { a = second; }",
        "let a = if n > 3 { one } else { other };",
        "let (first, second) = (&one, &other); let (a, b) = if n > 3 { (first, second) } else { (second, first) };",
    ] {
        let text = subject(body);
        assert!(text.contains("auto a = subslice_from"), "{text}");
        let copies = text.lines().filter(|line| line.trim_start().starts_with("a = ") && line.contains("= other;"));
        assert_eq!(copies.count(), 0, "{text}");
    }
}
