use std::sync::Arc;

use rkyv::rancor;
use tidelock_sim::motor::MotorSettings;
use yoke::Yoke;

use super::archive::{
    ArchivedClientPart, ArchivedServerPart, ArchivedStoredAudience, ArchivedStoredPart, ClientPart, ServerPart,
    interest_fault, motor_fault, part_fault, vector,
};
use super::{MAX_PARTS, PlaceError};
use crate::ids::{InstanceId, PlayerId};
use crate::instance::{Audience, MAX_NAME_BYTES, PartProperties, Pose};
use crate::interest::InterestSettings;
use crate::wire::MAX_PLACE_BYTES;

/// blake3 hash of a place's client part: equal places, equal hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceHash(pub [u8; 32]);

impl std::fmt::Display for PlaceHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A place: what was authored, shared by all who hold it and never changed.
///
/// Its bytes are validated once when opened and read where they lie. A client's place has the client part alone.
#[derive(Clone)]
pub struct Place {
    shared: Arc<Shared>,
}

struct Shared {
    bytes: Arc<Vec<u8>>,
    client_len: usize,
    client: Yoke<&'static ArchivedClientPart, Arc<Vec<u8>>>,
    server: Option<Yoke<&'static ArchivedServerPart, Arc<Vec<u8>>>>,
    hash: PlaceHash,
}

/// An authored part.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacePart {
    /// Its id.
    pub id: InstanceId,
    /// Its properties.
    pub properties: PartProperties,
    /// Where it is; the base pose when it has a mover.
    pub pose: Pose,
}

/// An authored part that not every client may know of; in the server part only.
#[derive(Clone, Debug, PartialEq)]
pub struct HiddenPart {
    /// The part.
    pub part: PlacePart,
    /// Who may know of it; `None` means no client.
    pub audience: Option<Audience>,
}

/// Where characters come into the place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spawn {
    /// Centre of the capsule, studs.
    pub position: glam::Vec3,
    /// Facing, radians.
    pub yaw: f32,
}

const CLIENT_MAGIC: &[u8; 8] = b"TIDEPLC1";
const SERVER_MAGIC: &[u8; 8] = b"TIDESRV1";
/// Magic and length of a section.
const HEADER: usize = 12;

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place")
            .field("name", &self.name())
            .field("hash", &self.hash().to_string())
            .finish_non_exhaustive()
    }
}

impl Place {
    /// Compiles an authored TOML file.
    ///
    /// # Errors
    ///
    /// [`PlaceError`], naming line and key.
    pub fn compile(text: &str) -> Result<Self, PlaceError> {
        super::source::compile(text)
    }

    /// Opens a place's bytes, as [`Self::bytes`] or [`Self::client_bytes`] gave them, and validates them whole.
    ///
    /// # Errors
    ///
    /// [`PlaceError::Archive`] for anything but a sound place of this version.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, PlaceError> {
        if bytes.len() > MAX_PLACE_BYTES {
            return Err(damaged("too long"));
        }
        let bytes = Arc::new(bytes);
        let client_len = section_len(&bytes, CLIENT_MAGIC)?;
        let client = Yoke::try_attach_to_cart(bytes.clone(), |bytes: &Vec<u8>| {
            rkyv::access::<ArchivedClientPart, rancor::Failure>(&bytes[HEADER..client_len])
        })
        .map_err(|_| damaged("the client part"))?;
        let server = if client_len < bytes.len() {
            if client_len + section_len(&bytes[client_len..], SERVER_MAGIC)? != bytes.len() {
                return Err(damaged("bytes after its end"));
            }
            let server = Yoke::try_attach_to_cart(bytes.clone(), |bytes: &Vec<u8>| {
                rkyv::access::<ArchivedServerPart, rancor::Failure>(&bytes[client_len + HEADER..])
            });
            Some(server.map_err(|_| damaged("the server part"))?)
        } else {
            None
        };
        let hash = PlaceHash(*blake3::hash(&bytes[..client_len]).as_bytes());
        let place = Self { shared: Arc::new(Shared { bytes, client_len, client, server, hash }) };
        place.validate()?;
        Ok(place)
    }

    pub(super) fn build(client: &ClientPart, server: &ServerPart) -> Result<Self, PlaceError> {
        let client = rkyv::to_bytes::<rancor::Failure>(client).map_err(|_| damaged("too long"))?;
        let server = rkyv::to_bytes::<rancor::Failure>(server).map_err(|_| damaged("too long"))?;
        let mut bytes = Vec::with_capacity(client.len() + server.len() + 2 * HEADER);
        for (magic, section) in [(CLIENT_MAGIC, &client), (SERVER_MAGIC, &server)] {
            bytes.extend_from_slice(magic);
            let len = u32::try_from(section.len()).map_err(|_| damaged("too long"))?;
            bytes.extend_from_slice(&len.to_le_bytes());
            bytes.extend_from_slice(section);
        }
        Self::from_bytes(bytes)
    }

    /// All bytes, those of the server part included: for files on the server's disk only.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.shared.bytes
    }

    /// The bytes of the client part: what may be sent to clients, and opens as a place by itself.
    #[must_use]
    pub fn client_bytes(&self) -> &[u8] {
        &self.shared.bytes[..self.shared.client_len]
    }

    /// Hash of [`Self::client_bytes`].
    #[must_use]
    pub fn hash(&self) -> PlaceHash {
        self.shared.hash
    }

    /// Name of the place.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.client().name
    }

    /// Movement settings of its characters, gravity and up included.
    #[must_use]
    pub fn motor_settings(&self) -> MotorSettings {
        self.client().motor.settings()
    }

    /// Its radii of interest.
    #[must_use]
    pub fn interest(&self) -> InterestSettings {
        let client = self.client();
        InterestSettings {
            streaming: client.streaming,
            target_radius: client.target_radius.to_native(),
            min_radius: client.min_radius.to_native(),
        }
    }

    /// The parts every client may know of, by ascending id.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = PlacePart> {
        self.client().parts.iter().map(part)
    }

    /// The part of this id among [`Self::parts`].
    #[must_use]
    pub fn part(&self, id: InstanceId) -> Option<PlacePart> {
        self.find(id).map(part)
    }

    /// Whether [`Self::parts`] has a part of this id.
    #[must_use]
    pub fn contains(&self, id: InstanceId) -> bool {
        self.find(id).is_some()
    }

    /// The parts not every client may know of, by ascending id; none in a client's place.
    pub fn hidden_parts(&self) -> impl Iterator<Item = HiddenPart> {
        self.server().into_iter().flat_map(|server| server.parts.iter()).map(|hidden| HiddenPart {
            part: part(&hidden.part),
            audience: match hidden.audience {
                ArchivedStoredAudience::Server => None,
                ArchivedStoredAudience::Owner(player) => Some(Audience::Owner(PlayerId(player.to_native()))),
                ArchivedStoredAudience::Group(group) => Some(Audience::Group(group.to_native())),
            },
        })
    }

    /// Tags of a part that only the server knows; none in a client's place.
    pub fn server_tags(&self, id: InstanceId) -> impl Iterator<Item = &str> {
        let tags = self.server().and_then(|server| {
            let at = server.tags.binary_search_by_key(&id.0, |entry| entry.id.to_native()).ok()?;
            Some(&server.tags[at].tags)
        });
        tags.into_iter().flat_map(|tags| tags.iter()).map(|tag| tag.as_str())
    }

    /// Where characters come in; none in a client's place.
    pub fn spawns(&self) -> impl Iterator<Item = Spawn> {
        self.server()
            .into_iter()
            .flat_map(|server| server.spawns.iter())
            .map(|spawn| Spawn { position: vector(&spawn.position), yaw: spawn.yaw.to_native() })
    }

    /// The highest authored id: ids above it are free. Of a client's place, the highest it knows.
    #[must_use]
    pub fn authored(&self) -> u64 {
        let known = self.client().parts.last().map_or(0, |part| part.id.to_native());
        self.server().map_or(known, |server| server.authored.to_native())
    }

    fn client(&self) -> &ArchivedClientPart {
        self.shared.client.get()
    }

    fn server(&self) -> Option<&ArchivedServerPart> {
        self.shared.server.as_ref().map(|server| *server.get())
    }

    fn find(&self, id: InstanceId) -> Option<&ArchivedStoredPart> {
        let parts = &self.client().parts;
        // Most places hide nothing, so that ids are dense.
        let guess = (id.0 as usize).wrapping_sub(1);
        if let Some(part) = parts.get(guess).filter(|part| part.id == id.0) {
            return Some(part);
        }
        parts.binary_search_by_key(&id.0, |part| part.id.to_native()).ok().map(|at| &parts[at])
    }

    /// Checks what the archive's own validation cannot know.
    fn validate(&self) -> Result<(), PlaceError> {
        let name = self.name().len() <= MAX_NAME_BYTES;
        if !name || motor_fault(&self.motor_settings()).is_some() || interest_fault(&self.interest()).is_some() {
            return Err(damaged("its settings"));
        }
        let sound = |part: &ArchivedStoredPart| part_fault(&part.properties(), &part.pose()).is_none();
        let client = self.client();
        if !ascending(client.parts.iter().map(|part| part.id.to_native())) || !client.parts.iter().all(sound) {
            return Err(damaged("its parts"));
        }
        // Whoever walks a range of ids walks those authored: a few parts must not claim to be many.
        if self.authored() > MAX_PARTS as u64 {
            return Err(damaged("too many parts"));
        }
        let Some(server) = self.server() else { return Ok(()) };
        let authored = server.authored.to_native();
        let hidden = || server.parts.iter().map(|hidden| &hidden.part);
        let sound = ascending(hidden().map(|part| part.id.to_native()))
            && ascending(server.tags.iter().map(|entry| entry.id.to_native()))
            && self.spawns().all(|spawn| spawn.position.is_finite() && spawn.yaw.is_finite())
            && hidden().all(|part| sound(part) && self.find(InstanceId(part.id.to_native())).is_none())
            && client.parts.iter().chain(hidden()).all(|part| part.id.to_native() <= authored);
        if sound { Ok(()) } else { Err(damaged("the server part")) }
    }
}

fn part(stored: &ArchivedStoredPart) -> PlacePart {
    PlacePart { id: InstanceId(stored.id.to_native()), properties: stored.properties(), pose: stored.pose() }
}

/// Whether ids only grow, from 1 on.
fn ascending(ids: impl Iterator<Item = u64>) -> bool {
    let mut last = 0;
    ids.into_iter().all(|id| std::mem::replace(&mut last, id) < id)
}

fn damaged(reason: &'static str) -> PlaceError {
    PlaceError::Archive { reason }
}

/// Bytes of the section that `bytes` begin with, its header included.
fn section_len(bytes: &[u8], magic: &[u8; 8]) -> Result<usize, PlaceError> {
    let header = bytes.get(..HEADER).ok_or(damaged("too short"))?;
    if header[..8] != magic[..] {
        return Err(damaged("unknown kind or version"));
    }
    let len = u32::from_le_bytes([header[8], header[9], header[10], header[11]]) as usize;
    if len > bytes.len() - HEADER { Err(damaged("too short")) } else { Ok(HEADER + len) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::archive::{StoredMotor, StoredPart};

    // Bad input: ids beyond the most that a place has are refused, in either part of it.
    #[test]
    fn a_place_cannot_claim_more_parts_than_a_place_has() {
        let place = Place::compile("name = \"Dot\"\n[[part]]\nsize = [1, 1, 1]\nposition = [0, 0, 0]\n").unwrap();
        let PlacePart { properties, pose, .. } = place.part(InstanceId(1)).unwrap();
        let built = |id, authored| {
            let client = ClientPart {
                name: "Dot".into(),
                motor: StoredMotor::of(&place.motor_settings()),
                streaming: false,
                target_radius: 0.0,
                min_radius: 0.0,
                parts: vec![StoredPart::of(id, &properties, &pose)],
            };
            let server = ServerPart { authored, spawns: Vec::new(), parts: Vec::new(), tags: Vec::new() };
            let whole = Place::build(&client, &server);
            let bytes = rkyv::to_bytes::<rancor::Failure>(&client).unwrap();
            let head = [&CLIENT_MAGIC[..], &(bytes.len() as u32).to_le_bytes()].concat();
            (Place::from_bytes([&head[..], &bytes].concat()).is_ok(), whole.is_ok())
        };
        let most = MAX_PARTS as u64;
        assert_eq!(built(most, most), (true, true));
        assert_eq!(built(1, most + 1), (true, false));
        assert_eq!(built(most + 1, most + 1), (false, false));
        assert_eq!(built(u64::MAX, u64::MAX), (false, false));
    }
}
