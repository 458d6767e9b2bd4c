use tidelock_replication::place::Place;

/// Place files: opened whole or refused, and their client part by itself.
pub fn run(bytes: &[u8]) {
    let Ok(place) = Place::from_bytes(bytes.to_vec()) else { return };
    assert_eq!(place.bytes(), bytes);
    walk(&place);
    let client = Place::from_bytes(place.client_bytes().to_vec()).expect("the client part of a sound place is sound");
    assert_eq!(client.hash(), place.hash());
    assert_eq!(client.hidden_parts().count() + client.spawns().count(), 0, "R-40");
}

/// Reads everything there is.
pub fn walk(place: &Place) {
    let mut last = 0;
    for part in place.parts() {
        assert!(part.id.0 > last && part.pose.position.is_finite() && part.pose.rotation.is_finite());
        last = part.id.0;
        assert_eq!(place.part(part.id).map(|found| found.id), Some(part.id));
        place.server_tags(part.id).for_each(drop);
    }
    let authored = place.authored();
    assert!(last <= authored);
    for hidden in place.hidden_parts() {
        assert!(!place.contains(hidden.part.id) && hidden.part.id.0 <= authored);
    }
    assert!(place.spawns().all(|spawn| spawn.position.is_finite() && spawn.yaw.is_finite()));
    assert!(place.motor_settings().radius > 0.0 && place.interest().default_radius() >= 0.0);
    assert!(place.name().len() <= 64);
}
