//! Tokens presented, each good for one address until it expires.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::net::SocketAddr;

use crate::counters::Fault;
use crate::netcode::TAG_BYTES;

/// What tells tokens apart: the tag of the sealed part.
pub(super) type TokenTag = [u8; TAG_BYTES];

/// Which address presented which token, until the token expires.
pub(super) struct Tokens {
    addresses: HashMap<TokenTag, SocketAddr>,
    expiry: BinaryHeap<Reverse<(u64, TokenTag)>>,
    max: usize,
}

impl Tokens {
    pub(super) fn new(max: usize) -> Self {
        Self { addresses: HashMap::new(), expiry: BinaryHeap::new(), max }
    }

    /// Binds a valid token to the address that presents it first, and refuses it from any other. A full register refuses new
    /// tokens rather than forget old ones.
    pub(super) fn present(&mut self, now_s: u64, tag: TokenTag, expire_s: u64, from: SocketAddr) -> Result<(), Fault> {
        while self.expiry.peek().is_some_and(|Reverse((expire_s, _))| *expire_s <= now_s) {
            if let Some(Reverse((_, tag))) = self.expiry.pop() {
                self.addresses.remove(&tag);
            }
        }
        match self.addresses.get(&tag) {
            Some(address) if *address == from => Ok(()),
            Some(_) => Err(Fault::TokenReused),
            None if self.addresses.len() >= self.max => Err(Fault::TokensFull),
            None => {
                self.addresses.insert(tag, from);
                self.expiry.push(Reverse((expire_s, tag)));
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // B95: a flood of other tokens cannot reopen a used one.
    #[test]
    fn a_token_stays_bound_until_it_expires() {
        let address = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let tag = |number: u64| u128::from(number).to_le_bytes();
        let mut tokens = Tokens::new(5_000);
        assert_eq!(tokens.present(10, tag(0), 100, address(1)), Ok(()));
        let refused = (1..10_000).filter(|&number| tokens.present(10, tag(number), 100, address(2)).is_err()).count();
        assert_eq!(refused, 5_000);
        assert_eq!(tokens.present(99, tag(0), 100, address(2)), Err(Fault::TokenReused));
        assert_eq!(tokens.present(99, tag(0), 100, address(1)), Ok(()));
        assert_eq!(tokens.present(99, tag(10_001), 200, address(1)), Err(Fault::TokensFull));
        assert_eq!(tokens.present(100, tag(10_001), 200, address(1)), Ok(()));
        assert_eq!(tokens.addresses.len(), 1);
        assert_eq!(tokens.expiry.len(), 1);
    }
}
