//! Random programs that read memory by indexes from arithmetic, from variables that change, also by a step in each round of
//! a loop, and from memory, between conditions, loops, of which some cannot be printed twice, count by `while` or are left early, and
//! what may fail. Some indexes are out of bounds. Such a program has the four words of its input as `w` too.

use super::random::Random;

/// Returns a random program.
pub(super) fn program(seed: u64) -> String {
    let mut writer = Writer { random: Random::new(seed), indexes: vec!["i".into(), "j".into()], names: 0 };
    let count = 3 + writer.random.below(6);
    let body = writer.block(count, 2);
    format!(
        "#[device]\npub(crate) fn program(w: &[u64], a: u64, b: u64, c: u64, d: u64) -> u64 {{\nlet mut sum = a + b * 3;\nlet mut i = (c & 3) as usize;\nlet j = (d % 5) as usize;\n\
         {body}sum + i as u64\n}}\n"
    )
}

struct Writer {
    random: Random,
    /// The variables that are indexes. The first can change.
    indexes: Vec<String>,
    names: usize,
}

impl Writer {
    fn fresh(&mut self, name: &str) -> String {
        self.names += 1;
        format!("{name}{}", self.names)
    }

    fn block(&mut self, count: usize, depth: usize) -> String {
        let known = self.indexes.len();
        let statements: Vec<String> = (0..count).map(|_| self.statement(depth) + "\n").collect();
        self.indexes.truncate(known);
        statements.concat()
    }

    fn statement(&mut self, depth: usize) -> String {
        let nested = if depth > 0 { 4 } else { 0 };
        match self.random.weighted(&[
            12,
            12,
            6,
            3,
            3,
            nested,
            nested,
            nested,
            nested / 2,
            2,
            2,
            nested,
            5,
            nested,
            nested,
        ]) {
            0 => format!("sum = sum * 31 + {};", self.value(2)),
            1 => {
                let (index, name) = (self.index(1), self.fresh("k"));
                let ty = if self.random.chance(30) { ": usize" } else { "" };
                self.indexes.push(name.clone());
                format!("let {name}{ty} = {index};")
            }
            2 => {
                let (name, value) = (self.fresh("x"), self.value(2));
                format!("let {name} = {value};\nsum ^= {name};")
            }
            3 => format!("i = {};", self.index(1)),
            4 => "i += 1;".into(),
            5 => {
                let (condition, then) = (self.condition(), self.inner(depth));
                let otherwise = if self.random.chance(40) { self.inner(depth) } else { String::new() };
                format!("if {condition} {{\n{then}}} else {{\n{otherwise}}}")
            }
            6 => {
                let (name, inner) = (self.fresh("n"), self.inner(depth));
                format!("let mut {name} = 0;\nwhile {name} < 2 {{\n{name} += 1;\n{inner}}}")
            }
            7 => {
                let (name, range, together) = (self.fresh("k"), self.range(), self.together());
                self.indexes.push(name.clone());
                let inner = self.inner(depth);
                self.indexes.pop();
                format!("for {name} in {range} {{\n{together}{inner}}}")
            }
            8 if self.random.chance(50) => {
                let (name, condition, inner) = (self.fresh("holds"), self.condition(), self.inner(depth));
                format!("let {name} = {condition};\nif {name} {{\n{inner}}}")
            }
            8 => {
                let (condition, value, other) = (self.condition(), self.value(2), self.value(2));
                let name = self.fresh("x");
                format!("let {name} = if {condition} {{ {value} }} else {{ {other} }};\nsum += {name};")
            }
            9 => format!("if {} {{ return sum; }}", self.condition()),
            10 => format!("sum += 100 / ({} & 7);", self.value(1)),
            11 => self.stepping(depth),
            12 => self.gathering(),
            13 => self.counting(depth),
            _ => self.searching(depth),
        }
    }

    /// Returns a loop that adds up elements whose indexes come from memory.
    fn gathering(&mut self) -> String {
        let (name, at, range) = (self.fresh("k"), self.fresh("at"), self.range());
        self.indexes.push(name.clone());
        let (index, mask) = (self.index(2), [3, 3, 7][self.random.below(3)]);
        self.indexes.push(at.clone());
        let (further, value, guard) = (self.index(1), self.value(1), self.condition());
        self.indexes.truncate(self.indexes.len() - 2);
        let second = match self.random.below(3) {
            0 => format!("sum ^= {value};\n"),
            1 => format!("if {guard} {{\nsum += w[{further}];\n}}\n"),
            _ => String::new(),
        };
        format!(
            "for {name} in {range} {{\nlet {at} = (w[{index}] & {mask}) as usize;\nsum = sum * 5 + w[{at}];\n{second}}}"
        )
    }

    /// Returns a `while` loop that counts.
    fn counting(&mut self, depth: usize) -> String {
        let (name, first, together) = (self.fresh("n"), self.index(1), self.together());
        // Other conditions before and after the bound.
        let before = if self.random.chance(20) { "sum & 15 != 9 && " } else { "" };
        let after = if self.random.chance(50) { format!(" && {}", self.further(&name)) } else { String::new() };
        let bound = ["4", "4", "j", "j + 2", "(d & 3) as usize", "5"][self.random.below(6)];
        let compared = ["<", "<", "<="][self.random.below(3)];
        let step = ["1", "1", "2", "j + 1", "3"][self.random.below(5)];
        self.indexes.push(name.clone());
        let inner = self.inner(depth);
        self.indexes.pop();
        // A variable that other statements may write does not count.
        let written =
            if self.random.chance(15) { format!("if sum & 3 == 0 {{\n{name} += 1;\n}}\n") } else { String::new() };
        format!(
            "let mut {name} = {first};\nwhile {before}{name} {compared} {bound}{after} {{\n{together}{inner}{written}{name} += {step};\n}}"
        )
    }

    /// Returns a condition on the element at an index.
    fn further(&mut self, index: &str) -> String {
        match self.random.below(4) {
            0 => format!("w[{index}] & 7 != {}", self.random.below(8)),
            1 => format!("w[{index}] & 1 == w[j % 4] & 1"),
            2 => format!("(w[{index} + {}] & 3 != 1 && sum & 3 != 2)", self.random.below(2)),
            _ => format!("({index} > j || w[{index}] & 1 == 0)"),
        }
    }

    /// Returns a loop that is left early, or with a loop inside whose range depends on it, or which counts.
    fn searching(&mut self, depth: usize) -> String {
        let (name, inside, range) = (self.fresh("k"), self.fresh("n"), self.range());
        self.indexes.push(name.clone());
        let whole = match self.random.below(4) {
            0 | 1 => {
                let exit = ["break", "break", "continue", "return sum"][self.random.below(4)];
                let condition = if self.random.chance(50) { self.further(&name) } else { self.condition() };
                let (before, after) = (self.value(1), self.inner(depth));
                format!("sum ^= {before};\nif {condition} {{\n{exit};\n}}\n{after}")
            }
            2 => {
                let bounds = ["{k}..4usize", "{k} + 1..4", "0..{k}", "0..={k}", "j..{k} + 2", "{k} / 2..{k}"];
                let bounds = bounds[self.random.below(bounds.len())].replace("{k}", &name);
                self.indexes.push(inside.clone());
                let (value, inner) = (self.value(2), self.inner(depth));
                self.indexes.pop();
                format!("for {inside} in {bounds} {{\nsum = sum * 3 + {value};\n{inner}}}")
            }
            _ => {
                let first = ["0usize", "0usize", "j", "1usize"][self.random.below(4)];
                let bound = ["j", "3", "4", "(d & 3) as usize", "5 - j"][self.random.below(5)];
                let further = match self.random.chance(50) {
                    true => format!("w[{name} + {inside}] & 1 == 0"),
                    false => self.further(&inside),
                };
                let step = ["1", "1", "2"][self.random.below(3)];
                let after = if self.random.chance(40) { format!("sum += w[{inside}];\n") } else { String::new() };
                format!(
                    "let mut {inside} = {first};\nwhile {inside} < {bound} && {further} {{\nsum = sum * 3 + w[{inside}];\n{inside} += {step};\n}}\nsum ^= {inside} as u64;\n{after}"
                )
            }
        };
        self.indexes.pop();
        format!("for {name} in {range} {{\n{whole}}}")
    }

    /// Returns a loop that changes an index by a step in each round.
    fn stepping(&mut self, depth: usize) -> String {
        let (name, first, range, together) = (self.fresh("at"), self.index(1), self.range(), self.together());
        let step =
            ["1", "1", "2", "j", "0", "(c & 1) as usize", "(w[j % 4] & 1) as usize", "sum.count_ones() as usize / 32"]
                [self.random.below(8)];
        let change = match self.random.below(4) {
            0 => format!("{name} -= {step};\n"),
            1 => format!("{name} = {name} + {step};\n"),
            _ => format!("{name} += {step};\n"),
        };
        self.indexes.push(name.clone());
        let (before, after) = (self.inner(depth), self.inner(depth));
        let later = self.random.chance(50);
        let after = if later { after } else { String::new() };
        self.indexes.pop();
        let bound =
            if self.random.chance(30) { format!("let m{name} = w[{name}];\nsum ^= m{name};\n") } else { String::new() };
        format!("let mut {name} = {first};\nfor _ in {range} {{\n{together}{bound}{before}{change}{after}}}")
    }

    fn range(&mut self) -> &'static str {
        const RANGES: [&str; 8] = [
            "0..3usize",
            "0..3usize",
            "0..j",
            "(0..4usize).rev()",
            "(0..4usize).step_by(2)",
            "(j..4).step_by(3)",
            "1..=3usize",
            "(0..(d & 3) as usize)",
        ];
        RANGES[self.random.below(RANGES.len())]
    }

    /// Returns what makes a loop one that is printed once, or nothing.
    fn together(&mut self) -> &'static str {
        if self.random.chance(40) { "while sum & 0xffff == 7 {\nsum += 1;\n}\n" } else { "" }
    }

    fn inner(&mut self, depth: usize) -> String {
        let count = 1 + self.random.below(3);
        self.block(count, depth - 1)
    }

    fn condition(&mut self) -> String {
        match self.random.below(10) {
            0 => format!("sum & {} == 0", 1 + self.random.below(3)),
            1 => format!("{} < {}", self.value(1), self.value(1)),
            2 => format!("i < 4 && {} != 3", self.value(1)),
            3 => format!("({}) < 4", self.index(1)),
            4 => format!("!(({}) > {})", self.index(1), self.index(1)),
            5 => format!("({}) > 0 || {} == 2", self.index(1), self.value(1)),
            8 => ["j > 1", "j != 2 && c > d", "(d & 3) as usize == j"][self.random.below(3)].into(),
            6 => format!("(a & 7) as f64 * 0.3 + ({}) as f64 > 1.2", self.index(1)),
            7 => {
                let index = self.indexes[self.random.below(self.indexes.len())].clone();
                format!("{index} > 0 && w[{index} - 1] & 1 == 0")
            }
            _ => "a < b".into(),
        }
    }

    /// Returns a value of up to `count` elements.
    fn value(&mut self, count: usize) -> String {
        let elements: Vec<String> =
            (0..1 + self.random.below(count)).map(|_| format!("w[{}]", self.index(2))).collect();
        let operator = [" + ", " ^ ", " * "][self.random.below(3)];
        format!("({})", elements.join(operator))
    }

    fn index(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.chance(30) {
            return match self.random.below(3) {
                0 => format!("{}usize", self.random.below(4)),
                _ => self.indexes[self.random.below(self.indexes.len())].clone(),
            };
        }
        let other = self.index(depth - 1);
        match self.random.below(11) {
            0 => format!("({other} + 1) % 4"),
            1 => format!("({other}) / 2"),
            2 => format!("({other} & 3)"),
            3 => format!("({other}).min({})", ["3", "w.len() - 1", "j + 1"][self.random.below(3)]),
            4 => format!("(({other}) * 3 - ({other})) / 2"),
            5 => format!("((w[{other}] & 3) as usize)"),
            6 => format!("({other} + j) % 4"),
            7 => format!("{other} + {}", self.random.below(2)),
            8 | 9 => {
                let index = self.indexes[self.random.below(self.indexes.len())].clone();
                let stride = 1 + self.random.below(3);
                format!("({index} / 2 * {stride} + {index} % 2)")
            }
            _ => format!("((sum & {}) as usize)", [1, 3, 7][self.random.below(3)]),
        }
    }
}
