//! The interest grid against a naive model.

use glam::Vec3;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use tidelock_replication::ids::{PlayerId, Slot};
use tidelock_replication::instance::Audience;
use tidelock_replication::interest::{
    InterestGrid, InterestSettings, Origin, Subject, Viewer, VisibleSet, first_sight,
};

#[derive(Clone, Debug)]
enum Op {
    Insert(u32, Vec3, Audience),
    Move(u32, Vec3),
    Remove(u32),
    Audience(u32, Audience),
    Always(u32, bool),
    Look(Vec<Origin>),
}

fn position() -> impl Strategy<Value = Vec3> {
    prop_oneof![
        (-300f32..300.0, -50f32..50.0, -300f32..300.0).prop_map(|(x, y, z)| Vec3::new(x, y, z)),
        (-2e4f32..2e4, -2e4f32..2e4, -2e4f32..2e4).prop_map(|(x, y, z)| Vec3::new(x, y, z)),
    ]
}

fn audience() -> impl Strategy<Value = Audience> {
    prop_oneof![
        4 => Just(Audience::Shared),
        1 => (1u64..3).prop_map(|player| Audience::Owner(PlayerId(player))),
        1 => (7u32..9).prop_map(Audience::Group),
    ]
}

fn origin() -> impl Strategy<Value = Origin> {
    let radius = prop_oneof![
        4 => (1f32..400.0).prop_map(Some),
        2 => Just(None),
        1 => Just(Some(f32::INFINITY)),
        1 => (1e4f32..1e7).prop_map(Some),
        // As large as floats go, and what is no radius.
        1 => prop::sample::select(vec![1e12, f32::MAX, -1.0, f32::NEG_INFINITY, f32::NAN]).prop_map(Some),
    ];
    (position(), radius).prop_map(|(position, radius)| Origin { position, radius })
}

fn op() -> impl Strategy<Value = Op> {
    let slot = 0u32..40;
    prop_oneof![
        4 => (slot.clone(), position(), audience()).prop_map(|(slot, position, audience)| Op::Insert(slot, position, audience)),
        6 => (slot.clone(), position()).prop_map(|(slot, position)| Op::Move(slot, position)),
        1 => slot.clone().prop_map(Op::Remove),
        1 => (slot.clone(), audience()).prop_map(|(slot, audience)| Op::Audience(slot, audience)),
        1 => (slot, any::<bool>()).prop_map(|(slot, always)| Op::Always(slot, always)),
        4 => proptest::collection::vec(origin(), 0..3).prop_map(Op::Look),
    ]
}

struct Model {
    settings: InterestSettings,
    subjects: BTreeMap<u32, Subject>,
    seen: BTreeSet<u32>,
}

impl Model {
    fn look(&mut self, viewer: &Viewer<'_>) {
        let mut seen = BTreeSet::new();
        for (&slot, subject) in &self.subjects {
            let own = viewer.character == Some(Slot(slot));
            // Staying in sight is first sight at 1.1 times the radius.
            let stretched: Vec<Origin> = viewer
                .origins
                .iter()
                .map(|origin| Origin {
                    radius: Some(origin.radius.unwrap_or(self.settings.default_radius()) * 1.1),
                    ..*origin
                })
                .collect();
            let stays = Viewer { origins: &stretched, ..*viewer };
            let stays = self.seen.contains(&slot) && first_sight(&self.settings, &stays, subject);
            if own || first_sight(&self.settings, viewer, subject) || stays {
                seen.insert(slot);
            }
        }
        self.seen = seen;
    }
}

proptest! {
    //
    #[test]
    fn the_grid_finds_what_looking_at_everything_finds(
        ops in proptest::collection::vec(op(), 1..120),
        cell in 8f32..200.0,
        streaming: bool,
        character in proptest::option::of(0u32..40),
    ) {
        let settings = InterestSettings { streaming, target_radius: 120.0, min_radius: 64.0 };
        let mut grid = InterestGrid::new(cell, Vec3::Y, settings);
        let mut model = Model { settings, subjects: BTreeMap::new(), seen: BTreeSet::new() };
        let mut visible = VisibleSet::new();
        for op in ops {
            match op {
                Op::Insert(slot, position, audience) => {
                    grid.insert(Slot(slot), position, audience);
                    let subject = Subject { position, audience, always_relevant: false, character_of: None };
                    model.subjects.insert(slot, subject);
                }
                Op::Move(slot, position) => {
                    grid.move_to(Slot(slot), position);
                    model.subjects.entry(slot).and_modify(|subject| subject.position = position);
                }
                Op::Remove(slot) => {
                    grid.remove(Slot(slot));
                    model.subjects.remove(&slot);
                }
                Op::Audience(slot, audience) => {
                    grid.set_audience(Slot(slot), audience);
                    model.subjects.entry(slot).and_modify(|subject| subject.audience = audience);
                }
                Op::Always(slot, always) => {
                    grid.set_always_relevant(Slot(slot), always);
                    model.subjects.entry(slot).and_modify(|subject| subject.always_relevant = always);
                }
                Op::Look(origins) => {
                    let character = character.map(Slot);
                    let viewer = Viewer { player: PlayerId(1), groups: &[7], origins: &origins, character };
                    let before = model.seen.clone();
                    grid.update(&viewer, &mut visible);
                    model.look(&viewer);
                    let seen: BTreeSet<u32> = visible.set().iter().map(|index| index as u32).collect();
                    prop_assert_eq!(&seen, &model.seen);
                    let entered: Vec<u32> = visible.entered().map(|index| index as u32).collect();
                    let left: Vec<u32> = visible.left().map(|index| index as u32).collect();
                    prop_assert_eq!(entered, seen.difference(&before).copied().collect::<Vec<_>>());
                    prop_assert_eq!(left, before.difference(&seen).copied().collect::<Vec<_>>());
                }
            }
            prop_assert_eq!(grid.len(), model.subjects.len());
        }
    }
}

//
#[test]
fn radii_are_inclusive_and_leaving_takes_a_tenth_more() {
    let mut grid = InterestGrid::new(64.0, Vec3::Y, InterestSettings::default());
    let mut visible = VisibleSet::new();
    let origins = [Origin { position: Vec3::ZERO, radius: Some(100.0) }];
    let viewer = Viewer { player: PlayerId(1), groups: &[], origins: &origins, character: None };
    let mut sees = |grid: &InterestGrid| {
        grid.update(&viewer, &mut visible);
        visible.contains(Slot(5))
    };
    grid.insert(Slot(5), Vec3::new(100.5, 0.0, 0.0), Audience::Shared);
    assert!(!sees(&grid));
    grid.move_to(Slot(5), Vec3::new(100.0, 0.0, 0.0));
    assert!(sees(&grid));
    grid.move_to(Slot(5), Vec3::new(0.0, 109.5, 0.0));
    assert!(sees(&grid));
    grid.move_to(Slot(5), Vec3::new(0.0, 110.5, 0.0));
    assert!(!sees(&grid));
    grid.move_to(Slot(5), Vec3::new(0.0, 109.5, 0.0));
    assert!(!sees(&grid));
}
