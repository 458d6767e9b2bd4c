use glam::{Quat, Vec3};
use tidelock_sim::SimTime;
use tidelock_sim::collision::{Collider, ColliderId, CollisionIndex, CollisionWorld, Mover, Nearby, Shape};
use tidelock_sim::motor::{InputFrame, MotorResult, MotorSettings, MotorSnapshot, run_frame};

/// Motor ticks in a second.
pub(crate) const SECOND: u32 = 240;

/// A place with one character in it.
pub(crate) struct Place {
    pub(crate) index: CollisionIndex,
    nearby: Nearby,
    pub(crate) settings: MotorSettings,
    pub(crate) snapshot: MotorSnapshot,
    pub(crate) time: SimTime,
    next: u64,
}

impl Place {
    pub(crate) fn empty() -> Self {
        Self {
            index: CollisionIndex::new(),
            nearby: Nearby::new(),
            settings: MotorSettings::default(),
            snapshot: MotorSnapshot::default(),
            time: SimTime(0),
            next: 1,
        }
    }

    /// A floor 400 studs wide whose top is at height 0.
    pub(crate) fn flat() -> Self {
        Self::empty().with_box(Vec3::new(0.0, -1.0, 0.0), Vec3::new(200.0, 1.0, 200.0))
    }

    pub(crate) fn with(mut self, shape: Shape, position: Vec3, rotation: Quat) -> Self {
        let id = ColliderId(self.next);
        self.next += 1;
        self.index.insert(Collider { id, shape, position, rotation }).expect("a sound part");
        self
    }

    pub(crate) fn with_box(self, position: Vec3, half: Vec3) -> Self {
        self.with(Shape::Box { half }, position, Quat::IDENTITY)
    }

    /// A box of water.
    pub(crate) fn with_water(mut self, position: Vec3, half: Vec3) -> Self {
        let id = ColliderId(self.next);
        self.next += 1;
        let volume = Collider { id, shape: Shape::Box { half }, position, rotation: Quat::IDENTITY };
        self.index.insert_water(volume).expect("a sound volume");
        self
    }

    pub(crate) fn with_mover(mut self, shape: Shape, mover: Mover) -> Self {
        let id = ColliderId(self.next);
        self.next += 1;
        self.index.insert_mover(id, shape, mover).expect("a sound mover");
        self
    }

    /// Puts the character with its feet at `feet`.
    pub(crate) fn at(mut self, feet: Vec3) -> Self {
        self.snapshot.position = feet + Vec3::Y * (self.settings.half_height + 0.02);
        self
    }

    pub(crate) fn feet(&self) -> Vec3 {
        self.snapshot.position - Vec3::Y * (self.settings.half_height + 0.02)
    }

    pub(crate) fn frame(&mut self, frame: &InputFrame) -> MotorResult {
        let mut world = CollisionWorld { index: &self.index, nearby: &mut self.nearby };
        let result = run_frame(&mut self.snapshot, frame, self.time, &self.settings, &mut world);
        self.time.0 += 256 * u64::from(result.ticks);
        assert!(self.snapshot.is_finite());
        result
    }

    /// Runs `ticks` motor ticks one by one, checking after each that nothing was entered.
    pub(crate) fn walk(&mut self, direction: Vec3, ticks: u32) {
        self.hold(&held(direction), ticks, |_| {});
    }

    pub(crate) fn hold(&mut self, frame: &InputFrame, ticks: u32, mut each: impl FnMut(&Self)) {
        for _ in 0..ticks {
            self.frame(frame);
            assert!(!self.overlaps(), "inside something at {} {:?}", self.snapshot.position, self.snapshot);
            each(self);
        }
    }

    pub(crate) fn overlaps(&mut self) -> bool {
        let mut world = CollisionWorld { index: &self.index, nearby: &mut self.nearby };
        world.overlaps(self.snapshot.position, &self.settings, self.time)
    }

    pub(crate) fn world(&mut self) -> CollisionWorld<'_> {
        CollisionWorld { index: &self.index, nearby: &mut self.nearby }
    }
}

/// A frame of one motor tick.
pub(crate) fn held(direction: Vec3) -> InputFrame {
    InputFrame { duration: tidelock_sim::SimSpan::MOTOR_TICK, direction, ..InputFrame::default() }
}

/// A rotation about an axis.
pub(crate) fn about(axis: Vec3, angle: f32) -> Quat {
    let (sin, cos) = (libm::sinf(angle * 0.5), libm::cosf(angle * 0.5));
    Quat::from_xyzw(axis.x * sin, axis.y * sin, axis.z * sin, cos)
}
