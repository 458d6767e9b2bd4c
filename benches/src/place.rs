use std::fmt::Write;

use tidelock::Place;

/// From spawn to spawn, studs.
const SPAWNS: f32 = 40.0;

/// A plain with spawns all over it and `parts` anchored boxes, `spacing` studs from one to the next.
pub(crate) fn plain(parts: usize, spacing: f32) -> Place {
    let side = (parts as f32).sqrt().ceil();
    let reach = side * spacing * 0.5;
    let mut text = String::from("name = \"Plain\"\n[streaming]\nenabled = true\ntarget_radius = 230.0\n");
    let mut spawn = |x: f32, z: f32| {
        write!(text, "[[spawn]]\nposition = [{x:.1}, 6.0, {z:.1}]\n").expect("writing to a string");
    };
    let across = (reach * 2.0 / SPAWNS).floor() as i32;
    for row in 0..across {
        for column in 0..across {
            spawn((column as f32 + 0.5) * SPAWNS - reach, (row as f32 + 0.5) * SPAWNS - reach);
        }
    }
    let (width, rows, corner) = (reach * 2.0 + 40.0, parts.div_ceil(side as usize), -reach);
    write!(
        text,
        "[[part]]\nname = \"Ground\"\nsize = [{width:.1}, 2.0, {width:.1}]\nposition = [0.0, -1.0, 0.0]\n\
         [[part]]\nname = \"Block\"\nsize = [2.0, 1.0, 2.0]\nposition = [{corner:.1}, 0.5, {corner:.1}]\n\
         repeat = {{ count = {rows}, step = [0.0, 0.0, {spacing:.1}], repeat = {{ count = {side}, step = [{spacing:.1}, 0.0, 0.0] }} }}\n"
    )
    .expect("writing to a string");
    Place::compile(&text).expect("a sound place")
}
