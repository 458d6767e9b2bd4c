use std::sync::Arc;

use clap::ValueEnum;
use serde::Deserialize;
use tidelock::{Controller, Protocol};

/// How characters are moved and checked, among those that need no game's code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Style {
    /// Clients report their input, the server runs it again.
    #[default]
    Replay,
    /// Clients report where they are, the server judges it.
    Allowances,
    /// Clients send an input for each tick, the server runs it.
    Ticked,
}

impl Style {
    /// What server and clients of this style speak.
    pub(crate) fn protocol(self) -> Arc<Protocol> {
        let controller = match self {
            Self::Replay => Controller::Replay,
            Self::Allowances => Controller::Allowances,
            Self::Ticked => Controller::Ticked,
        };
        Protocol::builder().controller(controller).build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_style_speaks_the_usual_protocol() {
        assert_eq!(Style::default().protocol().hash(), Protocol::builder().build().hash());
        let names: Vec<_> = Style::value_variants().iter().map(|style| style.protocol().controller()).collect();
        assert_eq!(names, [Controller::Replay, Controller::Allowances, Controller::Ticked]);
    }
}
