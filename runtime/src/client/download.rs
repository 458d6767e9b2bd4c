use tidelock_replication::place::{Place, PlaceError, PlaceHash};
use tidelock_replication::wire::PlaceChunk;

/// A place's client part on its way here. Pieces come in order on the bulk lane; after a reconnect the rest is asked for.
#[derive(Debug)]
pub(crate) struct Download {
    hash: PlaceHash,
    bytes: Vec<u8>,
    total: u64,
}

/// Why a piece cannot be used. The server is at fault, or someone else wrote its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DownloadFault {
    /// Of another place, or not the piece that comes next.
    Unexpected,
    /// It does not unpack to what it says.
    Damaged,
}

impl Download {
    /// A download that has `total` bytes to fetch.
    pub(crate) fn new(hash: PlaceHash, total: u64) -> Self {
        Self { hash, bytes: Vec::new(), total }
    }

    /// Whether it fetches this place.
    pub(crate) fn is_of(&self, hash: PlaceHash, total: u64) -> bool {
        self.hash == hash && self.total == total
    }

    /// Where the next piece begins.
    pub(crate) fn received(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Bytes of the whole.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Takes a piece; true when it was the last.
    pub(crate) fn take(&mut self, chunk: &PlaceChunk<'_>) -> Result<bool, DownloadFault> {
        if chunk.hash != self.hash || chunk.offset != self.received() || chunk.total != self.total {
            return Err(DownloadFault::Unexpected);
        }
        let piece = lz4_flex::decompress(chunk.bytes, chunk.len as usize).map_err(|_| DownloadFault::Damaged)?;
        if piece.len() != chunk.len as usize {
            return Err(DownloadFault::Damaged);
        }
        self.bytes.extend_from_slice(&piece);
        Ok(self.received() == self.total)
    }

    /// Opens the whole. `None` when its content is not what its hash says.
    pub(crate) fn open(self) -> Result<Option<Place>, PlaceError> {
        let place = Place::from_bytes(self.bytes)?;
        Ok((place.hash() == self.hash).then_some(place))
    }
}
