use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use tidelock::net::emulator::LinkConfig;
use tidelock::{Client, ClientConfig, ClientState};
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

use super::Lab;
use super::frames::{self, Others, Pose};
use super::held::{Held, Keys};
use super::place_message::PlaceMessage;
use super::stats::Measuring;
use crate::bad_link::BadLink;
use crate::failure::Failure;
use crate::key::DEVELOPMENT_KEY;
use crate::pace::Pace;
use crate::token::local_token;

/// Frames a second to the page.
const FRAME_HZ: u32 = 60;
/// Frames between two words on measurements.
const STATS_EVERY: u64 = 15;
/// Frames between two lists of names.
const NAMES_EVERY: u64 = 120;

/// What goes to the page.
#[derive(Clone, Debug)]
pub(super) enum Outgoing {
    /// A JSON message.
    Text(String),
    /// A frame to draw.
    Frame(Vec<u8>),
}

/// What comes from the page.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Incoming {
    Input(Keys),
    Link(LinkWish),
}

/// The sliders.
#[derive(Clone, Copy, Debug, Deserialize)]
struct LinkWish {
    /// Each way, milliseconds.
    latency: f64,
    /// Milliseconds.
    jitter: f64,
    /// Percent.
    loss: f64,
}

/// A person at the page: a real client behind an emulated link, on a thread of its own. Dropped, it leaves.
pub(super) struct Visitor {
    held: Arc<Held>,
    relay: Arc<BadLink>,
    ends: Arc<AtomicBool>,
}

impl Visitor {
    /// Lets visitor `number` join; what the page shall know goes into `out`.
    pub(super) fn start(lab: &Arc<Lab>, number: u64, out: Sender<Outgoing>) -> Result<Self, Failure> {
        let relay = Arc::new(BadLink::start(lab.server(), LinkConfig::default(), number)?);
        let token = local_token(&DEVELOPMENT_KEY, number, lab.server())?;
        let token = token.through(vec![relay.address()]).map_err(|why| Failure::Token(why.to_string()))?;
        let config = ClientConfig { name: format!("visitor {number}"), ..ClientConfig::default() };
        let client = Client::connect(config, lab.protocol(), token);
        let client = client.map_err(|why| Failure::Server(why.to_string()))?;
        let (held, ends) = (Arc::new(Held::default()), Arc::new(AtomicBool::new(false)));
        let session = Session {
            lab: Arc::clone(lab),
            client,
            held: Arc::clone(&held),
            ends: Arc::clone(&ends),
            // The link must last until the client has said goodbye through it.
            _relay: Arc::clone(&relay),
            out,
            told: None,
            frames: 0,
            measuring: Measuring::default(),
        };
        let builder = thread::Builder::new().name(format!("visitor {number}"));
        builder.spawn(move || session.run()).map_err(Failure::system("no thread for the visitor"))?;
        Ok(Self { held, relay, ends })
    }

    /// Takes in a message of the page; what makes no sense is dropped.
    pub(super) fn hear(&self, text: &str) {
        match serde_json::from_str(text) {
            Ok(Incoming::Input(keys)) => self.held.set(keys),
            Ok(Incoming::Link(wish)) => self.relay.set(wish.link()),
            Err(why) => tracing::debug!(%why, "the page said something strange"),
        }
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
    }
}

impl LinkWish {
    fn link(self) -> LinkConfig {
        let time = |ms: f64, most: f64| {
            Duration::from_secs_f64(if ms.is_finite() { ms.clamp(0.0, most) } else { 0.0 } / 1000.0)
        };
        let loss = if self.loss.is_finite() { self.loss.clamp(0.0, 100.0) / 100.0 } else { 0.0 };
        LinkConfig {
            latency: time(self.latency, 1000.0),
            jitter: time(self.jitter, 1000.0),
            loss,
            ..LinkConfig::default()
        }
    }
}

/// The visitor's thread.
struct Session {
    lab: Arc<Lab>,
    client: Client,
    held: Arc<Held>,
    ends: Arc<AtomicBool>,
    _relay: Arc<BadLink>,
    out: Sender<Outgoing>,
    /// The state the page was told last.
    told: Option<ClientState>,
    frames: u64,
    measuring: Measuring,
}

impl Session {
    fn run(mut self) {
        let mut pace = Pace::new(Instant::now(), FRAME_HZ);
        let mut now = Duration::ZERO;
        while !self.ends.load(Ordering::Relaxed) {
            now = pace.wait();
            self.client.update(now, &self.held.take());
            if !self.tell(now) {
                break;
            }
        }
        self.client.leave();
        self.client.update(now, &self.held.take());
        // Goodbye passes the emulated link before the link goes.
        thread::sleep(Duration::from_millis(500));
    }

    /// Tells the page what it shall know; false when nobody listens any more or nothing is left to say.
    fn tell(&mut self, now: Duration) -> bool {
        self.frames += 1;
        if self.told.as_ref() != Some(self.client.state()) {
            self.tell_state();
        }
        match self.client.state() {
            ClientState::Disconnected { .. } => return false,
            ClientState::Playing => {}
            _ => return !self.out.is_closed(),
        }
        let events: Vec<_> = self.client.drain_events().collect();
        self.measuring.events(now, &events);
        if self.frames.is_multiple_of(STATS_EVERY) {
            let word = self.lab.board().word(2.0);
            let message = self.measuring.message(now, self.client.stats(), &word);
            self.text(&message);
        }
        if self.frames % NAMES_EVERY == 1 {
            self.tell_names();
        }
        let mut frame = Vec::new();
        frames::encode(&mut frame, now, self.client.projection(), self.others());
        self.send(Outgoing::Frame(frame))
    }

    /// The own character as the server and another client have it.
    fn others(&self) -> Others {
        let Some(player) = self.client.player() else { return Others::default() };
        let truth = self.lab.board().player(player.0);
        let truth = truth.map(|truth| Pose { position: truth.position.into(), yaw: truth.yaw });
        Others { truth, seen: self.lab.seen(player.0) }
    }

    fn tell_state(&mut self) {
        let (state, text) = match self.client.state() {
            ClientState::Connecting => ("connecting", String::new()),
            ClientState::Joining => ("loading", String::new()),
            ClientState::Loading { received, total } => {
                ("loading", format!("Loading the place: {received} of {total} bytes."))
            }
            ClientState::Playing => ("playing", String::new()),
            ClientState::Disconnected { reason } => ("lost", format!("The session ended ({reason:?}).")),
        };
        let player = self.client.player().map(|player| player.0);
        if *self.client.state() == ClientState::Playing
            && let Some(place) = self.client.place()
        {
            self.text(&PlaceMessage::of(place));
        }
        self.text(&serde_json::json!({ "type": "state", "state": state, "text": text, "player": player }));
        self.told = Some(self.client.state().clone());
    }

    fn tell_names(&self) {
        let named = self.client.projection().characters.iter();
        let names: Vec<(u32, &str)> = named.map(|drawn| (frames::short(drawn.id.0), &*drawn.name)).collect();
        self.text(&serde_json::json!({ "type": "names", "names": names }));
    }

    fn text(&self, message: &impl serde::Serialize) {
        let text = serde_json::to_string(message).expect("messages to the page are plain data");
        self.send(Outgoing::Text(text));
    }

    /// False when nobody listens any more. A page that is slow misses frames.
    fn send(&self, outgoing: Outgoing) -> bool {
        match self.out.try_send(outgoing) {
            Ok(()) | Err(TrySendError::Full(_)) => true,
            Err(TrySendError::Closed(_)) => false,
        }
    }
}
