use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tidelock_replication::place::{Place, PlaceHash};

use crate::scene::Scene;

/// Places opened by this process, by content: clients that enter the same place share its file and its colliders.
#[derive(Debug, Default)]
pub struct PlaceCache {
    scenes: Mutex<HashMap<PlaceHash, Arc<Scene>>>,
}

impl PlaceCache {
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
        self.scenes.lock().contains_key(&hash)
    }

    pub(crate) fn get(&self, hash: PlaceHash) -> Option<Arc<Scene>> {
        self.scenes.lock().get(&hash).cloned()
    }

    pub(crate) fn open(&self, place: Place) -> Arc<Scene> {
        let hash = place.hash();
        if let Some(scene) = self.get(hash) {
            return scene;
        }
        // Built outside the lock: a large place takes a while. Of two built at once, the first stays.
        let scene = Arc::new(Scene::client(place));
        self.scenes.lock().entry(hash).or_insert(scene).clone()
    }
}
