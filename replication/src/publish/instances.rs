use tidelock_sim::Tick;

use super::entry::{CharacterEntry, Entry, Kind, PartEntry, Telling};
use super::output::{MessageBuilder, PublishOutput};
use crate::ids::{Generation, IdRanges, InstanceId, Placed, PlayerId, SlotSet};
use crate::instance::{
    Audience, CharacterMask, CharacterPose, CharacterProperties, PartMask, PartProperties, Pose, Recipients,
};
use crate::place::{MAX_PARTS, Place};
use crate::wire::RecordsHead;

/// Ticks an anchored part must have stood still before its pose is told reliably.
pub const SETTLE_TICKS: u64 = 6;

/// Where instances are now, for those who are told of them anew: motion carries poses, publishers do not.
pub trait CurrentPoses {
    /// Pose of a part; `None` means the one it was published with.
    fn part(&self, part: Placed) -> Option<Pose>;
    /// Pose of a character; `None` means the one it was published with.
    fn character(&self, character: Placed) -> Option<CharacterPose>;
}

/// Every instance is where it was published.
impl CurrentPoses for () {
    fn part(&self, _: Placed) -> Option<Pose> {
        None
    }

    fn character(&self, _: Placed) -> Option<CharacterPose> {
        None
    }
}

/// Publishes parts and characters of one place: what was created, changed, destroyed, and to whom that is told (R-10, R-11,
///
///
/// It remembers what it has told, and only of instances that differ from the authored place: an untouched part costs nothing.
#[derive(Clone, Debug)]
pub struct InstancePublisher {
    place: Place,
    generation: Generation,
    /// By slot.
    entries: Vec<Option<Entry>>,
    /// Slots with an entry: what a joiner must be told.
    touched: SlotSet,
    dirty: SlotSet,
    settling: SlotSet,
    /// Slots whose instance not everyone may know of.
    restricted: SlotSet,
    removed: Vec<(Recipients, InstanceId)>,
    destroyed: IdRanges,
    tellings: Vec<(Recipients, u32, Telling)>,
}

impl InstancePublisher {
    /// A publisher of an untouched place. The parts its file hides from some are to be given with [`Self::create_part`].
    #[must_use]
    pub fn new(place: Place, generation: Generation) -> Self {
        Self {
            place,
            generation,
            entries: Vec::new(),
            touched: SlotSet::new(),
            dirty: SlotSet::new(),
            settling: SlotSet::new(),
            restricted: SlotSet::new(),
            removed: Vec::new(),
            // Every authored part destroyed is remembered exactly: joiners have them all.
            destroyed: IdRanges::with_limit(MAX_PARTS),
            tellings: Vec::new(),
        }
    }

    /// The authored place.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The delivery generation every message names.
    #[must_use]
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Instances that differ from the authored place, destroyed ones apart.
    #[must_use]
    pub fn touched(&self) -> usize {
        self.touched.len()
    }

    /// A part that is in no client's place file came to be. Anything else in its slot is forgotten.
    pub fn create_part(&mut self, at: Placed, properties: PartProperties, pose: Pose, audience: Audience) {
        let part = PartEntry { properties, pose, moved: Tick(0), dirty: PartMask::NONE, since_authored: PartMask::ALL };
        self.create(Entry { at, kind: Kind::Part(Box::new(part)), audience, sent: None, authored: false });
    }

    /// A character came to be. Anything else in its slot is forgotten.
    pub fn create_character(
        &mut self,
        at: Placed,
        properties: CharacterProperties,
        pose: CharacterPose,
        audience: Audience,
    ) {
        let character = CharacterEntry { properties, pose, dirty: CharacterMask::NONE };
        self.create(Entry { at, kind: Kind::Character(Box::new(character)), audience, sent: None, authored: false });
    }

    fn create(&mut self, entry: Entry) {
        self.dirty.insert(entry.at.slot.index());
        self.hold(entry);
    }

    fn hold(&mut self, entry: Entry) {
        let index = entry.at.slot.index();
        if index >= self.entries.len() {
            self.entries.resize(index + 1, None);
        }
        self.touched.insert(index);
        if entry.audience == Audience::Shared {
            self.restricted.remove(index);
        } else {
            self.restricted.insert(index);
        }
        self.entries[index] = Some(entry);
    }

    /// Compares a part's properties with those last given and returns what changed. Of an instance
    /// that is unknown nothing changes.
    pub fn set_part(&mut self, at: Placed, properties: &PartProperties) -> PartMask {
        let Some(part) = self.part(at) else { return PartMask::NONE };
        let changed = properties.difference(&part.properties);
        if !changed.is_empty() {
            part.properties.clone_from(properties);
            part.mark(changed);
            self.dirty.insert(at.slot.index());
        }
        changed
    }

    /// A script has moved an anchored part: motion tells of it while it moves, and this publisher when it has stood still for
    /// [`SETTLE_TICKS`].
    pub fn move_anchored(&mut self, at: Placed, pose: Pose, tick: Tick) {
        let Some(part) = self.part(at) else { return };
        if part.pose != pose {
            part.pose = pose;
            part.moved = tick;
            self.settling.insert(at.slot.index());
        }
    }

    /// Compares a character's properties with those last given and returns what changed.
    pub fn set_character(&mut self, at: Placed, properties: &CharacterProperties) -> CharacterMask {
        let entry = self.entries.get_mut(at.slot.index()).and_then(Option::as_mut).filter(|entry| entry.at == at);
        let Some(Entry { kind: Kind::Character(character), .. }) = entry else { return CharacterMask::NONE };
        let changed = properties.difference(&character.properties);
        if !changed.is_empty() {
            character.properties.clone_from(properties);
            character.dirty = character.dirty.union(changed);
            self.dirty.insert(at.slot.index());
        }
        changed
    }

    /// Changes who may know of an instance: those who no longer may are told to hide it, those who now may are told of it whole
    ///
    pub fn set_audience(&mut self, at: Placed, audience: Audience) {
        if !self.touch(at) {
            return;
        }
        let index = at.slot.index();
        if let Some(entry) = self.entries[index].as_mut().filter(|entry| entry.audience != audience) {
            entry.audience = audience;
            self.dirty.insert(index);
            if audience == Audience::Shared {
                self.restricted.remove(index);
            } else {
                self.restricted.insert(index);
            }
        }
    }

    /// An instance is no more; its slot may be used again at once.
    pub fn destroy(&mut self, at: Placed) {
        let index = at.slot.index();
        let entry = self.entries.get_mut(index).and_then(|entry| entry.take_if(|entry| entry.at == at));
        let authored = self.place.contains(at.id) && !self.destroyed.contains(at.id);
        if entry.is_some() {
            self.touched.remove(index);
            self.dirty.remove(index);
            self.settling.remove(index);
            self.restricted.remove(index);
        }
        if authored {
            self.destroyed.insert(at.id);
        }
        // What was never told of needs no end.
        let known = entry.map_or(authored.then_some(Audience::Shared), |entry| entry.sent);
        if let Some(audience) = known {
            self.removed.push((Recipients::all(audience), at.id));
        }
    }

    fn part(&mut self, at: Placed) -> Option<&mut PartEntry> {
        if !self.touch(at) {
            return None;
        }
        match &mut self.entries[at.slot.index()].as_mut()?.kind {
            Kind::Part(part) => Some(part),
            Kind::Character(_) => None,
        }
    }

    /// Makes sure there is an entry, from the authored place if need be; false when the instance is unknown.
    fn touch(&mut self, at: Placed) -> bool {
        if let Some(entry) = self.entries.get(at.slot.index()).and_then(Option::as_ref) {
            return entry.at == at;
        }
        if self.destroyed.contains(at.id) {
            return false;
        }
        let Some(authored) = self.place.part(at.id) else { return false };
        let part = PartEntry {
            properties: authored.properties,
            pose: authored.pose,
            moved: Tick(0),
            dirty: PartMask::NONE,
            since_authored: PartMask::NONE,
        };
        let kind = Kind::Part(Box::new(part));
        self.hold(Entry { at, kind, audience: Audience::Shared, sent: Some(Audience::Shared), authored: true });
        true
    }

    /// Appends the messages of this tick: what changed since the last publish, encoded once per audience. Costs nothing when
    /// nothing changed.
    pub fn publish(&mut self, tick: Tick, poses: &impl CurrentPoses, output: &mut PublishOutput) {
        self.settle_moved(tick);
        if self.dirty.is_empty() && self.removed.is_empty() {
            return;
        }
        let mut builder = MessageBuilder::new(output, RecordsHead { generation: self.generation, tick });
        write_removed(&mut self.removed, &mut builder);
        self.tellings.clear();
        for index in self.dirty.iter() {
            let Some(entry) = &self.entries[index] else { continue };
            let shared = entry.is_shared();
            entry.tellings(|recipients, telling| {
                if shared {
                    entry.write(telling, poses, recipients, &mut builder);
                } else {
                    self.tellings.push((recipients, index as u32, telling));
                }
            });
        }
        self.tellings.sort_unstable();
        for &(recipients, index, telling) in &self.tellings {
            if let Some(entry) = &self.entries[index as usize] {
                entry.write(telling, poses, recipients, &mut builder);
            }
        }
        for index in self.dirty.iter() {
            if let Some(entry) = &mut self.entries[index] {
                entry.settle();
            }
        }
        self.dirty.clear();
    }

    fn settle_moved(&mut self, tick: Tick) {
        if self.settling.is_empty() {
            return;
        }
        let mut settled = std::mem::take(&mut self.settling);
        for index in settled.iter() {
            let Some(Entry { kind: Kind::Part(part), .. }) = &mut self.entries[index] else { continue };
            if tick.0.saturating_sub(part.moved.0) >= SETTLE_TICKS {
                part.mark_pose();
                self.dirty.insert(index);
            } else {
                self.settling.insert(index);
            }
        }
        // What still moves goes back into the set that already has the memory.
        settled.clear();
        settled.union_with(&self.settling);
        self.settling = settled;
    }

    /// Appends what a player who has just read the place file must be told, so that it knows what everyone does who has heard
    /// every publish so far: only what differs from the authored place. To be called right after [`Self::publish`].
    pub fn join_snapshot(
        &self,
        tick: Tick,
        (player, groups): (PlayerId, &[u32]),
        poses: &impl CurrentPoses,
        output: &mut PublishOutput,
    ) {
        let mut builder = MessageBuilder::new(output, RecordsHead { generation: self.generation, tick });
        for (first, count) in self.destroyed.iter() {
            builder.record(Recipients::default()).destroy(first, count);
        }
        for index in self.touched.iter() {
            if let Some(entry) = self.entries[index].as_ref().filter(|entry| entry.sent.is_some()) {
                let admitted = entry.audience.admits(player, groups);
                entry.write_join(admitted, poses, &mut builder);
            }
        }
    }

    /// Appends what one player must be told when its groups change: what it now may know of, and what no longer. To be called
    /// right after [`Self::publish`].
    pub fn regroup(
        &self,
        tick: Tick,
        Regrouping { player, before, after }: Regrouping<'_>,
        poses: &impl CurrentPoses,
        output: &mut PublishOutput,
    ) {
        let mut builder = MessageBuilder::new(output, RecordsHead { generation: self.generation, tick });
        let only = Recipients::all(Audience::Owner(player));
        for index in self.restricted.iter() {
            let Some(entry) = self.entries[index].as_ref().filter(|entry| entry.sent.is_some()) else { continue };
            match (entry.audience.admits(player, before), entry.audience.admits(player, after)) {
                (false, true) => entry.write(Telling::Create, poses, only, &mut builder),
                (true, false) => entry.write(Telling::Hide, poses, only, &mut builder),
                _ => {}
            }
        }
    }
}

/// A player's groups before and after they changed.
#[derive(Clone, Copy, Debug)]
pub struct Regrouping<'a> {
    /// Whose.
    pub player: PlayerId,
    /// Groups it was in.
    pub before: &'a [u32],
    /// Groups it is in now.
    pub after: &'a [u32],
}

/// Writes the ends, neighbouring ids as one range.
fn write_removed(removed: &mut Vec<(Recipients, InstanceId)>, builder: &mut MessageBuilder<'_>) {
    removed.sort_unstable();
    let mut rest = removed.as_slice();
    while let Some(&(recipients, first)) = rest.first() {
        let run = rest
            .iter()
            .enumerate()
            .take_while(|(offset, (whom, id))| *whom == recipients && id.0 == first.0 + *offset as u64)
            .count();
        builder.record(recipients).destroy(first, run as u64);
        rest = &rest[run..];
    }
    removed.clear();
}
