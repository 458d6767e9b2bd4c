use super::draws::Draws;

/// A way through space and time for tracks: even steps, late ones, ones out of order, halts and teleports.
pub(super) struct Course {
    time: f64,
    position: [f64; 3],
}

impl Course {
    pub(super) fn new(time: f64) -> Self {
        Self { time, position: [0.0; 3] }
    }

    /// Time, position and velocity of the next sample.
    pub(super) fn proceed(&mut self, draws: &mut Draws) -> (f64, [f64; 3], [f64; 3]) {
        let step = match draws.whole(0, 10) {
            0 => draws.pick(&[-0.05, 0.0]),
            1 => draws.number(0.31, 0.9),
            2 => draws.number(0.16, 0.29),
            _ => draws.number(0.03, 0.07),
        };
        let velocity = draws.vector(14.0);
        let far = if draws.strikes(0.08) { 60.0 } else { 0.0 };
        let leap = draws.vector(far);
        // To four decimals, as everything drawn.
        let short = |number: f64| (number * 1e4).round() / 1e4;
        for axis in 0..3 {
            self.position[axis] = short(self.position[axis] + velocity[axis] * step.max(0.0) + leap[axis]);
        }
        let time = short(self.time + step);
        self.time = self.time.max(time);
        (time, self.position, velocity)
    }
}
