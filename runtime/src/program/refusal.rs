//! Builds the texts of errors that rustc reports when it evaluates constants.

/// A text that is built at compile time.
pub(crate) struct Message {
    bytes: [u8; 512],
    len: usize,
}

impl Message {
    pub(crate) const fn new() -> Message {
        Message { bytes: [0; 512], len: 0 }
    }

    /// Appends as much of `text` as fits.
    pub(crate) const fn text(mut self, text: &str) -> Message {
        let (text, mut index) = (text.as_bytes(), 0);
        while index < text.len() && self.len < self.bytes.len() {
            self.bytes[self.len] = text[index];
            self.len += 1;
            index += 1;
        }
        self
    }

    pub(crate) const fn number(self, number: usize) -> Message {
        const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        let rest = if number >= 10 { self.number(number / 10) } else { self };
        rest.text(DIGITS[number % 10])
    }

    /// Ends the compilation with the message, at the caller's location if the caller tracks it.
    #[track_caller]
    pub(crate) const fn panic(self) -> ! {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => panic!("{}", text),
            // A long name of letters beyond ASCII was cut within a character.
            Err(_) => panic!("what is wrong here has too long a name"),
        }
    }
}
