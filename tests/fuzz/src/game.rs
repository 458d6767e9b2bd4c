use std::sync::{Arc, OnceLock};
use std::time::Duration;

use glam::Vec3;
use tidelock::testing::ClientKey;
use tidelock::{ControlInput, Controller, Place, Protocol};

/// Where every game here is played: ground, something to push, a platform that slides, a wedge and water.
const YARD: &str = r#"
name = "Yard"
[[spawn]]
position = [0.0, 3.0, 0.0]
[[spawn]]
position = [8.0, 3.0, 0.0]
[[part]]
name = "Ground"
size = [80.0, 2.0, 80.0]
position = [0.0, -1.0, 0.0]
[[part]]
name = "Crate"
size = [2.0, 2.0, 2.0]
position = [0.0, 1.5, 4.0]
anchored = false
[[part]]
name = "Ball"
shape = "ball"
size = [2.0, 2.0, 2.0]
position = [4.0, 1.5, 4.0]
anchored = false
[[part]]
name = "Ferry"
size = [4.0, 1.0, 4.0]
position = [-10.0, 0.0, 0.0]
mover.slide = { offset = [10.0, 0.0, 0.0], period = 4.0 }
[[part]]
name = "Pool"
size = [6.0, 4.0, 6.0]
position = [12.0, 1.0, 12.0]
water = true
"#;

/// The place, compiled once.
pub fn yard() -> Place {
    static PLACE: OnceLock<Place> = OnceLock::new();
    PLACE.get_or_init(|| Place::compile(YARD).expect("the yard is a place")).clone()
}

/// A protocol with all four controllers.
pub fn all_four() -> Arc<Protocol> {
    let first = Protocol::builder().controller(Controller::ALL[0]);
    Controller::ALL[1..].iter().fold(first, |builder, other| builder.or_controller(*other)).build()
}

/// Two ways to go, each of another half of the clients, and a jump now and then.
pub fn walk(key: ClientKey, now: Duration) -> ControlInput {
    let way = if (now.as_millis() / 700 + key.index() as u128).is_multiple_of(2) { Vec3::X } else { Vec3::Z };
    ControlInput { direction: way, jump: now.as_millis() % 900 < 100, ..ControlInput::default() }
}
