use std::time::Duration;

use tidelock_sim::report::CorrectionCause;

/// What a client has measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientStats {
    /// Smoothed round trip.
    pub rtt: Duration,
    /// Smallest round trip seen.
    pub rtt_min: Duration,
    /// Share of the server's packets lost on the way lately, 0 to 1.
    pub loss_in: f32,
    /// Share of this client's packets lost on the way lately, 0 to 1.
    pub loss_out: f32,
    /// How far behind the server's time remote motion is drawn.
    pub playback_delay: Duration,
    /// Movement budget the server last said was left.
    pub budget: Duration,
    /// Bytes of datagrams received.
    pub bytes_in: u64,
    /// Bytes of datagrams sent.
    pub bytes_out: u64,
    /// Bytes of messages received, by kind.
    pub kinds_in: KindBytes,
    /// Corrections applied, by cause in the order of [`CorrectionCause::ALL`].
    pub corrections: [u64; CorrectionCause::ALL.len()],
    /// Corrections applied by how far they moved the character, upper bounds [`ClientStats::SIZE_BOUNDS`], the last open.
    pub correction_sizes: [u64; Self::SIZE_BOUNDS.len() + 1],
    /// Reports sent.
    pub reports: u64,
    /// Messages of inputs of ticks sent.
    pub inputs: u64,
    /// The server's states of the own character taken, where it moves by ticks.
    pub snapshots: u64,
    /// How the own character followed the server where the game moves it by itself.
    pub poses: tidelock_sim::reconcile::PosePredictorCounters,
    /// Reports of owned loose parts sent.
    pub owned_reports: u64,
    /// Loose parts this client simulates.
    pub owned_parts: usize,
    /// Motion items taken, and those dropped as older than what was known.
    pub motion_items: u64,
    /// Motion items dropped as older than what was known.
    pub stale_items: u64,
    /// Motion items of subjects this client does not know (yet, or any more).
    pub unknown_items: u64,
    /// Patches that wait for the instance they are for.
    pub held_patches: usize,
    /// Messages of the server that could not be read, or made the client give up what it held.
    pub faults: u64,
}

impl ClientStats {
    /// Upper bounds of the sizes of corrections, studs.
    pub const SIZE_BOUNDS: [f32; 5] = [0.01, 0.1, 0.5, 2.0, 10.0];

    /// Corrections of replayed movement, those by game commands apart.
    #[must_use]
    pub fn mispredictions(&self) -> u64 {
        CorrectionCause::ALL.iter().zip(self.corrections).filter(|(cause, _)| !cause.is_command()).map(|(_, n)| n).sum()
    }

    /// Counts one applied correction that moved the character by `studs`.
    pub(crate) fn count_correction(&mut self, cause: CorrectionCause, studs: f32) {
        self.corrections[cause as usize] += 1;
        let size = Self::SIZE_BOUNDS.iter().position(|bound| studs <= *bound).unwrap_or(Self::SIZE_BOUNDS.len());
        self.correction_sizes[size] += 1;
    }
}

/// Bytes of messages by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindBytes {
    /// Instances, corrections, session.
    pub state: u64,
    /// Motion batches.
    pub motion: u64,
    /// Place files.
    pub bulk: u64,
}
