//! The methods of bytes as letters of ASCII, written in the kernel language as those of `methods_of_rust`.

use phalanx_macros::device;

/// The classes of ASCII, of bytes.
#[device]
pub trait Ascii {
    fn is_ascii(&self) -> bool;
    fn is_ascii_uppercase(&self) -> bool;
    fn is_ascii_lowercase(&self) -> bool;
    fn is_ascii_alphabetic(&self) -> bool;
    fn is_ascii_digit(&self) -> bool;
    fn is_ascii_hexdigit(&self) -> bool;
    fn is_ascii_alphanumeric(&self) -> bool;
    fn is_ascii_graphic(&self) -> bool;
    fn is_ascii_punctuation(&self) -> bool;
    fn is_ascii_whitespace(&self) -> bool;
    fn is_ascii_control(&self) -> bool;
    fn to_ascii_uppercase(&self) -> u8;
    fn to_ascii_lowercase(&self) -> u8;
    fn eq_ignore_ascii_case(&self, other: &u8) -> bool;
}

#[device]
impl Ascii for u8 {
    fn is_ascii(&self) -> bool {
        *self < 128
    }

    fn is_ascii_uppercase(&self) -> bool {
        matches!(*self, b'A'..=b'Z')
    }

    fn is_ascii_lowercase(&self) -> bool {
        matches!(*self, b'a'..=b'z')
    }

    fn is_ascii_alphabetic(&self) -> bool {
        matches!(*self, b'A'..=b'Z' | b'a'..=b'z')
    }

    fn is_ascii_digit(&self) -> bool {
        matches!(*self, b'0'..=b'9')
    }

    fn is_ascii_hexdigit(&self) -> bool {
        matches!(*self, b'0'..=b'9' | b'A'..=b'F' | b'a'..=b'f')
    }

    fn is_ascii_alphanumeric(&self) -> bool {
        matches!(*self, b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z')
    }

    fn is_ascii_graphic(&self) -> bool {
        matches!(*self, b'!'..=b'~')
    }

    fn is_ascii_punctuation(&self) -> bool {
        matches!(*self, b'!'..=b'/' | b':'..=b'@' | b'['..=b'`' | b'{'..=b'~')
    }

    fn is_ascii_whitespace(&self) -> bool {
        matches!(*self, b'\t' | b'\n' | 12 | b'\r' | b' ')
    }

    fn is_ascii_control(&self) -> bool {
        *self < 32 || *self == 127
    }

    fn to_ascii_uppercase(&self) -> u8 {
        if matches!(*self, b'a'..=b'z') { *self - 32 } else { *self }
    }

    fn to_ascii_lowercase(&self) -> u8 {
        if matches!(*self, b'A'..=b'Z') { *self + 32 } else { *self }
    }

    fn eq_ignore_ascii_case(&self, other: &u8) -> bool {
        self.to_ascii_lowercase() == other.to_ascii_lowercase()
    }
}
