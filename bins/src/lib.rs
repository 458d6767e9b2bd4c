//! The `tidelock` command: a lab to walk in, a server, a swarm of clients, and tools for places, tokens and vectors.

mod args;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use args::Arguments;

/// Runs the command line and says how the process ends: 0 for success, 1 for a failure, 2 for arguments that mean nothing.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match Arguments::try_parse_from(arguments) {
        Ok(_) => ExitCode::SUCCESS,
        Err(why) => {
            let failed = why.use_stderr();
            let _ = why.print();
            if failed { ExitCode::from(2) } else { ExitCode::SUCCESS }
        }
    }
}

/// Whether the command would take these arguments, the program's own name left out. Nothing is run.
///
/// # Errors
///
/// What the command would say instead of starting.
pub fn check_arguments(arguments: &[&str]) -> Result<(), String> {
    let all = ["tidelock"].iter().chain(arguments);
    match Arguments::try_parse_from(all) {
        Ok(_) => Ok(()),
        Err(why) if !why.use_stderr() => Ok(()),
        Err(why) => Err(why.to_string()),
    }
}
