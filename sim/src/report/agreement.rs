use glam::Vec3;

use super::{ReplayLimits, Report};
use crate::angle::wrap_angle;
use crate::module::CustomState;
use crate::simulation::CharacterSim;

/// In what a report and its replay differ: the field and both values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Difference {
    /// Nothing.
    None,
    /// Position, studs.
    Position {
        /// As replayed.
        server: Vec3,
        /// As reported.
        client: Vec3,
    },
    /// Velocity, studs/s.
    Velocity {
        /// As replayed.
        server: Vec3,
        /// As reported.
        client: Vec3,
    },
    /// Facing, radians.
    Yaw {
        /// As replayed.
        server: f32,
        /// As reported.
        client: f32,
    },
    /// The module's state: its first byte that differs.
    Custom {
        /// Which byte.
        index: u8,
        /// As replayed, `None` past its end.
        server: Option<u8>,
        /// As reported, `None` past its end.
        client: Option<u8>,
    },
    /// Not all frames ran.
    Frames {
        /// Frames the budget allowed.
        ran: u32,
        /// Frames reported.
        sent: u32,
    },
}

impl Difference {
    /// The first field in which `report` is farther from its replay than agreement allows (S-24).
    #[must_use]
    pub fn beyond(limits: &ReplayLimits, replayed: &CharacterSim, report: &Report) -> Self {
        let motor = &replayed.motor;
        if motor.position.distance(report.position) > limits.agree_position {
            Self::Position { server: motor.position, client: report.position }
        } else if motor.velocity.distance(report.velocity) > limits.agree_velocity {
            Self::Velocity { server: motor.velocity, client: report.velocity }
        } else if wrap_angle(motor.yaw - report.yaw).abs() > limits.agree_yaw {
            Self::Yaw { server: motor.yaw, client: report.yaw }
        } else {
            Self::of_custom(&replayed.custom, &report.custom)
        }
    }

    /// The first field in which `report` differs from its replay at all.
    #[must_use]
    pub fn any(replayed: &CharacterSim, report: &Report) -> Self {
        let exact =
            ReplayLimits { agree_position: 0.0, agree_velocity: 0.0, agree_yaw: 0.0, ..ReplayLimits::default() };
        Self::beyond(&exact, replayed, report)
    }

    fn of_custom(server: &CustomState, client: &CustomState) -> Self {
        if server == client {
            return Self::None;
        }
        let (server, client) = (server.as_slice(), client.as_slice());
        let same = server.iter().zip(client).take_while(|(a, b)| a == b).count();
        Self::Custom { index: same as u8, server: server.get(same).copied(), client: client.get(same).copied() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-24
    #[test]
    fn agreement_is_bounded_inclusively_and_names_the_field() {
        let limits = ReplayLimits::default();
        let sim = CharacterSim::default();
        let report = Report::default();
        let judge = |report: &Report| Difference::beyond(&limits, &sim, report);
        assert_eq!(judge(&report), Difference::None);
        assert_eq!(
            judge(&Report { position: Vec3::X * 0.75, velocity: Vec3::Y, yaw: 0.1, ..report.clone() }),
            Difference::None
        );
        let turn = std::f32::consts::TAU;
        assert_eq!(judge(&Report { yaw: turn, ..report.clone() }), Difference::None);
        let far = Report { position: Vec3::X * 0.7501, ..report.clone() };
        assert_eq!(judge(&far), Difference::Position { server: Vec3::ZERO, client: far.position });
        let fast = Report { velocity: Vec3::Z * 1.001, ..report.clone() };
        assert_eq!(judge(&fast), Difference::Velocity { server: Vec3::ZERO, client: fast.velocity });
        assert_eq!(judge(&Report { yaw: -0.11, ..report.clone() }), Difference::Yaw { server: 0.0, client: -0.11 });
        let custom = Report { custom: CustomState::new(&[0, 7]).unwrap(), ..report };
        assert_eq!(judge(&custom), Difference::Custom { index: 0, server: None, client: Some(0) });
    }
}
