use std::collections::BTreeSet;

use tidelock_replication::ids::{Generation, InstanceId};
use tidelock_replication::mirror::{MAX_HELD_BYTES, MAX_WAITING, MAX_WAITING_BYTES, Mirror, Replica};
use tidelock_replication::wire::{Record, ServerMessage};

use super::choices::Choices;
use super::game::yard;

/// A mirror under anything a server may say of instances: bounded, nothing destroyed comes back, nothing of an older
/// generation applies.
pub fn run(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let (mut mirror, mut replica) = (Mirror::new(), Replica::new(yard()));
    mirror.enter(Generation(1), &mut replica).expect("nothing is held");
    let mut destroyed: BTreeSet<InstanceId> = BTreeSet::new();
    while !choices.is_over() {
        match choices.byte() % 8 {
            0 => mirror.end_pass(),
            1 => {
                let generation = Generation(u32::from(choices.byte()));
                // What is known as destroyed is known of one stay.
                destroyed.clear();
                let dropped = mirror.counters().dropped;
                let outcome = mirror.enter(generation, &mut replica);
                assert_eq!(outcome.is_err(), mirror.counters().dropped > dropped);
            }
            _ => {
                let Ok(ServerMessage::Records(records)) = ServerMessage::read(choices.chunk()) else { continue };
                let applies = records.head.generation == mirror.generation();
                for record in &records.records {
                    if let (true, Record::Destroy { first, count }) = (applies, record) {
                        destroyed.insert(*first);
                        destroyed.insert(InstanceId(first.0 + (count - 1)));
                    }
                }
                let dropped = mirror.counters().dropped;
                let outcome = mirror.apply(records, &mut replica);
                assert_eq!(outcome.is_err(), mirror.counters().dropped > dropped);
            }
        }
        replica.drain_changes().for_each(drop);
        assert!(mirror.waiting() <= MAX_WAITING);
        assert!(mirror.held_bytes() <= MAX_HELD_BYTES + MAX_WAITING_BYTES);
    }
    let ids = replica.ids();
    //
    assert!(destroyed.iter().all(|id| mirror.is_destroyed(*id) && !ids.contains(id)));
}
