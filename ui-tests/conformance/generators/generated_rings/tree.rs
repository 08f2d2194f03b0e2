//! Kernels with a ring of phase barriers in the generator's own language, and their text.

use std::fmt::Write;

use super::super::random::Random;

/// A kernel: a thread that fills stages, and one or two groups of threads that read them.
#[derive(Debug, Clone)]
pub(super) struct Kernel {
    pub(super) stages: u32,
    /// The numbers of arrivals that the full and the empty barriers expect.
    pub(super) counts: [u32; 2],
    /// The numbers of threads in the groups that read.
    pub(super) readers: Vec<u32>,
    /// The roles: the thread that fills, then the groups that read.
    pub(super) roles: Vec<Role>,
    /// Whether stages and parities are counted by hand.
    pub(super) by_hand: bool,
    /// Whether all threads meet at the end.
    pub(super) meet: bool,
    /// Whether sizes and counts are named constants.
    pub(super) named: bool,
    /// Whether the groups that read are warps, of which one thread waits or arrives for all.
    pub(super) warps: bool,
    /// The least number of rounds, if the kernel says that there is one.
    pub(super) least: Option<Least>,
    /// Whether a stage is a struct of two fields.
    pub(super) structs: bool,
}

/// What a kernel does with fewer rounds than it needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Least {
    pub(super) rounds: u32,
    /// Whether it does nothing; otherwise, it fails.
    pub(super) returns: bool,
}

/// The iterations of a role, and the steps of each.
#[derive(Debug, Clone)]
pub(super) struct Role {
    /// The first round, and how many rounds there are more than the argument says.
    pub(super) from: u32,
    pub(super) more: i32,
    /// The rounds that come before the loop, whatever the argument says.
    pub(super) before: u32,
    pub(super) steps: Vec<Step>,
    pub(super) form: Form,
}

/// How the text writes a loop.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    For,
    Inclusive,
    Reversed,
    Strided,
    While,
    CountDown,
    Break,
}

/// The forms, the usual one most often.
const FORMS: [Form; 12] = [
    Form::For,
    Form::For,
    Form::For,
    Form::For,
    Form::For,
    Form::For,
    Form::Inclusive,
    Form::Reversed,
    Form::Strided,
    Form::While,
    Form::CountDown,
    Form::Break,
];

impl Form {
    /// Returns the text around a round with the number `k`.
    fn text(self, from: u32, end: &str) -> (String, &'static str) {
        match self {
            Form::For => (format!("for k in {from}..{end} {{"), "}"),
            Form::Inclusive => (format!("for next in {from} + 1..={end} {{ let k = next - 1;"), "}"),
            Form::Reversed => (format!("for back in ({from}..{end}).rev() {{ let k = {end} - 1 - back + {from};"), "}"),
            Form::Strided => (format!("for twice in (2 * {from}..2 * ({end})).step_by(2) {{ let k = twice / 2;"), "}"),
            Form::While => (format!("let mut k = {from}; while k < {end} {{"), "k += 1; }"),
            Form::CountDown => {
                (format!("let mut k = {from}; let mut left = {end}; while left > {from} {{"), "left -= 1; k += 1; }")
            }
            Form::Break => (format!("let mut k = {from}; loop {{ if k >= {end} {{ break; }}"), "k += 1; }"),
        }
    }
}

impl Role {
    /// Fills both fields of a stage on their own, or reads one of them or both, at times.
    fn take_apart(&mut self, random: &mut Random) {
        let parts: &[Part] = match random.below(4) {
            0 => &[Part::All],
            1 => &[Part::First, Part::Second],
            _ => &[Part::Second, Part::First],
        };
        let only = [Part::First, Part::Second][random.below(2)];
        let is_one = random.below(2) == 0;
        let apart = |step: Step| match step {
            Step::Fill(at, _) => parts.iter().map(|part| Step::Fill(at, *part)).collect(),
            Step::Read(at, _) if is_one => vec![Step::Read(at, only)],
            Step::Read(at, _) => parts.iter().map(|part| Step::Read(at, *part)).collect(),
            other => vec![other],
        };
        self.steps = self.steps.iter().copied().flat_map(apart).collect();
    }
}

/// A step of a round.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Wait(Bar, Index, Parity),
    Arrive(Bar, Index),
    /// The first thread of the warp does the next step alone.
    Alone,
    /// The warp meets.
    Meet,
    Fill(Index, Part),
    Read(Index, Part),
    /// The next step is left out in rounds with another remainder modulo two.
    Sometimes(u32),
}

/// What of a stage is filled or read: all of it, or one of its two fields, if it is a struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    All,
    First,
    Second,
}

impl Part {
    /// Whether a field is a part of it.
    pub(super) fn has(self, field: Part) -> bool {
        self == Part::All || self == field
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bar {
    Full,
    Empty,
}

/// The stage of a round that is so much later.
#[derive(Debug, Clone, Copy)]
pub(super) struct Index(pub(super) u32);

/// The parity of a round that is so much later, in a ring of so many stages, perhaps inverted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parity {
    pub(super) later: u32,
    pub(super) stages: u32,
    pub(super) inverted: bool,
}

/// The number of threads in a warp.
const WARP: u32 = 32;

impl Kernel {
    /// Returns a right kernel.
    pub(super) fn right(random: &mut Random) -> Kernel {
        let stages = 1 + random.below(3) as u32;
        let groups = 1 + random.below(2);
        let warps = random.below(8) == 0;
        let readers = (0..groups).map(|_| 1 + random.below(2) as u32);
        let readers: Vec<u32> = readers.map(|readers| if warps { readers * WARP } else { readers }).collect();
        let parity = |inverted| Parity { later: 0, stages, inverted };
        let now = Index(0);
        let fills =
            vec![Step::Wait(Bar::Empty, now, parity(true)), Step::Fill(now, Part::All), Step::Arrive(Bar::Full, now)];
        let reads =
            vec![Step::Wait(Bar::Full, now, parity(false)), Step::Read(now, Part::All), Step::Arrive(Bar::Empty, now)];
        let reads = match (warps, random.below(2)) {
            (false, _) => reads,
            (true, 0) => vec![reads[0], reads[1], Step::Meet, Step::Alone, reads[2]],
            (true, _) => {
                vec![Step::Alone, reads[0], Step::Meet, reads[1], Step::Meet, Step::Alone, reads[2]]
            }
        };
        let mut role = |steps: &Vec<Step>| Role {
            from: 0,
            more: 0,
            before: 0,
            steps: steps.clone(),
            form: FORMS[random.below(FORMS.len())],
        };
        let mut roles = vec![role(&fills)];
        roles.extend(readers.iter().map(|_| role(&reads)));
        let structs = random.below(3) == 0;
        if structs {
            roles.iter_mut().for_each(|role| role.take_apart(random));
        }
        Kernel {
            stages,
            counts: [1, readers.iter().sum::<u32>() / if warps { WARP } else { 1 }],
            readers,
            roles,
            by_hand: random.below(3) == 0,
            meet: random.below(2) == 0,
            named: random.below(2) == 0,
            warps,
            least: None,
            structs,
        }
    }

    /// Says that there is a least number of rounds, and moves some of them out of the loops; at times, one more than there are.
    pub(super) fn begin_early(&mut self, random: &mut Random) {
        let rounds = random.below(4) as u32;
        self.least = Some(Least { rounds, returns: random.below(3) == 0 });
        for role in &mut self.roles {
            role.before = random.below(1 + rounds as usize) as u32 + u32::from(random.below(6) == 0);
        }
    }

    /// Changes the kernel as a mistake would, which may change nothing that matters.
    pub(super) fn mutate(&mut self, random: &mut Random) {
        let role = random.below(self.roles.len());
        let steps = self.roles[role].steps.len();
        let at = random.below(steps);
        let stages = self.stages;
        let role = &mut self.roles[role];
        match random.below(12) {
            0 if steps > 1 => drop(role.steps.remove(at)),
            1 => role.steps.insert(at, role.steps[at]),
            2 if steps > 1 => role.steps.swap(at, (at + 1) % steps),
            3 => {
                let count = &mut self.counts[random.below(2)];
                *count = (*count + 2 * random.below(2) as u32).saturating_sub(1).max(1);
            }
            4 => role.more += 1 - 2 * random.below(2) as i32,
            5 => role.from += 1,
            6 => role.steps.insert(at, Step::Sometimes(random.below(2) as u32)),
            7 => self.readers[0] += if self.warps { WARP } else { 1 },
            _ => match &mut role.steps[at] {
                Step::Wait(bar, index, parity) => match random.below(6) {
                    0 => index.0 += 1,
                    1 => parity.later += 1,
                    2 => parity.later += stages,
                    3 => parity.stages = 1 + parity.stages % 3,
                    4 => parity.inverted ^= true,
                    _ => *bar = if *bar == Bar::Full { Bar::Empty } else { Bar::Full },
                },
                Step::Arrive(_, index) | Step::Fill(index, _) | Step::Read(index, _) => index.0 += 1,
                Step::Sometimes(rest) => *rest = 1 - *rest,
                Step::Alone | Step::Meet => drop(role.steps.remove(at)),
            },
        }
    }

    /// Returns whether a stage, or a field of it that is read, is not filled in some round of a role that fills it.
    pub(super) fn may_not_fill(&self) -> bool {
        let pairs = self.roles.iter().flat_map(|role| role.steps.windows(2));
        let skips = pairs.into_iter().any(|pair| matches!(pair, [Step::Sometimes(_), Step::Fill(..)]));
        let steps = || self.roles.iter().flat_map(|role| &role.steps);
        let lacks = [Part::First, Part::Second].into_iter().any(|field| {
            let reads = steps().any(|step| matches!(step, Step::Read(_, part) if part.has(field)));
            let fills = steps().any(|step| matches!(step, Step::Fill(_, part) if part.has(field)));
            reads && !fills
        });
        skips || lacks
    }

    /// Returns the number of threads in a block.
    pub(super) fn block(&self) -> u32 {
        if self.warps { 6 * WARP } else { 8 }
    }

    /// Returns the thread that fills.
    fn writer(&self) -> u32 {
        if self.warps { 5 * WARP } else { 6 }
    }

    /// Returns the ranks of the threads of a role.
    pub(super) fn threads(&self, role: usize) -> std::ops::Range<u32> {
        match role {
            0 => self.writer()..self.writer() + 1,
            _ => {
                let first: u32 = self.readers[..role - 1].iter().sum();
                first..first + self.readers[role - 1]
            }
        }
    }

    /// Returns the definitions of the named constants.
    pub(super) fn constants(&self) -> String {
        let Kernel { stages, counts: [fills, reads], .. } = self;
        let half = self.block() / 2;
        format!(
            "const STAGES: u32 = {stages}; const FILLS: u32 = {fills}; const READS: u32 = {reads};
            const HALF: usize = {half}; const THREADS: usize = 2 * HALF;
            #[derive(Clone, Copy, DeviceCopy)] #[repr(C)] struct Pair {{ first: u32, second: u32 }}"
        )
    }

    /// Returns the number of stages as the text has it.
    fn stages(&self) -> String {
        if self.named { "STAGES".into() } else { self.stages.to_string() }
    }

    /// Returns the text of the kernel, without its attribute.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let n = self.stages;
        let stages = self.stages();
        let length = if self.named { "{ STAGES as usize }".into() } else { stages.clone() };
        let [fills, reads] =
            if self.named { ["FILLS".into(), "READS".into()] } else { self.counts.map(|count| count.to_string()) };
        let mut line = |line: &str| writeln!(text, "{line}").expect("a string takes all text");
        line("fn ring(out: &mut [u32], rounds: u32) {");
        line("let block = this_thread_block();");
        line("let i = block.thread_rank();");
        if self.warps {
            line("let warp = tiled_partition::<32>(&block);");
        }
        let stage = if self.structs { "Pair" } else { "[u32; 1]" };
        line(&format!("let stages = shared_array::<{stage}, {length}>();"));
        line(&format!("let full = shared_barriers::<{length}>();"));
        line(&format!("let empty = shared_barriers::<{length}>();"));
        line(&format!("full.init_collective(&block, {fills});"));
        line(&format!("empty.init_collective(&block, {reads});"));
        match self.least {
            Some(Least { rounds, returns: true }) => line(&format!("if rounds < {rounds} {{ return; }}")),
            Some(Least { rounds: 1, returns: false }) => line("assert!(rounds > 0);"),
            Some(Least { rounds, returns: false }) => line(&format!("assert!(rounds >= {rounds});")),
            None => {}
        }
        line("let mut sum = 0;");
        for (number, role) in self.roles.iter().enumerate() {
            let threads = self.threads(number);
            match (self.warps, number) {
                (true, 1..) => {
                    let (first, end) = (threads.start / WARP, threads.end / WARP);
                    line(&format!("if warp.meta_group_rank() >= {first} && warp.meta_group_rank() < {end} {{"));
                }
                (true, 0) | (false, _) => line(&format!("if i >= {} && i < {} {{", threads.start, threads.end)),
            }
            if self.by_hand {
                line(&format!("let mut stage = {}; let mut phase = {};", role.from % n, role.from / n % 2 == 1));
            }
            let end = match role.more {
                0 => "rounds".into(),
                more if more > 0 => format!("rounds + {more}"),
                more => format!("rounds - {}", -more),
            };
            let round = self.round(role);
            for k in role.from..role.from + role.before {
                line(&format!("{{ let k = {k}u32; {round} }}"));
            }
            let (head, foot) = role.form.text(role.from + role.before, &end);
            line(&head);
            line(&round);
            line(foot);
            line("}");
        }
        if self.meet {
            line("block.sync();");
        }
        line("out[this_grid().thread_rank()] = sum;");
        line("}");
        text
    }

    /// Returns the text of one round of a role, whose number is `k`.
    fn round(&self, role: &Role) -> String {
        let mut lines: Vec<String> = Vec::new();
        let (mut skips, mut alone) = (None, false);
        for step in &role.steps {
            match step {
                Step::Sometimes(rest) => skips = Some(*rest),
                Step::Alone => alone = true,
                Step::Wait(..) | Step::Arrive(..) | Step::Meet | Step::Fill(..) | Step::Read(..) => {
                    let mut what = self.step(step);
                    // The warp meets as a whole.
                    if std::mem::take(&mut alone) && !matches!(step, Step::Meet) {
                        what = format!("if warp.thread_rank() == 0 {{ {what} }}");
                    }
                    lines.push(match skips.take() {
                        Some(rest) => format!("if k % 2 == {rest} {{ {what} }}"),
                        None => what,
                    });
                }
            }
        }
        if self.by_hand {
            let stages = self.stages();
            lines.push(format!("stage += 1; if stage == {stages} {{ stage = 0; phase = !phase; }}"));
        }
        lines.join("\n")
    }

    fn step(&self, step: &Step) -> String {
        let index = |Index(later): &Index| match (later, self.by_hand) {
            (0, true) => "stage".into(),
            (0, false) => format!("k % {}", self.stages()),
            _ => format!("(k + {later}) % {}", self.stages()),
        };
        let name = |bar: &Bar| if *bar == Bar::Full { "full" } else { "empty" };
        match step {
            Step::Wait(bar, at, Parity { later, stages, inverted }) => {
                let parity = match (self.by_hand && *later == 0 && *stages == self.stages, inverted) {
                    (true, true) => "!phase".into(),
                    (true, false) => "phase".into(),
                    (false, _) if *stages == self.stages => {
                        format!("(k + {later}) / {} % 2 == {}", self.stages(), u32::from(!inverted))
                    }
                    (false, _) => format!("(k + {later}) / {stages} % 2 == {}", u32::from(!inverted)),
                };
                format!("{}[{}].wait_parity({parity});", name(bar), index(at))
            }
            Step::Arrive(bar, at) => format!("let _ = {}[{}].arrive();", name(bar), index(at)),
            Step::Fill(at, Part::All) if self.structs => {
                format!("stages[{}] = Pair {{ first: k, second: k + 1 }};", index(at))
            }
            Step::Read(at, Part::All) if self.structs => {
                format!("{{ let pair = stages[{}]; sum += pair.first + pair.second; }}", index(at))
            }
            Step::Fill(at, Part::All) => format!("stages[{}][0] = k;", index(at)),
            Step::Read(at, Part::All) => format!("sum += stages[{}][0];", index(at)),
            Step::Fill(at, Part::First) => format!("stages[{}].first = k;", index(at)),
            Step::Fill(at, Part::Second) => format!("stages[{}].second = k;", index(at)),
            Step::Read(at, Part::First) => format!("sum += stages[{}].first;", index(at)),
            Step::Read(at, Part::Second) => format!("sum += stages[{}].second;", index(at)),
            Step::Meet => "warp.sync();".into(),
            Step::Sometimes(_) | Step::Alone => String::new(),
        }
    }
}
