/// Random numbers from a seed.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    /// A number in 0..1.
    pub(crate) fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1_u32 << 31)
    }

    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        (self.share() * f64::from(limit)) as u32
    }
}

/// One direction of a link: delay, jitter and loss; time in microseconds.
pub(crate) struct Link<T> {
    pub(crate) chance: Chance,
    pub(crate) delay: u64,
    pub(crate) jitter: u64,
    pub(crate) loss: f64,
    flying: Vec<(u64, u64, T)>,
    sent: u64,
}

impl<T> Link<T> {
    pub(crate) fn new(seed: u64, delay: u64) -> Self {
        Self { chance: Chance(seed), delay, jitter: 0, loss: 0.0, flying: Vec::new(), sent: 0 }
    }

    pub(crate) fn send(&mut self, now: u64, message: T) {
        if self.chance.share() >= self.loss {
            let late = (self.chance.share() * self.jitter as f64) as u64;
            self.sent += 1;
            self.flying.push((now + self.delay + late, self.sent, message));
        }
    }

    /// What has arrived by `now`, in order of arrival.
    pub(crate) fn arrived(&mut self, now: u64) -> Vec<T> {
        let (mut due, flying): (Vec<_>, Vec<_>) = self.flying.drain(..).partition(|(at, ..)| *at <= now);
        self.flying = flying;
        due.sort_by_key(|(at, sent, _)| (*at, *sent));
        due.into_iter().map(|(.., message)| message).collect()
    }
}
