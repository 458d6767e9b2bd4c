//! Binding sockets, alone or several to one address.

use std::io;
use std::net::SocketAddr;

use mio::net::UdpSocket;

/// A socket that alone has its address.
pub(super) fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    UdpSocket::bind(address)
}

/// A socket that shares its address with others bound by this function. The kernel gives datagrams of one source to one of them.
#[cfg(target_os = "linux")]
pub(super) fn bind_shared(address: SocketAddr) -> io::Result<UdpSocket> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, ipproto, socket_with, sockopt};

    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::DGRAM, flags, Some(ipproto::UDP))?;
    sockopt::set_socket_reuseport(&socket, true)?;
    bind(&socket, &address)?;
    Ok(UdpSocket::from_std(std::net::UdpSocket::from(socket)))
}

/// Only Linux spreads datagrams over sockets of one address.
#[cfg(not(target_os = "linux"))]
pub(super) fn bind_shared(_address: SocketAddr) -> io::Result<UdpSocket> {
    Err(io::ErrorKind::Unsupported.into())
}
