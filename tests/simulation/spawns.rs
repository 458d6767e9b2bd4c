use std::collections::BTreeMap;

use glam::{Quat, Vec3};
use tidelock::replication::ids::InstanceId;
use tidelock::replication::instance::{Audience, PartProperties, Pose};

use super::*;

/// A part that was made: when it was told of, where, and whether it moves from there.
struct Spawned {
    tick: u64,
    at: Vec3,
    moves: bool,
    /// Playback time of the first frame that showed it, and of the frame before, seconds.
    seen: Option<(f64, f64)>,
}

// B41: 500 spawns at 20 broadcasts a second. Each is drawn from its own tick on the remote timeline, where it was made, and
// what never changes again is not late.
#[test]
fn what_spawns_appears_in_its_tick_and_its_place() {
    let mut game = game(demo(), link(100, 10, 0.0), 41);
    let key = game.add_client(ClientOptions::default());
    game.run(Duration::from_secs(3), |_, _| ControlInput::default());
    let mut spawned: BTreeMap<InstanceId, Spawned> = BTreeMap::new();
    let mut before = game.client(key).projection().playback_s;
    for tick in 0..1_800_u64 {
        if tick % 3 != 2 && spawned.len() < 500 {
            let number = spawned.len() as f32;
            let at = Vec3::new(40.0 + number % 25.0 * 6.0, 200.0, 40.0 + (number / 25.0).floor() * 6.0);
            let moves = spawned.len() % 4 == 1;
            let properties = PartProperties { anchored: !moves, ..PartProperties::default() };
            let pose = Pose { position: at, rotation: Quat::IDENTITY };
            let commands = game.server_mut().commands();
            let id = commands.create_part(properties, pose, Audience::Shared);
            spawned.insert(id, Spawned { tick: 0, at, moves, seen: None });
        }
        game.tick(|_, _| ControlInput::default());
        let now = game.server().tick().0;
        spawned.values_mut().filter(|part| part.tick == 0).for_each(|part| part.tick = now);
        let projection = game.client(key).projection();
        for drawn in &projection.parts {
            let Some(part) = spawned.get_mut(&drawn.id).filter(|part| part.seen.is_none()) else { continue };
            part.seen = Some((projection.playback_s, before));
            let fallen = if part.moves { 2.0 } else { 1e-4 };
            let off = drawn.position.distance(part.at);
            assert!(off <= fallen, "first drawn {off} studs from where it was made");
        }
        before = projection.playback_s;
    }
    assert_eq!(spawned.len(), 500);
    let mut late = 0.0_f64;
    for (id, part) in &spawned {
        let (seen, before) = part.seen.unwrap_or_else(|| panic!("{id:?} was never drawn"));
        let born = part.tick as f64 / 60.0;
        assert!(seen >= born - 1e-6, "{id:?} was drawn {} s before its time", born - seen);
        // The frame before was too early for it.
        assert!(before < born || seen - born <= 1.3 * 0.05, "{id:?} was drawn {} s late", seen - born);
        late = late.max(seen - born);
    }
    assert!(late <= 1.3 * 0.05, "{late} s late");
}
