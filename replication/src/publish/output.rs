use crate::instance::Recipients;
use crate::wire::{MAX_RECORDS, RECORDS_BYTES, RecordWriter, RecordsHead, begin_records};

/// Messages of records, one after another in one buffer that is reused each tick.
#[derive(Clone, Debug, Default)]
pub struct PublishOutput {
    bytes: Vec<u8>,
    messages: Vec<PublishedMessage>,
}

/// A whole message for the state lane, encoded once for all it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedMessage {
    /// Whom it is for.
    pub recipients: Recipients,
    /// First byte in [`PublishOutput::bytes`].
    pub start: usize,
    /// Bytes.
    pub len: usize,
    /// Records in it, at most [`MAX_RECORDS`].
    pub records: usize,
}

impl PublishedMessage {
    /// The bytes covered, as a range.
    #[must_use]
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.len
    }
}

impl PublishOutput {
    /// An output without messages.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all messages, keeping the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.messages.clear();
    }

    /// The bytes of all messages.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Messages in the order they are to be sent.
    #[must_use]
    pub fn messages(&self) -> &[PublishedMessage] {
        &self.messages
    }

    /// The bytes of one message.
    #[must_use]
    pub fn message(&self, message: &PublishedMessage) -> &[u8] {
        &self.bytes[message.range()]
    }
}

/// Puts records into messages, a new one whenever the recipients change or one is full.
#[derive(Debug)]
pub(super) struct MessageBuilder<'a> {
    output: &'a mut PublishOutput,
    head: RecordsHead,
    open: bool,
}

impl<'a> MessageBuilder<'a> {
    pub(super) fn new(output: &'a mut PublishOutput, head: RecordsHead) -> Self {
        Self { output, head, open: false }
    }

    /// Where to write the next record, which is for `recipients`.
    pub(super) fn record(&mut self, recipients: Recipients) -> RecordWriter<'_> {
        let end = self.output.bytes.len();
        let fits = self.open
            && self.output.messages.last().is_some_and(|last| {
                last.recipients == recipients && last.records < MAX_RECORDS && end - last.start < RECORDS_BYTES
            });
        if !fits {
            self.close();
            self.output.messages.push(PublishedMessage { recipients, start: end, len: 0, records: 0 });
            begin_records(&mut self.output.bytes, &self.head);
            self.open = true;
        }
        if let Some(last) = self.output.messages.last_mut() {
            last.records += 1;
        }
        RecordWriter::new(&mut self.output.bytes)
    }

    fn close(&mut self) {
        if let Some(last) = self.output.messages.last_mut().filter(|_| self.open) {
            last.len = self.output.bytes.len() - last.start;
        }
        self.open = false;
    }
}

impl Drop for MessageBuilder<'_> {
    fn drop(&mut self) {
        self.close();
    }
}
