use glam::Vec3;
use tidelock_sim::SimTime;
use tidelock_sim::collision::{CollisionIndex, CollisionWorld, Nearby};
use tidelock_sim::motor::{InputFrame, MotorSettings, MotorSnapshot, run_frame};

use crate::course::Course;
use crate::peer::Peer;
use crate::scene::Scene;
use crate::table::{Figure, Table};
use crate::watch::measure_beside;

/// A character that walks by the motor.
pub(crate) struct Walker {
    index: CollisionIndex,
    nearby: Nearby,
    settings: MotorSettings,
    snapshot: MotorSnapshot,
    course: Course,
    time: SimTime,
}

impl Walker {
    pub(crate) fn new(scene: &Scene, position: Vec3) -> Self {
        Self {
            index: scene.index(),
            nearby: Nearby::new(),
            settings: MotorSettings::default(),
            snapshot: MotorSnapshot { position, ..MotorSnapshot::default() },
            course: Course::new(9, scene.range),
            time: SimTime(0),
        }
    }

    /// A frame of 1/60 s; returns its motor ticks.
    pub(crate) fn frame(&mut self) -> u64 {
        let direction = self.course.next(self.snapshot.position);
        let frame = InputFrame { direction, ..InputFrame::default() };
        let mut world = CollisionWorld { index: &self.index, nearby: &mut self.nearby };
        let result = run_frame(&mut self.snapshot, &frame, self.time, &self.settings, &mut world);
        self.time.0 += 256 * u64::from(result.ticks);
        u64::from(result.ticks)
    }
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
        let mut walker = Walker::new(&scene, START);
        let mut peer = Peer::new(&scene, START);
        let mut course = Course::new(9, scene.range);
        let [ours, theirs] = measure_beside([&mut || (0..60).map(|_| walker.frame()).sum(), &mut || {
            for _ in 0..15 {
                let direction = course.next(peer.position);
                (0..4).for_each(|_| peer.tick(direction));
            }
            60
        }]);
        assert!(walker.snapshot.position.y > -5.0, "{what}: the character fell out of the place");
        let figure = Figure::new(what, ours * 1e-3, "µs").beside("rapier's controller", theirs * 1e-3);
        table.row(Figure { target, ..figure });
    }
}
