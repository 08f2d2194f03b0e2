//! Shrinks a generated kernel, so that a failure is shown by the smallest kernel that still fails.

/// A statement of a generator's language.
pub(super) trait Nested: Clone {
    /// Returns the blocks inside of it, including those in its values.
    fn blocks(&mut self) -> Vec<&mut Vec<Self>>;

    /// Returns whether the statement stays because it cannot be part of the failure.
    fn stays(&self) -> bool {
        false
    }
}

/// Returns the smallest kernel that repeated reduction reaches while `fails` holds.
pub(super) fn shrink<S: Nested>(mut kernel: Vec<S>, fails: impl Fn(&Vec<S>) -> bool) -> Vec<S> {
    while let Some(smaller) = reductions(&kernel).into_iter().find(|smaller| fails(smaller)) {
        kernel = smaller;
    }
    kernel
}

/// Returns each version that lacks one statement, or has one statement replaced by its insides.
fn reductions<S: Nested>(block: &[S]) -> Vec<Vec<S>> {
    let mut out = Vec::new();
    for at in 0..block.len() {
        let mut replace = |by: Vec<S>| {
            let mut smaller = block.to_vec();
            smaller.splice(at..=at, by);
            out.push(smaller);
        };
        if block[at].stays() {
            continue;
        }
        replace(Vec::new());
        let mut stmt = block[at].clone();
        stmt.blocks().into_iter().for_each(|inner| replace(inner.clone()));
        for inner in 0..stmt.blocks().len() {
            for smaller in reductions(stmt.clone().blocks()[inner]) {
                let mut stmt = stmt.clone();
                *stmt.blocks()[inner] = smaller;
                replace(vec![stmt]);
            }
        }
    }
    out
}
