//! Fuzz targets: what anybody may send or leave in a file, given to the code that reads it.
//!
//! Each target is a function of bytes that panics when a promise is broken. `src/bin/` gives each to libFuzzer, and the
//! workspace's own tests run each over its kept corpus.

mod choices;
mod claims;
mod client_game;
mod command_files;
mod frames;
mod game;
mod hostile_peer;
mod lanes;
mod messages;
mod mirror;
mod motion;
mod numbers;
mod place_files;
mod place_sources;
mod sealed;
mod sealed_to_client;
mod sealed_to_server;
mod server_game;
mod sessions;
mod shards;
mod strangers;
mod tokens;

pub use claims::run as claims;
pub use client_game::run as client_game;
pub use command_files::run as command_files;
pub use frames::run as frames;
pub use lanes::run as lanes;
pub use messages::run as messages;
pub use mirror::run as mirror;
pub use motion::run as motion;
pub use numbers::run as numbers;
pub use place_files::run as place_files;
pub use place_sources::run as place_sources;
pub use sealed_to_client::run as sealed_to_client;
pub use sealed_to_server::run as sealed_to_server;
pub use server_game::run as server_game;
pub use sessions::recorded;
pub use strangers::run as strangers;
pub use tokens::run as tokens;

/// A target: takes any bytes, and panics when a promise is broken.
pub type Target = fn(&[u8]);

/// Every target by its name, which is also that of its binary and of its folder in the corpus.
pub const TARGETS: [(&str, Target); 16] = [
    ("claims", claims),
    ("client_game", client_game),
    ("command_files", command_files),
    ("frames", frames),
    ("lanes", lanes),
    ("messages", messages),
    ("mirror", mirror),
    ("motion", motion),
    ("numbers", numbers),
    ("place_files", place_files),
    ("place_sources", place_sources),
    ("sealed_to_client", sealed_to_client),
    ("sealed_to_server", sealed_to_server),
    ("server_game", server_game),
    ("strangers", strangers),
    ("tokens", tokens),
];
