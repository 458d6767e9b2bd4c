use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::vectors::Trouble;

/// Why the command ends with failure, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A file that cannot be read.
    #[error("{}: cannot be read: {why}", path.display())]
    Read { path: PathBuf, why: io::Error },
    /// A file that cannot be written.
    #[error("{}: cannot be written: {why}", path.display())]
    Write { path: PathBuf, why: io::Error },
    /// A key file without a key.
    #[error("{}: a key is 64 hexadecimal digits (32 bytes); {why}. Make one with: openssl rand -hex 32", path.display())]
    Key { path: PathBuf, why: String },
    /// A configuration that is not TOML, or whose keys are wrong. The reason shows line and key.
    #[error("{}: {why}", path.display())]
    Config { path: PathBuf, why: String },
    /// A place that is wrong. The reason shows line and key.
    #[error("{place}: {why}")]
    Place { place: String, why: String },
    /// An address that cannot be listened at.
    #[error("cannot listen at {address} ({what}): {why}.{}", busy_hint(why, option))]
    Bind { what: &'static str, address: SocketAddr, option: &'static str, why: io::Error },
    /// A token that cannot be minted or read.
    #[error("{0}")]
    Token(String),
    /// A difference from a reference vector.
    #[error("{0}")]
    Vectors(#[from] Trouble),
    /// Nothing can be joined at the other end.
    #[error("{0}")]
    Server(String),
    /// A run that was not clean, with `--strict`.
    #[error("not a clean run: {0}")]
    Unclean(String),
    /// The operating system refuses something.
    #[error("{what}: {why}")]
    System { what: &'static str, why: io::Error },
}

impl Failure {
    pub(crate) fn read(path: &Path, why: io::Error) -> Self {
        Self::Read { path: path.to_owned(), why }
    }

    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |why| Self::System { what, why }
    }
}

fn busy_hint(why: &io::Error, option: &str) -> String {
    match why.kind() {
        io::ErrorKind::AddrInUse => {
            format!(" Another program holds that port: end it, or choose another with {option}.")
        }
        io::ErrorKind::AddrNotAvailable => format!(" This machine has no such address: choose one with {option}."),
        io::ErrorKind::PermissionDenied => format!(" Ports below 1024 are reserved: choose another with {option}."),
        _ => String::new(),
    }
}
