use glam::Vec3;
use tidelock_replication::ids::InstanceId;
use tidelock_replication::instance::Seat;
use tidelock_replication::place::PlacePart;
use tidelock_sim::SimTime;
use tidelock_sim::collision::Mover;
use tidelock_sim::motor::{CharacterState, MotorSettings};

/// Seconds in which a remote character passes from playback time to its mover's time, and back.
const EASE_S: f32 = 0.4;
/// Gap between feet and a mover within which the character stands on it, studs.
const CONTACT: f32 = 0.3;

/// A remote character's ride on a scripted mover: presentation only.
///
/// Others are drawn in the past, movers where the own character stands on them, which is later. A remote rider drawn in the past
/// would trail behind its platform, so it is carried along to the platform's time; stepping on and off, it eases over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carried {
    mover: Option<InstanceId>,
    /// 0 at playback time, 1 at the mover's.
    weight: f32,
    /// Where it sits while playback has it seated; that it stands up is told before playback gets there.
    pub(crate) seat: Option<Seat>,
}

/// The two moments drawn at once, and what there is to ride.
pub(crate) struct Rides<'a> {
    pub(crate) movers: &'a [PlacePart],
    pub(crate) settings: &'a MotorSettings,
    pub(crate) playback: SimTime,
    pub(crate) predicted: SimTime,
    /// Length of the frame, seconds.
    pub(crate) dt: f32,
}

impl Rides<'_> {
    /// Where to draw a character that playback has at `position` facing `yaw`.
    pub(crate) fn carry(&self, carried: &mut Carried, position: Vec3, yaw: f32, state: CharacterState) -> (Vec3, f32) {
        let under = if state == CharacterState::Grounded { self.under(position) } else { None };
        let step = self.dt / EASE_S;
        if under.is_some() && (carried.mover == under || carried.weight <= 0.0) {
            carried.mover = under;
            carried.weight = (carried.weight + step).min(1.0);
        } else if state == CharacterState::Grounded || carried.weight < 1.0 {
            // In the air above its mover a rider stays with it: it comes down there.
            carried.weight = (carried.weight - step).max(0.0);
        }
        let ridden = self.movers.iter().find(|part| Some(part.id) == carried.mover);
        let Some(mover) = ridden.and_then(mover_of).filter(|_| carried.weight > 0.0) else {
            (carried.mover, carried.weight) = (None, 0.0);
            return (position, yaw);
        };
        // Even at both ends, so that neither stepping on nor off shows as a jerk.
        let share = carried.weight * carried.weight * (3.0 - 2.0 * carried.weight);
        let there = mover.carry(position, self.playback, self.predicted);
        let turned = mover.yaw_between(self.playback, self.predicted, self.settings.up);
        (position + (there - position) * share, tidelock_sim::wrap_angle(yaw + turned * share))
    }

    /// The mover a character at `position` stands on at playback time.
    fn under(&self, position: Vec3) -> Option<InstanceId> {
        let feet = position - self.settings.up * self.settings.half_height;
        let standing = self.movers.iter().filter(|part| part.properties.can_collide).find(|part| {
            let Some(mover) = mover_of(part) else { return false };
            let (centre, rotation) = mover.pose(self.playback);
            let reach = part.properties.size.length() * 0.5 + self.settings.half_height;
            if centre.distance_squared(feet) > reach * reach {
                return false;
            }
            let local = (rotation.conjugate() * (feet - centre)).abs();
            let room = part.properties.size * 0.5 + Vec3::splat(CONTACT);
            local.cmple(room).all()
        });
        standing.map(|part| part.id)
    }
}

fn mover_of(part: &PlacePart) -> Option<Mover> {
    part.properties.mover_at(part.pose)
}
