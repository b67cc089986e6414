//! Sockets, the user of a socket's peer, and network namespaces.

use std::io;
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{OwnedFd, RawFd};
use std::path::Path;

use super::{check, check_new};

pub const AF_UNIX: c_int = 1;
pub const AF_NETLINK: c_int = 16;
pub const SOCK_STREAM: c_int = 1;
pub const SOCK_RAW: c_int = 3;
pub const SOCK_NONBLOCK: c_int = 0o4000;
pub const SOCK_CLOEXEC: c_int = 0o2_000_000;
const SOL_SOCKET: c_int = 1;
const SO_PEERCRED: c_int = 17;
const SO_NETNS_COOKIE: c_int = 71;
const CLONE_NEWNET: c_int = 0x4000_0000;

#[repr(C)]
#[derive(Default)]
struct PeerCredentials {
    pid: i32,
    uid: u32,
    gid: u32,
}

/// `struct sockaddr_un`.
#[repr(C)]
pub struct UnixAddress {
    family: u16,
    path: [u8; 108],
}

/// `struct sockaddr_nl`.
#[repr(C)]
#[derive(Default)]
struct NetlinkAddress {
    family: u16,
    padding: u16,
    number: u32,
    groups: u32,
}

impl UnixAddress {
    /// None if the path is too long.
    pub fn of(path: &Path) -> Option<UnixAddress> {
        let mut address = UnixAddress { family: AF_UNIX as u16, path: [0; 108] };
        let bytes = path.as_os_str().as_bytes();
        if bytes.len() >= address.path.len() {
            return None;
        }
        address.path[..bytes.len()].copy_from_slice(bytes);
        Some(address)
    }
}

extern "C" {
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    fn connect(fd: c_int, address: *const c_void, length: u32) -> c_int;
    fn getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, length: *mut u32) -> c_int;
    fn bind(fd: c_int, address: *const c_void, length: u32) -> c_int;
    fn unshare(kinds: c_int) -> c_int;
    fn setns(fd: c_int, kind: c_int) -> c_int;
    fn if_nametoindex(name: *const c_char) -> c_uint;
}

pub fn new_socket(domain: c_int, kind: c_int, protocol: c_int) -> io::Result<OwnedFd> {
    check_new(unsafe { socket(domain, kind, protocol) })
}

pub fn connect_unix(fd: RawFd, address: &UnixAddress) -> io::Result<()> {
    let length = std::mem::size_of::<UnixAddress>() as u32;
    let pointer: *const UnixAddress = address;
    check(unsafe { connect(fd, pointer.cast(), length) }).map(drop)
}

pub fn peer_uid(fd: RawFd) -> io::Result<u32> {
    let mut peer = PeerCredentials::default();
    let mut length = std::mem::size_of::<PeerCredentials>() as u32;
    let pointer: *mut PeerCredentials = &mut peer;
    check(unsafe { getsockopt(fd, SOL_SOCKET, SO_PEERCRED, pointer.cast(), &mut length) })?;
    Ok(peer.uid)
}

/// The number of the network namespace in which the socket was made; no other one of this boot has it. Since Linux 5.14.
pub fn netns_cookie(fd: RawFd) -> io::Result<u64> {
    let mut cookie = 0u64;
    let mut length = std::mem::size_of::<u64>() as u32;
    let pointer: *mut u64 = &mut cookie;
    check(unsafe { getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, pointer.cast(), &mut length) })?;
    Ok(cookie)
}

/// From now on a netlink socket also receives what the kernel tells these groups, one bit each. The kernel chooses the
/// socket's own number, without which it hears nothing.
pub fn join_netlink_groups(fd: RawFd, groups: u32) -> io::Result<()> {
    let address = NetlinkAddress { family: AF_NETLINK as u16, groups, ..NetlinkAddress::default() };
    let length = std::mem::size_of::<NetlinkAddress>() as u32;
    let pointer: *const NetlinkAddress = &address;
    check(unsafe { bind(fd, pointer.cast(), length) }).map(drop)
}

pub fn enter_netns(fd: RawFd) -> io::Result<()> {
    check(unsafe { setns(fd, CLONE_NEWNET) }).map(drop)
}

/// Moves this process into a new, empty network namespace.
pub fn leave_netns() -> io::Result<()> {
    check(unsafe { unshare(CLONE_NEWNET) }).map(drop)
}

pub fn interface_index(name: &std::ffi::CStr) -> io::Result<u32> {
    match unsafe { if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}
