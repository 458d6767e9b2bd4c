use tidelock_net::ConnectionId;
use tidelock_replication::ids::PlayerId;

use super::session::{CharacterHandle, Session};

/// All sessions by player slot, found by connection without hashing.
#[derive(Default)]
pub(crate) struct Sessions {
    slots: Vec<Option<Box<Session>>>,
    free: Vec<usize>,
    /// Player slot by the connection's shard and dense index.
    by_connection: Vec<Vec<Option<(ConnectionId, usize)>>>,
    len: usize,
}

impl Sessions {
    /// Takes a session in and returns its player slot, the lowest free one.
    pub(crate) fn insert(&mut self, session: Session) -> usize {
        let connection = session.connection;
        let (shard, index) = (usize::from(connection.shard()), connection.index() as usize);
        if shard >= self.by_connection.len() {
            self.by_connection.resize(shard + 1, Vec::new());
        }
        let column = &mut self.by_connection[shard];
        if index >= column.len() {
            column.resize(index + 1, None);
        }
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot] = Some(Box::new(session));
                slot
            }
            None => {
                self.slots.push(Some(Box::new(session)));
                self.slots.len() - 1
            }
        };
        self.by_connection[shard][index] = Some((connection, slot));
        self.len += 1;
        slot
    }

    /// Takes a session out.
    pub(crate) fn remove(&mut self, slot: usize) -> Option<Session> {
        let session = self.slots.get_mut(slot)?.take()?;
        let connection = session.connection;
        let entry = &mut self.by_connection[usize::from(connection.shard())][connection.index() as usize];
        if entry.is_some_and(|(held, _)| held == connection) {
            *entry = None;
        }
        // Kept in falling order, so that the lowest is taken first and slots stay dense.
        let place = self.free.partition_point(|free| *free > slot);
        self.free.insert(place, slot);
        self.len -= 1;
        Some(*session)
    }

    /// The player slot of a connection that has a session.
    pub(crate) fn slot_of(&self, connection: ConnectionId) -> Option<usize> {
        let column = self.by_connection.get(usize::from(connection.shard()))?;
        let (held, slot) = (*column.get(connection.index() as usize)?)?;
        (held == connection).then_some(slot)
    }

    pub(crate) fn get(&self, slot: usize) -> Option<&Session> {
        self.slots.get(slot)?.as_deref()
    }

    pub(crate) fn get_mut(&mut self, slot: usize) -> Option<&mut Session> {
        self.slots.get_mut(slot)?.as_deref_mut()
    }

    /// The character of the player in a slot.
    pub(crate) fn character(&self, slot: usize) -> Option<CharacterHandle> {
        self.get(slot)?.character()
    }

    /// The slot of a player.
    pub(crate) fn slot_of_player(&self, player: PlayerId) -> Option<usize> {
        self.iter().find(|(_, session)| session.player == player).map(|(slot, _)| slot)
    }

    /// Sessions in slot order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &Session)> {
        self.slots.iter().enumerate().filter_map(|(slot, session)| Some((slot, session.as_deref()?)))
    }

    /// Sessions in slot order, to change them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut Session)> {
        self.slots.iter_mut().enumerate().filter_map(|(slot, session)| Some((slot, session.as_deref_mut()?)))
    }

    /// The slots as a slice, for parallel stages.
    pub(crate) fn slots_mut(&mut self) -> &mut [Option<Box<Session>>] {
        &mut self.slots
    }

    /// Slots ever used; every player slot is below.
    pub(crate) fn columns(&self) -> usize {
        self.slots.len()
    }

    /// Sessions now.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(index: u32, generation: u64) -> Session {
        let connection = ConnectionId::new(0, index, generation);
        Session::new(connection, 7, ([127, 0, 0, 1], 1).into(), PlayerId(generation))
    }

    // T-4: slots return, and a late word of an old connection finds nobody.
    #[test]
    fn a_reused_slot_is_not_found_by_the_old_connection() {
        let mut sessions = Sessions::default();
        let slot = sessions.insert(session(3, 1));
        assert_eq!(sessions.slot_of(ConnectionId::new(0, 3, 1)), Some(slot));
        sessions.remove(slot).unwrap();
        assert_eq!(sessions.slot_of(ConnectionId::new(0, 3, 1)), None);
        assert_eq!(sessions.insert(session(3, 2)), slot);
        assert_eq!(sessions.slot_of(ConnectionId::new(0, 3, 1)), None);
        assert_eq!(sessions.slot_of(ConnectionId::new(0, 3, 2)), Some(slot));
        assert_eq!((sessions.len(), sessions.columns()), (1, 1));
    }

    // N-10: indices are dense within a shard only.
    #[test]
    fn shards_may_use_the_same_index() {
        let mut sessions = Sessions::default();
        let one = sessions.insert(session(3, 1));
        let connection = ConnectionId::new(1, 3, 1);
        let other = sessions.insert(Session::new(connection, 8, ([127, 0, 0, 1], 2).into(), PlayerId(9)));
        assert_eq!(sessions.slot_of(ConnectionId::new(0, 3, 1)), Some(one));
        assert_eq!(sessions.slot_of(connection), Some(other));
        assert_eq!(sessions.slot_of(ConnectionId::new(2, 3, 1)), None);
    }

    #[test]
    fn the_lowest_free_slot_is_taken_first() {
        let mut sessions = Sessions::default();
        for index in 0..4 {
            sessions.insert(session(index, u64::from(index) + 1));
        }
        sessions.remove(2).unwrap();
        sessions.remove(0).unwrap();
        assert_eq!(sessions.insert(session(9, 9)), 0);
        assert_eq!(sessions.insert(session(8, 10)), 2);
        assert_eq!(sessions.insert(session(7, 11)), 4);
    }
}
