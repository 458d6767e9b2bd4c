use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tidelock::{ClientConfig, PlaceCache, Protocol};

use super::frames::Pose;
use crate::bots::{Crowd, Recruit};
use crate::failure::Failure;
use crate::key::DEVELOPMENT_KEY;
use crate::token::local_token;

/// Client ids of bots begin here; visitors' are below.
const FIRST_CLIENT: u64 = 1 << 32;
/// Time between two bots that join.
const JOIN_EVERY: Duration = Duration::from_millis(15);

/// The lab's bots, real clients on one thread; dropped, they leave.
pub(super) struct Bots {
    seen: Arc<Mutex<HashMap<u64, Pose>>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Bots {
    /// Lets `count` bots join `server`. The first draws what it sees, so that others can be shown through its eyes.
    pub(super) fn start(
        count: u16,
        (server, protocol): (SocketAddr, &Arc<Protocol>),
        seed: u64,
        places: &Arc<PlaceCache>,
    ) -> Result<Self, Failure> {
        let recruit = |index: u16| {
            let config = ClientConfig {
                name: format!("bot {}", index + 1),
                draw: index == 0,
                places: Arc::clone(places),
                ..ClientConfig::default()
            };
            Ok(Recruit {
                config,
                token: local_token(&DEVELOPMENT_KEY, FIRST_CLIENT + u64::from(index), server)?,
                seed: seed.wrapping_mul(1_000_003) + u64::from(index),
                joins_at: JOIN_EVERY * u32::from(index),
            })
        };
        let recruits = (0..count).map(recruit).collect::<Result<Vec<_>, Failure>>()?;
        let (seen, ends) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let (shown, told) = (Arc::clone(&seen), Arc::clone(&ends));
        let protocol = protocol.clone();
        let work = move || run(protocol, recruits, &shown, &told);
        let thread = thread::Builder::new()
            .name("bots".into())
            .spawn(work)
            .map_err(Failure::system("no thread for the bots"))?;
        Ok(Self { seen, ends, thread: Some(thread) })
    }

    /// Where the first bot draws a player's character.
    pub(super) fn seen(&self, player: u64) -> Option<Pose> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(&player).copied()
    }
}

fn run(protocol: Arc<Protocol>, recruits: Vec<Recruit>, seen: &Mutex<HashMap<u64, Pose>>, ends: &AtomicBool) {
    let mut crowd = Crowd::new(Instant::now(), protocol, recruits);
    while !ends.load(Ordering::Relaxed) {
        crowd.step();
        crowd.take_lateness();
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clear();
        seen.extend(crowd.seen().map(|(player, position, yaw)| (player, Pose { position, yaw })));
    }
    crowd.leave();
}

impl Drop for Bots {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A crowd that panicked has said so already.
            let _ = thread.join();
        }
    }
}
