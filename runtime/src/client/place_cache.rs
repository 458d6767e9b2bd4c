use std::sync::Arc;

use parking_lot::Mutex;
use tidelock_replication::place::{Place, PlaceHash};

use crate::scene::Scene;

/// Places opened by this process, by content: clients that enter the same place share its file and its colliders.
///
/// Places nobody is in are kept up to [`Self::MAX_IDLE_BYTES`] of files, those used last.
#[derive(Debug, Default)]
pub struct PlaceCache {
    shelf: Mutex<Shelf>,
}

#[derive(Debug, Default)]
struct Shelf {
    /// The one used last is the last.
    scenes: Vec<(PlaceHash, Arc<Scene>)>,
    forgotten: u64,
}

impl PlaceCache {
    /// Bytes of files kept of places nobody is in: two of the longest places.
    pub const MAX_IDLE_BYTES: usize = 512 << 20;

    /// An empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a place that is already here, so that nobody fetches it.
    pub fn add(&self, place: &Place) {
        self.open(place.clone());
    }

    /// Whether the place is here.
    #[must_use]
    pub fn contains(&self, hash: PlaceHash) -> bool {
        self.shelf.lock().scenes.iter().any(|(held, _)| *held == hash)
    }

    /// Places forgotten for want of room.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.shelf.lock().forgotten
    }

    pub(crate) fn get(&self, hash: PlaceHash) -> Option<Arc<Scene>> {
        self.shelf.lock().get(hash)
    }

    pub(crate) fn open(&self, place: Place) -> Arc<Scene> {
        let hash = place.hash();
        if let Some(scene) = self.get(hash) {
            return scene;
        }
        // Built outside the lock: a large place takes a while. Of two built at once, the first stays.
        let scene = Arc::new(Scene::client(place));
        let mut shelf = self.shelf.lock();
        shelf.get(hash).unwrap_or_else(|| {
            shelf.scenes.push((hash, Arc::clone(&scene)));
            shelf.make_room(Self::MAX_IDLE_BYTES);
            scene
        })
    }
}

impl Shelf {
    fn get(&mut self, hash: PlaceHash) -> Option<Arc<Scene>> {
        let at = self.scenes.iter().position(|(held, _)| *held == hash)?;
        let found = self.scenes.remove(at);
        let scene = Arc::clone(&found.1);
        self.scenes.push(found);
        Some(scene)
    }

    /// Forgets what was not used for longest and nobody is in, down to `bytes` of files.
    fn make_room(&mut self, bytes: usize) {
        let mut idle = 0;
        for at in (0..self.scenes.len()).rev() {
            let scene = &self.scenes[at].1;
            if Arc::strong_count(scene) > 1 {
                continue;
            }
            idle += scene.place.bytes().len();
            if idle > bytes {
                self.scenes.remove(at);
                self.forgotten += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(width: usize) -> Place {
        let text = format!(
            "name = \"Slab\"\n[[part]]\nname = \"Ground\"\nsize = [{width}, 2, 80]\nposition = [0, 0, 0]\nrepeat = {{ count = 50, step = [5, 0, 0] }}\n"
        );
        Place::compile(&text).expect("a sound place")
    }

    // Bad input: a server that names one place after another fills no memory.
    #[test]
    fn places_nobody_is_in_are_forgotten_and_the_others_stay() {
        let cache = PlaceCache::new();
        let places: Vec<Place> = (1..=4).map(place).collect();
        let lived_in = cache.open(places[0].clone());
        places.iter().for_each(|place| cache.add(place));
        assert!(cache.get(places[1].hash()).is_some(), "used again");
        let one = places[1].bytes().len();
        cache.shelf.lock().make_room(2 * one + one / 2);
        let held: Vec<_> = places.iter().map(|place| cache.contains(place.hash())).collect();
        assert_eq!((held, cache.forgotten()), (vec![true, true, false, true], 1));
        drop(lived_in);
        cache.shelf.lock().make_room(0);
        assert_eq!(cache.forgotten(), 4);
    }
}
