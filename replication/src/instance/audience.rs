use crate::ids::PlayerId;

/// Who may know of an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Audience {
    /// Everyone in the place.
    #[default]
    Shared,
    /// One player.
    Owner(PlayerId),
    /// The members of a group the game made.
    Group(u32),
}

impl Audience {
    /// Whether a player who is in `groups` belongs to it.
    #[must_use]
    pub fn admits(self, player: PlayerId, groups: &[u32]) -> bool {
        match self {
            Self::Shared => true,
            Self::Owner(owner) => owner == player,
            Self::Group(group) => groups.contains(&group),
        }
    }
}

/// Whom a span of published records is for: the members of one audience, perhaps only those who are in another too, or
/// are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Recipients {
    /// The audience.
    pub within: Audience,
    /// What more is asked.
    pub also: Also,
}

/// What more [`Recipients`] ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Also {
    /// Nothing.
    #[default]
    Nothing,
    /// Being in this audience too.
    In(Audience),
    /// Not being in this audience.
    NotIn(Audience),
}

impl Recipients {
    /// All members of `audience`.
    #[must_use]
    pub fn all(audience: Audience) -> Self {
        Self { within: audience, also: Also::Nothing }
    }

    /// Whether a player who is in `groups` is one of them.
    #[must_use]
    pub fn include(self, player: PlayerId, groups: &[u32]) -> bool {
        self.within.admits(player, groups)
            && match self.also {
                Also::Nothing => true,
                Also::In(audience) => audience.admits(player, groups),
                Also::NotIn(audience) => !audience.admits(player, groups),
            }
    }
}
