//! The container's interface, as plugins with one link treat it: ADD gives it addresses, CHECK looks at it, DEL removes it.

use std::ffi::CString;
use std::io;

use crate::builtin::args;
use crate::builtin::conf::Conf;
use crate::builtin::go::address::mac_text;
use crate::builtin::go::words::{errno_words, link_words};
use crate::builtin::ipam::Ipam;
use crate::builtin::kernel::links::{link_by_name, Link};
use crate::builtin::kernel::namespaces::{Namespace, NoNamespace};
use crate::builtin::kernel::removal::remove_link;
use crate::builtin::kernel::validate::{validate_ips, validate_routes};
use crate::builtin::result::{CniResult, Interface};
use crate::builtin::{Edition, Failure, PluginCall, Unsupported};
use crate::net::netlink::Netlink;
use crate::net::netns::own_names;
use crate::sys;

/// The MAC address that the call asks for, as it is written. The variable counts before the configuration, and the
/// runtime's before both.
pub fn read_mac(conf: &mut Conf, call: &PluginCall) -> Result<Option<String>, Unsupported> {
    let wished = [conf.runtime.text("mac")?, args::read(&call.args, &["MAC"])?[0], conf.own.text("mac")?];
    Ok(wished.into_iter().flatten().find(|mac| !mac.is_empty()).map(String::from))
}

/// The container's namespace. The process is in it afterwards.
pub fn open_container(call: &PluginCall) -> Result<Namespace, String> {
    Namespace::open(&call.netns).map_err(|why| format!("failed to open netns \"{}\": {}", call.netns, why.message()))
}

/// Addresses and routes for the interface at a place in the result.
pub fn take_addresses(ipam: &Ipam, call: &PluginCall, place: i64) -> Result<CniResult, Failure> {
    let mut given = ipam.add(call)?;
    if given.ips.is_empty() {
        return Err("IPAM plugin returned missing IP config".into());
    }
    given.ips.iter_mut().for_each(|config| config.interface = Some(place));
    Ok(given)
}

/// Ends an ADD that failed after it got addresses. The error of the ADD says more than one of this.
pub fn give_back(ipam: &Ipam, call: &PluginCall, why: String) -> Failure {
    let _also_failed = ipam.del(call);
    why.into()
}

/// The container's interface, for a result.
pub fn interface(call: &PluginCall, link: &Link) -> Interface {
    Interface { name: link.name.clone(), mac: mac_text(&link.mac), sandbox: call.netns.clone(), ..Interface::default() }
}

/// The result of the ADD, without which there is nothing to check. `plugin` begins the message: `ptp: `.
pub fn required<'a>(result: &'a Option<CniResult>, plugin: &str) -> Result<&'a CniResult, String> {
    result.as_ref().ok_or_else(|| format!("{}Required prevResult missing", plugin))
}

/// The interface of the call in the result of its ADD.
pub fn interface_of<'a>(result: &'a CniResult, call: &PluginCall) -> Result<&'a Interface, String> {
    let is_wanted = |known: &&Interface| known.name == call.ifname && known.sandbox == call.netns;
    let found = result.interfaces.iter().rev().find(is_wanted);
    found.ok_or_else(|| format!("Sandbox in prevResult  doesn't match configured netns: {}", call.netns))
}

pub fn find_link(netlink: &Netlink, interface: &Interface, plugin: &str) -> Result<Link, String> {
    link_by_name(netlink, &interface.name)
        .map_err(|_| format!("{}Container Interface name in prevResult: {} not found", plugin, interface.name))
}

pub fn check_master(host: &Netlink, name: &str) -> Result<(), String> {
    let found = link_by_name(host, name).map(drop);
    found.map_err(|error| format!("failed to lookup master \"{}\": {}", name, link_words(&error)))
}

pub fn check_kind(link: &Link, kind: &str, words: &str) -> Result<(), String> {
    match link.kind == kind {
        true => Ok(()),
        false => Err(format!("Error: Container interface {} not of type {}", link.name, words)),
    }
}

/// The mode of a macvlan or ipvlan, by its name.
pub fn check_mode(found: &str, wanted: &str, words: &str) -> Result<(), String> {
    match found == wanted {
        true => Ok(()),
        false => Err(format!("Container {} mode {} does not match expected value: {}", words, found, wanted)),
    }
}

pub fn check_mac(link: &Link, interface: &Interface, plugin: &str) -> Result<(), String> {
    let mac = mac_text(&link.mac);
    match interface.mac.is_empty() || interface.mac == mac {
        true => Ok(()),
        false => Err(format!(
            "{}Interface {} Mac {} doesn't match container Mac: {}",
            plugin, interface.name, interface.mac, mac
        )),
    }
}

pub fn check_addresses(
    netlink: &Netlink,
    call: &PluginCall,
    result: &CniResult,
    edition: Edition,
) -> Result<(), String> {
    validate_ips(netlink, &call.ifname, &result.ips)?;
    validate_routes(netlink, &result.routes, edition)
}

/// A namespace or an interface that is gone is nothing to remove.
pub fn remove(call: &PluginCall) -> Result<(), String> {
    if call.netns.is_empty() {
        return Ok(());
    }
    let container = match Namespace::open(&call.netns) {
        Err(NoNamespace::Gone(_)) => return Ok(()),
        other => other.map_err(NoNamespace::message)?,
    };
    let index = match index_of(&container.netlink, &call.ifname) {
        Ok(index) => index,
        Err(error) if error.raw_os_error() == Some(sys::ENODEV) => return Ok(()),
        Err(error) => return Err(format!("failed to lookup \"{}\": {}", call.ifname, link_words(&error))),
    };
    remove_link(&container, index)
        .map_err(|error| format!("failed to delete \"{}\": {}", call.ifname, errno_words(&error)))
}

/// Of a link that is there, without the kernel's lock on all links, for which deletes stand in line. That a link is not
/// there counts only under the lock: another process may be removing it. The process must be in the namespace.
fn index_of(netlink: &Netlink, name: &str) -> io::Result<u32> {
    let is_listed = own_names().map_or(false, |names| names.iter().any(|known| known == name.as_bytes()));
    // The kernel would look for a module of a name that it does not know.
    let index = CString::new(name).ok().filter(|_| is_listed).and_then(|name| sys::interface_index(&name).ok());
    index.map_or_else(|| link_by_name(netlink, name).map(|link| link.index), Ok)
}
