/// The input as a row of choices. After its end every choice is zero.
#[derive(Clone, Copy, Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    /// The longest chunk.
    pub const MAX_CHUNK: usize = 2_047;

    /// Reads choices off the front.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.bytes.is_empty()
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    /// As many bytes.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        let (head, rest) = self.bytes.split_at(N.min(self.bytes.len()));
        taken[..head.len()].copy_from_slice(head);
        self.bytes = rest;
        taken
    }

    /// A number of two bytes.
    pub fn short(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    /// A number of four bytes.
    pub fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    /// A number of eight bytes.
    pub fn long(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// Any float at all.
    pub fn float(&mut self) -> f32 {
        f32::from_bits(self.word())
    }

    /// A float of modest size: a signed byte's worth of `unit`.
    pub fn near(&mut self, unit: f32) -> f32 {
        f32::from(self.byte() as i8) * unit
    }

    /// One of a few, evenly if there are at most 256.
    pub fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[usize::from(self.byte()) % among.len()]
    }

    /// A chunk led by its length in two bytes, cut to what is left.
    pub fn chunk(&mut self) -> &'a [u8] {
        let wanted = usize::from(self.short()) & Self::MAX_CHUNK;
        self.take(wanted)
    }

    /// Up to `wanted` bytes.
    pub fn take(&mut self, wanted: usize) -> &'a [u8] {
        let (head, rest) = self.bytes.split_at(wanted.min(self.bytes.len()));
        self.bytes = rest;
        head
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        self.take(usize::MAX)
    }
}
