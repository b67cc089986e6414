//! CHECK: whether bridge, pair, addresses and routes are still as the result of the ADD says.

use crate::builtin::bridge::Bridge;
use crate::builtin::go::address::mac_text;
use crate::builtin::kernel::links::{link_by_name, Link};
use crate::builtin::kernel::namespaces::{Namespace, NoNamespace};
use crate::builtin::kernel::validate::{validate_ips, validate_routes};
use crate::builtin::result::Interface;
use crate::builtin::{Failure, PluginCall};
use crate::net::netlink::Netlink;

pub fn check(bridge: &Bridge, call: &PluginCall) -> Result<(), Failure> {
    let host = Namespace::own()?;
    let container = Namespace::open(&call.netns)
        .map_err(|why| format!("failed to open netns \"{}\": {}", call.netns, NoNamespace::message(why)))?;
    host.enter()?;
    // Upstream asks an IPAM plugin even if the configuration names none.
    bridge.ipam.as_ref().ok_or("no plugin name provided")?.check(call)?;
    let result = bridge.prev_result.as_ref().ok_or("Required prevResult missing")?;

    let last = |is_it: &dyn Fn(&&Interface) -> bool| result.interfaces.iter().filter(is_it).last().cloned();
    let master = last(&|interface| interface.name == bridge.name).unwrap_or_default();
    let is_inner = |interface: &&Interface| interface.name == call.ifname && interface.sandbox == call.netns;
    let inner = last(&|interface| interface.name != bridge.name && is_inner(interface)).unwrap_or_default();
    let master_link = check_bridge(&host.netlink, &master, bridge)?;
    if inner.sandbox != call.netns {
        let (seen, wanted) = (&inner.sandbox, &call.netns);
        return Err(format!("Sandbox in prevResult {} doesn't match configured netns: {}", seen, wanted).into());
    }
    let inner_link = check_inner(&container.netlink, &inner)?;
    let others = result.interfaces.iter().filter(|other| other.name != master.name && other.name != inner.name);
    let mut is_found = false;
    for other in others {
        is_found = is_outer(&host.netlink, other, &master_link, &inner_link)?;
        if is_found {
            break;
        }
    }
    if !is_found {
        return Err(format!("CNI veth created for bridge {} was not found", bridge.name).into());
    }
    validate_ips(&container.netlink, &call.ifname, &result.ips)?;
    validate_routes(&container.netlink, &result.routes, bridge.edition)?;
    Ok(())
}

fn find(netlink: &Netlink, interface: &Interface, is_inside: bool) -> Result<Link, String> {
    if interface.name.is_empty() {
        return Err("Interface name missing ".to_string());
    }
    let link =
        link_by_name(netlink, &interface.name).map_err(|_| format!("Interface name {} not found", interface.name))?;
    match (is_inside, interface.sandbox.is_empty()) {
        (true, true) => Err(format!("Interface {} is expected to be in a sandbox", interface.name)),
        (false, false) => Err(format!("Interface {} should not be in sandbox", interface.name)),
        _ => Ok(link),
    }
}

fn is_other_mac(interface: &Interface, link: &Link) -> bool {
    !interface.mac.is_empty() && interface.mac != mac_text(&link.mac)
}

fn check_bridge(netlink: &Netlink, master: &Interface, bridge: &Bridge) -> Result<Link, String> {
    let link = find(netlink, master, false)?;
    if link.kind != "bridge" {
        return Err(format!("Interface {} does not have link type of bridge", master.name));
    }
    if is_other_mac(master, &link) {
        return Err(format!("Bridge interface {} Mac doesn't match: {}", master.name, master.mac));
    }
    let is_promiscuous = link.promiscuity_by(bridge.edition) != 0;
    if is_promiscuous != bridge.is_promiscuous {
        return Err(format!(
            "Bridge interface {} configured Promisc Mode {} doesn't match current state: {} ",
            master.name, bridge.is_promiscuous, is_promiscuous
        ));
    }
    Ok(link)
}

fn check_inner(netlink: &Netlink, inner: &Interface) -> Result<Link, String> {
    let link = find(netlink, inner, true)?;
    if link.kind != "veth" {
        return Err(format!("Error: Container interface {} not of type veth", link.name));
    }
    if is_other_mac(inner, &link) {
        return Err(format!(
            "Interface {} Mac {} doesn't match container Mac: {}",
            inner.name,
            inner.mac,
            mac_text(&link.mac)
        ));
    }
    Ok(link)
}

/// Whether an interface of the result is the other end of the pair, and a port of the bridge.
fn is_outer(netlink: &Netlink, interface: &Interface, master: &Link, inner: &Link) -> Result<bool, String> {
    let link = find(netlink, interface, false)?;
    let is_pair = link.index == inner.parent && inner.index == link.parent;
    if link.kind != "veth" || !is_pair || link.master != master.index {
        return Ok(false);
    }
    match is_other_mac(interface, &link) {
        true => Err(format!("Interface {} Mac doesn't match: {} not found", interface.name, interface.mac)),
        false => Ok(true),
    }
}
