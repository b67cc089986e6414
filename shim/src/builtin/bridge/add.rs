//! ADD: bridge, pair, addresses, gateways, in this order. Until the addresses are given, deleting the container's end is
//! enough to undo it; after that, the IPAM plugin's DEL too.

use std::thread;
use std::time::Duration;

use crate::builtin::bridge::{gateways, port, Bridge};
use crate::builtin::go::address::mac_text;
use crate::builtin::go::words::{errno_words, link_words};
use crate::builtin::kernel::configure::configure;
use crate::builtin::kernel::links::{
    add_link, link_by_index, link_by_name, name_bytes, set_promiscuous, set_up, Link, IFLA_IFNAME, IFLA_MTU, OPER_UP,
};
use crate::builtin::kernel::namespaces::{Namespace, NoNamespace};
use crate::builtin::kernel::sysctl;
use crate::builtin::kernel::veth::{add_pair, Pair};
use crate::builtin::result::{CniResult, Interface};
use crate::builtin::{Failure, PluginCall};
use crate::net::netlink::{Attribute, Netlink};
use crate::sys;

/// Upstream looks five times within 2.55 s. The first looks here follow one another sooner.
const LOOKS_MS: [u64; 12] = [0, 1, 1, 2, 4, 8, 16, 32, 64, 422, 1_000, 1_000];

pub fn add(bridge: &Bridge, call: &PluginCall) -> Result<CniResult, Failure> {
    let host = Namespace::own()?;
    let master = ensure_bridge(&host.netlink, bridge)
        .map_err(|why| format!("failed to create bridge \"{}\": {}", bridge.name, why))?;
    let container = Namespace::open(&call.netns)
        .map_err(|why| format!("failed to open netns \"{}\": {}", call.netns, NoNamespace::message(why)))?;
    let pair = Pair { name: &call.ifname, mtu: bridge.mtu, mac: bridge.mac };
    let (inner, outer) = add_pair(&pair, &container, &host, bridge.edition)?;
    host.enter()?;
    port::connect(&host.netlink, &outer, &master, bridge)?;

    let sandbox = call.netns.clone();
    let interfaces = vec![interface(&master), interface(&outer), Interface { sandbox, ..interface(&inner) }];
    let mut result = CniResult { interfaces, ..CniResult::default() };
    match &bridge.ipam {
        Some(ipam) => {
            let given = ipam.add(call)?;
            result = CniResult { interfaces: result.interfaces, ..given };
            let done = set_addresses(bridge, call, &host, &container, &master, &mut result);
            let done = done.and_then(|()| finish(bridge, &host, &outer, &master, &mut result));
            if let Err(failure) = done {
                // The error of the ADD says more than one of this.
                let _also_failed = ipam.del(call);
                return Err(failure);
            }
        }
        None => {
            if bridge.has_container_interface {
                set_up(&container.netlink, inner.index)
                    .map_err(|error| format!("failed to set \"{}\" up: {}", call.ifname, errno_words(&error)))?;
            }
            finish(bridge, &host, &outer, &master, &mut result)?;
        }
    }
    if let Some(dns) = &bridge.dns {
        result.dns = dns.clone();
    } else if !bridge.edition.is_new() {
        result.dns = Default::default();
    }
    Ok(result)
}

fn ensure_bridge(netlink: &Netlink, bridge: &Bridge) -> Result<Link, String> {
    let known = link_by_name(netlink, &bridge.name);
    if known.is_err() {
        let (name, mtu) = (name_bytes(&bridge.name), bridge.mtu.to_ne_bytes());
        let mut wanted: Vec<Attribute> = vec![(IFLA_IFNAME, &name)];
        if bridge.mtu > 0 {
            wanted.push((IFLA_MTU, &mtu));
        }
        match add_link(netlink, "bridge", &wanted, &[]) {
            Err(error) if error.raw_os_error() != Some(sys::EEXIST) => {
                return Err(format!("could not add \"{}\": {}", bridge.name, errno_words(&error)));
            }
            _ => {}
        }
    }
    let look = |known| match known {
        Ok(link) => Ok(link),
        Err(_) => link_by_name(netlink, &bridge.name)
            .map_err(|error| format!("could not lookup \"{}\": {}", bridge.name, link_words(&error))),
    };
    let link = look(known)?;
    if bridge.is_promiscuous {
        set_promiscuous(netlink, link.index, true).map_err(|error| {
            format!("could not set promiscuous mode on \"{}\": {}", bridge.name, errno_words(&error))
        })?;
    }
    if link.kind != "bridge" {
        return Err(format!("\"{}\" already exists but is not a bridge", bridge.name));
    }
    sysctl::try_set(&format!("net/ipv6/conf/{}/accept_ra", bridge.name), "0");
    if !link.is_up() {
        set_up(netlink, link.index).map_err(|error| errno_words(&error))?;
    }
    Ok(link)
}

fn set_addresses(
    bridge: &Bridge,
    call: &PluginCall,
    host: &Namespace,
    container: &Namespace,
    master: &Link,
    result: &mut CniResult,
) -> Result<(), Failure> {
    if result.ips.is_empty() {
        return Err("IPAM plugin returned missing IP config".into());
    }
    let wanted = gateways::complete(bridge, result);
    container.enter()?;
    if bridge.finds_duplicates {
        sysctl::try_set(&format!("net/ipv6/conf/{}/enhanced_dad", call.ifname), "1");
    }
    let accept_dad = if bridge.finds_duplicates { "1" } else { "0" };
    sysctl::try_set(&format!("net/ipv6/conf/{}/accept_dad", call.ifname), accept_dad);
    sysctl::try_set(&format!("net/ipv4/conf/{}/arp_notify", call.ifname), "1");
    configure(&container.netlink, &call.ifname, result, bridge.edition)?;
    host.enter()?;
    gateways::set_up(&host.netlink, master, &wanted, bridge)?;
    Ok(())
}

/// Waits until the port works, and reads the MAC addresses again: those of bridge and port may have changed.
fn finish(
    bridge: &Bridge,
    host: &Namespace,
    outer: &Link,
    master: &Link,
    result: &mut CniResult,
) -> Result<(), Failure> {
    let mut port = outer.clone();
    for wait_ms in LOOKS_MS {
        thread::sleep(Duration::from_millis(wait_ms));
        port = link_by_index(&host.netlink, outer.index).map_err(|error| link_words(&error))?;
        if port.oper_state == OPER_UP || !bridge.has_container_interface {
            break;
        }
    }
    // Older editions do not look where there are no addresses.
    let is_looked_at = bridge.has_container_interface && (bridge.edition.is_new() || bridge.ipam.is_some());
    if port.oper_state != OPER_UP && is_looked_at {
        return Err(format!("bridge port in error state: {}", oper_state_text(port.oper_state)).into());
    }
    let master = link_by_index(&host.netlink, master.index)
        .map_err(|error| format!("could not lookup \"{}\": {}", bridge.name, link_words(&error)))?;
    result.interfaces[0].mac = mac_text(&master.mac);
    result.interfaces[1].mac = mac_text(&port.mac);
    Ok(())
}

fn interface(link: &Link) -> Interface {
    Interface { name: link.name.clone(), mac: mac_text(&link.mac), ..Interface::default() }
}

fn oper_state_text(state: u8) -> &'static str {
    match state {
        1 => "not-present",
        2 => "down",
        3 => "lower-layer-down",
        4 => "testing",
        5 => "dormant",
        6 => "up",
        _ => "unknown",
    }
}
