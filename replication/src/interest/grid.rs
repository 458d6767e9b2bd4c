use glam::Vec3;

use super::columns::{Cell, Columns, Entry};
use super::{InterestSettings, Origin, Viewer, VisibleSet};
use crate::ids::{Slot, SlotSet};
use crate::instance::Audience;

/// How much farther than it enters a subject must be to leave.
const LEAVE_SHARE: f32 = 1.1;

/// Subjects within the leaving radius that are judged in one go.
const CANDIDATES: usize = 128;
/// Marks one that is within the entering radius.
const ENTERS: u32 = 1 << 31;

/// Where every subject of motion is, in square columns of space kept incrementally.
///
/// Columns run along the up axis. A query reads the subjects of the columns it touches and nothing else.
#[derive(Clone, Debug)]
pub struct InterestGrid {
    cell: f32,
    axes: [usize; 2],
    settings: InterestSettings,
    columns: Columns,
    places: Vec<Place>,
    audiences: Vec<Audience>,
    members: SlotSet,
    restricted: SlotSet,
    always: SlotSet,
}

/// Where a subject's entry is.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    cell: Cell,
    at: u32,
}

impl InterestGrid {
    /// An empty grid of square columns `cell` studs wide (default 64, at least 1) along the axis nearest to `up`.
    #[must_use]
    pub fn new(cell: f32, up: Vec3, settings: InterestSettings) -> Self {
        let steep = up.abs();
        let axes = if steep.x > steep.y && steep.x > steep.z {
            [1, 2]
        } else if steep.z > steep.y {
            [0, 1]
        } else {
            [0, 2]
        };
        Self {
            cell: if cell.is_finite() { cell.max(1.0) } else { 64.0 },
            axes,
            settings,
            columns: Columns::new(),
            places: Vec::new(),
            audiences: Vec::new(),
            members: SlotSet::new(),
            restricted: SlotSet::new(),
            always: SlotSet::new(),
        }
    }

    /// The place's radii.
    #[must_use]
    pub fn settings(&self) -> &InterestSettings {
        &self.settings
    }

    /// Replaces the place's radii, as a server sheds load with smaller ones (T-3).
    pub fn set_settings(&mut self, settings: InterestSettings) {
        self.settings = settings;
    }

    /// Subjects held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether no subject is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Adds a subject, or replaces the one in its slot.
    pub fn insert(&mut self, slot: Slot, position: Vec3, audience: Audience) {
        self.remove(slot);
        let index = slot.index();
        if index >= self.places.len() {
            self.places.resize(index + 1, Place::default());
            self.audiences.resize(index + 1, Audience::Shared);
        }
        self.members.insert(index);
        self.put(index, position);
        self.set_audience(slot, audience);
    }

    /// Moves a subject; within its column that is one store. Unknown slots are ignored.
    #[inline]
    pub fn move_to(&mut self, slot: Slot, position: Vec3) {
        let index = slot.index();
        if !self.members.contains(index) {
            return;
        }
        let place = self.places[index];
        if self.cell_of(position) == place.cell {
            if let Some(entry) = self.columns.get_mut(place.cell, place.at) {
                entry.position = position;
            }
        } else {
            self.take(index);
            self.put(index, position);
        }
    }

    /// Changes who may know of a subject. Unknown slots are ignored.
    pub fn set_audience(&mut self, slot: Slot, audience: Audience) {
        let index = slot.index();
        if self.members.contains(index) {
            self.audiences[index] = audience;
            if audience == Audience::Shared {
                self.restricted.remove(index);
            } else {
                self.restricted.insert(index);
            }
        }
    }

    /// Makes distance not matter for a subject, or matter again. Unknown slots are ignored.
    pub fn set_always_relevant(&mut self, slot: Slot, always: bool) {
        if always && self.members.contains(slot.index()) {
            self.always.insert(slot.index());
        } else {
            self.always.remove(slot.index());
        }
    }

    /// Removes a subject. Unknown slots are ignored.
    pub fn remove(&mut self, slot: Slot) {
        let index = slot.index();
        if self.members.remove(index) {
            self.take(index);
            self.restricted.remove(index);
            self.always.remove(index);
        }
    }

    /// Finds what `viewer` sees now, given what it saw before: subjects enter at an origin's radius and leave beyond 1.1
    /// times it.
    pub fn update(&self, viewer: &Viewer<'_>, visible: &mut VisibleSet) {
        std::mem::swap(&mut visible.now, &mut visible.before);
        visible.now.clear();
        visible.now.reserve(self.places.len());
        visible.revision += 1;
        let unbounded = |origin: &Origin| origin.reach(&self.settings) == f32::INFINITY;
        if viewer.origins.is_empty() || viewer.origins.iter().any(unbounded) {
            visible.now.union_with(&self.members);
        } else {
            for origin in viewer.origins {
                self.find(origin, visible);
            }
            visible.now.union_with(&self.always);
        }
        for (word, bits) in self.restricted.words() {
            let seen = bits & visible.now.word(word);
            if seen == 0 {
                continue;
            }
            let refused = crate::ids::Bits(seen)
                .filter(|bit| !self.audiences[word * 64 + bit].admits(viewer.player, viewer.groups))
                .fold(0, |refused, bit| refused | 1 << bit);
            visible.now.set_word(word, visible.now.word(word) & !refused);
        }
        if let Some(character) = viewer.character.filter(|slot| self.members.contains(slot.index())) {
            visible.now.insert(character.index());
        }
    }

    /// Adds what an origin of finite radius reaches.
    fn find(&self, origin: &Origin, visible: &mut VisibleSet) {
        let radius = origin.reach(&self.settings);
        let leave = radius * LEAVE_SHARE;
        let (enter_squared, leave_squared) = (radius * radius, leave * leave);
        let [low_a, low_b] = self.cell_of(origin.position - Vec3::splat(leave));
        let [high_a, high_b] = self.cell_of(origin.position + Vec3::splat(leave));
        let width = |low: i32, high: i32| i64::from(high) - i64::from(low) + 1;
        let columns = width(low_a, high_a).saturating_mul(width(low_b, high_b));
        // A radius over more columns than there are subjects looks at the subjects instead.
        if columns > self.places.len() as i64 {
            self.find_among_all(origin, (enter_squared, leave_squared), visible);
            return;
        }
        let VisibleSet { now, before, .. } = visible;
        let mut judge = |candidates: &[u32]| {
            for candidate in candidates {
                let index = (candidate & !ENTERS) as usize;
                now.insert_if(index, (candidate & ENTERS != 0) | before.contains(index));
            }
        };
        let (mut candidates, mut count) = ([0_u32; CANDIDATES], 0);
        for a in low_a..=high_a {
            self.columns.each(a, (low_b, high_b), |entry| {
                let distance = entry.position.distance_squared(origin.position);
                // Without branches: which side of an edge a subject is on cannot be foreseen.
                candidates[count % CANDIDATES] = entry.index | u32::from(distance <= enter_squared) << 31;
                count += usize::from(distance <= leave_squared);
                if count == CANDIDATES {
                    judge(&candidates);
                    count = 0;
                }
            });
        }
        judge(&candidates[..count]);
    }

    fn find_among_all(&self, origin: &Origin, (enter_squared, leave_squared): (f32, f32), visible: &mut VisibleSet) {
        let VisibleSet { now, before, .. } = visible;
        for index in self.members.iter() {
            let Place { cell, at } = self.places[index];
            let Some(entry) = self.columns.get(cell, at) else { continue };
            let distance = entry.position.distance_squared(origin.position);
            if distance <= enter_squared || (distance <= leave_squared && before.contains(index)) {
                now.insert(index);
            }
        }
    }

    fn cell_of(&self, position: Vec3) -> Cell {
        self.axes.map(|axis| floor(position[axis] / self.cell))
    }

    fn put(&mut self, index: usize, position: Vec3) {
        let cell = self.cell_of(position);
        let at = self.columns.push(cell, Entry { position, index: index as u32 });
        self.places[index] = Place { cell, at };
    }

    fn take(&mut self, index: usize) {
        let Place { cell, at } = self.places[index];
        if let Some(moved) = self.columns.remove(cell, at) {
            self.places[moved.index as usize].at = at;
        }
    }
}

/// The whole number at or below `value`; casts saturate and map NaN to 0.
#[inline]
fn floor(value: f32) -> i32 {
    let cut = value as i32;
    cut.saturating_sub(i32::from((cut as f32) > value))
}
