//! Places: variables, and elements and fields of them.

use super::generator::Generator;
use super::scope::Lock;
use super::types::Type;

/// A place, and the variable that it is part of.
pub(super) struct Place {
    pub(super) text: String,
    pub(super) root: usize,
    /// Whether the text names a reference, which stands for its target where it is passed on.
    pub(super) reference: Option<String>,
}

impl Generator {
    /// Returns a place of the type, if there is one.
    pub(super) fn place(&mut self, ty: &Type, to_write: bool, depth: usize) -> Option<Place> {
        let mut found = Vec::new();
        for index in self.scope.usable(to_write) {
            let variable = &self.scope.variables[index];
            for path in paths(&variable.ty, ty, &self.pair_scalar()) {
                found.push((index, path));
            }
        }
        if found.is_empty() {
            return None;
        }
        let (root, path) = found.swap_remove(self.random.below(found.len()));
        let variable = self.scope.variables[root].clone();
        self.scope.note(root, to_write);
        let mut text = variable.name.clone();
        if path.is_empty() && variable.is_reference {
            return Some(Place { text: format!("*{text}"), root, reference: Some(text) });
        }
        for step in path {
            match step {
                Step::Member(name) => text += &format!(".{name}"),
                Step::Index(length) => {
                    let index = self.borrowing(|g| {
                        if to_write {
                            // The host body borrows the array before it evaluates the index: rustc refuses that.
                            g.scope.lock(root, Lock::Exclusive);
                        }
                        g.index(length, depth)
                    });
                    text += &format!("[{index}]");
                }
            }
        }
        Some(Place { text, root, reference: None })
    }

    /// Returns an index below `length`, or seldom any.
    pub(super) fn index(&mut self, length: usize, depth: usize) -> String {
        if depth == 0 || self.random.chance(50) {
            return self.random.below(length).to_string();
        }
        // The variable is not borrowed yet, but a second index would be read after the first.
        let index = Type::Scalar(["usize", "u32", "u8"][self.random.below(3)]);
        let value = self.value(&index, depth - 1, false);
        format!("{} as usize % {length}", value.operand())
    }
}

#[derive(Clone)]
enum Step {
    Member(String),
    Index(usize),
}

/// Returns the ways from a value to parts of type `wanted`: itself, or one step.
fn paths(of: &Type, wanted: &Type, pair: &Type) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    if of == wanted {
        found.push(Vec::new());
    }
    match of {
        Type::Array(element, length) if **element == *wanted => found.push(vec![Step::Index(*length)]),
        Type::Tuple(parts) => {
            let parts = parts.iter().enumerate().filter(|(_, part)| *part == wanted);
            found.extend(parts.map(|(i, _)| vec![Step::Member(i.to_string())]));
        }
        Type::Pair if wanted == pair => {
            found.push(vec![Step::Member("x".into())]);
            found.push(vec![Step::Member("z".into()), Step::Index(2)]);
        }
        _ => {}
    }
    found
}
