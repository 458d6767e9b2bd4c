use std::sync::Arc;

use glam::Vec3;
use tidelock_sim::motor::CharacterState;

use super::{Color, Seat};
use crate::ids::PlayerId;

/// What is told of a character reliably.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterProperties {
    /// Whose it is.
    pub player: PlayerId,
    /// Name shown, at most [`super::MAX_NAME_BYTES`] bytes.
    pub name: Arc<str>,
    /// Colour.
    pub color: Color,
    /// Where it sits, if it does: who knows the part draws it there.
    pub seat: Option<Seat>,
}

/// Where a character is when it is created.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CharacterPose {
    /// Centre of the capsule, studs.
    pub position: Vec3,
    /// Facing, radians.
    pub yaw: f32,
    /// What it is doing.
    pub state: CharacterState,
}

/// One reliable property of a character; its number is its bit in a [`CharacterMask`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CharacterProperty {
    /// [`CharacterProperties::player`].
    Player = 0,
    /// [`CharacterProperties::name`].
    Name = 1,
    /// [`CharacterProperties::color`].
    Color = 2,
    /// [`CharacterProperties::seat`].
    Seat = 3,
}

/// A set of character properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CharacterMask(pub u8);

impl CharacterMask {
    /// No property.
    pub const NONE: Self = Self(0);
    /// Every property.
    pub const ALL: Self = Self(15);

    /// Whether the property is in the set.
    #[must_use]
    pub fn contains(self, property: CharacterProperty) -> bool {
        self.0 >> property as u8 & 1 != 0
    }

    /// The properties of either set.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether no property is in the set.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl CharacterProperties {
    /// Bytes the properties point to: the name.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.name.len()
    }

    /// The properties in which `self` and `other` differ.
    #[must_use]
    pub fn difference(&self, other: &Self) -> CharacterMask {
        let bit = |property: CharacterProperty, differs: bool| u8::from(differs) << property as u8;
        CharacterMask(
            bit(CharacterProperty::Player, self.player != other.player)
                | bit(CharacterProperty::Name, self.name != other.name)
                | bit(CharacterProperty::Color, self.color != other.color)
                | bit(CharacterProperty::Seat, self.seat != other.seat),
        )
    }
}

/// New values of some properties of a character.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterPatch {
    /// Which properties are meant.
    pub mask: CharacterMask,
    /// Their values; those not in the mask mean nothing.
    pub properties: CharacterProperties,
}

impl CharacterPatch {
    /// Puts the values into a character's and returns the properties that thereby changed.
    pub fn apply(&self, properties: &mut CharacterProperties) -> CharacterMask {
        let before = properties.clone();
        if self.mask.contains(CharacterProperty::Player) {
            properties.player = self.properties.player;
        }
        if self.mask.contains(CharacterProperty::Name) {
            properties.name = self.properties.name.clone();
        }
        if self.mask.contains(CharacterProperty::Color) {
            properties.color = self.properties.color;
        }
        if self.mask.contains(CharacterProperty::Seat) {
            properties.seat = self.properties.seat;
        }
        properties.difference(&before)
    }

    /// Lays a later patch over this one.
    pub fn merge(&mut self, later: &Self) {
        later.apply(&mut self.properties);
        self.mask = self.mask.union(later.mask);
    }
}
