//! The `tidelock` command; everything it does lies in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    tidelock_bins::run(std::env::args_os())
}
