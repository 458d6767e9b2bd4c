use super::Report;
use crate::sequence::Sequence;
use crate::simulation::CharacterSim;

/// A field of a character's state that a report tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DesyncField {
    /// A component of the position: 0 to 2 for x, y, z.
    Position(u8),
    /// A component of the velocity, likewise.
    Velocity(u8),
    /// Facing.
    Yaw,
    /// What the character is doing.
    State,
    /// A byte of the module's state, or its first beyond the shorter of two.
    Custom(u8),
}

impl DesyncField {
    /// Whose field it is: the motor's or the simulation module's.
    #[must_use]
    pub fn component(self) -> &'static str {
        if matches!(self, Self::Custom(_)) { "module" } else { "motor" }
    }

    /// Its name within the component.
    #[must_use]
    pub fn name(self) -> &'static str {
        let axis = |names: [&'static str; 3], axis: u8| names[usize::from(axis).min(2)];
        match self {
            Self::Position(which) => axis(["position.x", "position.y", "position.z"], which),
            Self::Velocity(which) => axis(["velocity.x", "velocity.y", "velocity.z"], which),
            Self::Yaw => "yaw",
            Self::State => "state",
            Self::Custom(_) => "custom",
        }
    }
}

/// Client and server ran the same frames from the same state and came to different ends (S-24): the simulation depends on
/// something it must not depend on, the two worlds differ, or somebody lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Desync {
    /// The first report that differed.
    pub sequence: Sequence,
    /// The first field that differed.
    pub field: DesyncField,
    /// As replayed: a float's bits, a number, or 256 past the end of the module's state.
    pub server: u32,
    /// As reported, likewise.
    pub client: u32,
}

impl Desync {
    /// The first field in which `report` is not its replay to the bit.
    #[must_use]
    pub fn between(replayed: &CharacterSim, report: &Report) -> Option<Self> {
        let motor = &replayed.motor;
        let found = |field, server, client| Some(Self { sequence: report.sequence, field, server, client });
        let vectors = [
            (DesyncField::Position as fn(u8) -> _, motor.position, report.position),
            (DesyncField::Velocity, motor.velocity, report.velocity),
        ];
        for (field, server, client) in vectors {
            for (axis, (server, client)) in server.to_array().into_iter().zip(client.to_array()).enumerate() {
                if server.to_bits() != client.to_bits() {
                    return found(field(axis as u8), server.to_bits(), client.to_bits());
                }
            }
        }
        if motor.yaw.to_bits() != report.yaw.to_bits() {
            return found(DesyncField::Yaw, motor.yaw.to_bits(), report.yaw.to_bits());
        }
        if motor.state != report.state {
            return found(DesyncField::State, motor.state as u32, report.state as u32);
        }
        let (server, client) = (replayed.custom.as_slice(), report.custom.as_slice());
        let byte = |bytes: &[u8], at: usize| bytes.get(at).map_or(256, |byte| u32::from(*byte));
        let differs = (0..server.len().max(client.len())).find(|at| byte(server, *at) != byte(client, *at))?;
        found(DesyncField::Custom(differs as u8), byte(server, differs), byte(client, differs))
    }
}

/// Rings once when two sides that agreed to the bit cease to.
///
/// It compares confirmed states only: the end of a report all of whose frames the server ran, at the time they were meant
/// for, from a state that the report before had shown to be the same. What a client said before it took in a correction, a
/// game command or a refusal is not compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DesyncAlarm {
    agreed: bool,
}

impl DesyncAlarm {
    /// Takes in a report and its replay. `whole` says whether every frame ran, `in_time` whether it ran at the time asked for.
    pub fn compare(
        &mut self,
        replayed: &CharacterSim,
        report: &Report,
        (whole, in_time): (bool, bool),
    ) -> Option<Desync> {
        let difference = Desync::between(replayed, report);
        let alarm = difference.filter(|_| self.agreed && whole && in_time);
        self.agreed = whole && difference.is_none();
        alarm
    }

    /// The server's state is not what the client's next report begins with, and both know it.
    pub fn reset(&mut self) {
        self.agreed = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::CustomState;
    use crate::motor::CharacterState;
    use glam::Vec3;

    // B26
    #[test]
    fn it_rings_once_and_never_over_what_was_not_agreed() {
        let (sim, mut alarm) = (CharacterSim::default(), DesyncAlarm::default());
        let same = Report { state: sim.motor.state, ..Report::default() };
        let other = Report { position: Vec3::new(0.0, 1e-30, 0.0), sequence: Sequence(4), ..same.clone() };
        assert_eq!(alarm.compare(&sim, &other, (true, true)), None, "nothing was agreed");
        assert_eq!(alarm.compare(&sim, &same, (true, true)), None);
        let rung = alarm.compare(&sim, &other, (true, true)).expect("they part");
        assert_eq!((rung.sequence, rung.field.component(), rung.field.name()), (Sequence(4), "motor", "position.y"));
        assert_eq!((rung.server, rung.client), (0, 1e-30_f32.to_bits()));
        assert_eq!(alarm.compare(&sim, &other, (true, true)), None, "it was said");
        for confirmed in [(false, true), (true, false)] {
            assert_eq!(alarm.compare(&sim, &same, (true, true)), None);
            assert_eq!(alarm.compare(&sim, &other, confirmed), None, "{confirmed:?}");
        }
        assert_eq!(alarm.compare(&sim, &same, (true, true)), None);
        alarm.reset();
        assert_eq!(alarm.compare(&sim, &other, (true, true)), None);
    }

    #[test]
    fn every_field_is_named() {
        let sim = CharacterSim::default();
        let same = Report { state: sim.motor.state, ..Report::default() };
        let name =
            |report: Report| Desync::between(&sim, &report).map(|found| (found.field.component(), found.field.name()));
        assert_eq!(name(same.clone()), None);
        assert_eq!(name(Report { velocity: Vec3::new(0.0, 0.0, -0.0), ..same.clone() }), Some(("motor", "velocity.z")));
        assert_eq!(name(Report { yaw: 1.0, ..same.clone() }), Some(("motor", "yaw")));
        assert_eq!(name(Report { state: CharacterState::Jumping, ..same.clone() }), Some(("motor", "state")));
        let custom = Report { custom: CustomState::new(&[0]).expect("one byte"), ..same };
        assert_eq!(
            Desync::between(&sim, &custom).map(|found| (found.field, found.server)),
            Some((DesyncField::Custom(0), 256))
        );
    }
}
