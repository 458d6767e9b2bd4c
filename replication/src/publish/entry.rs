use tidelock_sim::Tick;

use super::CurrentPoses;
use super::output::MessageBuilder;
use crate::ids::Placed;
use crate::instance::{
    Also, Audience, CharacterMask, CharacterPose, CharacterProperties, PartMask, PartProperties, PartProperty, Pose,
    Recipients,
};

/// An instance that is not, or no longer, as it was authored.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) at: Placed,
    pub(super) kind: Kind,
    /// Who may know of it now.
    pub(super) audience: Audience,
    /// Who knows of it; `None` before it is first published.
    pub(super) sent: Option<Audience>,
    /// Whether every client has it from the place file.
    pub(super) authored: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Part(Box<PartEntry>),
    Character(Box<CharacterEntry>),
}

#[derive(Clone, Debug)]
pub(super) struct PartEntry {
    pub(super) properties: PartProperties,
    pub(super) pose: Pose,
    /// When a script last moved it.
    pub(super) moved: Tick,
    /// What changed since the last publish, and since it was authored.
    pub(super) dirty: PartMask,
    pub(super) since_authored: PartMask,
}

#[derive(Clone, Debug)]
pub(super) struct CharacterEntry {
    pub(super) properties: CharacterProperties,
    pub(super) pose: CharacterPose,
    pub(super) dirty: CharacterMask,
}

/// What one audience is to be told of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Telling {
    Hide,
    Create,
    Patch,
}

impl Entry {
    /// Whether everyone is concerned by whatever is published of it.
    pub(super) fn is_shared(&self) -> bool {
        self.audience == Audience::Shared && matches!(self.sent, None | Some(Audience::Shared))
    }

    /// Who is to be told what.
    pub(super) fn tellings(&self, mut tell: impl FnMut(Recipients, Telling)) {
        let now = self.audience;
        match self.sent {
            None => tell(Recipients::all(now), Telling::Create),
            Some(before) if before == now => {
                if self.is_dirty() {
                    tell(Recipients::all(now), Telling::Patch);
                }
            }
            Some(before) => {
                tell(Recipients { within: before, also: Also::NotIn(now) }, Telling::Hide);
                tell(Recipients { within: now, also: Also::NotIn(before) }, Telling::Create);
                if self.is_dirty() {
                    tell(Recipients { within: now, also: Also::In(before) }, Telling::Patch);
                }
            }
        }
    }

    fn is_dirty(&self) -> bool {
        match &self.kind {
            Kind::Part(part) => !part.dirty.is_empty(),
            Kind::Character(character) => !character.dirty.is_empty(),
        }
    }

    /// Writes one telling.
    pub(super) fn write(
        &self,
        telling: Telling,
        poses: &impl CurrentPoses,
        recipients: Recipients,
        builder: &mut MessageBuilder<'_>,
    ) {
        let mut record = builder.record(recipients);
        match (telling, &self.kind) {
            (Telling::Hide, _) => record.hide(self.at.id),
            (Telling::Create, Kind::Part(part)) => {
                let pose = poses.part(self.at).unwrap_or(part.pose);
                record.create_part(self.at.id, &part.properties, &pose);
            }
            (Telling::Create, Kind::Character(character)) => {
                let pose = poses.character(self.at).unwrap_or(character.pose);
                record.create_character(self.at.id, &character.properties, &pose);
            }
            (Telling::Patch, Kind::Part(part)) => {
                record.patch_part(self.at.id, part.dirty, &part.properties, &part.pose)
            }
            (Telling::Patch, Kind::Character(character)) => {
                record.patch_character(self.at.id, character.dirty, &character.properties);
            }
        }
    }

    /// Tells a joiner who has just read the place file.
    pub(super) fn write_join(&self, admitted: bool, poses: &impl CurrentPoses, builder: &mut MessageBuilder<'_>) {
        let all = Recipients::all(self.audience);
        match &self.kind {
            Kind::Part(part) if self.authored && admitted && part.since_authored.is_empty() => {}
            Kind::Part(part) if self.authored && admitted => {
                builder.record(all).patch_part(self.at.id, part.since_authored, &part.properties, &part.pose);
            }
            _ if self.authored => builder.record(all).hide(self.at.id),
            _ if admitted => self.write(Telling::Create, poses, all, builder),
            _ => {}
        }
    }

    /// Remembers that all has been told.
    pub(super) fn settle(&mut self) {
        self.sent = Some(self.audience);
        match &mut self.kind {
            Kind::Part(part) => part.dirty = PartMask::NONE,
            Kind::Character(character) => character.dirty = CharacterMask::NONE,
        }
    }
}

impl PartEntry {
    /// Adds to what is to be told.
    pub(super) fn mark(&mut self, mask: PartMask) {
        self.dirty = self.dirty.union(mask);
        self.since_authored = self.since_authored.union(mask);
    }

    /// Adds the pose to what is to be told.
    pub(super) fn mark_pose(&mut self) {
        self.mark(PartMask::NONE.with(PartProperty::Pose));
    }
}
