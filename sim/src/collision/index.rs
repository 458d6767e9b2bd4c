use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{Quat, Vec3};
use parry3d::partitioning::{Bvh, BvhWorkspace};

use super::ColliderId;
use super::kernel::Hull;
use super::mover::Mover;
use super::placement::{Bounds, Placement};
use super::shape::{ColliderError, Shape};
use super::solid::{Solid, Solids, Source};

/// Changes after which a share of the tree is rebalanced.
const CHANGES_PER_REBALANCING: u64 = 32;

/// A resting collider.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// Its id, unique in an index.
    pub id: ColliderId,
    /// Its geometry.
    pub shape: Shape,
    /// Where its centre is, studs.
    pub position: Vec3,
    /// How it is turned, unit length.
    pub rotation: Quat,
}

/// Anchored parts and scripted movers of a place, found by where they are (S-13).
///
/// Results of queries do not depend on the order in which colliders were inserted.
#[derive(Default)]
pub struct CollisionIndex {
    slots: Vec<Option<Entry>>,
    free: Vec<u32>,
    by_id: BTreeMap<ColliderId, u32>,
    solids: Solids,
    tree: Bvh,
    workspace: BvhWorkspace,
    movers: usize,
    /// Grows with every change.
    revision: u64,
    /// Tells this index from every other.
    identity: Arc<()>,
}

/// What a slot holds.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) id: ColliderId,
    pub(super) solid: Solid,
    source: Option<Source>,
    /// Bounds in the collider's own axes.
    pub(super) bounds: Bounds,
    pub(super) motion: Motion,
    /// Whether it is a volume of water rather than a solid.
    pub(super) water: bool,
}

/// How a collider moves.
#[derive(Clone, Debug)]
pub(super) enum Motion {
    Resting(Placement),
    Scripted(Mover),
}

impl Motion {
    /// Where in the world something of these bounds in its own axes can be.
    fn reach(&self, bounds: &Bounds) -> Bounds {
        match self {
            Self::Resting(placement) => placement.bounds_outward(bounds),
            Self::Scripted(mover) => mover.bounds(bounds),
        }
    }
}

impl std::fmt::Debug for CollisionIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CollisionIndex")
            .field("len", &self.len())
            .field("movers", &self.movers)
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

impl Clone for CollisionIndex {
    /// A copy that changes apart from the original.
    fn clone(&self) -> Self {
        Self {
            slots: self.slots.clone(),
            free: self.free.clone(),
            by_id: self.by_id.clone(),
            solids: self.solids.clone(),
            tree: self.tree.clone(),
            workspace: BvhWorkspace::default(),
            movers: self.movers,
            revision: self.revision,
            // What was gathered from the original must not be taken for the copy's.
            identity: Arc::default(),
        }
    }
}

impl CollisionIndex {
    /// An empty index.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a resting collider.
    ///
    /// # Errors
    ///
    /// [`ColliderError`]; the index is then as it was.
    pub fn insert(&mut self, collider: Collider) -> Result<(), ColliderError> {
        check_pose(collider.position, collider.rotation)?;
        let placement = Placement::new(collider.position, collider.rotation);
        self.add(collider.id, &collider.shape, Motion::Resting(placement), false)
    }

    /// Adds a volume of water: nothing collides with it, and a character whose centre is inside swims (S-12). It is moved
    /// and removed like a collider.
    ///
    /// # Errors
    ///
    /// [`ColliderError`], [`ColliderError::Empty`] for shapes without an inside; the index is then as it was.
    pub fn insert_water(&mut self, volume: Collider) -> Result<(), ColliderError> {
        check_pose(volume.position, volume.rotation)?;
        if matches!(volume.shape, Shape::TriMesh { .. } | Shape::Heightfield { .. } | Shape::Voxels { .. }) {
            return Err(ColliderError::Empty);
        }
        let placement = Placement::new(volume.position, volume.rotation);
        self.add(volume.id, &volume.shape, Motion::Resting(placement), true)
    }

    /// Adds a collider that follows `mover`.
    ///
    /// # Errors
    ///
    /// [`ColliderError`]; the index is then as it was.
    pub fn insert_mover(&mut self, id: ColliderId, shape: Shape, mover: Mover) -> Result<(), ColliderError> {
        mover.check()?;
        self.add(id, &shape, Motion::Scripted(mover), false)
    }

    /// Removes a collider or mover; false when there is none of that id.
    pub fn remove(&mut self, id: ColliderId) -> bool {
        let Some(slot) = self.by_id.remove(&id) else {
            return false;
        };
        if let Some(entry) = self.slots[slot as usize].take() {
            self.movers -= usize::from(matches!(entry.motion, Motion::Scripted(_)));
            if let Some(source) = entry.source {
                self.solids.release(source);
            }
        }
        self.free.push(slot);
        self.tree.remove(slot);
        self.changed();
        true
    }

    /// Moves a resting collider; false, and nothing changes, when there is none of that id, it is a mover, or a number
    /// is nonfinite or the rotation not of unit length.
    pub fn move_to(&mut self, id: ColliderId, position: Vec3, rotation: Quat) -> bool {
        let Some(&slot) = self.by_id.get(&id) else {
            return false;
        };
        let Some(Entry { bounds, motion: Motion::Resting(held), .. }) = &mut self.slots[slot as usize] else {
            return false;
        };
        if check_pose(position, rotation).is_err() {
            return false;
        }
        *held = Placement::new(position, rotation);
        let bounds = held.bounds_outward(bounds);
        self.tree.insert(bounds.aabb(), slot);
        self.changed();
        true
    }

    /// Makes the voxels of a voxel collider from `low` to `high`, both included, solid or empty, and says how many that
    /// changed; the cost is that of the chunks changed. Only this index changes, not the shape it was filled from. `None`,
    /// and nothing changes, when there is no voxel collider of that id or the corners are none that a grid can fill (see
    /// [`Voxels`](super::Voxels)).
    pub fn fill_voxels(&mut self, id: ColliderId, low: [i32; 3], high: [i32; 3], solid: bool) -> Option<u64> {
        let slot = *self.by_id.get(&id)?;
        let Entry { solid: Solid::Voxels(voxels), bounds, motion, .. } = self.slots[slot as usize].as_mut()? else {
            return None;
        };
        let voxels = Arc::make_mut(voxels);
        let changed = voxels.fill(low, high, solid)?;
        if changed > 0 {
            // Of an emptied grid the last bounds stay: nothing is found in them.
            *bounds = voxels.bounds().unwrap_or(*bounds);
            let reach = motion.reach(bounds);
            self.tree.insert(reach.aabb(), slot);
            self.changed();
        }
        Some(changed)
    }

    /// The motion of a mover; `None` for resting and unknown ids.
    #[must_use]
    pub fn mover(&self, id: ColliderId) -> Option<&Mover> {
        match &self.slots[*self.by_id.get(&id)? as usize].as_ref()?.motion {
            Motion::Scripted(mover) => Some(mover),
            Motion::Resting(_) => None,
        }
    }

    /// Whether there is a collider or mover of that id.
    #[must_use]
    pub fn contains(&self, id: ColliderId) -> bool {
        self.by_id.contains_key(&id)
    }

    /// Colliders and movers held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Whether there are movers.
    pub(super) fn has_movers(&self) -> bool {
        self.movers != 0
    }

    /// What tells this index at this revision from any other.
    pub(super) fn version(&self) -> (&Arc<()>, u64) {
        (&self.identity, self.revision)
    }

    /// Slots whose bounds touch `bounds`, in no particular order.
    pub(super) fn touching(&self, bounds: &Bounds) -> impl Iterator<Item = (u32, &Entry)> {
        let bounds = *bounds;
        self.tree
            .leaves(move |node| bounds.overlaps(&Bounds { min: node.mins(), max: node.maxs() }))
            .filter_map(|slot| Some((slot, self.slots[slot as usize].as_ref()?)))
    }

    pub(super) fn entry(&self, slot: u32) -> Option<&Entry> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// The hull in a slot that was gathered as one.
    pub(super) fn hull(&self, slot: u32) -> Option<&Hull> {
        match &self.entry(slot)?.solid {
            Solid::Hull(hull) => Some(hull),
            _ => None,
        }
    }

    fn add(&mut self, id: ColliderId, shape: &Shape, motion: Motion, water: bool) -> Result<(), ColliderError> {
        if self.contains(id) {
            return Err(ColliderError::Duplicate);
        }
        let (solid, bounds, source) = self.solids.acquire(shape)?;
        let reach = motion.reach(&bounds);
        self.movers += usize::from(matches!(motion, Motion::Scripted(_)));
        let entry = Some(Entry { id, solid, source, bounds, motion, water });
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = entry;
                slot
            }
            None => {
                self.slots.push(entry);
                (self.slots.len() - 1) as u32
            }
        };
        self.by_id.insert(id, slot);
        self.tree.insert(reach.aabb(), slot);
        self.changed();
        Ok(())
    }

    fn changed(&mut self) {
        self.revision += 1;
        if self.revision.is_multiple_of(CHANGES_PER_REBALANCING) {
            self.tree.optimize_incremental(&mut self.workspace);
        }
    }
}

fn check_pose(position: Vec3, rotation: Quat) -> Result<(), ColliderError> {
    if !(position.is_finite() && rotation.is_finite()) {
        Err(ColliderError::NonFinite)
    } else if (rotation.length_squared() - 1.0).abs() < 1e-3 {
        Ok(())
    } else {
        Err(ColliderError::Motion)
    }
}
