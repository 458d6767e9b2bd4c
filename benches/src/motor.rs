use glam::Vec3;
use tidelock_sim::SimTime;
use tidelock_sim::collision::{CollisionIndex, CollisionWorld, Nearby};
use tidelock_sim::motor::{InputFrame, MotorSettings, MotorSnapshot, run_frame};

use crate::course::Course;
use crate::peer::Peer;
use crate::scene::Scene;
use crate::table::{Figure, Table};
use crate::watch::measure_beside;

/// Ways walked, each of so many frames of 1/60 s.
const WAYS: u64 = 6;
const FRAMES: u32 = 120;
const TICKS: u64 = WAYS * FRAMES as u64 * 4;

/// A character that walks by the motor.
struct Walker {
    index: CollisionIndex,
    nearby: Nearby,
    settings: MotorSettings,
}

impl Walker {
    fn new(scene: &Scene) -> Self {
        Self { index: scene.index(), nearby: Nearby::new(), settings: MotorSettings::default() }
    }

    /// Walks all the ways; returns the motor ticks that took.
    fn lap(&mut self, range: f32) -> u64 {
        let mut ticks = 0;
        for way in 0..WAYS {
            let mut snapshot = MotorSnapshot { position: start(way, range), ..MotorSnapshot::default() };
            let (mut course, mut time) = (Course::new(way, range), SimTime(0));
            for _ in 0..FRAMES {
                let frame = InputFrame { direction: course.next(snapshot.position), ..InputFrame::default() };
                let mut world = CollisionWorld { index: &self.index, nearby: &mut self.nearby };
                let result = run_frame(&mut snapshot, &frame, time, &self.settings, &mut world);
                time.0 += 256 * u64::from(result.ticks);
                ticks += u64::from(result.ticks);
            }
            assert!(snapshot.position.y > -5.0, "the character fell out of the place");
        }
        ticks
    }
}

/// Walks the same ways by the peer.
fn peer_lap(peer: &mut Peer, range: f32) -> u64 {
    for way in 0..WAYS {
        peer.begin(start(way, range));
        let mut course = Course::new(way, range);
        for _ in 0..FRAMES {
            let direction = course.next(peer.position);
            (0..4).for_each(|_| peer.tick(direction));
        }
    }
    TICKS
}

fn start(way: u64, range: f32) -> Vec3 {
    let (x, z) = (way % 3, way / 3);
    START + Vec3::new(x as f32 - 1.0, 0.0, z as f32 - 0.5) * range * 0.6
}

/// Where characters begin: above the middle.
pub(crate) const START: Vec3 = Vec3::new(0.3, 7.0, 0.2);

/// The motor's tick in each scene beside rapier's controller on the same way (S-10 to S-13).
pub(crate) fn run(table: &mut Table) {
    let scenes: [(&'static str, Scene, Option<f64>); 6] = [
        ("motor tick, flat", Scene::flat(), Some(0.5)),
        ("motor tick among 1,000 boxes", Scene::boxes(), Some(1.2)),
        ("motor tick on 1,024 packed boxes", Scene::packed(), None),
        ("motor tick, trimesh of 64 × 64 cells of 1 stud", Scene::mesh(1.0), Some(2.0)),
        ("motor tick, trimesh of 64 × 64 cells of 4 studs", Scene::mesh(4.0), Some(2.0)),
        ("motor tick, heightfield of 64 × 64 cells of 1 stud", Scene::heightfield(1.0), None),
    ];
    for (what, scene, target) in scenes {
        let (mut walker, mut peer) = (Walker::new(&scene), Peer::new(&scene));
        let [ours, theirs] =
            measure_beside([&mut || walker.lap(scene.range), &mut || peer_lap(&mut peer, scene.range)]);
        let figure = Figure::new(what, ours * 1e-3, "µs").beside("rapier's controller", theirs * 1e-3);
        table.row(Figure { target, ..figure });
    }
}
