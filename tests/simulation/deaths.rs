use super::ownership::yard;
use super::*;

/// Clients that are killed, one after another, several at a time; `TIDELOCK_RUNS` asks for another number of them.
const KILLED: u64 = 150;
/// Clients alive at a time, a witness apart.
const ALIVE: usize = 12;

/// Numbers from a seed.
struct Luck(u64);

impl Luck {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// A client whose end is drawn: while it connects or fetches the place, while it plays, stands still, has parts handed to and fro,
/// or after it has said goodbye.
struct Doomed {
    key: ClientKey,
    /// Ticks until its process is killed.
    ticks: u64,
    /// Ticks before that at which it leaves, or its frames stop.
    leaves: Option<u64>,
    stalls: Option<u64>,
}

impl Doomed {
    fn join(game: &mut Simulation, luck: &mut Luck) -> Self {
        let key = game.add_client(ClientOptions { fetch_place: luck.below(3) == 0, ..ClientOptions::default() });
        // The handshake takes eight ticks, the place some more.
        let ticks = if luck.below(2) == 0 { luck.below(30) } else { luck.below(240) };
        let leaves = (luck.below(4) == 0).then(|| luck.below(30));
        let stalls = (luck.below(4) == 0).then(|| luck.below(120));
        Self { key, ticks, leaves, stalls }
    }

    /// Lets a tick pass; whether it lives on.
    fn live(&mut self, game: &mut Simulation) -> bool {
        if self.leaves == Some(self.ticks) {
            game.client_mut(self.key).leave();
        }
        if self.stalls == Some(self.ticks) {
            game.stall_client(self.key, Duration::from_secs(2));
        }
        if self.ticks == 0 {
            game.kill_client(self.key);
        }
        self.ticks = self.ticks.saturating_sub(1);
        self.ticks > 0 || game.clients().any(|(key, _)| key == self.key)
    }
}

// B100, T-4: clients killed at any moment of connecting, entering, playing, handing parts over, being corrected, standing still and
// leaving: nobody else notices, and whatever they held is free again.
#[test]
fn clients_killed_at_any_moment_leave_nothing_behind() {
    let killed = std::env::var("TIDELOCK_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(KILLED);
    let mut game = game(yard(), link(60, 10, 0.05), 100);
    let resting = game.server().instances();
    let witness = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(2), idle);
    let (mut luck, mut alive, mut begun) = (Luck(100), vec![], 0);
    while begun < killed || !alive.is_empty() {
        if begun < killed && alive.len() < ALIVE && luck.below(8) == 0 {
            alive.push(Doomed::join(&mut game, &mut luck));
            begun += 1;
        }
        if luck.below(40) == 0 {
            disturb(&mut game, &mut luck);
        }
        alive.retain_mut(|doomed| doomed.live(&mut game));
        game.tick(|key, now| {
            let angle = now.as_secs_f32() + key.index() as f32;
            if key == witness { ControlInput::default() } else { towards(Vec3::new(angle.cos(), 0.0, angle.sin())) }
        });
    }
    game.run(Duration::from_secs(14), idle);
    let (metrics, network) = (game.server().metrics(), game.server().network_counters());
    assert_eq!(
        (metrics.players, game.server().instances()),
        (1, resting + 1),
        "the witness and its character are left"
    );
    assert_eq!(network.connected, network.disconnected + 1);
    assert!(metrics.counters.joins * 2 > killed, "{} of {killed} came in", metrics.counters.joins);
    assert!(metrics.counters.timeouts > killed / 4 && metrics.counters.leaves > 0, "{:?}", metrics.counters);
    assert!(metrics.handovers > 0, "parts changed hands");
    assert_eq!((metrics.counters.faulty_sessions, metrics.counters.message_faults), (0, 0));
    assert_eq!(*game.client(witness).state(), ClientState::Playing);
    assert_eq!(game.client(witness).stats().faults, 0);
    // Slots return: as many as ever were here at once find room again.
    let newcomers: Vec<_> = (0..ALIVE).map(|_| game.add_client(ClientOptions::default())).collect();
    game.run(Duration::from_secs(3), idle);
    assert!(newcomers.into_iter().all(|key| *game.client(key).state() == ClientState::Playing));
}

/// Moves somebody by the game's command, so that its client has to start anew from there.
fn disturb(game: &mut Simulation, luck: &mut Luck) {
    let players: Vec<_> = game.server().players().map(|info| info.player).collect();
    let player = players[luck.below(players.len() as u64) as usize];
    let position = Vec3::new(luck.below(20) as f32 - 10.0, 4.0, luck.below(20) as f32 - 10.0);
    game.server_mut().commands().player(player, tidelock::PlayerCommand::Teleport { position, yaw: 0.0 });
}
