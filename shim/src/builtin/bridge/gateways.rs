//! The gateways of a result: which ones there are, and their addresses on the bridge.

use crate::builtin::bridge::Bridge;
use crate::builtin::go::address::{next, Cidr};
use crate::builtin::go::words::errno_words;
use crate::builtin::kernel::addresses::{add_address, addresses, delete_address, family_of};
use crate::builtin::kernel::links::{set_mac, Link};
use crate::builtin::kernel::sysctl;
use crate::builtin::result::{CniResult, Route};
use crate::net::netlink::Netlink;
use crate::sys;

/// The index of the container's interface in the result.
const CONTAINER: i64 = 2;

/// Adds what the configuration asks for to a result: the interface of each address, gateways and default routes. Returns the
/// addresses of the bridge, first those of IPv4.
pub fn complete(bridge: &Bridge, result: &mut CniResult) -> Vec<Cidr> {
    let mut gateways = Vec::new();
    let mut has_default = [false; 2];
    for at in 0..result.ips.len() {
        let config = &mut result.ips[at];
        config.interface = Some(CONTAINER);
        if config.gateway.is_none() && bridge.is_gateway {
            config.gateway = Some(next(&config.address.network()));
        }
        let (address, gateway) = (config.address, config.gateway);
        let family = usize::from(address.ip.is_ipv6());
        if bridge.is_default_gateway && !has_default[family] {
            let dst = Cidr::default_of(&address.ip);
            if !result.routes.iter().any(|route| route.gw.is_some() && route.dst == dst) {
                result.routes.push(Route { is_of_bridge: true, ..Route::to(dst, gateway) });
            }
            has_default[family] = true;
        }
        gateways.extend(gateway.filter(|_| bridge.is_gateway).map(|ip| (family, Cidr { ip, prefix: address.prefix })));
    }
    gateways.sort_by_key(|(family, _)| *family);
    gateways.into_iter().map(|(_, cidr)| cidr).collect()
}

/// Gives the bridge the addresses of the gateways and turns forwarding on.
pub fn set_up(netlink: &Netlink, link: &Link, gateways: &[Cidr], bridge: &Bridge) -> Result<(), String> {
    for (at, gateway) in gateways.iter().enumerate() {
        ensure(netlink, link, gateway, bridge).map_err(|why| format!("failed to set bridge addr: {}", why))?;
        let is_last = gateways.get(at + 1).map_or(true, |other| other.ip.is_ipv4() != gateway.ip.is_ipv4());
        if is_last {
            sysctl::enable_forwarding(gateway.ip.is_ipv4())
                .map_err(|why| format!("failed to enable forwarding: {}", why))?;
        }
    }
    Ok(())
}

/// A bridge has one IPv4 address, and IPv6 addresses of networks that do not overlap.
fn ensure(netlink: &Netlink, link: &Link, wanted: &Cidr, bridge: &Bridge) -> Result<(), String> {
    let known = addresses(netlink, link.index, family_of(&wanted.ip))
        .map_err(|error| format!("could not get list of IP addresses: {}", errno_words(&error)))?;
    for other in known.iter().map(|address| &address.cidr) {
        if other == wanted {
            return Ok(());
        }
        if wanted.ip.is_ipv4() || other.contains(&wanted.ip) || wanted.contains(&other.ip) {
            if !bridge.forces_address {
                return Err(format!("\"{}\" already has an IP address different from {}", link.name, wanted));
            }
            delete_address(netlink, link.index, other).map_err(|error| {
                format!("could not remove IP address from \"{}\": {}", link.name, errno_words(&error))
            })?;
        }
    }
    match add_address(netlink, link.index, wanted) {
        Err(error) if error.raw_os_error() != Some(sys::EEXIST) => {
            let which =
                if bridge.edition.is_new() { format!("IP address {}", wanted) } else { "IP address".to_string() };
            return Err(format!("could not add {} to \"{}\": {}", which, link.name, errno_words(&error)));
        }
        _ => {}
    }
    // An address that was never set changes with every port.
    set_mac(netlink, link.index, &link.mac)
        .map_err(|error| format!("could not set bridge's mac: {}", errno_words(&error)))
}
