//! The kernels that pages include, and the pictures and reports that they make there. `UPDATE_BOOK=1` writes them anew.

mod copies;
mod neighbours;
pub(crate) mod phases;
pub(crate) mod race;

use std::env;
use std::fs;
use std::path::Path;

use phalanx::Timeline;
use phalanx::prelude::*;

/// Compares a file of `docs/` with what a kernel makes now.
#[track_caller]
fn is_shown(file: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(file);
    if env::var_os("UPDATE_BOOK").is_some() {
        fs::write(&path, made).expect("the folder is in the repository");
    }
    let shown = fs::read_to_string(&path).unwrap_or_default();
    assert!(shown == made, "docs/{file} is not what its kernel makes: set UPDATE_BOOK=1 to write it anew\n{made}");
}

#[test]
fn pictures_are_those_of_their_kernels() -> phalanx::Result<()> {
    let device = Device::simulator();
    let mut out = device.zeros(128)?;
    let picture = |file: &str, timeline: Timeline| is_shown(file, &timeline.to_svg());
    picture("ideas/sync.svg", phases::whole(&mut out).grid(4).timeline(&device)?);
    let whole = out.read()?;
    picture("ideas/split.svg", phases::split(&mut out).grid(4).timeline(&device)?);
    assert_eq!(out.read()?, whole);

    let input = Vec::from_iter(0..256);
    let mut sums = device.zeros(256)?;
    let values = device.upload(&input)?;
    picture("ideas/neighbours.svg", neighbours::neighbours(&values, &mut sums).grid(4).timeline(&device)?);
    let own = |i: u32| (0..10 * (i / 64)).fold(i, |own, round| own.wrapping_mul(3).wrapping_add(round));
    assert_eq!(sums.read()?, Vec::from_iter(input.iter().map(|&i| own(i).wrapping_add(own((i + 64) % 256)))));

    let matrix = Vec::from_iter(0..6 * 256);
    let mut sums = device.zeros(6)?;
    picture("ideas/copies.svg", copies::row_sums(&device.upload(&matrix)?, &mut sums, 6).grid(1).timeline(&device)?);
    assert_eq!(sums.read()?, Vec::from_iter(matrix.chunks(256).map(|row| row.iter().sum::<u32>())));
    Ok(())
}

#[test]
fn the_report_of_the_race_is_that_of_its_kernel() {
    let error = race::run(&Device::simulator()).expect_err("it races");
    is_shown("tour/race.txt", &format!("{error}\n"));
}
