//! Other processes, which get a limit of time: a kernel that hangs never ends by itself.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::Result;

/// Runs a command to its end, and returns what it wrote to standard output. It must succeed within the limit.
pub fn output(command: &mut Command, limit: Duration) -> Result<Vec<u8>> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
    let mut pipe = child.stdout.take().ok_or("the process has no output")?;
    // A full pipe would stop the process.
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).map(|_| bytes)
    });
    wait(&mut child, limit)?;
    Ok(reader.join().map_err(|_| "the output cannot be read")??)
}

fn wait(child: &mut Child, limit: Duration) -> Result<()> {
    let start = Instant::now();
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("the process ended with {status}").into()),
            None if start.elapsed() > limit => {
                child.kill()?;
                child.wait()?;
                return Err(format!("the process did not end within {} s", limit.as_secs()).into());
            }
            None => thread::sleep(Duration::from_millis(50)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Vec<u8>> {
        output(Command::new("sh").args(["-c", script]), Duration::from_millis(500))
    }

    #[test]
    fn a_process_has_its_output_or_an_error() {
        assert_eq!(shell("echo 7").unwrap(), b"7\n");
        assert!(shell("exit 3").unwrap_err().to_string().contains("3"));
        assert!(shell("exec sleep 60").unwrap_err().to_string().contains("did not end"));
    }
}
