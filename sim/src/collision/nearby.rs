/// What is near one character, flattened for the motor's kernels; scratch to keep and reuse.
///
/// It notices by itself when the index, the place or the time it was gathered for no longer fits, and gathers again. What
/// it holds never shows in a result. After warm-up it does not allocate. A thread that simulates many characters in turn
/// needs one; a client keeps one for its character.
#[derive(Debug, Default)]
pub struct Nearby {}

impl Nearby {
    /// Empty scratch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}
