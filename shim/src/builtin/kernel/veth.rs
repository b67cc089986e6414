//! A pair of links, one end in the container's namespace and one in the host's.

use std::fs::File;
use std::io::{self, Read};

use crate::builtin::go::words::{errno_words, link_words};
use crate::builtin::kernel::links::{
    add_link, link_by_name, link_header, name_bytes, Link, AF_UNSPEC, IFLA_ADDRESS, IFLA_IFNAME, IFLA_MTU,
    IFLA_NET_NS_FD, IFLA_TXQLEN,
};
use crate::builtin::kernel::namespaces::Namespace;
use crate::builtin::Edition;
use crate::net::netlink::{nested, Attribute};
use crate::sys;

const VETH_INFO_PEER: u16 = 1;
const TRIES: usize = 10;

pub struct Pair<'a> {
    pub name: &'a str,
    /// 0 leaves it to the kernel.
    pub mtu: u32,
    pub mac: Option<[u8; 6]>,
}

/// Makes the pair. The host's end gets a random name and is returned second; it is still down. Deleting either end deletes
/// both, so nothing else has to be known to undo it.
pub fn add_pair(
    pair: &Pair,
    container: &Namespace,
    host: &Namespace,
    edition: Edition,
) -> Result<(Link, Link), String> {
    for _ in 0..TRIES {
        let peer = random_name().map_err(|error| format!("failed to generate random veth name: {}", error))?;
        match add(pair, &peer, container, host, edition) {
            Ok(()) => {
                let link = link_by_name(&container.netlink, pair.name)
                    .map_err(|error| format!("failed to make veth pair: {}", link_words(&error)))?;
                let other = link_by_name(&host.netlink, &peer)
                    .map_err(|error| format!("failed to lookup \"{}\": {}", peer, link_words(&error)))?;
                return Ok((link, other));
            }
            Err(error) if error.raw_os_error() != Some(sys::EEXIST) => {
                return Err(format!("failed to make veth pair: {}", errno_words(&error)));
            }
            Err(_) if link_by_name(&container.netlink, &peer).is_ok() => {}
            Err(_) if edition.is_new() => {
                return Err(format!(
                    "container veth name (\"{}\") peer provided (\"{}\") already exists",
                    pair.name, peer
                ));
            }
            Err(_) => return Err(format!("container veth name provided ({}) already exists", pair.name)),
        }
    }
    Err("failed to find a unique veth name".to_string())
}

fn add(pair: &Pair, peer: &str, container: &Namespace, host: &Namespace, edition: Edition) -> io::Result<()> {
    let (name, peer_name, mtu) = (name_bytes(pair.name), name_bytes(peer), pair.mtu.to_ne_bytes());
    let (host, no_queue) = (host.descriptor().to_ne_bytes(), 0u32.to_ne_bytes());
    let mut own: Vec<Attribute> = vec![(IFLA_IFNAME, &name)];
    // Without a word about the queue the kernel takes its usual length. The host's end has none in any edition.
    let mut other: Vec<Attribute> = vec![(IFLA_IFNAME, &peer_name), (IFLA_TXQLEN, &no_queue), (IFLA_NET_NS_FD, &host)];
    if !edition.is_new() {
        own.push((IFLA_TXQLEN, &no_queue));
    }
    if pair.mtu > 0 {
        own.push((IFLA_MTU, &mtu));
        other.push((IFLA_MTU, &mtu));
    }
    own.extend(pair.mac.as_ref().map(|mac| (IFLA_ADDRESS, &mac[..])));
    let other = [&link_header(AF_UNSPEC, 0, 0, 0)[..], &nested(&other)].concat();
    add_link(&container.netlink, "veth", &own, &[(VETH_INFO_PEER, &other)])
}

/// A name as upstream gives it to links for which nobody has chosen one.
pub fn random_name() -> io::Result<String> {
    let mut random = [0; 4];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(format!("veth{:08x}", u32::from_be_bytes(random)))
}
