use glam::Vec3;

/// Movement settings of a character; the server takes them from its own world, never from a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotorSettings {
    /// Capsule radius in studs, default 1.
    pub radius: f32,
    /// Half of the capsule's whole height in studs, at least `radius`, default 2.5.
    pub half_height: f32,
    /// Up direction, unit length, default +Y.
    pub up: Vec3,
    /// Full ground speed in studs/s, default 16.
    pub walk_speed: f32,
    /// Ground acceleration in studs/s², default 160.
    pub ground_acceleration: f32,
    /// Ground deceleration without input in studs/s², default 200.
    pub ground_friction: f32,
    /// Air acceleration in studs/s², default 60.
    pub air_acceleration: f32,
    /// Gravity along −up in studs/s², default 196.2.
    pub gravity: f32,
    /// Fastest fall in studs/s, default 400.
    pub terminal_speed: f32,
    /// Speed along up at the start of a jump in studs/s, default 50.
    pub jump_speed: f32,
    /// Jumps allowed in the air, default 0 (the stock module's double jump raises it).
    pub air_jumps: u8,
    /// Time after leaving ground in which a jump still counts as a ground jump, seconds, default 0 (off).
    pub coyote_time: f32,
    /// Time a jump pressed in the air waits for ground, seconds, default 0 (off).
    pub jump_buffer: f32,
    /// Steepest walkable slope in radians, inclusive, default 50°.
    pub slope_limit: f32,
    /// Highest ledge walked up or down without a jump, studs, default 1.1. The rounding of the capsule's foot climbs
    /// ledges below about a third of its radius in any case.
    pub step_height: f32,
    /// Fastest turn towards the direction of movement in radians/s, default 12.
    pub turn_speed: f32,
    /// Full speed in water in studs/s, default 12.
    pub swim_speed: f32,
    /// Full speed of flight in studs/s; above 0 the character flies for as long as that is so. Default 0 (off): flight is
    /// granted by the game or its simulation module.
    pub flight_speed: f32,
    /// Velocity a simulation module holds for the first motor ticks of the frame, default none.
    pub drive: Option<Drive>,
}

/// A horizontal velocity held for a number of motor ticks, e.g. a dash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drive {
    /// Velocity in studs/s; its part along up is ignored. It replaces what input, friction and air control would do.
    pub velocity: Vec3,
    /// Motor ticks left, those of later frames included. With the last one, speed falls to `walk_speed` at most.
    pub ticks: u32,
}

impl Default for MotorSettings {
    fn default() -> Self {
        Self {
            radius: 1.0,
            half_height: 2.5,
            up: Vec3::Y,
            walk_speed: 16.0,
            ground_acceleration: 160.0,
            ground_friction: 200.0,
            air_acceleration: 60.0,
            gravity: 196.2,
            terminal_speed: 400.0,
            jump_speed: 50.0,
            air_jumps: 0,
            coyote_time: 0.0,
            jump_buffer: 0.0,
            slope_limit: 50.0 * (std::f32::consts::PI / 180.0),
            step_height: 1.1,
            turn_speed: 12.0,
            swim_speed: 12.0,
            flight_speed: 0.0,
            drive: None,
        }
    }
}
