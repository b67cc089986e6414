//! The link of the host on which another one is made.

use crate::builtin::call::is_interface_name;
use crate::builtin::conf::Conf;
use crate::builtin::go::address::Cidr;
use crate::builtin::go::words::{errno_words, link_words};
use crate::builtin::kernel::addresses::{AF_INET, AF_INET6};
use crate::builtin::kernel::links::{link_by_index, link_by_name, Link};
use crate::builtin::kernel::routes::routes;
use crate::builtin::Unsupported;
use crate::net::netlink::Netlink;

/// Empty if the configuration names none. A longer name would be one of the other names of a link.
pub fn read_master(conf: &mut Conf) -> Result<String, Unsupported> {
    // Older editions do not know this key.
    if conf.edition.is_new() && conf.own.flag("linkInContainer")? {
        return Err(Unsupported("linkInContainer is not built in".to_string()));
    }
    match conf.own.text("master")?.unwrap_or_default() {
        name if name.is_empty() || is_interface_name(name) => Ok(name.to_string()),
        _ => Err(conf.own.wrong("master", "no plain name of an interface")),
    }
}

/// The link of this name, or that of the first default route if the name is empty.
pub fn find_master(netlink: &Netlink, name: &str) -> Result<Link, String> {
    let found = match name {
        "" => link_by_index(netlink, default_link(netlink)?),
        name => link_by_name(netlink, name),
    };
    found.map_err(|error| link_words(&error))
}

fn default_link(netlink: &Netlink) -> Result<u32, String> {
    for family in [AF_INET, AF_INET6] {
        let known = routes(netlink, family).map_err(|error| errno_words(&error))?;
        if let Some(route) = known.iter().find(|route| route.dst == Cidr::default_of(&route.dst.ip)) {
            return Ok(route.link);
        }
    }
    Err("no default route interface found".to_string())
}

/// The link of this name and an MTU for the one on top of it, which may be at most that of the link; 0 leaves it to the
/// kernel.
pub fn find_master_for(netlink: &Netlink, name: &str, mtu: i64) -> Result<(Link, u32), String> {
    let master = find_master(netlink, name)?;
    match u32::try_from(mtu) {
        Ok(mtu) if mtu <= master.mtu => Ok((master, mtu)),
        _ => Err(format!("invalid MTU {}, must be [0, master MTU({})]", mtu, master.mtu)),
    }
}
