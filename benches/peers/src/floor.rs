//! The least a tick can cost: one datagram to each client, sealed with its key, by one call each, and one from each in batches,
//! opened with its key, which is found by the sender's address.

use std::collections::HashMap;
use std::io::IoSliceMut;
use std::net::{SocketAddr, UdpSocket};

use quinn_udp::{RecvMeta, UdpSockRef, UdpSocketState};
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use crate::crew::{Crew, batches, spent};
use crate::{BATCH, DOWN, Spent, Transport, UP};

/// Datagrams of one receive call, and bytes for each: as our driver has them.
const RECEIVES: usize = 32;
const RECEIVE_BYTES: usize = (1 << 16) + 5 * 64;

fn nonce(number: u64) -> Nonce {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(nonce)
}

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has ports");
    socket.set_nonblocking(true).expect("sockets can be nonblocking");
    socket
}

fn key() -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &[7; 16]).expect("16 bytes are a key"))
}

/// A client's tick.
fn answer(client: &UdpSocket, server: SocketAddr) {
    let mut buffer = [0; 2_048];
    while client.recv_from(&mut buffer).is_ok() {}
    let mut up = vec![5; UP + 11];
    key().seal_in_place_append_tag(nonce(0), Aad::empty(), &mut up).expect("short");
    client.send_to(&up, server).expect("loopback takes it");
}

/// A server without anything but sockets and cipher, and its clients.
pub(crate) struct Floor {
    /// One for each client, as they must have.
    keys: Vec<LessSafeKey>,
    /// Whose datagrams come from where.
    clients: HashMap<SocketAddr, usize>,
    server: UdpSocket,
    state: UdpSocketState,
    addresses: Vec<SocketAddr>,
    crew: Crew,
    buffer: Vec<u8>,
    datagram: Vec<u8>,
    /// What came, for whoever reads it.
    messages: Vec<u8>,
    number: u64,
}

impl Floor {
    pub(crate) fn new(clients: usize) -> Self {
        let server = socket();
        let state = UdpSocketState::new(UdpSockRef::from(&server)).expect("a UDP socket");
        let address = server.local_addr().expect("bound");
        let sockets: Vec<_> = (0..clients).map(|_| socket()).collect();
        let addresses: Vec<_> = sockets.iter().map(|client| client.local_addr().expect("bound")).collect();
        let crew = Crew::start(move || sockets, move |some| some.iter().for_each(|client| answer(client, address)));
        let keys = (0..clients).map(|_| key()).collect();
        let places = addresses.iter().enumerate().map(|(client, address)| (*address, client)).collect();
        Self {
            keys,
            clients: places,
            server,
            state,
            addresses,
            crew,
            buffer: vec![0; RECEIVES * RECEIVE_BYTES],
            datagram: vec![],
            messages: vec![],
            number: 0,
        }
    }

    fn receive(&mut self) {
        let mut metas = [RecvMeta::default(); RECEIVES];
        self.messages.clear();
        loop {
            let mut chunks = self.buffer.chunks_exact_mut(RECEIVE_BYTES);
            let mut slices: [_; RECEIVES] =
                std::array::from_fn(|_| IoSliceMut::new(chunks.next().expect("the buffer has a chunk for each")));
            let Ok(count) = self.state.recv(UdpSockRef::from(&self.server), &mut slices, &mut metas) else { break };
            for (meta, buffer) in metas[..count].iter().zip(self.buffer.chunks_exact_mut(RECEIVE_BYTES)) {
                let key = &self.keys[self.clients[&meta.addr]];
                for datagram in buffer[..meta.len].chunks_mut(meta.stride.max(1)) {
                    let message = key.open_in_place(nonce(0), Aad::empty(), datagram).expect("sealed by a client");
                    self.messages.extend_from_slice(message);
                }
            }
        }
    }
}

impl Transport for Floor {
    fn tick(&mut self) -> Spent {
        let mut of_tick = Spent::default();
        let started = spent();
        for (to, key) in self.addresses.iter().zip(&self.keys) {
            self.datagram.clear();
            self.datagram.extend_from_slice(&[5; 1 + 4 + DOWN]);
            self.number += 1;
            key.seal_in_place_append_tag(nonce(self.number), Aad::empty(), &mut self.datagram).expect("short");
            self.server.send_to(&self.datagram, to).expect("loopback takes it");
        }
        of_tick.send = spent() - started;
        for some in batches(self.addresses.len(), BATCH) {
            self.crew.step(some);
            let started = spent();
            self.receive();
            of_tick.receive += spent() - started;
        }
        of_tick
    }
}
