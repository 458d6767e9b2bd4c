//! The `tidelock` command: a lab to walk in, a server, a swarm of clients, and tools for places, tokens and vectors.
#![forbid(unsafe_code)]

mod args;
mod bad_link;
mod bots;
mod chance;
mod failure;
mod hosting;
mod http;
mod key;
mod lab;
mod pace;
mod place;
mod serve;
mod signals;
mod style;
mod swarm;
mod token;
pub mod vectors;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use args::{Arguments, Command, LabArgs, VectorsAction};
use failure::Failure;

/// Runs the command line and says how the process ends: 0 for success, 1 for a failure, 2 for arguments that mean nothing.
///
/// Logs go to standard error as the environment's `RUST_LOG` wants them, warnings and worse by default.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(why) => {
            // Nothing is left to tell when even this cannot be written.
            let _ = why.print();
            return if why.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    // A host that runs the command twice in one process has its logs already.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
    match carry_out(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("tidelock: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn carry_out(command: Option<Command>) -> Result<(), Failure> {
    match command.unwrap_or_else(|| Command::Lab(LabArgs::default())) {
        Command::Lab(args) => lab::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Swarm(args) => swarm::run(&args),
        Command::Place(args) => place::run(&args.action),
        Command::Token(args) => token::run(&args.action),
        Command::Vectors(args) => match args.action {
            VectorsAction::Check { files } => Ok(vectors::check_files(&files)?),
            VectorsAction::Write { folder, seed } => Ok(vectors::write_files(&folder, seed)?),
        },
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
        Err(why) if why.use_stderr() => Err(why.to_string()),
        _ => Ok(()),
    }
}

/// Whether `serve` would take this text as its configuration file. Files it names are not read.
///
/// # Errors
///
/// What the command would say instead of starting.
pub fn check_config(text: &str) -> Result<(), String> {
    serve::check_config(text).map_err(|why| why.to_string())
}

/// Whether this text is that of a key file.
///
/// # Errors
///
/// Why it is not.
pub fn check_key(text: &str) -> Result<(), String> {
    key::key_of(text).map(drop)
}

/// Whether `token inspect` would take these bytes as those of a token's file.
///
/// # Errors
///
/// Why it would not.
pub fn check_token(bytes: &[u8]) -> Result<(), String> {
    token::token_of(bytes.to_vec()).map(drop).map_err(|why| why.to_string())
}
