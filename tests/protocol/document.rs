use std::path::Path;

/// PROTOCOL.md: its hex blocks and tables.
pub(crate) struct Document {
    text: String,
    examples: Vec<Example>,
}

/// A block fenced as `hex` with a name.
pub(crate) struct Example {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl Document {
    pub(crate) fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../PROTOCOL.md");
        Self::parse(std::fs::read_to_string(path).expect("the workspace has a PROTOCOL.md"))
    }

    fn parse(text: String) -> Self {
        let mut examples: Vec<Example> = Vec::new();
        let mut inside = false;
        for (line, content) in text.lines().enumerate() {
            if let Some(name) = content.strip_prefix("```hex ") {
                examples.push(Example { name: name.trim().to_owned(), bytes: Vec::new() });
                inside = true;
            } else if content.starts_with("```") {
                inside = false;
            } else if let (true, Some(example)) = (inside, examples.last_mut()) {
                let code = content.split('#').next().unwrap_or_default();
                for word in code.split_whitespace() {
                    let bytes = hex(word).unwrap_or_else(|| panic!("PROTOCOL.md:{}: `{word}` is no hex", line + 1));
                    example.bytes.extend(bytes);
                }
            }
        }
        Self { text, examples }
    }

    pub(crate) fn examples(&self) -> impl Iterator<Item = &Example> {
        self.examples.iter()
    }

    /// The bytes of one example.
    pub(crate) fn example(&self, name: &str) -> &[u8] {
        let found = self.examples.iter().find(|example| example.name == name);
        &found.unwrap_or_else(|| panic!("PROTOCOL.md has no example `{name}`")).bytes
    }

    /// Whether an example's bytes are these; what they should be otherwise.
    pub(crate) fn compare(&self, name: &str, bytes: &[u8]) -> Option<String> {
        let written = self.examples.iter().find(|example| example.name == name);
        if written.is_some_and(|example| example.bytes == bytes) {
            return None;
        }
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
        let written = written.map_or("nothing".to_owned(), |example| hex(&example.bytes));
        Some(format!("{name}: PROTOCOL.md says\n  {written}\nthe library\n  {}", hex(bytes)))
    }

    /// Rows of the first table below a heading of this text, without its head; backticks are taken off.
    pub(crate) fn table(&self, heading: &str) -> Vec<Vec<String>> {
        let is_heading = |line: &&str| line.starts_with('#') && line.trim_start_matches('#').trim() == heading;
        let below = self.text.lines().skip_while(|line| !is_heading(line)).skip(1);
        let table = below.take_while(|line| !line.starts_with('#')).skip_while(|line| !line.starts_with('|'));
        let rows = table.take_while(|line| line.starts_with('|')).skip(2).map(|line| {
            let cells = line.trim().trim_matches('|').split('|');
            cells.map(|cell| cell.trim().replace('`', "")).collect::<Vec<_>>()
        });
        let rows: Vec<_> = rows.collect();
        assert!(!rows.is_empty(), "PROTOCOL.md has no table under `{heading}`");
        rows
    }
}

/// Bytes of a word: pairs of hex digits, all repeated by a `*count` behind them.
fn hex(word: &str) -> Option<Vec<u8>> {
    let (digits, count) = word.split_once('*').unwrap_or((word, "1"));
    if !digits.is_ascii() || digits.len() % 2 != 0 {
        return None;
    }
    let pairs = (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok());
    let bytes: Option<Vec<u8>> = pairs.collect();
    Some(bytes?.repeat(count.parse().ok()?))
}

/// A number as tables write it: digits with commas, perhaps a power of two.
pub(crate) fn number(cell: &str) -> u64 {
    let plain = cell.replace(',', "");
    let (base, exponent) = plain.split_once('^').unwrap_or((&plain, "1"));
    let value = base.parse::<u64>().ok().and_then(|base| base.checked_pow(exponent.parse().ok()?));
    value.unwrap_or_else(|| panic!("`{cell}` is no number"))
}

#[test]
fn blocks_and_tables_are_read() {
    let text = "# A\n```hex one two\n01 0203  # 99\nff*3\n```\n## B\n\ntext\n\n| `x` | y |\n|---|---|\n| `1,024` | b |\n\n| z |\n";
    let document = Document::parse(text.to_owned());
    assert_eq!(document.example("one two"), [1, 2, 3, 255, 255, 255]);
    assert_eq!(document.table("B"), [["1,024", "b"]]);
    assert_eq!(document.compare("one two", &[1, 2, 3, 255, 255, 255]), None);
    assert!(document.compare("one two", &[1]).is_some() && document.compare("three", &[1]).is_some());
    assert_eq!((number("1,024"), number("2^14")), (1_024, 16_384));
    assert_eq!((hex("0"), hex("0g"), hex("00*x")), (None, None, None));
}
