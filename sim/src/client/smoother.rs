use glam::Vec3;

use crate::angle::wrap_angle;

/// How corrections fade from the picture (S-34).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectionSmootherConfig {
    /// Decay per second, default 14; 7 suits remote objects.
    pub rate: f32,
    /// Fastest an offset shrinks, studs/s, default infinite.
    pub max_speed: f32,
    /// Decay per second that `max_speed` never slows below, default 4.
    pub min_rate: f32,
    /// Longest offset kept, studs, default infinite. What is beyond shows at once.
    pub max_offset: f32,
}

impl Default for CorrectionSmootherConfig {
    fn default() -> Self {
        Self { rate: 14.0, max_speed: f32::INFINITY, min_rate: 4.0, max_offset: f32::INFINITY }
    }
}

/// How far an object is drawn from where simulation has it. Presentation only; it never enters simulation (S-37).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CorrectionOffset {
    /// Added to the position, studs.
    pub position: Vec3,
    /// Added to the facing, radians.
    pub angle: f32,
}

/// An object's pose before or after a correction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SmoothedPose {
    /// Which object.
    pub id: u64,
    /// Position, studs.
    pub position: Vec3,
    /// Facing, radians.
    pub angle: f32,
    /// Whether it was put there rather than moved; its offset is zeroed.
    pub snap: bool,
    /// Decay per second of this object, `None` for the configured one.
    pub rate: Option<f32>,
}

/// Length below which an offset is left as it is, studs.
const UNSEEN: f32 = 1e-6;

impl CorrectionOffset {
    /// Takes in one correction of an object and returns how far it moved, studs, teleports included.
    pub fn absorb(
        &mut self,
        before: &SmoothedPose,
        after: &SmoothedPose,
        teleport: bool,
        config: &CorrectionSmootherConfig,
    ) -> f32 {
        let moved = before.position - after.position;
        if teleport || before.snap || after.snap {
            *self = Self::default();
        } else {
            self.position += moved;
            self.angle = wrap_angle(self.angle + before.angle - after.angle);
            let length = self.position.length();
            if length > config.max_offset {
                self.position *= config.max_offset / length;
            }
        }
        moved.length()
    }

    /// Lets the offset fade for `dt` seconds at `rate` per second, within the bounds of `config`.
    pub fn decay(&mut self, dt: f32, rate: f32, config: &CorrectionSmootherConfig) {
        let dt = if dt.is_finite() { dt.max(0.0) } else { 0.0 };
        let kept = libm::expf(-rate * dt);
        let length = self.position.length();
        if length >= UNSEEN {
            let wanted = length * (1.0 - kept);
            let least = length * (1.0 - libm::expf(-config.min_rate * dt));
            // Without a limit the shares stay as they are: infinite times zero is no number.
            let limit = if config.max_speed.is_finite() { config.max_speed * dt } else { f32::INFINITY };
            let removed = wanted.min(limit.max(least));
            self.position *= (length - removed) / length;
        }
        self.angle *= kept;
    }
}

/// The offsets of many objects. Nothing allocates once as many objects have been seen as there will be.
#[derive(Clone, Debug, Default)]
pub struct CorrectionSmoother {
    config: CorrectionSmootherConfig,
    /// By id, ascending.
    objects: Vec<Smoothed>,
}

#[derive(Clone, Copy, Debug)]
struct Smoothed {
    id: u64,
    rate: f32,
    offset: CorrectionOffset,
}

impl CorrectionSmoother {
    /// A smoother without objects.
    #[must_use]
    pub fn new(config: CorrectionSmootherConfig) -> Self {
        Self { config, objects: Vec::new() }
    }

    /// Takes in the poses of all objects before and after a correction; objects that are not in `after` lose their
    /// offset. Returns the farthest any object moved, studs, teleports included.
    pub fn correct(&mut self, before: &[SmoothedPose], after: &[SmoothedPose], teleport: bool) -> f32 {
        self.objects.retain(|object| after.iter().any(|pose| pose.id == object.id));
        let mut largest = 0.0_f32;
        for (index, pose) in after.iter().enumerate() {
            let slot = match self.objects.binary_search_by_key(&pose.id, |object| object.id) {
                Ok(slot) => slot,
                Err(slot) => {
                    let object = Smoothed { id: pose.id, rate: 0.0, offset: CorrectionOffset::default() };
                    self.objects.insert(slot, object);
                    slot
                }
            };
            let object = &mut self.objects[slot];
            object.rate = pose.rate.unwrap_or(self.config.rate);
            // Both lists usually hold the same objects in the same order.
            let same_place = before.get(index).filter(|other| other.id == pose.id);
            if let Some(earlier) = same_place.or_else(|| before.iter().find(|other| other.id == pose.id)) {
                largest = largest.max(object.offset.absorb(earlier, pose, teleport, &self.config));
            }
        }
        largest
    }

    /// Lets all offsets fade for `dt` seconds.
    pub fn decay(&mut self, dt: f32) {
        for object in &mut self.objects {
            object.offset.decay(dt, object.rate, &self.config);
        }
    }

    /// The offset of an object; zero for one never seen.
    #[must_use]
    pub fn offset(&self, id: u64) -> CorrectionOffset {
        let found = self.objects.binary_search_by_key(&id, |object| object.id);
        found.map_or(CorrectionOffset::default(), |slot| self.objects[slot].offset)
    }

    /// All objects and their offsets, by id.
    pub fn offsets(&self) -> impl Iterator<Item = (u64, CorrectionOffset)> {
        self.objects.iter().map(|object| (object.id, object.offset))
    }
}
