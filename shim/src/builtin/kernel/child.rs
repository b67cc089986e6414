//! A link on top of another one, made in the container's namespace.

use std::io;

use crate::builtin::go::words::{errno_words, link_words};
use crate::builtin::kernel::links::{
    add_link, delete_link, link_by_name, name_bytes, set_name, Link, IFLA_ADDRESS, IFLA_IFNAME, IFLA_LINK, IFLA_MTU,
    IFLA_NET_NS_FD, IFLA_TXQLEN,
};
use crate::builtin::kernel::namespaces::Namespace;
use crate::builtin::kernel::veth::random_name;
use crate::builtin::Edition;
use crate::net::netlink::Attribute;
use crate::sys;

pub struct Child<'a> {
    pub kind: &'a str,
    /// The attributes of its kind.
    pub data: &'a [Attribute<'a>],
    pub name: &'a str,
    /// The number of the link below, in the namespace of `below`.
    pub master: u32,
    /// 0 leaves it to the kernel.
    pub mtu: u32,
    pub mac: Option<[u8; 6]>,
}

/// Makes the link, down. One request does it, so a process that is killed leaves nothing under another name, unless the
/// kernel has found the name taken.
pub fn add_child(child: &Child, below: &Namespace, container: &Namespace, edition: Edition) -> Result<Link, String> {
    match add(child, child.name, below, container, edition) {
        // The name is taken in the container, or the kernel is an old one and has found it on the host.
        Err(error) if error.raw_os_error() == Some(sys::EEXIST) => add_and_rename(child, below, container, edition)?,
        made => made.map_err(|error| format!("failed to create {}: {}", child.kind, errno_words(&error)))?,
    }
    link_by_name(&container.netlink, child.name)
        .map_err(|error| format!("failed to refetch {} \"{}\": {}", child.kind, child.name, link_words(&error)))
}

fn add_and_rename(child: &Child, below: &Namespace, container: &Namespace, edition: Edition) -> Result<(), String> {
    let name = random_name().map_err(|error| format!("failed to generate random veth name: {}", error))?;
    add(child, &name, below, container, edition)
        .map_err(|error| format!("failed to create {}: {}", child.kind, errno_words(&error)))?;
    let link = link_by_name(&container.netlink, &name);
    link.and_then(|link| set_name(&container.netlink, link.index, child.name)).map_err(|error| {
        let _the_error_before_counts = delete_link(&container.netlink, &name);
        format!("failed to rename {} to \"{}\": {}", child.kind, child.name, link_words(&error))
    })
}

fn add(child: &Child, name: &str, below: &Namespace, container: &Namespace, edition: Edition) -> io::Result<()> {
    let (name, mtu, master) = (name_bytes(name), child.mtu.to_ne_bytes(), child.master.to_ne_bytes());
    let (target, no_queue) = (container.descriptor().to_ne_bytes(), 0u32.to_ne_bytes());
    let mut common: Vec<Attribute> = vec![(IFLA_LINK, &master), (IFLA_IFNAME, &name), (IFLA_NET_NS_FD, &target)];
    // Without a word about the queue the kernel takes its usual length.
    if !edition.is_new() {
        common.push((IFLA_TXQLEN, &no_queue));
    }
    if child.mtu > 0 {
        common.push((IFLA_MTU, &mtu));
    }
    common.extend(child.mac.as_ref().map(|mac| (IFLA_ADDRESS, &mac[..])));
    add_link(&below.netlink, child.kind, &common, child.data)
}
