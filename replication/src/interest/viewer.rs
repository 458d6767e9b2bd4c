use glam::Vec3;

use crate::ids::{PlayerId, Slot};
use crate::instance::Audience;

/// A place's own radii of interest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InterestSettings {
    /// Whether origins without a radius of their own reach only so far; without streaming they reach everything.
    pub streaming: bool,
    /// Radius of such origins in studs, default 256.
    pub target_radius: f32,
    /// The least it may be in studs, default 64.
    pub min_radius: f32,
}

impl Default for InterestSettings {
    fn default() -> Self {
        Self { streaming: true, target_radius: 256.0, min_radius: 64.0 }
    }
}

impl InterestSettings {
    /// Radius of an origin that has none of its own, studs; infinite without streaming.
    #[must_use]
    pub fn default_radius(&self) -> f32 {
        if self.streaming { self.target_radius.max(self.min_radius) } else { f32::INFINITY }
    }
}

/// A point a player sees from: its character, its camera, or one the game set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Origin {
    /// Where, studs.
    pub position: Vec3,
    /// How far it reaches in studs, inclusive; infinity reaches everything, `None` means the place's own radius. A negative radius,
    /// or one that is no number, counts as 0.
    pub radius: Option<f32>,
}

impl Origin {
    /// How far it reaches in a place of these settings, studs.
    #[must_use]
    pub fn reach(&self, settings: &InterestSettings) -> f32 {
        self.radius.unwrap_or_else(|| settings.default_radius()).max(0.0)
    }
}

/// A player as interest sees it.
#[derive(Clone, Copy, Debug)]
pub struct Viewer<'a> {
    /// Who.
    pub player: PlayerId,
    /// Groups it is in.
    pub groups: &'a [u32],
    /// Points it sees from; without any it sees everything it may.
    pub origins: &'a [Origin],
    /// Slot of its own character, which it always sees.
    pub character: Option<Slot>,
}

/// A subject as [`first_sight`] sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subject {
    /// Where, studs.
    pub position: Vec3,
    /// Who may know of it.
    pub audience: Audience,
    /// Whether distance does not matter.
    pub always_relevant: bool,
    /// Whose character it is, if one.
    pub character_of: Option<PlayerId>,
}

/// Whether `viewer` sees a subject it did not see before: its own character, else by audience, then always-relevant, then
/// the distance to any origin.
#[must_use]
pub fn first_sight(settings: &InterestSettings, viewer: &Viewer<'_>, subject: &Subject) -> bool {
    if subject.character_of == Some(viewer.player) {
        return true;
    }
    if !subject.audience.admits(viewer.player, viewer.groups) {
        return false;
    }
    if subject.always_relevant || viewer.origins.is_empty() {
        return true;
    }
    viewer.origins.iter().any(|origin| {
        let radius = origin.reach(settings);
        origin.position.distance_squared(subject.position) <= radius * radius
    })
}
