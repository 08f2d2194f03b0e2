//! How the processes of a communicator learn its identity: rank 0 makes it and sends it to all others, which know its address from their
//! environment.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::report::error::Result;
use crate::report::nccl::{CollectiveError, UniqueId};

/// The time in which all processes must have come.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(20);
/// What a rank says first, before its number.
const GREETING: [u8; 8] = *b"phalanx1";

/// A process of a communicator.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Meeting {
    pub(super) rank: usize,
    pub(super) size: usize,
    address: String,
    port: u16,
}

impl Meeting {
    /// Reads the variables of the environment.
    pub(super) fn of(variable: &dyn Fn(&str) -> Option<String>) -> Result<Meeting, CollectiveError> {
        let wrong = |name: &'static str, expected: String| {
            let found = variable(name).map_or_else(|| "not set".to_owned(), |value| format!("`{value}`"));
            CollectiveError::Environment { variable: name, found, expected }
        };
        let number = |name: &'static str, least: usize, most: usize| {
            let value = variable(name).and_then(|value| value.trim().parse::<usize>().ok());
            let value = value.filter(|value| (least..=most).contains(value));
            value.ok_or_else(|| wrong(name, format!("a number from {least} to {most}")))
        };
        let size = number("WORLD_SIZE", 1, 1 << 20)?;
        let rank = number("RANK", 0, size - 1)?;
        // The next port is the one that is used.
        let port = number("MASTER_PORT", 1, usize::from(u16::MAX) - 1)? as u16 + 1;
        let address = variable("MASTER_ADDR").filter(|address| !address.trim().is_empty());
        let address = address.ok_or_else(|| wrong("MASTER_ADDR", "the name or the address of a host".to_owned()))?;
        Ok(Meeting { rank, size, address, port })
    }

    /// Returns the identity that rank 0 makes.
    pub(super) fn exchange(&self, make: impl FnOnce() -> Result<UniqueId>) -> Result<UniqueId> {
        let until = Instant::now() + PATIENCE;
        if self.rank > 0 {
            return Ok(self.ask(until)?);
        }
        let id = make()?;
        self.tell(&id, until)?;
        Ok(id)
    }

    fn fault(&self, reason: impl ToString) -> CollectiveError {
        CollectiveError::Meeting { address: format!("{}:{}", self.address, self.port), reason: reason.to_string() }
    }

    /// Sends the identity to all other ranks.
    fn tell(&self, id: &UniqueId, until: Instant) -> Result<(), CollectiveError> {
        let listener = TcpListener::bind(("0.0.0.0", self.port)).map_err(|error| self.fault(error))?;
        listener.set_nonblocking(true).map_err(|error| self.fault(error))?;
        let mut told = vec![false; self.size];
        told[0] = true;
        while let Some(missing) = told.iter().position(|told| !told) {
            let stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(_) if Instant::now() < until => {
                    thread::sleep(PAUSE);
                    continue;
                }
                Err(_) => return Err(self.fault(format!("rank {missing} has not come in {PATIENCE:?}"))),
            };
            // Whoever else connects is left alone.
            if let Ok(rank) = answer(stream, id, self.size) {
                told[rank] = true;
            }
        }
        Ok(())
    }

    /// Asks rank 0 for the identity, until it listens.
    fn ask(&self, until: Instant) -> Result<UniqueId, CollectiveError> {
        loop {
            match self.try_ask() {
                Ok(id) => return Ok(id),
                Err(error) if Instant::now() >= until => {
                    return Err(self.fault(format!("rank 0 has not answered in {PATIENCE:?}: {error}")));
                }
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    fn try_ask(&self) -> std::io::Result<UniqueId> {
        let mut stream = TcpStream::connect((self.address.as_str(), self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(&GREETING)?;
        stream.write_all(&(self.rank as u64).to_le_bytes())?;
        let mut id = UniqueId { bytes: [0; 128] };
        stream.read_exact(&mut id.bytes)?;
        Ok(id)
    }
}

/// Sends the identity to a rank, and returns its number.
fn answer(mut stream: TcpStream, id: &UniqueId, size: usize) -> std::io::Result<usize> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let (mut greeting, mut rank) = ([0; 8], [0; 8]);
    stream.read_exact(&mut greeting)?;
    stream.read_exact(&mut rank)?;
    let rank = u64::from_le_bytes(rank) as usize;
    if greeting != GREETING || rank == 0 || rank >= size {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    stream.write_all(&id.bytes)?;
    Ok(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(rank: &str, size: &str, port: &str) -> impl Fn(&str) -> Option<String> {
        let values = [("RANK", rank), ("WORLD_SIZE", size), ("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", port)];
        let values = values.map(|(name, value)| (name, value.to_owned()));
        move |name| values.iter().find(|(of, value)| *of == name && !value.is_empty()).map(|(_, value)| value.clone())
    }

    #[test]
    fn all_ranks_get_the_identity_of_the_first() {
        // A port that is free, and the next one, which is used.
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().min(u16::MAX - 1);
        let port = (free - 1).to_string();
        let made = || Ok(UniqueId { bytes: std::array::from_fn(|at| at as u8) });
        thread::scope(|scope| {
            let ranks = ["2", "1", "0"].map(|rank| {
                let meeting = Meeting::of(&environment(rank, "3", &port)).unwrap();
                scope.spawn(move || meeting.exchange(made).unwrap().bytes)
            });
            // A stranger, who says something else.
            thread::sleep(PAUSE);
            if let Ok(mut stranger) = TcpStream::connect(("127.0.0.1", free)) {
                let _ = stranger.write_all(b"GET / HTTP/1.1\r\n\r\n");
            }
            for rank in ranks {
                assert_eq!(rank.join().unwrap(), made().unwrap().bytes);
            }
        });
    }

    #[test]
    fn each_variable_has_its_error() {
        for (rank, size, port, words) in [
            ("2", "2", "29500", "RANK is `2`, but must be a number from 0 to 1"),
            ("", "2", "29500", "RANK is not set"),
            ("0", "none", "29500", "WORLD_SIZE is `none`"),
            ("0", "2", "70000", "MASTER_PORT is `70000`, but must be a number from 1 to 65534"),
        ] {
            let text = Meeting::of(&environment(rank, size, port)).unwrap_err().to_string();
            assert!(text.contains(words), "{text}");
        }
        let text = Meeting::of(&|name| environment("0", "2", "1")(name).filter(|_| name != "MASTER_ADDR")).unwrap_err();
        assert!(text.to_string().contains("MASTER_ADDR is not set"), "{text}");
    }
}
