//! CHECK: whether the container's interface still has the addresses and routes of a result.

use crate::builtin::go::address::{ip_text, Cidr};
use crate::builtin::go::words::errno_words;
use crate::builtin::kernel::addresses::{addresses, family_of};
use crate::builtin::kernel::links::link_by_name;
use crate::builtin::kernel::routes::routes;
use crate::builtin::result::{IpConfig, Route};
use crate::builtin::Edition;
use crate::net::netlink::Netlink;

pub fn validate_ips(netlink: &Netlink, name: &str, ips: &[IpConfig]) -> Result<(), String> {
    for config in ips {
        let link = link_by_name(netlink, name).map_err(|_| format!("Cannot find container link {}", name))?;
        let found = addresses(netlink, link.index, 0).map_err(|_| "Cannot obtain List of IP Addresses".to_string())?;
        if !found.iter().any(|address| address.cidr == config.address) {
            return Err(format!("Failed to match addr {} on interface {}", config.address, name));
        }
        let gateway = ip_text(config.gateway.as_ref());
        let known = routes(netlink, family_of(&config.address.ip)).map_err(|error| {
            format!("Error {} trying to find Gateway {} for interface {}", errno_words(&error), gateway, name)
        })?;
        let network = Cidr { ip: config.address.network(), prefix: config.address.prefix };
        if !known.iter().any(|route| route.dst == network) {
            return Err(format!("Failed to find Gateway {} for interface {}", gateway, name));
        }
    }
    Ok(())
}

pub fn validate_routes(netlink: &Netlink, wanted: &[Route], edition: Edition) -> Result<(), String> {
    for route in wanted {
        let known = routes(netlink, family_of(&route.dst.ip)).map_err(|error| {
            format!(
                "Expected Route {} not route table lookup error {}",
                route_text(route, edition),
                errno_words(&error)
            )
        })?;
        // Upstream compares no gateway of a default route. Older editions compare one that the result does not have.
        let is_default = route.dst == Cidr::default_of(&route.dst.ip);
        let has_gateway = !is_default && (route.gw.is_some() || !edition.is_new());
        if !known.iter().any(|found| found.dst == route.dst && (!has_gateway || found.gateway == route.gw)) {
            return Err(format!("Expected Route {} not found in routing table", route_text(route, edition)));
        }
    }
    Ok(())
}

fn route_text(route: &Route, edition: Edition) -> String {
    let way = format!("{{Dst:{{IP:{} Mask:{}}} GW:{}", route.dst.ip, route.dst.mask_text(), ip_text(route.gw.as_ref()));
    let optional = |number: Option<i64>| number.map_or("<nil>".to_string(), |number| number.to_string());
    match edition.is_new() {
        false => format!("{}}}", way),
        true => format!(
            "{} MTU:{} AdvMSS:{} Priority:{} Table:{} Scope:{}}}",
            way,
            route.mtu,
            route.adv_mss,
            route.priority,
            optional(route.table),
            optional(route.scope)
        ),
    }
}
