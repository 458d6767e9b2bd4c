//! Connect tokens: what lets a client in.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::entropy::Entropy;
use crate::netcode::private_token::{PRIVATE_TOKEN_BYTES, PrivateToken};
use crate::netcode::{KEY_BYTES, MAX_ADDRESSES, USER_DATA_BYTES, VERSION};

/// Length of a token as handed to a client, in bytes.
pub const TOKEN_BYTES: usize = 2_048;

const ADDRESS_IPV4: u8 = 1;
const ADDRESS_IPV6: u8 = 2;

/// What a token is minted from.
#[derive(Clone)]
pub struct TokenRequest {
    /// The protocol the client will speak; the server must serve it.
    pub protocol_id: u64,
    /// The key shared by issuer and servers.
    pub private_key: [u8; KEY_BYTES],
    /// Who the client is, the same for every token of the same identity.
    pub client_id: u64,
    /// Public addresses of the servers the token is good for, in the order the client tries them: 1 to 32.
    pub server_addresses: Vec<SocketAddr>,
    /// Unix time of minting, in seconds.
    pub create_s: u64,
    /// Unix time from which no server takes the token any more, in seconds. For servers with a token lifetime it is
    /// `create_s` plus exactly that lifetime.
    pub expire_s: u64,
    /// Seconds without a packet after which either side gives the connection up; zero or less means never.
    pub timeout_s: i32,
    /// What the issuer tells the server about the client.
    pub user_data: [u8; USER_DATA_BYTES],
}

impl fmt::Debug for TokenRequest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("TokenRequest")
            .field("protocol_id", &self.protocol_id)
            .field("client_id", &self.client_id)
            .field("server_addresses", &self.server_addresses)
            .field("create_s", &self.create_s)
            .field("expire_s", &self.expire_s)
            .finish_non_exhaustive()
    }
}

/// A connect token as the netcode 1.02 standard defines its public form. Holds session keys: hand it to its client only, over a
/// secure channel.
#[derive(Clone, PartialEq, Eq)]
pub struct ConnectToken {
    pub(crate) protocol_id: u64,
    pub(crate) create_s: u64,
    pub(crate) expire_s: u64,
    pub(crate) nonce: [u8; 24],
    pub(crate) private: Box<[u8; PRIVATE_TOKEN_BYTES]>,
    pub(crate) timeout_s: i32,
    pub(crate) server_addresses: Vec<SocketAddr>,
    pub(crate) client_to_server_key: [u8; KEY_BYTES],
    pub(crate) server_to_client_key: [u8; KEY_BYTES],
}

/// Why bytes are no token, or a request cannot become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenError {
    /// Not [`TOKEN_BYTES`] long.
    Length,
    /// Of another version of the standard.
    Version,
    /// No address, more than 32, or one of an unknown kind.
    Addresses,
    /// Created after it expires.
    Expiry,
}

impl fmt::Display for TokenError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Length => "a connect token has 2048 bytes",
            Self::Version => "the connect token is not of version NETCODE 1.02",
            Self::Addresses => "a connect token names 1 to 32 IPv4 or IPv6 server addresses",
            Self::Expiry => "the connect token expires before it was created",
        })
    }
}

impl std::error::Error for TokenError {}

impl ConnectToken {
    /// Mints a token. Session keys and nonce come from `entropy`.
    ///
    /// # Errors
    /// [`TokenError::Addresses`] and [`TokenError::Expiry`].
    pub fn mint(request: &TokenRequest, entropy: &mut dyn Entropy) -> Result<Self, TokenError> {
        if request.server_addresses.is_empty() || request.server_addresses.len() > MAX_ADDRESSES {
            return Err(TokenError::Addresses);
        }
        if request.create_s > request.expire_s {
            return Err(TokenError::Expiry);
        }
        let mut nonce = [0; 24];
        let mut private = PrivateToken {
            client_id: request.client_id,
            timeout_s: request.timeout_s,
            server_addresses: request.server_addresses.clone(),
            client_to_server_key: [0; KEY_BYTES],
            server_to_client_key: [0; KEY_BYTES],
            user_data: Box::new(request.user_data),
        };
        entropy.fill(&mut nonce);
        entropy.fill(&mut private.client_to_server_key);
        entropy.fill(&mut private.server_to_client_key);
        let seal = private.seal(request.protocol_id, request.expire_s, &nonce, &request.private_key);
        Ok(Self {
            protocol_id: request.protocol_id,
            create_s: request.create_s,
            expire_s: request.expire_s,
            nonce,
            private: seal,
            timeout_s: request.timeout_s,
            server_addresses: private.server_addresses,
            client_to_server_key: private.client_to_server_key,
            server_to_client_key: private.server_to_client_key,
        })
    }

    /// The standard's public form.
    #[must_use]
    pub fn to_bytes(&self) -> Box<[u8; TOKEN_BYTES]> {
        let mut out = Vec::with_capacity(TOKEN_BYTES);
        out.extend_from_slice(VERSION);
        out.extend_from_slice(&self.protocol_id.to_le_bytes());
        out.extend_from_slice(&self.create_s.to_le_bytes());
        out.extend_from_slice(&self.expire_s.to_le_bytes());
        out.extend_from_slice(&self.nonce);
        out.extend_from_slice(&*self.private);
        out.extend_from_slice(&self.timeout_s.to_le_bytes());
        write_addresses(&mut out, &self.server_addresses);
        out.extend_from_slice(&self.client_to_server_key);
        out.extend_from_slice(&self.server_to_client_key);
        out.resize(TOKEN_BYTES, 0);
        out.into_boxed_slice().try_into().expect("resized to the token's length")
    }

    /// Reads the standard's public form.
    ///
    /// # Errors
    /// Every [`TokenError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TokenError> {
        if bytes.len() != TOKEN_BYTES {
            return Err(TokenError::Length);
        }
        let mut from = Cursor(bytes);
        if from.array() != Some(*VERSION) {
            return Err(TokenError::Version);
        }
        let token = Self::read(&mut from).ok_or(TokenError::Addresses)?;
        if token.create_s > token.expire_s {
            return Err(TokenError::Expiry);
        }
        Ok(token)
    }

    /// The protocol the token is for.
    #[must_use]
    pub fn protocol_id(&self) -> u64 {
        self.protocol_id
    }

    /// Unix time from which no server takes the token any more, in seconds.
    #[must_use]
    pub fn expire_s(&self) -> u64 {
        self.expire_s
    }

    /// The servers the token is good for, in the order the client tries them.
    #[must_use]
    pub fn server_addresses(&self) -> &[SocketAddr] {
        &self.server_addresses
    }

    /// The same token with other addresses in its public part, which the client tries instead: for clients that reach the server
    /// through a relay. The server checks only the private part.
    ///
    /// # Errors
    /// [`TokenError::Addresses`].
    pub fn through(&self, addresses: Vec<SocketAddr>) -> Result<Self, TokenError> {
        if addresses.is_empty() || addresses.len() > MAX_ADDRESSES {
            return Err(TokenError::Addresses);
        }
        Ok(Self { server_addresses: addresses, ..self.clone() })
    }

    fn read(from: &mut Cursor<'_>) -> Option<Self> {
        Some(Self {
            protocol_id: u64::from_le_bytes(from.array()?),
            create_s: u64::from_le_bytes(from.array()?),
            expire_s: u64::from_le_bytes(from.array()?),
            nonce: from.array()?,
            private: Box::new(from.array()?),
            timeout_s: i32::from_le_bytes(from.array()?),
            server_addresses: read_addresses(from)?,
            client_to_server_key: from.array()?,
            server_to_client_key: from.array()?,
        })
    }
}

impl fmt::Debug for ConnectToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ConnectToken")
            .field("protocol_id", &self.protocol_id)
            .field("create_s", &self.create_s)
            .field("expire_s", &self.expire_s)
            .field("server_addresses", &self.server_addresses)
            .finish_non_exhaustive()
    }
}

/// Takes fixed-size pieces off the front of a slice.
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl Cursor<'_> {
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }
}

/// Writes the count and the addresses. The standard writes an IPv6 address as eight little-endian words.
pub(crate) fn write_addresses(out: &mut Vec<u8>, addresses: &[SocketAddr]) {
    out.extend_from_slice(&(addresses.len() as u32).to_le_bytes());
    for address in addresses {
        match address.ip() {
            IpAddr::V4(ip) => {
                out.push(ADDRESS_IPV4);
                out.extend_from_slice(&ip.octets());
            }
            IpAddr::V6(ip) => {
                out.push(ADDRESS_IPV6);
                ip.segments().iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
            }
        }
        out.extend_from_slice(&address.port().to_le_bytes());
    }
}

/// Reads 1 to 32 addresses; `None` for any other count, an unknown kind or too few bytes.
pub(crate) fn read_addresses(from: &mut Cursor<'_>) -> Option<Vec<SocketAddr>> {
    let count = u32::from_le_bytes(from.array()?) as usize;
    if count == 0 || count > MAX_ADDRESSES {
        return None;
    }
    let mut addresses = Vec::with_capacity(count);
    for _ in 0..count {
        let [kind] = from.array()?;
        let ip = match kind {
            ADDRESS_IPV4 => IpAddr::V4(Ipv4Addr::from(from.array::<4>()?)),
            ADDRESS_IPV6 => {
                let mut words = [0; 8];
                for word in &mut words {
                    *word = u16::from_le_bytes(from.array()?);
                }
                IpAddr::V6(Ipv6Addr::from(words))
            }
            _ => return None,
        };
        addresses.push(SocketAddr::new(ip, u16::from_le_bytes(from.array()?)));
    }
    Some(addresses)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::entropy::SeedEntropy;
    use proptest::prelude::*;

    pub(crate) fn request(client_id: u64, server: SocketAddr) -> TokenRequest {
        TokenRequest {
            protocol_id: 7,
            private_key: [9; 32],
            client_id,
            server_addresses: vec![server],
            create_s: 1_000,
            expire_s: 1_030,
            timeout_s: 5,
            user_data: [3; 256],
        }
    }

    fn addresses() -> impl Strategy<Value = Vec<SocketAddr>> {
        let one = (any::<bool>(), any::<u128>(), any::<u16>()).prop_map(|(four, bits, port)| {
            let ip = if four { IpAddr::V4((bits as u32).into()) } else { IpAddr::V6(bits.into()) };
            SocketAddr::new(ip, port)
        });
        prop::collection::vec(one, 1..=32)
    }

    proptest! {
        // N-1
        #[test]
        fn tokens_come_back_from_their_bytes(servers in addresses(), id: u64, create in 0u64..1 << 40, life in 0u64..1 << 20) {
            let server_addresses = servers.clone();
            let base = request(id, servers[0]);
            let request = TokenRequest { server_addresses, create_s: create, expire_s: create + life, ..base };
            let token = ConnectToken::mint(&request, &mut SeedEntropy::from_number(id)).unwrap();
            prop_assert_eq!(ConnectToken::from_bytes(&*token.to_bytes()).unwrap(), token.clone());
            let private = PrivateToken::open(&token.private, 7, token.expire_s, &token.nonce, &[9; 32]).unwrap();
            prop_assert_eq!(private.client_id, id);
            prop_assert_eq!(private.server_addresses, servers);
            prop_assert_eq!(private.client_to_server_key, token.client_to_server_key);
            prop_assert_eq!(*private.user_data, [3; 256]);
        }

        #[test]
        fn damaged_tokens_never_panic(at in 0usize..2_048, value: u8) {
            let server = "127.0.0.1:1".parse().unwrap();
            let token = ConnectToken::mint(&request(1, server), &mut SeedEntropy::from_number(1)).unwrap();
            let mut bytes = *token.to_bytes();
            bytes[at] = value;
            let _ = ConnectToken::from_bytes(&bytes);
        }
    }

    #[test]
    fn impossible_requests_are_refused() {
        let mut entropy = SeedEntropy::from_number(1);
        let server: SocketAddr = "127.0.0.1:1".parse().unwrap();
        let none = TokenRequest { server_addresses: vec![], ..request(1, server) };
        assert_eq!(ConnectToken::mint(&none, &mut entropy), Err(TokenError::Addresses));
        let many = TokenRequest { server_addresses: vec![server; 33], ..request(1, server) };
        assert_eq!(ConnectToken::mint(&many, &mut entropy), Err(TokenError::Addresses));
        let backwards = TokenRequest { create_s: 2_000, ..request(1, server) };
        assert_eq!(ConnectToken::mint(&backwards, &mut entropy), Err(TokenError::Expiry));
        assert_eq!(ConnectToken::from_bytes(&[0; 10]), Err(TokenError::Length));
        assert_eq!(ConnectToken::from_bytes(&[0; 2_048]), Err(TokenError::Version));
    }
}
