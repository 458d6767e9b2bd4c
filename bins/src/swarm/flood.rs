use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tidelock::Protocol;
use tidelock::net::ConnectionId;

use crate::chance::Chance;
use crate::failure::Failure;

/// Sockets it comes from, so that the server sees several addresses.
const SOCKETS: usize = 16;
/// Different datagrams sent in turn.
const KINDS: usize = 256;
/// How often it sends what is due.
const BEAT: Duration = Duration::from_millis(1);

/// Junk that somebody sends the server while others play.
pub(crate) struct Flood {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<u64>,
}

impl Flood {
    /// Sends `rate` datagrams a second from now on.
    pub(crate) fn start(to: SocketAddr, rate: u32, seed: u64) -> Result<Self, Failure> {
        let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = || {
            let socket = UdpSocket::bind(any)?;
            socket.connect(to)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let sockets: Vec<UdpSocket> = (0..SOCKETS)
            .map(|_| socket())
            .collect::<std::io::Result<_>>()
            .map_err(Failure::system("no sockets for the junk"))?;
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let work = move || flood(&sockets, &junk(seed), rate, &told);
        let thread = thread::Builder::new()
            .name("junk".into())
            .spawn(work)
            .map_err(Failure::system("no thread for the junk"))?;
        Ok(Self { stop, thread })
    }

    /// Stops, and says how many were sent.
    pub(crate) fn end(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

fn flood(sockets: &[UdpSocket], junk: &[Vec<u8>], rate: u32, stop: &AtomicBool) -> u64 {
    let (begun, mut sent) = (Instant::now(), 0_u64);
    let mut due_before = 0;
    while !stop.load(Ordering::Relaxed) {
        let due = (begun.elapsed().as_secs_f64() * f64::from(rate)) as u64;
        for number in due_before..due {
            let socket = &sockets[number as usize % sockets.len()];
            // What the kernel has no room for was not sent.
            sent += u64::from(socket.send(&junk[number as usize % junk.len()]).is_ok());
        }
        due_before = due;
        thread::sleep(BEAT);
    }
    sent
}

/// Noise of any length; requests with a token nobody sealed; packets of the standard and of ours that no key made.
fn junk(seed: u64) -> Vec<Vec<u8>> {
    let mut chance = Chance::new(seed);
    let mut noise = |bytes: usize| (0..bytes).map(|_| chance.word() as u8).collect::<Vec<_>>();
    (0..KINDS)
        .map(|kind| match kind % 4 {
            0 => noise(1 + kind * 5),
            1 => {
                let mut request = vec![0];
                request.extend_from_slice(b"NETCODE 1.02\0");
                request.extend_from_slice(&Protocol::NETCODE_ID.to_le_bytes());
                // It does not expire, and was sealed by nobody.
                request.extend_from_slice(&u64::MAX.to_le_bytes());
                request.extend_from_slice(&noise(1_078 - 30));
                request
            }
            2 => {
                let mut packet = noise(40 + kind * 4);
                packet[0] = 0x15;
                packet
            }
            _ => {
                // Of a connection that is likely to exist: the server has to try its key.
                let mut packet = noise(40 + kind * 4);
                packet[0] = 0x57;
                packet[1..7].copy_from_slice(&ConnectionId::new(0, kind as u32 / 4, 1).0.to_le_bytes()[..6]);
                packet
            }
        })
        .collect()
}
