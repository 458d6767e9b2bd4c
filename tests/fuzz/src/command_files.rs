use super::choices::Choices;

/// What the command reads from files and its own arguments: refused with a reason or taken, and the reason is said.
pub fn run(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let kind = choices.byte() % 5;
    let content = choices.rest();
    let text = String::from_utf8_lossy(content);
    let refused = match kind {
        0 => tidelock_bins::check_config(&text).err(),
        1 => tidelock_bins::check_key(&text).err(),
        2 => tidelock_bins::check_token(content).err(),
        3 => {
            let arguments: Vec<&str> = text.split('\n').take(16).collect();
            tidelock_bins::check_arguments(&arguments).err()
        }
        _ => tidelock_bins::vectors::check_text("vectors.json", &text).err().map(|trouble| trouble.to_string()),
    };
    assert!(refused.is_none_or(|why| !why.is_empty()));
}
