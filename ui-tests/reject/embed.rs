//! A file that is no archive of CUBINs.

fn main() {
    phalanx::embed!("embed.rs");
}
