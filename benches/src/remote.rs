use glam::Vec3;
use tidelock_sim::timeline::{RemoteTimeline, RemoteTimelineConfig};
use tidelock_sim::tracks::{CharacterPose, CharacterTrack, PartPose, PartTrack};

use crate::table::{Figure, Table};
use crate::watch::{measure, measure_beside};

/// Subjects in sight.
const SUBJECTS: usize = 100;

/// What drawing others costs: a sample of each track (S-42, S-43), a step of the timeline (S-40).
pub(crate) fn run(table: &mut Table) {
    let (mut parts, mut characters) = (vec![PartTrack::new(); SUBJECTS], vec![CharacterTrack::new(); SUBJECTS]);
    for at in 0..40 {
        let (time, position) = (f64::from(at) * 0.05, Vec3::X * at as f32 * 0.4);
        let turned = glam::Quat::from_xyzw(0.0, libm::sinf(at as f32 * 0.1), 0.0, libm::cosf(at as f32 * 0.1));
        for track in &mut parts {
            track.push(PartPose { time, position, rotation: turned, ..PartPose::default() });
        }
        for track in &mut characters {
            track.push(CharacterPose { time, position, yaw: at as f32 * 0.1, ..CharacterPose::default() });
        }
    }
    let (mut frame, mut drawn) = (0_u32, 0.0);
    let mut time = move || {
        frame = (frame + 1) % 36;
        1.3 + f64::from(frame) / 60.0
    };
    let mut other = time;
    let mut drawn_too = 0.0;
    let [part, character] = measure_beside([
        &mut || {
            let at = time();
            drawn += parts.iter().filter_map(|track| track.sample(at)).map(|pose| pose.position.x).sum::<f32>();
            SUBJECTS as u64
        },
        &mut || {
            let at = other();
            drawn_too +=
                characters.iter().filter_map(|track| track.sample(at)).map(|pose| pose.position.x).sum::<f32>();
            SUBJECTS as u64
        },
    ]);
    assert!(drawn > 0.0 && drawn_too > 0.0);
    table.row(Figure::new("sample of a part's track", part, "ns"));
    table.row(Figure::new("sample of a character's track", character, "ns"));

    let mut timeline = RemoteTimeline::new(RemoteTimelineConfig::default());
    let mut number = 0_u64;
    let step = measure(&mut || {
        for _ in 0..1_000 {
            number += 1;
            let now = number as f64 / 60.0;
            if number.is_multiple_of(3) {
                timeline.sample(now - 0.05, now + (number % 7) as f64 * 0.001);
            }
            timeline.advance(now, 1.0 / 60.0);
        }
        1_000
    });
    assert!(timeline.playback().is_some());
    table.row(Figure::new("step of the timeline at 60 Hz, batches at 20 Hz", step, "ns"));
}
