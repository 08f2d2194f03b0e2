//! The tables of a kernel's operations on memory, for the documentation of the memory types. The attribute recognizes
//! these expressions and calls the functions of this folder for them; they are not methods that rustc resolves.

/// Expands to the rows for memory that can be read, which is named `$name` and whose parts are `$part`.
macro_rules! reading {
    ($name:literal, $part:literal) => {
        concat!(
            "| in a kernel | meaning |\n|---|---|\n",
            "| `", $name, "[i]` | the element at an index, an integer of up to 64 bits; bounds are checked |\n",
            "| `", $name, ".len()`, `", $name, ".is_empty()` | the number of elements |\n",
            "| `", $name, ".get(i).copied()`, `.first().copied()`, `.last().copied()` | an element, as an `Option` |\n",
            "| `*", $name, ".get_unchecked(i)` | an element without a bounds check on the GPU; `unsafe` |\n",
            "| `", $name, ".load_vec::<N>(i)` | the elements from `i` to `i + N`, by one instruction, as a [`Vector`](crate::Vector) |\n",
            "| `&", $name, "[a..b]`, `&", $name, ".chunks(n)[i]`, `", $name, ".split_at(mid)` | a part of the memory, ", $part, " |\n",
            "| `for x in ", $name, "`, `.iter()`, `.chunks(n)`, `.chunks_exact(n)`, `.windows(n)` | a loop over elements or parts, with the adapters of Rust's iterators |\n",
            "| `", $name, "[i][j]`, `&", $name, "[i]` | an element and a row, if the elements are arrays |"
        )
    };
}

/// Expands to the further rows for memory that can be written.
macro_rules! writing {
    ($name:literal) => {
        concat!(
            "| `",
            $name,
            "[i] = x`, `",
            $name,
            "[i] += x` and the like | a write; a read and a write, not atomic |\n",
            "| `",
            $name,
            ".atomic(i)` | the element as an [`Atomic`](crate::Atomic) |\n",
            "| `",
            $name,
            ".store_vec(i, v)` | writes a [`Vector`](crate::Vector), by one instruction |\n",
            "| `",
            $name,
            ".swap(i, j)`, `",
            $name,
            ".fill(x)` | as for Rust's slices, by the calling thread |\n",
            "| `*",
            $name,
            ".get_unchecked_mut(i) = x` | a write without a bounds check on the GPU; `unsafe` |\n",
            "| `&mut ",
            $name,
            "[a..b]`, `&mut ",
            $name,
            ".chunks_mut(n)[i]`, `",
            $name,
            ".split_at_mut(mid)` | a part to be written |"
        )
    };
}

pub(super) use {reading, writing};
