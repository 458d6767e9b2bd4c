use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::args::{GAME_ADDRESS, METRICS_ADDRESS, ServeArgs};
use crate::failure::Failure;
use crate::style::Style;

/// What `serve` runs with: arguments and environment over the file over defaults (T-45).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) bind: SocketAddr,
    pub(crate) public: Option<SocketAddr>,
    /// `None` answers no questions.
    pub(crate) metrics: Option<SocketAddr>,
    pub(crate) place: Option<PathBuf>,
    pub(crate) key_file: Option<PathBuf>,
    pub(crate) max_players: usize,
    pub(crate) network_threads: usize,
    pub(crate) worker_threads: usize,
    pub(crate) controller: Style,
    pub(crate) token_lifetime_s: u64,
}

/// The configuration file; unknown keys are errors.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    bind: Option<SocketAddr>,
    public: Option<SocketAddr>,
    metrics: Option<String>,
    place: Option<PathBuf>,
    key_file: Option<PathBuf>,
    max_players: Option<usize>,
    network_threads: Option<usize>,
    worker_threads: Option<usize>,
    controller: Option<Style>,
    token_lifetime_s: Option<u64>,
}

impl Settings {
    pub(crate) fn new(args: &ServeArgs) -> Result<Self, Failure> {
        let file = args.config.as_deref().map(File::read).transpose()?.unwrap_or_default();
        let metrics = args.metrics.clone().or(file.metrics).unwrap_or_else(|| METRICS_ADDRESS.into());
        let default = GAME_ADDRESS.parse().expect("a constant address");
        Ok(Self {
            bind: args.bind.or(file.bind).unwrap_or(default),
            public: file.public,
            metrics: metrics_address(&metrics)?,
            place: args.place.clone().or(file.place),
            key_file: args.key_file.clone().or(file.key_file),
            max_players: args.max_players.map(usize::from).or(file.max_players).unwrap_or(256),
            network_threads: file.network_threads.unwrap_or(1),
            worker_threads: file.worker_threads.unwrap_or(0),
            controller: args.controller.or(file.controller).unwrap_or_default(),
            token_lifetime_s: args.token_lifetime_s.map(u64::from).or(file.token_lifetime_s).unwrap_or(0),
        })
    }
}

/// An address, or `off`.
pub(crate) fn metrics_address(text: &str) -> Result<Option<SocketAddr>, Failure> {
    if text == "off" {
        return Ok(None);
    }
    let refused =
        |_| Failure::Server(format!("metrics is `{text}`; it must be `off` or an address such as {METRICS_ADDRESS}"));
    text.parse().map(Some).map_err(refused)
}

/// What is wrong with the text of a configuration file.
pub(crate) fn check(text: &str) -> Result<(), Failure> {
    let file = File::parse(Path::new("configuration"), text)?;
    file.metrics.as_deref().map_or(Ok(None), metrics_address).map(drop)
}

impl File {
    fn read(path: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(path).map_err(|why| Failure::read(path, why))?;
        let mut file = Self::parse(path, &text)?;
        // Paths in the file are meant from where the file lies.
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        for named in [&mut file.place, &mut file.key_file].into_iter().flatten() {
            *named = folder.join(&*named);
        }
        Ok(file)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, Failure> {
        // The reason shows line, column and the line itself, and with it the key.
        toml::from_str(text)
            .map_err(|why| Failure::Config { path: path.to_owned(), why: why.to_string().trim_end().into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // T-45
    #[test]
    fn a_wrong_key_or_value_is_named_with_its_line() {
        let wrong = |text: &str| File::parse(Path::new("server.toml"), text).unwrap_err().to_string();
        let unknown = wrong("bind = \"127.0.0.1:7777\"\nmax_playrs = 9\n");
        assert!(
            unknown.contains("server.toml") && unknown.contains("line 2") && unknown.contains("max_playrs"),
            "{unknown}"
        );
        let kind = wrong("max_players = \"many\"\n");
        assert!(kind.contains("line 1") && kind.contains("max_players"), "{kind}");
        let address = wrong("\n\nbind = \"nowhere\"\n");
        assert!(address.contains("line 3") && address.contains("bind"), "{address}");
        assert!(wrong("bind\n").contains("line 1"));
    }

    #[test]
    fn metrics_can_be_off() {
        assert_eq!(metrics_address("off").unwrap(), None);
        assert_eq!(metrics_address("127.0.0.1:9").unwrap().unwrap().port(), 9);
        assert!(metrics_address("somewhere").is_err());
    }
}
