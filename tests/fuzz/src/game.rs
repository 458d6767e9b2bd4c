use std::sync::Arc;

use tidelock::{Controller, Place, Protocol};

/// Where every game here is played: ground, something to push, a platform that slides, a wedge and water.
pub const YARD: &str = r#"
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

/// The place.
pub fn yard() -> Place {
    Place::compile(YARD).expect("the yard is a place")
}

/// A protocol with all four controllers.
pub fn all_four() -> Arc<Protocol> {
    let first = Protocol::builder().controller(Controller::ALL[0]);
    Controller::ALL[1..].iter().fold(first, |builder, other| builder.or_controller(*other)).build()
}
