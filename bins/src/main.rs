//! The `tidelock` command; everything it does lies in the library beside it.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    tidelock_bins::run(std::env::args_os())
}
