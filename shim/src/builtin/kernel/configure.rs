//! Gives the container's interface the addresses and routes of a result, as all upstream plugins do.

use std::net::IpAddr;
use std::thread;
use std::time::{Duration, Instant};

use crate::builtin::go::address::ip_text;
use crate::builtin::go::words::{errno_words, link_words};
use crate::builtin::kernel::addresses::{add_address, addresses, AF_INET6, IFA_F_DADFAILED, IFA_F_TENTATIVE};
use crate::builtin::kernel::links::{link_by_name, set_up, Link, OPER_UP};
use crate::builtin::kernel::routes::{add_route, NewRoute};
use crate::builtin::kernel::sysctl;
use crate::builtin::result::{CniResult, IpConfig, Route};
use crate::builtin::Edition;
use crate::net::netlink::Netlink;

const SETTLE_MS: u64 = 50;
const SETTLE_MAX_S: u64 = 5;
/// Older editions wait longer, and go on whatever they have seen.
const OLD_SETTLE_MAX_S: u64 = 10;

/// The process must be in the container's namespace, and the socket too.
pub fn configure(netlink: &Netlink, name: &str, result: &CniResult, edition: Edition) -> Result<(), String> {
    let link = link_by_name(netlink, name)
        .map_err(|error| format!("failed to lookup \"{}\": {}", name, link_words(&error)))?;
    let (mut gateway4, mut gateway6) = (None, None);
    let mut has_ipv6 = false;
    for config in result.ips.iter().filter(|config| config.interface.is_some()) {
        if config.address.ip.is_ipv6() && !has_ipv6 {
            enable_ipv6(name, edition)?;
            has_ipv6 = true;
        }
        add_address(netlink, link.index, &config.address).map_err(|error| {
            format!("failed to add IP addr {} to \"{}\": {}", config_text(config), name, errno_words(&error))
        })?;
        match config.gateway {
            Some(ip) if ip.is_ipv4() => gateway4 = gateway4.or(Some(ip)),
            Some(ip) => gateway6 = gateway6.or(Some(ip)),
            None => {}
        }
    }
    set_up(netlink, link.index).map_err(|error| format!("failed to set \"{}\" UP: {}", name, errno_words(&error)))?;
    if gateway6.is_some() {
        match settle(netlink, &link, edition) {
            Err(why) if edition.is_new() => {
                return Err(format!("failed to settle addresses for \"{}\": {}", name, why))
            }
            _ => {}
        }
    }
    for route in &result.routes {
        let gateway = route.gw.or(if route.dst.ip.is_ipv4() { gateway4 } else { gateway6 });
        add(netlink, &link, route, gateway, edition)?;
    }
    Ok(())
}

fn enable_ipv6(name: &str, edition: Edition) -> Result<(), String> {
    for interface in ["lo", name] {
        let sysctl_name = format!("net/ipv6/conf/{}/disable_ipv6", interface);
        // A kernel without IPv6 refuses the address later.
        if let Some(value) = sysctl::get(&sysctl_name).ok().filter(|value| value != "0") {
            sysctl::set(&sysctl_name, "0").map_err(|why| {
                format!("failed to enable IPv6 for interface \"{}\" ({}={}): {}", interface, sysctl_name, value, why)
            })?;
        }
    }
    if edition.is_new() {
        let sysctl_name = format!("net/ipv6/conf/{}/keep_addr_on_down", name);
        sysctl::set(&sysctl_name, "1")
            .map_err(|why| format!("failed to enable keep_addr_on_down for interface \"{}\": {}", name, why))?;
    }
    Ok(())
}

/// Waits until the kernel has found that no neighbour has the same IPv6 addresses.
fn settle(netlink: &Netlink, link: &Link, edition: Edition) -> Result<(), String> {
    let max_s = if edition.is_new() { SETTLE_MAX_S } else { OLD_SETTLE_MAX_S };
    let deadline = Instant::now() + Duration::from_secs(max_s);
    loop {
        let found = addresses(netlink, link.index, AF_INET6)
            .map_err(|error| format!("could not list addresses: {}", errno_words(&error)))?;
        let first = found.iter().find(|address| address.flags & (IFA_F_DADFAILED | IFA_F_TENTATIVE) != 0);
        match first {
            None => return Ok(()),
            Some(address) if edition.is_new() && address.flags & IFA_F_DADFAILED != 0 => {
                return Err(format!("link {} has address {} in DADFAILED state", link.name, address.cidr.ip));
            }
            Some(_) if Instant::now() > deadline => {
                let now = link_by_name(netlink, &link.name)
                    .map_err(|error| format!("failed to retrieve link: {}", link_words(&error)))?;
                return match now.oper_state {
                    OPER_UP => Err(format!(
                        "link {} still has tentative addresses after {} seconds",
                        link.name,
                        SETTLE_MAX_S * 1_000_000_000
                    )),
                    _ => Ok(()),
                };
            }
            Some(_) => thread::sleep(Duration::from_millis(SETTLE_MS)),
        }
    }
}

fn add(netlink: &Netlink, link: &Link, route: &Route, gateway: Option<IpAddr>, edition: Edition) -> Result<(), String> {
    let new = NewRoute {
        dst: &route.dst,
        gateway,
        source: None,
        link: link.index,
        priority: route.priority as u32,
        table: route.table.unwrap_or(0) as u32,
        scope: route.scope.unwrap_or(0) as u8,
    };
    let added = match gateway {
        Some(gateway) if gateway.is_ipv4() != route.dst.ip.is_ipv4() => {
            Err("gateway, source, and destination ip are not the same IP family".to_string())
        }
        _ => add_route(netlink, &new, 0).map_err(|error| errno_words(&error)),
    };
    added.map_err(|why| {
        let way =
            format!("{{{} {}}} via {} dev {}", route.dst.ip, mask_text(route), ip_text(gateway.as_ref()), link.name);
        match edition.is_new() {
            false => format!("failed to add route '{}': {}", way, why),
            true => format!(
                "failed to add route '{} metric {} (Scope: {}, Table: {})': {}",
                way,
                route.priority,
                scope_text(new.scope),
                new.table,
                why
            ),
        }
    })
}

/// Upstream uses the sixteen bytes of Go's IPv4 zero as the mask of the default route that the bridge plugin adds.
fn mask_text(route: &Route) -> String {
    match route.is_of_bridge && route.dst.ip.is_ipv4() {
        true => "00000000000000000000ffff00000000".to_string(),
        false => route.dst.mask_text(),
    }
}

fn scope_text(scope: u8) -> &'static str {
    match scope {
        0 => "universe",
        200 => "site",
        253 => "link",
        254 => "host",
        255 => "nowhere",
        _ => "unknown",
    }
}

/// Go prints the place of the interface's number in memory. The number itself stands here for it.
fn config_text(config: &IpConfig) -> String {
    format!(
        "{{Interface:{} Address:{{IP:{} Mask:{}}} Gateway:{}}}",
        config.interface.unwrap_or_default(),
        config.address.ip,
        config.address.mask_text(),
        ip_text(config.gateway.as_ref())
    )
}
