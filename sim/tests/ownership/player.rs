use std::collections::BTreeMap;

use glam::Vec3;
use tidelock_sim::collision::ColliderId;
use tidelock_sim::ownership::{
    OwnedReport, OwnedSnapshot, OwnershipNotice, PartRole, PartView, PartViewConfig, PlayerId, ViewedPose,
};
use tidelock_sim::physics::{LooseMotion, LooseParts};
use tidelock_sim::timeline::{RemoteTimeline, RemoteTimelineConfig};
use tidelock_sim::{Sequence, SimTime};

use crate::world::{Item, Link, Motion, physics};

/// A client: what it simulates, what it draws, and its links.
pub(crate) struct Player {
    pub(crate) id: PlayerId,
    /// Where its character is, for the election.
    pub(crate) character: Vec3,
    pub(crate) physics: LooseParts,
    pub(crate) views: BTreeMap<ColliderId, PartView>,
    pub(crate) drawn: BTreeMap<ColliderId, ViewedPose>,
    pub(crate) up: Link<OwnedReport>,
    pub(crate) down: Link<(f64, Motion)>,
    pub(crate) notices: Link<Vec<OwnershipNotice>>,
    /// States of parts sent to it.
    pub(crate) echoed: usize,
    /// Whether a report tells of every other of its parts only, in turns.
    pub(crate) alternate: bool,
    config: PartViewConfig,
    timeline: RemoteTimeline,
    sequence: Sequence,
    moved: LooseMotion,
    frames: u64,
}

/// How far ahead of server time a client simulates, so that its reports arrive at their own time, seconds.
const AHEAD: f64 = 0.05;

impl Player {
    pub(crate) fn new(id: PlayerId, items: &[Item], seed: u64) -> Self {
        Self {
            id,
            character: Vec3::ZERO,
            physics: physics(items, true),
            views: items.iter().map(|item| (item.id, PartView::new())).collect(),
            drawn: BTreeMap::new(),
            up: Link::new(seed, 0.05),
            down: Link::new(seed + 1, 0.05),
            notices: Link::new(seed + 2, 0.05),
            echoed: 0,
            alternate: false,
            config: PartViewConfig::default(),
            timeline: RemoteTimeline::new(RemoteTimelineConfig::default()),
            sequence: Sequence(u32::MAX - 5),
            moved: LooseMotion::default(),
            frames: 0,
        }
    }

    pub(crate) fn owns(&self, id: ColliderId) -> bool {
        self.views[&id].is_own()
    }

    /// A frame at `now`, which server time is known to be.
    pub(crate) fn frame(&mut self, now: f64) {
        self.frames += 1;
        let present = now + AHEAD;
        for (server, motion) in self.down.arrived(now) {
            self.timeline.sample(server, now);
            for (id, pose) in motion {
                self.views.get_mut(&id).unwrap().receive(pose, &self.config);
            }
        }
        for notices in self.notices.arrived(now) {
            let (mut acquired, mut since) = (Vec::new(), present);
            for notice in notices {
                let view = self.views.get_mut(&notice.part).unwrap();
                match view.notice(&notice, self.id, present, &self.config) {
                    PartRole::Unchanged => {}
                    PartRole::Acquire { known, at, .. } => {
                        acquired.push((notice.part, known));
                        since = at;
                    }
                    PartRole::Release => assert!(self.physics.release(notice.part)),
                    PartRole::Place(state) => assert!(self.physics.place(notice.part, &state)),
                }
            }
            if !acquired.is_empty() {
                // The step below is the last of them.
                let ticks = ((present - since) * 60.0).round() as u32;
                let now = SimTime::from_seconds(present);
                self.physics.acquire_behind(&acquired, (now, ticks.saturating_sub(1)), |_, _, _| {});
            }
        }
        self.simulate(present);
        if let Some(playback) = self.timeline.advance(now, 1.0 / 60.0) {
            for (id, view) in &mut self.views {
                view.advance(1.0 / 60.0, playback, present, &self.config);
                if let Some(pose) = view.pose() {
                    self.drawn.insert(*id, pose);
                }
            }
        }
    }

    fn simulate(&mut self, present: f64) {
        for (id, view) in &self.views {
            if let Some(state) = view.predicted(present, &self.config).filter(|_| !view.is_own()) {
                self.physics.drive(*id, &state);
            }
        }
        self.physics.step(SimTime::from_seconds(present), &mut self.moved);
        let mut snapshots = Vec::new();
        for (id, view) in self.views.iter_mut().filter(|(_, view)| view.is_own()) {
            let state = self.physics.state(*id).unwrap();
            view.simulated(present, &state, &self.config);
            snapshots.push(OwnedSnapshot { part: *id, epoch: view.epoch(), state });
        }
        if self.alternate {
            let turn = self.frames / 2 % 2;
            snapshots.retain(|snapshot| snapshot.part.0 % 2 == turn);
        }
        if !snapshots.is_empty() && self.frames.is_multiple_of(2) {
            self.sequence = self.sequence.next();
            self.up.send(
                present - AHEAD,
                OwnedReport { sequence: self.sequence, time: SimTime::from_seconds(present), snapshots },
            );
        }
    }
}
