use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use super::place_cache::PlaceCache;

/// What a [`Client`](crate::Client) is made from, besides protocol and token.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// Name shown to others, 1 to 32 bytes of UTF-8. Default "player".
    pub name: String,
    /// Local address to send from. Default any free port on 127.0.0.1; take `0.0.0.0:0` or `[::]:0` for other machines.
    pub bind: SocketAddr,
    /// Whether to sample and present what others do. Default true; load generators turn it off.
    pub draw: bool,
    /// Place files already here; clients of one process share one. Default an empty one.
    pub places: Arc<PlaceCache>,
    /// How the own character is predicted. Its smoother is that of ticked inputs, too.
    pub prediction: tidelock_sim::client::PredictionConfig,
    /// How the own character follows the server where the game moves it by itself.
    pub poses: tidelock_sim::reconcile::PosePredictorConfig,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            name: "player".into(),
            bind: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            draw: true,
            places: Arc::default(),
            prediction: tidelock_sim::client::PredictionConfig::default(),
            poses: tidelock_sim::reconcile::PosePredictorConfig::default(),
        }
    }
}

impl ClientConfig {
    /// The longest name, in bytes.
    pub const MAX_NAME_BYTES: usize = 32;
}
