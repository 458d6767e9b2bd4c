use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::failure::Failure;

/// The key `serve`, `swarm` and `token` share unless told otherwise. It stands in the source for all to read: whoever knows it can
/// mint tokens, so it is fit for trying things out on one machine and for nothing else.
pub(crate) const DEVELOPMENT_KEY: [u8; 32] = *b"tidelock development key, public";

/// The key in `file`, or the development key without one.
pub(crate) fn private_key(file: Option<&Path>) -> Result<[u8; 32], Failure> {
    let Some(path) = file else { return Ok(DEVELOPMENT_KEY) };
    let text = fs::read_to_string(path).map_err(|why| Failure::read(path, why))?;
    key_of(&text).map_err(|why| Failure::Key { path: path.to_owned(), why })
}

/// The key in a key file's text, or what is wrong with it.
pub(crate) fn key_of(text: &str) -> Result<[u8; 32], String> {
    let bytes = from_hex(text.trim())?;
    let length = bytes.len();
    bytes.try_into().map_err(|_| format!("this file holds {length} bytes"))
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes hexadecimal digits stand for.
pub(crate) fn from_hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = text
        .chars()
        .enumerate()
        .map(|(at, c)| c.to_digit(16).map(|digit| digit as u8).ok_or_else(|| format!("character {} is {c:?}", at + 1)))
        .collect::<Result<_, _>>()?;
    if digits.len() % 2 == 1 {
        return Err(format!("it has {} digits", digits.len()));
    }
    Ok(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_goes_both_ways_and_nonsense_is_named() {
        assert_eq!(from_hex(&to_hex(&DEVELOPMENT_KEY)), Ok(DEVELOPMENT_KEY.to_vec()));
        assert_eq!(from_hex("0aFf"), Ok(vec![10, 255]));
        assert_eq!(from_hex("0a f"), Err("character 3 is ' '".into()));
        assert_eq!(from_hex("0af"), Err("it has 3 digits".into()));
    }

    #[test]
    fn a_missing_key_file_is_named() {
        let failure = private_key(Some(Path::new("no-such-key.hex"))).unwrap_err().to_string();
        assert!(failure.starts_with("no-such-key.hex: cannot be read"), "{failure}");
        assert_eq!(private_key(None).unwrap(), DEVELOPMENT_KEY);
    }
}
