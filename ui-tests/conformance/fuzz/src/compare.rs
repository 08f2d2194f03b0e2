//! Runs the programs and compares their answers. A program that fails must fail in all forms.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use phalanx::Device;

use crate::{Answer, Input, Program, SEED, host};

/// What a program computes for one input, in all forms.
#[derive(Debug, Clone)]
pub struct Difference {
    /// The program.
    pub program: Program,
    /// The input.
    pub input: Input,
    /// The answer of plain Rust.
    pub plain: Answer,
    /// The answers of the other forms, by name.
    pub others: Vec<(&'static str, Answer)>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |answer: Answer| answer.map_or("a failure".into(), |value| format!("{value:#018x}"));
        writeln!(f, "seed {SEED}, {} of {:?}\n  {:<9} {}", self.program.name, self.input, "Rust", shown(self.plain))?;
        for (name, answer) in &self.others {
            writeln!(f, "  {name:<9} {}", shown(*answer))?;
        }
        write!(f, "{}", self.program.source)
    }
}

/// What a comparison found.
#[derive(Debug, Default)]
pub struct Report {
    /// The number of answers that were compared with plain Rust's.
    pub comparisons: usize,
    /// The first difference of each program that has one.
    pub differences: Vec<Difference>,
    /// The programs whose text the C++ compiler refuses, and what it says.
    pub refused: Vec<(Program, String)>,
    /// The programs that are marked as known to be wrong, and are right.
    pub mended: Vec<&'static str>,
}

impl Report {
    /// Returns what should not be: new differences, and marks of differences that are no more.
    pub fn unexpected(&self) -> Vec<String> {
        let new = self.differences.iter().filter(|difference| !difference.program.is_known).map(ToString::to_string);
        let mended = self.mended.iter().map(|name| format!("{name} is right: remove its mark in generate/by_hand.rs"));
        let refused = self.refused.iter().filter(|(program, _)| !program.is_known);
        let refused = refused.map(|(program, message)| format!("{message}\n{}", program.source));
        new.chain(mended).chain(refused).collect()
    }
}

/// Compares the programs on a device, and as C++ on the host if `with_host`.
pub fn compare(programs: &[Program], inputs: &[Input], device: &Device, with_host: bool) -> Result<Report, String> {
    let plain = plain(programs, inputs);
    let mut others = vec![("device", on_device(programs, inputs, &plain, device)?)];
    let mut report = Report::default();
    if with_host {
        let mut all = Vec::new();
        for (program, answers) in programs.iter().zip(host::run(programs, inputs)?) {
            all.push(match answers {
                Ok(answers) => answers.into_iter().map(Some).collect(),
                Err(message) => {
                    report.refused.push((*program, message));
                    vec![None; inputs.len()]
                }
            });
        }
        others.push(("C++", all));
    }
    for (index, program) in programs.iter().enumerate() {
        let mut differing = None;
        for (number, input) in inputs.iter().enumerate() {
            let plain = plain[index][number];
            let others: Vec<(&str, Answer)> =
                others.iter().filter_map(|(name, answers)| Some((*name, answers[index][number]?))).collect();
            report.comparisons += others.len();
            if differing.is_none() && others.iter().any(|(_, other)| *other != plain) {
                differing = Some(Difference { program: *program, input: *input, plain, others });
            }
        }
        let is_refused = report.refused.iter().any(|(refused, _)| refused.name == program.name);
        if program.is_known && differing.is_none() && !is_refused {
            report.mended.push(program.name);
        }
        report.differences.extend(differing);
    }
    Ok(report)
}

fn plain(programs: &[Program], inputs: &[Input]) -> Vec<Vec<Answer>> {
    // A failure is an answer, and no message.
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let answer =
        |program: &Program, [a, b, c, d]: Input| catch_unwind(AssertUnwindSafe(|| (program.plain)(a, b, c, d))).ok();
    let answers = programs.iter().map(|program| inputs.iter().map(|input| answer(program, *input)).collect()).collect();
    set_hook(hook);
    answers
}

/// Failures end a launch: the inputs for which plain Rust fails are launched alone, and only the first of them.
fn on_device(
    programs: &[Program],
    inputs: &[Input],
    plain: &[Vec<Answer>],
    device: &Device,
) -> Result<Vec<Vec<Option<Answer>>>, String> {
    let launch =
        |program: &Program, inputs: &[Input]| match (program.launch)(device, inputs.as_flattened(), inputs.len()) {
            Ok(answers) => Ok(answers.into_iter().map(Some).collect::<Vec<Answer>>()),
            Err(phalanx::Error::Kernel(_)) => Ok(vec![None; inputs.len()]),
            Err(error) => Err(format!("{}: {error}", program.name)),
        };
    let mut all = Vec::new();
    for (program, plain) in programs.iter().zip(plain) {
        let mut answers = vec![None; inputs.len()];
        let (good, bad): (Vec<usize>, Vec<usize>) = (0..inputs.len()).partition(|i| plain[*i].is_some());
        let good_inputs: Vec<Input> = good.iter().map(|i| inputs[*i]).collect();
        if !good.is_empty() {
            for (i, answer) in good.iter().zip(launch(program, &good_inputs)?) {
                answers[*i] = Some(answer);
            }
        }
        if let Some(first) = bad.first() {
            answers[*first] = launch(program, &inputs[*first..=*first])?.first().copied();
        }
        all.push(answers);
    }
    Ok(all)
}
