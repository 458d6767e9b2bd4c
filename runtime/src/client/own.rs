use glam::Vec3;
use tidelock_replication::ids::InstanceId;
use tidelock_replication::wire::OwnSnapshot;
use tidelock_sim::client::{DrawnPose, Prediction, PredictionClock, PredictionClockConfig};
use tidelock_sim::motor::MotorSnapshot;
use tidelock_sim::report::Correction;

use super::posed::PosedCharacter;
use super::ticked::TickedCharacter;
use crate::controller::Controller;

/// The client's own character: which one it is, how it is moved, and the clock that steers its reports.
#[derive(Debug)]
pub(crate) struct OwnCharacter {
    pub(crate) clock: PredictionClock,
    assigned: Option<(InstanceId, Controller)>,
    pub(crate) style: Option<OwnStyle>,
    /// The server's words not applied yet.
    pub(crate) corrections: Vec<Correction>,
    /// The newest of the server's states not applied yet.
    pub(crate) snapshot: Option<OwnSnapshot>,
}

/// How the own character is moved ahead of the server, by its controller.
#[derive(Debug)]
pub(crate) enum OwnStyle {
    /// At once, in reports.
    Reports(Box<Prediction>),
    /// A tick at a time, as the server will.
    Ticked(Box<TickedCharacter>),
    /// A tick at a time, by the game.
    Posed(Box<PosedCharacter>),
}

/// Corrections that wait for a frame at most. One holds what those before it said.
const MAX_CORRECTIONS: usize = 256;

impl OwnCharacter {
    pub(crate) fn new() -> Self {
        let clock = PredictionClock::new(PredictionClockConfig::default());
        Self { clock, assigned: None, style: None, corrections: Vec::new(), snapshot: None }
    }

    /// From now on it is this one, moved so; it lives from the next correction on.
    pub(crate) fn assign(&mut self, id: InstanceId, controller: Controller) {
        self.assigned = Some((id, controller));
        self.end();
    }

    /// It lives no longer.
    pub(crate) fn end(&mut self) {
        self.style = None;
        self.corrections.clear();
        self.snapshot = None;
    }

    /// Which one, once assigned.
    pub(crate) fn id(&self) -> Option<InstanceId> {
        self.assigned.map(|(id, _)| id)
    }

    /// How it is moved, once assigned.
    pub(crate) fn controller(&self) -> Option<Controller> {
        self.assigned.map(|(_, controller)| controller)
    }

    /// Takes the server's word until the next frame; false when the oldest that waited was given up for it.
    pub(crate) fn correct(&mut self, correction: Correction) -> bool {
        let room = self.corrections.len() < MAX_CORRECTIONS;
        if !room {
            self.corrections.remove(0);
        }
        self.corrections.push(correction);
        room
    }

    /// Takes in a server's state of it; only the newest counts.
    pub(crate) fn receive(&mut self, snapshot: OwnSnapshot) {
        if self.snapshot.is_none_or(|held| held.header.tick < snapshot.header.tick) {
            self.snapshot = Some(snapshot);
        }
    }

    /// Its predicted state.
    pub(crate) fn motor(&self) -> Option<&MotorSnapshot> {
        self.style.as_ref().map(OwnStyle::motor)
    }
}

impl OwnStyle {
    /// The state reached.
    pub(crate) fn motor(&self) -> &MotorSnapshot {
        match self {
            Self::Reports(prediction) => &prediction.sim().motor,
            Self::Ticked(ticked) => ticked.motor(),
            Self::Posed(posed) => posed.motor(),
        }
    }

    /// Puts a character that sits on its seat.
    pub(crate) fn carry(&mut self, position: Vec3, velocity: Vec3, yaw: f32) {
        match self {
            Self::Reports(prediction) => prediction.carry(position, velocity, yaw),
            Self::Ticked(ticked) => ticked.carry(position, velocity, yaw),
            Self::Posed(posed) => posed.carry(position, velocity, yaw),
        }
    }

    /// Where to draw it.
    pub(crate) fn drawn(&self) -> DrawnPose {
        match self {
            Self::Reports(prediction) => prediction.drawn(),
            Self::Ticked(ticked) => ticked.drawn(),
            Self::Posed(posed) => posed.drawn(),
        }
    }

    /// Server time the prediction has reached, seconds.
    pub(crate) fn predicted_seconds(&self) -> f64 {
        match self {
            Self::Reports(prediction) => prediction.predicted_seconds(),
            Self::Ticked(ticked) => ticked.time().reached,
            Self::Posed(posed) => posed.time().reached,
        }
    }

    /// Server time at which it is drawn, seconds.
    pub(crate) fn drawn_seconds(&self) -> f64 {
        match self {
            Self::Reports(prediction) => prediction.drawn_seconds(),
            Self::Ticked(ticked) => ticked.time().drawn,
            Self::Posed(posed) => posed.time().drawn,
        }
    }

    /// Inputs to send, if there are any.
    pub(crate) fn take_inputs(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::Reports(_) => None,
            Self::Ticked(ticked) => ticked.take_inputs(),
            Self::Posed(posed) => posed.take_inputs(),
        }
    }

    /// Devices whose changes become inputs of ticks, where there are such.
    pub(crate) fn devices(&mut self) -> Option<&mut super::devices::Devices> {
        match self {
            Self::Reports(_) => None,
            Self::Ticked(ticked) => Some(&mut ticked.devices),
            Self::Posed(posed) => Some(&mut posed.devices),
        }
    }
}

/// Where in server time a character is that moves by ticks, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TickedTime {
    /// The tick reached, and what has passed of the next.
    pub(crate) reached: f64,
    /// Between the last two ticks.
    pub(crate) drawn: f64,
}

#[cfg(test)]
mod tests {
    use tidelock_sim::report::CorrectionCause;
    use tidelock_sim::simulation::CharacterSim;
    use tidelock_sim::{Sequence, SimTime};

    use super::*;

    // Bad input: a server that corrects a client which is in no place yet fills no memory.
    #[test]
    fn corrections_that_wait_are_bounded_and_the_newest_stay() {
        let mut own = OwnCharacter::new();
        let correction = |number| Correction {
            sequence: Sequence(number),
            epoch: 0,
            time: SimTime(0),
            sim: CharacterSim::default(),
            cause: CorrectionCause::Disagreement,
        };
        let kept = (0..1_000).filter(|number| own.correct(correction(*number))).count();
        assert_eq!((kept, own.corrections.len()), (MAX_CORRECTIONS, MAX_CORRECTIONS));
        assert_eq!(own.corrections.last().map(|newest| newest.sequence), Some(Sequence(999)));
    }
}
