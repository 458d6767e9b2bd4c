use glam::{Quat, Vec3};
use serde_json::{Value, json};
use tidelock::sim::collision::{
    Collider, ColliderId, CollisionIndex, CollisionWorld, Mover, Nearby, Shape, Slide, Turn,
};
use tidelock::sim::motor::{InputFrame, MotorSettings, MotorSnapshot, run_frame};
use tidelock::sim::{SimSpan, SimTime};

use super::check::{Check, Outcome};
use super::draws::Draws;
use super::node::Node;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let (mut run, frames) = (Run::new(case)?, case.get("frames")?.items()?);
    check.same("states", case.get("states")?.items()?.len(), frames.len())?;
    for (step, (given, want)) in frames.into_iter().zip(case.get("states")?.items()?).enumerate() {
        check.enter_step(step);
        run.step(&frame(given)?);
        let got = run.state();
        let fields = want.value().as_object().map_or(0, serde_json::Map::len);
        check.same("fields", got.as_object().map_or(0, serde_json::Map::len), fields)?;
        for (field, got) in got.as_object().into_iter().flatten() {
            check.same(field, got, want.get(field)?.value())?;
        }
    }
    Ok(())
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    ["fall", "floor", "clutter", "movers"].into_iter().map(|name| write_case(name, draws)).collect()
}

/// A place, and the character that runs through it.
struct Run {
    index: CollisionIndex,
    nearby: Nearby,
    settings: MotorSettings,
    snapshot: MotorSnapshot,
    time: SimTime,
}

impl Run {
    fn new(case: Node<'_>) -> Result<Self, String> {
        let mut index = CollisionIndex::new();
        for node in case.get("colliders")?.items()? {
            insert(&mut index, node)?;
        }
        let start = case.get("start")?;
        let position = bits3(start.get("position")?)?;
        Ok(Self {
            index,
            nearby: Nearby::new(),
            settings: settings(case.get("settings")?)?,
            snapshot: MotorSnapshot { position, ..MotorSnapshot::default() },
            time: SimTime(start.get("time")?.integer()?),
        })
    }

    fn step(&mut self, frame: &InputFrame) {
        let mut world = CollisionWorld { index: &self.index, nearby: &mut self.nearby };
        let result = run_frame(&mut self.snapshot, frame, self.time, &self.settings, &mut world);
        self.time += SimSpan(SimSpan::MOTOR_TICK.0 * result.ticks);
    }

    fn state(&self) -> Value {
        let MotorSnapshot { position, velocity, yaw, ground, ground_velocity, .. } = self.snapshot;
        let held = &self.snapshot;
        json!({
            "position": vector_bits(position), "velocity": vector_bits(velocity), "yaw": yaw.to_bits(),
            "state": held.state as u8, "ground": ground.map(|ground| ground.collider.0),
            "normal": ground.map(|ground| vector_bits(ground.normal)),
            "ground_velocity": vector_bits(ground_velocity), "accumulator": held.accumulator.0,
            "air_time": held.air_time.0, "left_by_jump": held.left_by_jump, "jump_buffer": held.jump_buffer.0,
            "air_jumps_used": held.air_jumps_used, "jump_held": held.jump_held, "time": self.time.0,
        })
    }
}

fn write_case(name: &str, draws: &mut Draws) -> Result<Value, String> {
    let mut colliders = Vec::new();
    if name != "fall" {
        let half = vector_bits(Vec3::new(100.0, 1.0, 100.0));
        let floor = json!({ "kind": "box", "half": half });
        colliders.push(placed(0, &floor, Vec3::NEG_Y, Quat::IDENTITY));
    }
    let others = if matches!(name, "clutter" | "movers") { 24 } else { 0 };
    for id in 1..=others {
        let shape = draw_shape(draws);
        let [x, y, z] = draws.vector(16.0);
        let position = Vec3::new(x as f32, (y * 0.1 + 0.5) as f32, z as f32);
        let rotation = if draws.strikes(0.4) { Quat::IDENTITY } else { quat(draws.rotation()) };
        let mut node = placed(id, &shape, position, rotation);
        if name == "movers" && draws.strikes(0.5) {
            let offset = vector_bits(Vec3::from_array(draws.vector(6.0).map(|part| part as f32)));
            node["slide"] = json!({ "offset": offset, "period": draws.whole(120_000, 400_000), "phase": id });
            let axis = draws.pick(&[Vec3::Y, Vec3::NEG_Y]);
            node["turn"] = json!({ "axis": vector_bits(axis), "period": draws.whole(200_000, 600_000), "phase": 0 });
        }
        colliders.push(node);
    }
    let settings = json!({
        "walk_speed": draws.pick(&[16.0_f32, 24.0, 9.5]).to_bits(), "jump_speed": draws.pick(&[50.0_f32, 30.0]).to_bits(),
        "gravity": draws.pick(&[196.2_f32, 98.1]).to_bits(), "air_jumps": if name == "fall" { 0 } else { draws.whole(0, 3) },
        "coyote_time": (if name == "fall" { 0.0 } else { draws.pick(&[0.0_f32, 0.1]) }).to_bits(), "jump_buffer": draws.pick(&[0.0_f32, 0.1]).to_bits(),
    });
    let start = json!({ "position": vector_bits(Vec3::new(0.0, 6.0, 0.0)), "time": draws.whole(0, 1 << 40) });
    let mut case = json!({ "name": name, "settings": settings, "colliders": colliders, "start": start });
    let (mut run, mut frames, mut states) = (Run::new(Node::new(&case))?, Vec::new(), Vec::new());
    let mut held = draw_frame(draws);
    for _ in 0..60 {
        if draws.strikes(0.1) {
            held = draw_frame(draws);
        }
        held["duration"] = json!(draws.pick(&[256, 300, 427, 1_024, 2_048]));
        run.step(&frame(Node::new(&held))?);
        frames.push(held.clone());
        states.push(run.state());
    }
    case["frames"] = json!(frames);
    case["states"] = json!(states);
    Ok(case)
}

fn draw_shape(draws: &mut Draws) -> Value {
    let mut size = || (draws.number(0.3, 2.5) as f32).to_bits();
    let half = [size(), size(), size()];
    let (radius, tall) = (size(), f32::from_bits(size()));
    let longer = (tall + f32::from_bits(radius)).to_bits();
    match draws.whole(0, 6) {
        0 => json!({ "kind": "ball", "radius": radius }),
        1 => json!({ "kind": "cylinder", "half_height": tall.to_bits(), "radius": radius }),
        2 => json!({ "kind": "capsule", "half_height": longer, "radius": radius }),
        3 => json!({ "kind": "wedge", "half": half }),
        _ => json!({ "kind": "box", "half": half }),
    }
}

fn draw_frame(draws: &mut Draws) -> Value {
    let [x, _, z] = draws.vector(1.0);
    json!({
        "direction": vector_bits(Vec3::new(x as f32, 0.0, z as f32)), "camera_relative": draws.strikes(0.3),
        "camera_yaw": (draws.number(-4.0, 4.0) as f32).to_bits(), "jump": draws.strikes(0.3),
        "auto_jump": draws.strikes(0.2),
    })
}

fn placed(id: u64, shape: &Value, position: Vec3, rotation: Quat) -> Value {
    let rotation = rotation.to_array().map(f32::to_bits);
    json!({ "id": id, "shape": shape, "position": vector_bits(position), "rotation": rotation })
}

fn insert(index: &mut CollisionIndex, node: Node<'_>) -> Result<(), String> {
    let (id, shape) = (ColliderId(node.get("id")?.integer()?), shape(node.get("shape")?)?);
    let (position, rotation) = (bits3(node.get("position")?)?, node.get("rotation")?.items()?);
    let [x, y, z, w] = rotation[..] else { return Err("a rotation is not four numbers".to_owned()) };
    let rotation = Quat::from_xyzw(bits(x)?, bits(y)?, bits(z)?, bits(w)?);
    let mut mover = Mover::resting(position, rotation);
    let span = |node: Node<'_>| node.integer().map(|units| SimSpan(units as u32));
    if let Some(slide) = node.find("slide") {
        let (period, phase) = (span(slide.get("period")?)?, span(slide.get("phase")?)?);
        mover = mover.with_slide(Slide { offset: bits3(slide.get("offset")?)?, period, phase });
    }
    if let Some(turn) = node.find("turn") {
        let (period, phase) = (span(turn.get("period")?)?, span(turn.get("phase")?)?);
        mover = mover.with_turn(Turn { axis: bits3(turn.get("axis")?)?, period, phase });
    }
    let inserted = if mover.slide.is_some() || mover.turn.is_some() {
        index.insert_mover(id, shape, mover)
    } else {
        index.insert(Collider { id, shape, position, rotation })
    };
    inserted.map_err(|why| format!("collider {}: {why:?}", id.0))
}

fn shape(node: Node<'_>) -> Result<Shape, String> {
    let size = |key| bits(node.get(key)?);
    Ok(match node.get("kind")?.text()? {
        "box" => Shape::Box { half: bits3(node.get("half")?)? },
        "wedge" => Shape::Wedge { half: bits3(node.get("half")?)? },
        "ball" => Shape::Ball { radius: size("radius")? },
        "cylinder" => Shape::Cylinder { half_height: size("half_height")?, radius: size("radius")? },
        "capsule" => Shape::Capsule { half_height: size("half_height")?, radius: size("radius")? },
        other => return Err(format!("shape is `{other}`")),
    })
}

fn settings(node: Node<'_>) -> Result<MotorSettings, String> {
    let default = MotorSettings::default();
    let or = |key, default: f32| node.find(key).map_or(Ok(default), bits);
    Ok(MotorSettings {
        walk_speed: or("walk_speed", default.walk_speed)?,
        jump_speed: or("jump_speed", default.jump_speed)?,
        gravity: or("gravity", default.gravity)?,
        coyote_time: or("coyote_time", default.coyote_time)?,
        jump_buffer: or("jump_buffer", default.jump_buffer)?,
        air_jumps: node.find("air_jumps").map_or(Ok(0), Node::integer)? as u8,
        ..default
    })
}

fn frame(node: Node<'_>) -> Result<InputFrame, String> {
    Ok(InputFrame {
        duration: SimSpan(node.get("duration")?.integer()? as u32),
        direction: bits3(node.get("direction")?)?,
        camera_relative: node.get("camera_relative")?.boolean()?,
        camera_yaw: bits(node.get("camera_yaw")?)?,
        jump: node.get("jump")?.boolean()?,
        auto_jump: node.get("auto_jump")?.boolean()?,
        ..InputFrame::default()
    })
}

/// A number by its bits.
fn bits(node: Node<'_>) -> Result<f32, String> {
    let bits = u32::try_from(node.integer()?).map_err(|why| why.to_string())?;
    Ok(f32::from_bits(bits))
}

fn bits3(node: Node<'_>) -> Result<Vec3, String> {
    match node.items()?[..] {
        [x, y, z] => Ok(Vec3::new(bits(x)?, bits(y)?, bits(z)?)),
        _ => Err("a vector is not three numbers".to_owned()),
    }
}

fn vector_bits(vector: Vec3) -> [u32; 3] {
    vector.to_array().map(f32::to_bits)
}

fn quat(parts: [f64; 4]) -> Quat {
    Quat::from_array(parts.map(|part| part as f32)).normalize()
}
