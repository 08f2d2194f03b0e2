//! Launches whose numbers differ: one of them is less than the others, so that under `k < lag` in a loop over `0..rounds`, say, a wait is left out.
//! A kernel of more than four numbers is not launched so.

use super::given::{Arguments, Elements, Given, Number};
use super::kernel::Kernel;
use super::launch::Depends;

/// The most numbers of a kernel that is launched so.
const NUMBERS: usize = 4;

impl Depends {
    /// The launches in which one parameter is `least`, and each other number and element `most`. The caller relates lengths to parameters,
    /// and parameters to each other by assertions alone.
    pub(super) fn unequal(&self, kernel: &Kernel<'_, '_>, (least, most): (i64, i64)) -> Vec<Arguments> {
        let parameters = kernel.numbers_of(&self.given).into_iter().filter(|number| !number.is_length);
        let is_element = |node| matches!(kernel.given(node), Some(Given::Number { index: Some(_), most: 2.. }));
        let elements = usize::from(self.given.iter().any(|node| is_element(*node)));
        let parameters: Vec<Number> = parameters.collect();
        if !(2..=NUMBERS).contains(&(parameters.len() + elements)) {
            return Vec::new();
        }
        let launch = Arguments::new(most, Elements::Same);
        parameters.into_iter().map(|number| launch.with(number, least)).collect()
    }
}
