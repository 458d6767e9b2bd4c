use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use tidelock::Protocol;
use tidelock::net::io::OsEntropy;
use tidelock::net::{ConnectToken, TokenError, TokenRequest};

use crate::args::TokenAction;
use crate::failure::Failure;
use crate::key::{from_hex, private_key, to_hex};

/// Carries out a `token` command.
pub(crate) fn run(action: &TokenAction) -> Result<(), Failure> {
    match action {
        TokenAction::Mint { key_file, client, server, expire_s, timeout_s, out } => {
            let now_s = unix_s();
            let request = TokenRequest {
                protocol_id: Protocol::NETCODE_ID,
                private_key: private_key(key_file.as_deref())?,
                client_id: *client,
                server_addresses: server.clone(),
                create_s: now_s,
                expire_s: now_s + u64::from(*expire_s),
                timeout_s: i32::from(*timeout_s),
                user_data: [0; 256],
            };
            let token = mint(&request)?;
            let Some(path) = out else {
                println!("{}", to_hex(&*token.to_bytes()));
                return Ok(());
            };
            fs::write(path, *token.to_bytes()).map_err(|why| Failure::Write { path: path.clone(), why })?;
            println!("{}: a token for client {client}, good for {expire_s} s", path.display());
            Ok(())
        }
        TokenAction::Inspect { file } => inspect(file),
    }
}

/// Mints a token with keys from the operating system.
pub(crate) fn mint(request: &TokenRequest) -> Result<ConnectToken, Failure> {
    ConnectToken::mint(request, &mut OsEntropy::new()).map_err(|why| Failure::Token(why.to_string()))
}

/// A token for a client of this very process.
pub(crate) fn local_token(private_key: &[u8; 32], client_id: u64, server: SocketAddr) -> Result<ConnectToken, Failure> {
    let create_s = unix_s();
    mint(&TokenRequest {
        protocol_id: Protocol::NETCODE_ID,
        private_key: *private_key,
        client_id,
        server_addresses: vec![server],
        create_s,
        expire_s: create_s + 120,
        timeout_s: 15,
        user_data: [0; 256],
    })
}

/// Seconds since 1970.
pub(crate) fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The token in a file's bytes, plain or as hexadecimal digits.
pub(crate) fn token_of(bytes: Vec<u8>) -> Result<ConnectToken, TokenError> {
    let text = std::str::from_utf8(&bytes).ok().and_then(|text| from_hex(text.trim()).ok());
    ConnectToken::from_bytes(&text.unwrap_or(bytes))
}

fn inspect(file: &Path) -> Result<(), Failure> {
    let bytes = fs::read(file).map_err(|why| Failure::read(file, why))?;
    let token = token_of(bytes).map_err(|why| Failure::Token(format!("{}: {why}", file.display())))?;
    let left = i128::from(token.expire_s()) - i128::from(unix_s());
    let ours = if token.protocol_id() == Protocol::NETCODE_ID { "this version's" } else { "another version's" };
    println!("protocol  {:#018x}, {ours}", token.protocol_id());
    match left {
        1.. => println!("expires   in {left} s"),
        _ => println!("expires   {} s ago", -left),
    }
    for address in token.server_addresses() {
        println!("server    {address}");
    }
    println!("The rest is sealed with the server's private key.");
    Ok(())
}
