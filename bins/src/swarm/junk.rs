use tidelock::Protocol;
use tidelock::net::ConnectionId;

use crate::chance::Chance;

/// Datagrams of one length that follow each other: as many as a system takes in one call.
const TRAIN: usize = 48;
/// Trains sent in turn.
const TRAINS: usize = 64;
/// Length of the longest packet of ours: the longer it is, the longer its key is tried.
const LONGEST: usize = 1_127;

/// What somebody sends who has no token: datagrams that are cheaper to send than to refuse, as far as that is possible.
///
/// Of eight trains five are packets of ours, as long as they may be, in the name of connections that exist, whose key the server
/// has to try; one is packets of the standard that no key made; one is requests with a token nobody sealed, in its right length; one is noise.
#[derive(Clone)]
pub(crate) struct Junk {
    datagrams: Vec<Vec<u8>>,
    at: usize,
}

impl Junk {
    /// In the name of the first `players` connections of a server's first shard.
    pub(crate) fn new(seed: u64, players: u16) -> Self {
        let mut chance = Chance::new(seed);
        let trains = (0..TRAINS).flat_map(|train| {
            let bytes = 40 + (chance.word() % 160) as usize;
            let datagram = |_| match train % 8 {
                0..5 => in_the_name_of(chance.word() % u64::from(players.max(1)), noise(&mut chance, LONGEST)),
                5 => of_the_standard(noise(&mut chance, bytes)),
                6 => request(&mut chance),
                _ => noise(&mut chance, bytes),
            };
            (0..TRAIN).map(datagram).collect::<Vec<_>>()
        });
        let datagrams = trains.collect();
        Self { datagrams, at: 0 }
    }

    /// The next datagram.
    pub(crate) fn draw(&mut self) -> &[u8] {
        self.at = (self.at + 1) % self.datagrams.len();
        &self.datagrams[self.at]
    }
}

fn noise(chance: &mut Chance, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|_| chance.word() as u8).collect()
}

/// A packet of ours that no key made.
fn in_the_name_of(slot: u64, mut packet: Vec<u8>) -> Vec<u8> {
    packet[0] = 0x57;
    packet[1..7].copy_from_slice(&ConnectionId::new(0, slot as u32, 1).0.to_le_bytes()[..6]);
    packet
}

/// A payload packet of the standard that no key made.
fn of_the_standard(mut packet: Vec<u8>) -> Vec<u8> {
    packet[0] = 0x15;
    packet
}

/// A request whose token does not expire and was sealed by nobody.
fn request(chance: &mut Chance) -> Vec<u8> {
    let mut request = vec![0];
    request.extend_from_slice(b"NETCODE 1.02\0");
    request.extend_from_slice(&Protocol::NETCODE_ID.to_le_bytes());
    request.extend_from_slice(&u64::MAX.to_le_bytes());
    request.extend_from_slice(&noise(chance, 1_078 - 30));
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    // N-10: trains of one length pass the kernel at once.
    #[test]
    fn a_train_is_of_one_length_and_trains_differ() {
        let mut junk = Junk::new(3, 20);
        junk.at = junk.datagrams.len() - 1;
        let all: Vec<Vec<u8>> = (0..TRAIN * TRAINS).map(|_| junk.draw().to_vec()).collect();
        let trains: Vec<_> = all.chunks(TRAIN).collect();
        assert!(trains.iter().all(|train| train.iter().all(|datagram| datagram.len() == train[0].len())));
        assert!(trains.iter().any(|train| train[0].len() != trains[0][0].len()));
        assert_eq!(trains[6][0].len(), 1_078);
        assert_eq!(all.iter().filter(|datagram| datagram[0] == 0x57).count() / TRAIN, TRAINS * 5 / 8);
    }
}
