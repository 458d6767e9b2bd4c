//! Publisher to mirror: whoever may know of an instance has it as the server does, and nobody else hears of it.

use glam::{Quat, Vec3};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use tidelock_replication::ids::{Generation, InstanceId, InstanceIds, Placed, PlayerId, Slot, SlotMap};
use tidelock_replication::instance::{
    Audience, CharacterPose, CharacterProperties, Color, PartMask, PartPatch, PartProperties, PartProperty, Pose,
};
use tidelock_replication::mirror::{
    Departure, MAX_HELD_BYTES, MAX_HELD_RECORDS, MAX_WAITING, MAX_WAITING_BYTES, Mirror, MirrorChange, MirrorFault,
    MirrorStore, Replica, ReplicaInstance, WAITING_PASSES,
};
use tidelock_replication::place::Place;
use tidelock_replication::publish::{InstancePublisher, PublishOutput, Regrouping, SETTLE_TICKS};
use tidelock_replication::wire::{Record, Records, RecordsHead, ServerMessage};
use tidelock_sim::Tick;

const GENERATION: Generation = Generation(7);
const AUTHORED: u64 = 6;

fn place() -> Place {
    let text = format!(
        "name = \"Row\"\n[[part]]\nname = \"Block\"\nsize = [1, 2, 3]\nposition = [0, 0, 0]\nrepeat = {{ count = {AUTHORED}, step = [5, 0, 0] }}\n"
    );
    Place::compile(&text).expect("a sound place")
}

/// What the server holds of an instance.
#[derive(Clone, Debug, PartialEq)]
struct Truth {
    at: Placed,
    instance: ReplicaInstance,
    audience: Audience,
}

struct Server {
    publisher: InstancePublisher,
    slots: SlotMap<InstanceId>,
    ids: InstanceIds,
    alive: Vec<Truth>,
    tick: Tick,
    clients: Vec<Client>,
}

struct Client {
    player: PlayerId,
    groups: Vec<u32>,
    mirror: Mirror,
    replica: Replica,
    heard: Vec<Record>,
}

impl Client {
    fn hear(&mut self, bytes: &[u8]) {
        let Ok(ServerMessage::Records(records)) = ServerMessage::read(bytes) else { panic!("not records") };
        self.heard.extend(records.records.iter().cloned());
        self.mirror.apply(records, &mut self.replica).expect("little waits");
    }
}

impl Server {
    fn new() -> Self {
        let place = place();
        let mut slots = SlotMap::new();
        let alive = place
            .parts()
            .map(|part| Truth {
                at: Placed { slot: slots.insert(part.id).expect("a free slot"), id: part.id },
                instance: ReplicaInstance::Part { properties: part.properties, pose: part.pose },
                audience: Audience::Shared,
            })
            .collect();
        Self {
            publisher: InstancePublisher::new(place, GENERATION),
            slots,
            ids: InstanceIds::after_authored(AUTHORED),
            alive,
            tick: Tick(100),
            clients: Vec::new(),
        }
    }

    fn join(&mut self, groups: Vec<u32>) {
        let player = PlayerId(self.clients.len() as u64 + 1);
        let place = Place::from_bytes(self.publisher.place().client_bytes().to_vec()).expect("sound bytes");
        let mut client =
            Client { player, groups, mirror: Mirror::new(), replica: Replica::new(place), heard: Vec::new() };
        client.mirror.enter(GENERATION, &mut client.replica).expect("nothing is held");
        let mut output = PublishOutput::new();
        self.publisher.join_snapshot(self.tick, (player, &client.groups), &(), &mut output);
        output.messages().iter().for_each(|message| client.hear(output.message(message)));
        self.clients.push(client);
    }

    fn publish(&mut self) {
        self.tick = self.tick.next();
        let mut output = PublishOutput::new();
        self.publisher.publish(self.tick, &(), &mut output);
        for client in &mut self.clients {
            for message in output.messages() {
                if message.recipients.include(client.player, &client.groups) {
                    client.hear(output.message(message));
                }
            }
        }
    }

    fn create_part(&mut self, name: &str, audience: Audience) {
        let id = self.ids.issue();
        let at = Placed { slot: self.slots.insert(id).expect("a free slot"), id };
        let properties = PartProperties { name: Arc::from(name), ..PartProperties::default() };
        let pose = Pose { position: Vec3::splat(id.0 as f32), rotation: Quat::IDENTITY };
        self.publisher.create_part(at, properties.clone(), pose, audience);
        self.alive.push(Truth { at, instance: ReplicaInstance::Part { properties, pose }, audience });
    }

    fn create_character(&mut self, player: PlayerId, audience: Audience) {
        let id = self.ids.issue();
        let at = Placed { slot: self.slots.insert(id).expect("a free slot"), id };
        let properties = CharacterProperties { player, name: Arc::from("Ann"), color: Color([1, 2, 3]), seat: None };
        let pose = CharacterPose::default();
        self.publisher.create_character(at, properties.clone(), pose, audience);
        self.alive.push(Truth { at, instance: ReplicaInstance::Character { properties, pose }, audience });
    }

    fn recolor(&mut self, pick: usize, color: Color) {
        let Some(truth) = pick_mut(&mut self.alive, pick) else { return };
        match &mut truth.instance {
            ReplicaInstance::Part { properties, .. } => {
                let changes = properties.color != color;
                properties.color = color;
                let mask = self.publisher.set_part(truth.at, properties);
                assert_eq!(mask.contains(PartProperty::Color), changes);
            }
            ReplicaInstance::Character { properties, .. } => {
                properties.color = color;
                self.publisher.set_character(truth.at, properties);
            }
        }
    }

    fn admit(&mut self, pick: usize, audience: Audience) {
        if let Some(truth) = pick_mut(&mut self.alive, pick) {
            truth.audience = audience;
            self.publisher.set_audience(truth.at, audience);
        }
    }

    fn shift(&mut self, pick: usize, x: f32) {
        let Some(Truth { at, instance: ReplicaInstance::Part { pose, .. }, .. }) = pick_mut(&mut self.alive, pick)
        else {
            return;
        };
        pose.position.x = x;
        self.publisher.move_anchored(*at, *pose, self.tick);
    }

    fn destroy(&mut self, pick: usize) {
        if self.alive.is_empty() {
            return;
        }
        let truth = self.alive.swap_remove(pick % self.alive.len());
        self.slots.remove(truth.at.slot).expect("an occupied slot");
        self.publisher.destroy(truth.at);
    }

    fn regroup(&mut self, pick: usize, after: Vec<u32>) {
        self.publish();
        let Some(client) = pick_mut(&mut self.clients, pick) else { return };
        let groups = Regrouping { player: client.player, before: &client.groups, after: &after };
        let mut output = PublishOutput::new();
        self.publisher.regroup(self.tick, groups, &(), &mut output);
        output.messages().iter().for_each(|message| client.hear(output.message(message)));
        client.groups = after;
    }

    /// Every client has exactly what it may know of, as the server has it.
    fn check(&self) {
        for client in &self.clients {
            let wanted: BTreeMap<InstanceId, &ReplicaInstance> = self
                .alive
                .iter()
                .filter(|truth| truth.audience.admits(client.player, &client.groups))
                .map(|truth| (truth.at.id, &truth.instance))
                .collect();
            assert!(client.replica.ids().iter().eq(wanted.keys()), "{:?} {:?}", client.replica.ids(), wanted.keys());
            for (id, instance) in wanted {
                assert_eq!(client.replica.get(id).as_ref(), Some(instance));
            }
            assert_eq!(client.mirror.waiting(), 0);
        }
    }
}

fn pick_mut<T>(of: &mut [T], pick: usize) -> Option<&mut T> {
    if of.is_empty() { None } else { Some(&mut of[pick % of.len()]) }
}

#[derive(Clone, Debug)]
enum Op {
    CreatePart(Audience),
    CreateCharacter(u64, Audience),
    Recolor(usize, u8),
    Admit(usize, Audience),
    Shift(usize, u8),
    Destroy(usize),
    Regroup(usize, Vec<u32>),
    Join(Vec<u32>),
    Publish,
}

fn audience() -> impl Strategy<Value = Audience> {
    prop_oneof![
        3 => Just(Audience::Shared),
        1 => (1u64..4).prop_map(|player| Audience::Owner(PlayerId(player))),
        2 => (1u32..4).prop_map(Audience::Group),
    ]
}

fn groups() -> impl Strategy<Value = Vec<u32>> {
    proptest::sample::subsequence(vec![1, 2, 3], 0..=3)
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        1 => audience().prop_map(Op::CreatePart),
        1 => (1u64..4, audience()).prop_map(|(player, audience)| Op::CreateCharacter(player, audience)),
        3 => (any::<usize>(), 0u8..4).prop_map(|(pick, color)| Op::Recolor(pick, color)),
        2 => (any::<usize>(), audience()).prop_map(|(pick, audience)| Op::Admit(pick, audience)),
        1 => (any::<usize>(), any::<u8>()).prop_map(|(pick, x)| Op::Shift(pick, x)),
        2 => any::<usize>().prop_map(Op::Destroy),
        1 => (any::<usize>(), groups()).prop_map(|(pick, groups)| Op::Regroup(pick, groups)),
        1 => groups().prop_map(Op::Join),
        3 => Just(Op::Publish),
    ]
}

proptest! {
    // B31: patches name some properties and keep the rest, and no removal is lost.
    #[test]
    fn mirrors_equal_the_server(ops in proptest::collection::vec(op(), 1..100)) {
        let mut server = Server::new();
        server.join(vec![1]);
        for op in ops {
            match op {
                Op::CreatePart(audience) => server.create_part("New", audience),
                Op::CreateCharacter(player, audience) => server.create_character(PlayerId(player), audience),
                Op::Recolor(pick, color) => server.recolor(pick, Color([color; 3])),
                Op::Admit(pick, audience) => server.admit(pick, audience),
                Op::Shift(pick, x) => server.shift(pick, f32::from(x)),
                Op::Destroy(pick) => server.destroy(pick),
                Op::Regroup(pick, groups) => server.regroup(pick, groups),
                Op::Join(groups) => {
                    server.publish();
                    server.join(groups);
                }
                Op::Publish => server.publish(),
            }
        }
        // Poses of moved parts follow when they have stood still.
        (0..SETTLE_TICKS + 1).for_each(|_| server.publish());
        server.check();
        // A publish without changes says nothing, and a joiner ends up with the same.
        let heard: usize = server.clients.iter().map(|client| client.heard.len()).sum();
        server.publish();
        prop_assert_eq!(server.clients.iter().map(|client| client.heard.len()).sum::<usize>(), heard);
        server.join(vec![2, 3]);
        server.check();
    }
}

//
#[test]
fn nothing_outside_an_audience_is_heard() {
    let mut server = Server::new();
    server.join(vec![1]);
    server.join(vec![2]);
    server.create_part("Secret of two", Audience::Group(2));
    server.create_part("Own of one", Audience::Owner(PlayerId(1)));
    server.publish();
    server.recolor(AUTHORED as usize, Color([9; 3]));
    server.publish();
    server.check();
    let names = |client: &Client| {
        let named = client.heard.iter().filter_map(|record| match record {
            Record::CreatePart { properties, .. } => Some(properties.name.to_string()),
            _ => None,
        });
        named.collect::<Vec<_>>()
    };
    assert_eq!(names(&server.clients[0]), ["Own of one"]);
    assert_eq!(names(&server.clients[1]), ["Secret of two"]);
    server.join(vec![]);
    assert!(server.clients[2].heard.is_empty());
}

// R-2, targets.md
#[test]
fn an_unchanged_place_costs_a_joiner_nothing() {
    let mut server = Server::new();
    server.publish();
    server.join(vec![]);
    assert!(server.clients[0].heard.is_empty());
    assert_eq!(server.publisher.touched(), 0);
}

//
#[test]
fn a_moved_anchored_part_is_told_once_when_it_stands() {
    let mut server = Server::new();
    server.join(vec![]);
    for step in 0..20 {
        server.shift(0, step as f32);
        server.publish();
    }
    assert!(server.clients[0].heard.is_empty());
    (0..20).for_each(|_| server.publish());
    assert_eq!(server.clients[0].heard.len(), 1);
    server.check();
}

//
#[test]
fn messages_hold_at_most_256_records() {
    let mut server = Server::new();
    (0..1_000).for_each(|_| server.create_part("Many", Audience::Shared));
    let mut output = PublishOutput::new();
    server.publisher.publish(Tick(200), &(), &mut output);
    let counts: Vec<usize> = output.messages().iter().map(|message| message.records).collect();
    assert_eq!(counts, [256, 256, 256, 232]);
    for message in output.messages() {
        let Ok(ServerMessage::Records(records)) = ServerMessage::read(output.message(message)) else { panic!() };
        assert_eq!(records.records.len(), message.records);
    }
}

fn message(generation: Generation, records: Vec<Record>) -> Records {
    Records { head: RecordsHead { generation, tick: Tick(1) }, records }
}

fn patch(color: u8) -> PartPatch {
    let properties = PartProperties { color: Color([color; 3]), ..PartProperties::default() };
    PartPatch { mask: PartMask::NONE.with(PartProperty::Color), properties, pose: Pose::default() }
}

fn creation(id: u64) -> Record {
    Record::CreatePart { id: InstanceId(id), properties: PartProperties::default(), pose: Pose::default() }
}

//
#[test]
fn a_newer_generation_waits_until_it_is_entered_and_an_older_is_dropped() {
    let mut replica = Replica::new(place());
    let mut mirror = Mirror::new();
    mirror.enter(Generation(5), &mut replica).unwrap();
    mirror.apply(message(Generation(6), vec![creation(50)]), &mut replica).unwrap();
    mirror.apply(message(Generation(7), vec![creation(51)]), &mut replica).unwrap();
    mirror.apply(message(Generation(4), vec![creation(52)]), &mut replica).unwrap();
    assert!(![50, 51, 52].iter().any(|&id| replica.contains(InstanceId(id))));
    mirror.enter(Generation(6), &mut replica).unwrap();
    assert!(replica.contains(InstanceId(50)) && !replica.contains(InstanceId(51)));
    mirror.enter(Generation(7), &mut replica).unwrap();
    assert!(replica.contains(InstanceId(51)));
    let counters = mirror.counters();
    assert_eq!((counters.stale, counters.dropped, counters.applied), (1, 0, 2));
}

//
#[test]
fn a_patch_waits_for_its_instance_and_each_changed_property_is_one_notice() {
    let mut replica = Replica::new(place());
    let mut mirror = Mirror::new();
    mirror.enter(GENERATION, &mut replica).unwrap();
    let id = InstanceId(90);
    for color in [1, 2] {
        mirror.apply(message(GENERATION, vec![Record::PatchPart { id, patch: patch(color) }]), &mut replica).unwrap();
    }
    assert_eq!(mirror.waiting(), 1);
    mirror.apply(message(GENERATION, vec![creation(90)]), &mut replica).unwrap();
    let changes: Vec<MirrorChange> = replica.drain_changes().collect();
    let recolored = MirrorChange::PartChanged { id, property: PartProperty::Color };
    assert_eq!(changes, [MirrorChange::Created { id }, recolored]);
    let Some(ReplicaInstance::Part { properties, .. }) = replica.get(id) else { panic!() };
    assert_eq!(properties.color, Color([2; 3]));
    mirror.apply(message(GENERATION, vec![Record::PatchPart { id, patch: patch(2) }]), &mut replica).unwrap();
    assert_eq!(replica.drain_changes().count(), 0);
}

//
#[test]
fn a_waiting_patch_expires_after_600_passes() {
    let mut replica = Replica::new(place());
    let mut mirror = Mirror::new();
    mirror.enter(GENERATION, &mut replica).unwrap();
    mirror.end_pass();
    mirror
        .apply(message(GENERATION, vec![Record::PatchPart { id: InstanceId(90), patch: patch(1) }]), &mut replica)
        .unwrap();
    (1..WAITING_PASSES).for_each(|_| mirror.end_pass());
    assert_eq!(mirror.waiting(), 1);
    mirror.end_pass();
    assert_eq!((mirror.waiting(), mirror.counters().dropped), (0, 1));
}

//
#[test]
fn what_was_destroyed_never_comes_back_and_what_was_hidden_may() {
    let mut replica = Replica::new(place());
    let mut mirror = Mirror::new();
    mirror.enter(GENERATION, &mut replica).unwrap();
    let (kept, gone) = (InstanceId(2), InstanceId(3));
    mirror.apply(message(GENERATION, vec![Record::Hide { id: kept }]), &mut replica).unwrap();
    mirror
        .apply(message(GENERATION, vec![Record::Destroy { first: gone, count: u64::MAX - 3 }]), &mut replica)
        .unwrap();
    let departures: Vec<_> = replica.drain_changes().collect();
    assert_eq!(departures[0], MirrorChange::Departed { id: kept, departure: Departure::Hidden });
    assert_eq!(departures[1], MirrorChange::Departed { id: gone, departure: Departure::Destroyed });
    assert_eq!(departures.len(), 1 + AUTHORED as usize - 2);
    mirror.apply(message(GENERATION, vec![creation(2), creation(3)]), &mut replica).unwrap();
    mirror.apply(message(GENERATION, vec![Record::PatchPart { id: gone, patch: patch(1) }]), &mut replica).unwrap();
    assert!(replica.contains(kept) && !replica.contains(gone));
    assert_eq!((mirror.waiting(), mirror.counters().destroyed), (0, 2));
    assert!(mirror.is_destroyed(gone) && Slot::default().index() == 0);
}

/// A name of the greatest length, in a patch or a creation.
fn named(id: u64) -> (PartPatch, Record) {
    let tags: Vec<Arc<str>> = (0..32).map(|tag| Arc::from(format!("{tag:064}"))).collect();
    let properties = PartProperties { tags: tags.into(), ..PartProperties::default() };
    let patch = PartPatch { mask: PartMask::NONE.with(PartProperty::Tags), properties, pose: Pose::default() };
    let properties = patch.properties.clone();
    (patch, Record::CreatePart { id: InstanceId(id), properties, pose: Pose::default() })
}

// R-4, N-6: what a server says of a generation that is never entered is held up to a bound in records and one in bytes; the oldest
// go first, counted, and the outcome says so.
#[test]
fn records_of_a_later_generation_are_bounded_in_number_and_bytes() {
    let small = |id: u64| Record::Hide { id: InstanceId(id) };
    let large = |id: u64| named(id).1;
    for (make, bounded_by_bytes) in [(&small as &dyn Fn(u64) -> Record, false), (&large, true)] {
        let (mut mirror, mut replica) = (Mirror::new(), Replica::new(place()));
        let mut outcome = Ok(());
        let mut sent = 0;
        while outcome.is_ok() {
            outcome = mirror.apply(message(Generation(3), (0..256).map(|id| make(sent + id)).collect()), &mut replica);
            sent += 256;
            assert!(sent <= 2 * MAX_HELD_RECORDS as u64 && mirror.held_bytes() <= MAX_HELD_BYTES);
        }
        assert_eq!(outcome, Err(MirrorFault::HeldFull));
        assert_eq!(sent <= MAX_HELD_RECORDS as u64, bounded_by_bytes, "{sent} records");
        assert_eq!((mirror.counters().dropped, mirror.counters().held), (256, sent));
        mirror.enter(Generation(3), &mut replica).unwrap();
        let outcome = mirror.counters();
        assert_eq!((outcome.applied, mirror.held_bytes()), (sent - 256, 0));
    }
}

// R-30, N-6: so are patches of instances that never come, which wait.
#[test]
fn waiting_patches_are_bounded_in_number_and_bytes() {
    let mut replica = Replica::new(place());
    for (make, bounded_by_bytes) in [(patch(1), false), (named(0).0, true)] {
        let mut mirror = Mirror::new();
        mirror.enter(GENERATION, &mut replica).unwrap();
        let (mut outcome, mut sent) = (Ok(()), 0);
        while outcome.is_ok() {
            let record = Record::PatchPart { id: InstanceId(1_000 + sent), patch: make.clone() };
            outcome = mirror.apply(message(GENERATION, vec![record]), &mut replica);
            sent += 1;
            assert!(mirror.waiting() <= MAX_WAITING && mirror.held_bytes() <= MAX_WAITING_BYTES);
        }
        assert_eq!(outcome, Err(MirrorFault::WaitingFull));
        assert_eq!(sent <= MAX_WAITING as u64, bounded_by_bytes, "{sent} patches");
        assert_eq!((mirror.counters().dropped, mirror.waiting() as u64), (1, sent - 1));
        // A patch that grows one that waits is counted as well.
        let grown = Record::PatchPart { id: InstanceId(1_000 + sent - 1), patch: named(0).0 };
        let before = mirror.held_bytes();
        mirror.apply(message(GENERATION, vec![grown]), &mut replica).unwrap();
        assert_eq!(mirror.held_bytes() > before, !bounded_by_bytes);
        let all = Record::Destroy { first: InstanceId(1_000), count: u64::MAX - 1_000 };
        mirror.apply(message(GENERATION, vec![all]), &mut replica).unwrap();
        assert_eq!((mirror.waiting(), mirror.held_bytes()), (0, 0));
    }
}
