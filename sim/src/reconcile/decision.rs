use glam::Vec3;

/// When to correct, and how (S-31). Lengths are in the world's unit; the defaults suit metres and a running person.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReconcileConfig {
    /// Drift above which the entity is shifted rather than blended, default 1.5.
    pub correct_m: f32,
    /// Drift above which the entity snaps, default 10.
    pub far_m: f32,
    /// The most ticks the server may have guessed for its snapshot to correct, default 2.
    pub trusted_guessed_ticks: u32,
    /// How long the server moves an entity on guesses, seconds, default 0.5.
    pub server_guess_window_s: f64,
    /// How long the entity takes to slow to a stop before the cap, seconds, default 0.25.
    pub cap_ease_s: f64,
    /// How long the oldest unheard input may wait before the entity stands, seconds; `None`, the default, is guess window
    /// and ease together. It must exceed the worst round trip.
    pub prediction_cap_s: Option<f64>,
    /// Whether height is ignored, default false: for entities whose height a controller or the terrain sets.
    pub planar: bool,
    /// The direction of height, of unit length, default +Y.
    pub up: Vec3,
}

impl Default for ReconcileConfig {
    fn default() -> Self {
        Self {
            correct_m: 1.5,
            far_m: 10.0,
            trusted_guessed_ticks: 2,
            server_guess_window_s: 0.5,
            cap_ease_s: 0.25,
            prediction_cap_s: None,
            planar: false,
            up: Vec3::Y,
        }
    }
}

impl ReconcileConfig {
    /// How long the oldest unheard input may wait before the entity stands, seconds.
    #[must_use]
    pub fn cap_s(&self) -> f64 {
        self.prediction_cap_s.unwrap_or(self.server_guess_window_s + self.cap_ease_s)
    }

    /// The way from `from` to `to` as this configuration sees it.
    #[must_use]
    pub fn drift(&self, from: Vec3, to: Vec3) -> Vec3 {
        let drift = to - from;
        if self.planar { drift - self.up * drift.dot(self.up) } else { drift }
    }
}

/// What a decision rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReconcileInput {
    /// Whether the acknowledgement is above that of the snapshot before.
    pub ack_fresh: bool,
    /// Whether the acknowledgement is above the last one that blended, shifted or snapped.
    pub ack_unread: bool,
    /// How many sequences up to the acknowledgement the server guessed.
    pub guessed_ticks: u32,
    /// Where the server has the entity. Nonfinite corrects nothing.
    pub server: Vec3,
    /// Where the acknowledged input left the entity, `None` when it is not in the history.
    pub recorded: Option<Vec3>,
    /// Where the entity is now, without visual offset.
    pub drawn: Vec3,
    /// Whether nothing was recorded yet.
    pub history_empty: bool,
    /// How long ago the oldest input newer than the newest heard one was recorded, seconds; `None` without any.
    pub oldest_unheard_age: Option<f64>,
}

/// Why an entity snaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapReason<R> {
    /// A rule of the game.
    Game(R),
    /// The acknowledged input is not in the history.
    Lost,
    /// The drift is too far to be movement.
    Far,
}

/// What to do with an entity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Correction<R> {
    /// Nothing; move at full speed.
    None,
    /// Owe the drift and repay it while moving.
    Blend {
        /// From the recorded pose to the server's.
        drift: Vec3,
    },
    /// Move entity and history by the drift now.
    Shift {
        /// From the recorded pose to the server's.
        drift: Vec3,
    },
    /// Put entity and history on the server's pose.
    Snap {
        /// The server's pose.
        to: Vec3,
        /// Why.
        reason: SnapReason<R>,
    },
    /// The server has not heard of this entity's inputs for too long: move slower.
    Wait {
        /// Share of full speed, 0 to below 1; the sent input is scaled too.
        speed_scale: f32,
    },
}

/// Drift below which server and client agree.
const AGREED: f32 = 1e-4;

/// Decides what a server's snapshot means for a predicted entity (S-31). `rule` is the game's: it is asked first and may
/// force a snap with a reason of its own.
pub fn reconcile<R>(
    input: &ReconcileInput,
    config: &ReconcileConfig,
    rule: impl FnOnce(&ReconcileInput) -> Option<R>,
) -> Correction<R> {
    let sound = input.server.is_finite();
    if sound && let Some(reason) = rule(input) {
        return Correction::Snap { to: input.server, reason: SnapReason::Game(reason) };
    }
    let trusted = input.guessed_ticks <= config.trusted_guessed_ticks;
    let read = if sound && input.ack_fresh && input.ack_unread && trusted && !input.history_empty {
        compare(input, config)
    } else {
        Correction::None
    };
    if matches!(read, Correction::Snap { .. }) {
        return read;
    }
    match wait_scale(input.oldest_unheard_age, config) {
        Some(speed_scale) => Correction::Wait { speed_scale },
        None => read,
    }
}

fn compare<R>(input: &ReconcileInput, config: &ReconcileConfig) -> Correction<R> {
    let Some(recorded) = input.recorded else {
        return Correction::Snap { to: input.server, reason: SnapReason::Lost };
    };
    let drift = config.drift(recorded, input.server);
    let length = drift.length();
    if length > config.far_m {
        Correction::Snap { to: input.server, reason: SnapReason::Far }
    } else if length > config.correct_m {
        Correction::Shift { drift }
    } else if length > AGREED {
        Correction::Blend { drift }
    } else {
        Correction::None
    }
}

/// The share of full speed left to an entity unheard for `age`, `None` for all of it.
fn wait_scale(age: Option<f64>, config: &ReconcileConfig) -> Option<f32> {
    let (age, cap) = (age?, config.cap_s());
    if age <= cap - config.cap_ease_s {
        return None;
    }
    let left = cap - age;
    let scale = if left <= 0.0 { 0.0 } else { left / config.cap_ease_s } as f32;
    (scale < 1.0).then_some(scale.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fresh(drift: Vec3) -> ReconcileInput {
        ReconcileInput {
            ack_fresh: true,
            ack_unread: true,
            server: drift,
            recorded: Some(Vec3::ZERO),
            ..ReconcileInput::default()
        }
    }

    fn never(_: &ReconcileInput) -> Option<()> {
        None
    }

    // S-31
    #[test]
    fn limits_belong_to_the_milder_side() {
        let config = ReconcileConfig::default();
        let decide = |x: f32| reconcile(&fresh(Vec3::X * x), &config, never);
        assert!(matches!(decide(10.0), Correction::Shift { .. }));
        assert!(matches!(decide(1.5), Correction::Blend { .. }));
        assert!(matches!(decide(1e-4), Correction::None));
        assert!(matches!(decide(10.1), Correction::Snap { reason: SnapReason::Far, .. }));
    }

    // S-31: the up direction is a parameter.
    #[test]
    fn planar_ignores_height_along_any_up() {
        let config = ReconcileConfig { planar: true, up: Vec3::Z, ..ReconcileConfig::default() };
        assert_eq!(reconcile(&fresh(Vec3::Z * 50.0), &config, never), Correction::None);
        let drift = Vec3::new(0.5, 0.5, 0.0);
        assert_eq!(reconcile(&fresh(drift + Vec3::Z), &config, never), Correction::Blend { drift });
    }

    // S-31
    #[test]
    fn a_rule_sees_the_drawn_pose_and_comes_first() {
        let input = ReconcileInput { drawn: Vec3::Y, oldest_unheard_age: Some(9.0), ..ReconcileInput::default() };
        let rule = |input: &ReconcileInput| (input.drawn != input.server).then_some("rooted");
        let decision = reconcile(&input, &ReconcileConfig::default(), rule);
        assert_eq!(decision, Correction::Snap { to: Vec3::ZERO, reason: SnapReason::Game("rooted") });
    }

    proptest! {
        // S-31, B21: no number makes a decision that is not one.
        #[test]
        fn decisions_are_finite(server: [f32; 3], recorded: [f32; 3], age: Option<f64>, ease: f64, cap: Option<f64>) {
            let config = ReconcileConfig { cap_ease_s: ease, prediction_cap_s: cap, ..ReconcileConfig::default() };
            let input = ReconcileInput {
                recorded: Some(Vec3::from_array(recorded)),
                oldest_unheard_age: age,
                ..fresh(Vec3::from_array(server))
            };
            match reconcile(&input, &config, never) {
                Correction::None => {}
                Correction::Blend { drift } | Correction::Shift { drift } => prop_assert!(drift.is_finite()),
                Correction::Snap { to, .. } => prop_assert!(to.is_finite()),
                Correction::Wait { speed_scale } => prop_assert!((0.0..1.0).contains(&speed_scale)),
            }
        }
    }
}
