use glam::Vec3;

use super::{OwnershipPolicy, OwnershipTable, Partition, PlayerId};
use crate::collision::ColliderId;
use crate::time::SimTime;

/// How owners are elected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElectionConfig {
    /// Farthest a player may be from a part to own it, studs, default 60; an owner keeps it to 1.25 times that.
    pub reach: f32,
    /// Share of the owner's distance a challenger has to be within, default 0.75.
    pub hysteresis: f32,
    /// Most parts of an island a player may own, default 64; a larger one is the server's.
    pub max_island: usize,
}

impl Default for ElectionConfig {
    fn default() -> Self {
        Self { reach: 60.0, hysteresis: 0.75, max_island: 64 }
    }
}

/// A player who can own parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Who.
    pub player: PlayerId,
    /// Where their character is, studs.
    pub position: Vec3,
}

/// By how much farther than the reach an owner may be.
const KEEP: f32 = 1.25;

/// Gives each island of parts to the nearest player, with hysteresis and cooldown, as one (S-50, S-51a).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Election {
    /// Its numbers.
    pub config: ElectionConfig,
}

impl Election {
    /// Elects for every island at `now`. Parts the game forbids keep their whole island with the server, parts it fixes
    /// take their island along. Where islands of two owners touch while both are in their cooldown, the server steps in.
    pub fn run(&self, table: &mut OwnershipTable, islands: &Partition, candidates: &[Candidate], now: SimTime) {
        for island in islands.islands() {
            let owner = self.choose(table, island, candidates, now);
            for part in island {
                table.give(*part, owner, now);
            }
        }
    }

    fn choose(
        &self,
        table: &OwnershipTable,
        island: &[ColliderId],
        candidates: &[Candidate],
        now: SimTime,
    ) -> Option<PlayerId> {
        if island.len() > self.config.max_island {
            return None;
        }
        let mut fixed = None;
        for part in island {
            match table.policy(*part)? {
                OwnershipPolicy::Elected => {}
                OwnershipPolicy::Forbidden => return None,
                OwnershipPolicy::Fixed(player) => fixed = fixed.or(Some(player)),
            }
        }
        if fixed.is_some() {
            return fixed;
        }
        let center = center(table, island);
        let incumbent = nearest(owning(table, island, candidates), center, self.config.reach * KEEP);
        let challenger = nearest(candidates.iter(), center, self.config.reach);
        let winner = match (incumbent, challenger) {
            (Some((distance, _)), Some(other)) if other.0 < distance * self.config.hysteresis => Some(other.1),
            (Some((_, player)), _) => Some(player),
            (None, other) => other.map(|(_, player)| player),
        };
        let allowed = |player: PlayerId| {
            island.iter().all(|part| table.owner(*part) == Some(player) || table.is_cool(*part, now))
        };
        // Whoever may have all of it now: the winner, else the owner who is to be relieved later, else nobody.
        let keeps = |player: &PlayerId| {
            allowed(*player) && incumbent.is_some() && candidates.iter().any(|candidate| candidate.player == *player)
        };
        winner
            .filter(|player| allowed(*player))
            .or_else(|| island.iter().filter_map(|part| table.owner(*part)).find(keeps))
    }
}

/// The candidates who own parts of an island; one several times, perhaps, where owners alternate.
fn owning<'a>(
    table: &'a OwnershipTable,
    island: &'a [ColliderId],
    candidates: &'a [Candidate],
) -> impl Iterator<Item = &'a Candidate> {
    let mut last = None;
    let owners =
        island.iter().filter_map(|part| table.owner(*part)).filter(move |owner| last.replace(*owner) != Some(*owner));
    owners.filter_map(|owner| candidates.iter().find(|candidate| candidate.player == owner))
}

/// The nearest of some candidates within a distance, of several at one distance the first by id.
fn nearest<'a>(of: impl Iterator<Item = &'a Candidate>, center: Vec3, within: f32) -> Option<(f32, PlayerId)> {
    let squares = of.map(|candidate| (candidate.position.distance_squared(center), candidate.player));
    let within = squares.filter(|(square, _)| *square <= within * within);
    within.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(square, player)| (square.sqrt(), player))
}

fn center(table: &OwnershipTable, island: &[ColliderId]) -> Vec3 {
    let sum: Vec3 = island.iter().filter_map(|part| table.state(*part)).map(|state| state.position).sum();
    sum / island.len().max(1) as f32
}
