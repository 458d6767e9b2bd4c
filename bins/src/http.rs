use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Most bytes an answer may have.
const MAX_ANSWER_BYTES: u64 = 4 << 20;
const PATIENCE: Duration = Duration::from_secs(3);

/// Asks an HTTP server on this network for a small document and returns its body.
pub(crate) fn get(address: SocketAddr, path: &str) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER_BYTES).read_to_end(&mut answer)?;
    body(&answer)
}

fn body(answer: &[u8]) -> io::Result<Vec<u8>> {
    let refused = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let head =
        answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").ok_or_else(|| refused("not an HTTP answer".into()))?;
    let status = String::from_utf8_lossy(&answer[..head]);
    let status = status.lines().next().unwrap_or_default();
    if status.split(' ').nth(1) != Some("200") {
        return Err(refused(format!("answered {status}")));
    }
    Ok(answer[head + 4..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_good_answer_has_a_body() {
        assert_eq!(body(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n{}").unwrap(), b"{}");
        assert!(body(b"HTTP/1.1 404 Not Found\r\n\r\n").is_err());
        assert!(body(b"HTTP/1.1 200 OK").is_err());
        assert!(body(b"").is_err());
    }
}
