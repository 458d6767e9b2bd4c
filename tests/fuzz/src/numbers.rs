use tidelock_replication::collection::{ListDelta, MapDelta, apply_list, apply_map};
use tidelock_sim::bytes::{Reader, Writer};
use tidelock_sim::rig::{read_rig, write_rig};

use super::choices::Choices;

/// The byte cursor, rigs and changes of collections: what is read is written the same again.
pub fn run(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    match choices.byte() % 4 {
        0 => cursor(&mut choices),
        1 => rig(choices.rest()),
        2 => list(&mut choices),
        _ => map(&mut choices),
    }
}

/// Whatever was read comes back from what is written of it.
fn cursor(choices: &mut Choices<'_>) {
    let kinds = choices.chunk();
    let content = choices.rest();
    let (mut reader, mut written) = (Reader::new(content), Vec::new());
    for kind in kinds {
        let start = reader.remaining();
        let mut out = Writer::new(&mut written);
        let read = match kind % 8 {
            0 => reader.varint().map(|value| out.varint(value)),
            1 => reader.varint_at_most(1 << 20).map(|value| out.varint(value)),
            2 => reader.prefixed(64).map(|value| out.prefixed(value)),
            3 => reader.text(64).map(|value| out.text(value)),
            4 => reader.bool().map(|value| out.bool(value)),
            5 => reader.bounded_vec3().map(|value| out.vec3(value)),
            6 => reader.u16().map(|value| out.u16(value)),
            _ => reader.f32().map(|value| out.f32(value)),
        };
        assert!(reader.remaining() <= start);
        if read.is_err() {
            return;
        }
        assert_eq!(written, content[..content.len() - reader.remaining()]);
    }
}

// S-44a
fn rig(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    let Ok(frame) = read_rig(&mut reader) else { return };
    let mut written = Vec::new();
    write_rig(&mut Writer::new(&mut written), &frame);
    assert_eq!(written, bytes[..bytes.len() - reader.remaining()]);
    assert_eq!(written.len(), frame.encoded_bytes());
    assert!(frame.joints.iter().all(|joint| (joint.unpack().length() - 1.0).abs() < 1e-3));
}

// a change of another list is refused and leaves the list alone.
fn list(choices: &mut Choices<'_>) {
    let mut list: Vec<u8> = choices.chunk().to_vec();
    let before = list.clone();
    let replace = (0..choices.byte()).map(|_| (usize::from(choices.short()), choices.byte())).collect();
    let truncate = (choices.byte() % 2 == 1).then(|| usize::from(choices.short()));
    let whole = choices.byte() % 2 == 1;
    let delta = if whole { ListDelta::Whole(choices.chunk().to_vec()) } else { ListDelta::Edits { replace, truncate } };
    if apply_list(&mut list, &delta).is_err() {
        assert_eq!(list, before);
    }
    assert!(list.len() <= before.len().max(Choices::MAX_CHUNK) + 256);
}

// keys stay in order whatever the change says.
fn map(choices: &mut Choices<'_>) {
    let mut map: Vec<(u8, u8)> = choices.chunk().chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    map.sort_unstable();
    map.dedup_by_key(|(key, _)| *key);
    let remove = choices.chunk().to_vec();
    let replace = choices.chunk().chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    apply_map(&mut map, &MapDelta::Edits { remove, replace });
    assert!(map.windows(2).all(|pair| pair[0].0 < pair[1].0));
}
