//! The destination of the text that kernels print: standard output, or a function of the user's. `sim` and `gpu` bring
//! the text to the host.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The size of the buffer for a kernel's output, in bytes of records, which is that of CUDA's own `printf`. The
/// simulator has the same limit, so that a kernel that never stops printing does not exhaust memory.
pub(crate) const PRINT_BYTES: u64 = 1 << 20;

/// The size of a record without its values: `print_record` of print.cuh.
pub(crate) const RECORD_BYTES: u64 = 32;

/// The output of a launch: a text for each `print!`, in the order of the threads.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    pub(crate) texts: Vec<String>,
    /// The number of texts that did not fit into the buffer.
    pub(crate) lost: u64,
}

/// A user's function that receives the text.
type Function = Arc<dyn Fn(&str) + Send + Sync>;

/// The output of a device.
#[derive(Default)]
pub(crate) struct Output {
    function: Mutex<Option<Function>>,
}

impl Output {
    /// Sends all further text to `function`.
    pub(crate) fn set(&self, function: Function) {
        *self.function.lock().unwrap_or_else(PoisonError::into_inner) = Some(function);
    }

    /// Writes the texts. The caller holds no lock, because the function is the user's.
    pub(crate) fn write(&self, printed: Printed) {
        let Printed { mut texts, lost } = printed;
        if lost > 0 {
            texts.push(format!(
                "({lost} more messages were lost: a kernel can print at most {PRINT_BYTES} bytes of values)\n"
            ));
        }
        if texts.is_empty() {
            return;
        }
        let function = self.function.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match function {
            Some(function) => texts.iter().for_each(|text| function(text)),
            None => print!("{}", texts.concat()),
        }
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Output")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_is_said_last() {
        let output = Output::default();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let writer = seen.clone();
        output.set(Arc::new(move |text| writer.lock().unwrap().push(text.to_string())));
        output.write(Printed::default());
        output.write(Printed { texts: vec!["a\n".into(), "b".into()], lost: 3 });
        let lost = "(3 more messages were lost: a kernel can print at most 1048576 bytes of values)\n";
        assert_eq!(*seen.lock().unwrap(), ["a\n", "b", lost]);
    }
}
