use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use glam::Vec3;
use tidelock::net::{ConnectToken, DisconnectReason};
use tidelock::{Client, ClientConfig, ClientState, ClientStats, ControlInput, Protocol};

use super::Wander;

/// Time between two updates of a bot.
const PERIOD: Duration = Duration::from_nanos(1_000_000_000 / 60);
/// Backlog after which a bot's missed updates are dropped: its thread is overloaded.
const FORGIVEN: Duration = Duration::from_millis(250);

/// One bot to be: its client is made when its time comes.
pub(crate) struct Recruit {
    pub(crate) config: ClientConfig,
    pub(crate) token: ConnectToken,
    pub(crate) seed: u64,
    /// When it connects, since the crowd's epoch.
    pub(crate) joins_at: Duration,
}

/// One bot.
pub(crate) struct Bot {
    recruit: Option<Recruit>,
    client: Option<Client>,
    wander: Wander,
    due: Duration,
    /// When its client was made: a client's time begins with it.
    born: Duration,
    ended: Option<DisconnectReason>,
    failed: bool,
}

/// Bots that share a thread.
pub(crate) struct Crowd {
    epoch: Instant,
    protocol: Arc<Protocol>,
    bots: Vec<Bot>,
    late_us: Vec<u32>,
}

impl Bot {
    fn new(recruit: Recruit) -> Self {
        let (wander, due) = (Wander::new(recruit.seed), recruit.joins_at);
        Self { recruit: Some(recruit), client: None, wander, due, born: Duration::ZERO, ended: None, failed: false }
    }

    /// Whether it is in the place.
    pub(crate) fn plays(&self) -> bool {
        self.client.as_ref().is_some_and(|client| *client.state() == ClientState::Playing)
    }

    /// Why its session ended, if it did.
    pub(crate) fn ended(&self) -> Option<&DisconnectReason> {
        self.ended.as_ref()
    }

    /// Whether it is over: disconnected, or never able to start.
    pub(crate) fn is_over(&self) -> bool {
        self.ended.is_some() || self.failed
    }

    pub(crate) fn client(&self) -> Option<&Client> {
        self.client.as_ref()
    }

    /// What its client has measured.
    pub(crate) fn stats(&self) -> ClientStats {
        self.client.as_ref().map(|client| client.stats().clone()).unwrap_or_default()
    }

    fn update(&mut self, now: Duration, protocol: &Arc<Protocol>) {
        if let Some(recruit) = self.recruit.take() {
            self.born = now;
            self.client = Client::connect(recruit.config, Arc::clone(protocol), recruit.token).ok();
            self.failed = self.client.is_none();
        }
        let Some(client) = self.client.as_mut().filter(|_| self.ended.is_none()) else { return };
        let place = client.projection().own().map(|own| (own.position, own.velocity));
        let now = now.saturating_sub(self.born);
        client.update(now, &self.wander.input(now, place));
        if let ClientState::Disconnected { reason } = client.state() {
            self.ended = Some(reason.clone());
        }
        // Nobody shows what happens to a bot; the queue must not grow.
        client.drain_events().for_each(drop);
    }
}

impl Crowd {
    pub(crate) fn new(epoch: Instant, protocol: Arc<Protocol>, recruits: Vec<Recruit>) -> Self {
        Self { epoch, protocol, bots: recruits.into_iter().map(Bot::new).collect(), late_us: Vec::new() }
    }

    pub(crate) fn bots(&self) -> &[Bot] {
        &self.bots
    }

    /// How late updates began since the last call, µs, in no order.
    pub(crate) fn take_lateness(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.late_us)
    }

    /// Updates every bot that is due, then sleeps until the next one is.
    pub(crate) fn step(&mut self) {
        for bot in &mut self.bots {
            let now = self.epoch.elapsed();
            let Some(late) = now.checked_sub(bot.due) else { continue };
            if bot.recruit.is_none() {
                self.late_us.push(u32::try_from(late.as_micros()).unwrap_or(u32::MAX));
            }
            bot.update(now, &self.protocol);
            bot.due = if late > FORGIVEN { now + PERIOD } else { bot.due + PERIOD };
        }
        let next = self.bots.iter().map(|bot| bot.due).min().unwrap_or(Duration::MAX);
        let left = next.saturating_sub(self.epoch.elapsed());
        // An overloaded crowd must still let its thread's owner look in.
        thread::sleep(left.min(PERIOD));
    }

    /// Lets every bot tell the server that it goes.
    pub(crate) fn leave(&mut self) {
        let now = self.epoch.elapsed();
        for bot in &mut self.bots {
            if let Some(client) = bot.client.as_mut().filter(|_| bot.ended.is_none()) {
                client.leave();
                client.update(now.saturating_sub(bot.born), &ControlInput::default());
            }
        }
    }

    /// Where the first bot that plays draws everyone: how another client sees them.
    pub(crate) fn seen(&self) -> impl Iterator<Item = (u64, Vec3, f32)> + '_ {
        let observer = self.bots.iter().find(|bot| bot.plays()).and_then(Bot::client);
        let characters = observer.into_iter().flat_map(|client| &client.projection().characters);
        characters.filter(|character| !character.own).map(|drawn| (drawn.player.0, drawn.position, drawn.yaw))
    }
}
