//! The plugin `ptp`: a pair of links from the container to the host, without a bridge. All traffic of the container goes to
//! the gateway, which is the host's end.

use std::net::IpAddr;

use crate::builtin::attached;
use crate::builtin::conf::Conf;
use crate::builtin::go::address::{bytes_of, ip_text, mac_text, Cidr};
use crate::builtin::go::words::errno_words;
use crate::builtin::ipam::Ipam;
use crate::builtin::kernel::addresses::add_address;
use crate::builtin::kernel::configure::configure;
use crate::builtin::kernel::links::{set_up, Link};
use crate::builtin::kernel::namespaces::Namespace;
use crate::builtin::kernel::routes::{add_route, delete_route, NewRoute, SCOPE_HOST, SCOPE_LINK, SCOPE_UNIVERSE};
use crate::builtin::kernel::sysctl;
use crate::builtin::kernel::veth::{add_pair, Pair};
use crate::builtin::result::{CniResult, Dns, Interface, IpConfig};
use crate::builtin::{Edition, Failure, Plugin, PluginCall, Unsupported};
use crate::net::netlink::{Netlink, NLM_F_EXCL};
use crate::sys;

/// Begins the plugin's messages.
const PTP: &str = "ptp: ";
/// The index of the container's interface in the result.
const CONTAINER: i64 = 1;

pub struct Ptp {
    edition: Edition,
    /// 0 leaves it to the kernel.
    mtu: u32,
    ipam: Ipam,
    dns: Option<Dns>,
    prev_result: Option<CniResult>,
}

impl Ptp {
    pub fn read(mut conf: Conf, call: &PluginCall) -> Result<Ptp, Unsupported> {
        if conf.own.flag("ipMasq")? {
            return Err(conf.own.wrong("ipMasq", "not built in"));
        }
        let mtu = conf.own.number("mtu")?.unwrap_or(0).max(0);
        let ptp = Ptp {
            edition: conf.edition,
            mtu: u32::try_from(mtu).map_err(|_| conf.own.wrong("mtu", "out of range"))?,
            ipam: conf.ipam(call)?.ok_or_else(|| Unsupported("ipam names no plugin".to_string()))?,
            dns: conf.dns.take(),
            prev_result: if call.command == "CHECK" { conf.prev_result()? } else { None },
        };
        conf.end()?;
        Ok(ptp)
    }

    fn connect(&self, call: &PluginCall, host: &Namespace, result: &mut CniResult) -> Result<(), String> {
        let container = attached::open_container(call)?;
        let pair = Pair { name: &call.ifname, mtu: self.mtu, mac: None };
        let (inner, outer) = add_pair(&pair, &container, host, self.edition)?;
        host.enter()?;
        set_up(&host.netlink, outer.index)
            .map_err(|error| format!("failed to set \"{}\" up: {}", outer.name, errno_words(&error)))?;
        // The host decides about its routes.
        sysctl::try_set(&format!("net/ipv6/conf/{}/accept_ra", outer.name), "0");
        let outer_interface = Interface { name: outer.name.clone(), mac: mac_text(&outer.mac), ..Interface::default() };
        result.interfaces = vec![outer_interface, attached::interface(call, &inner)];

        container.enter()?;
        configure(&container.netlink, &call.ifname, result, self.edition)?;
        for config in &result.ips {
            lead_to_gateway(&container.netlink, &inner, config)?;
        }
        for config in &result.ips {
            set_up_gateway(&host.netlink, &outer, config)?;
        }
        Ok(())
    }
}

/// Replaces the route to the network, which the kernel has made, by one to the gateway and one through it.
fn lead_to_gateway(netlink: &Netlink, inner: &Link, config: &IpConfig) -> Result<(), String> {
    let network = Cidr { ip: config.address.network(), prefix: config.address.prefix };
    delete_route(netlink, inner.index, &network).map_err(|error| {
        let route = route_text(inner, Some(&network), None, None);
        format!("failed to delete route {}: {}", route, errno_words(&error))
    })?;
    let gateway = config.gateway.map(whole);
    let source = config.address.ip;
    add(netlink, inner, (gateway, SCOPE_LINK), None, source)?;
    add(netlink, inner, (Some(network), SCOPE_UNIVERSE), config.gateway, source)
}

/// Without a destination, the route leads everywhere.
fn add(
    netlink: &Netlink,
    inner: &Link,
    (dst, scope): (Option<Cidr>, u8),
    gateway: Option<IpAddr>,
    source: IpAddr,
) -> Result<(), String> {
    let is_same_family = |ip: Option<IpAddr>| ip.map_or(true, |ip| ip.is_ipv4() == source.is_ipv4());
    let all = Cidr::default_of(&source);
    let route = NewRoute {
        dst: dst.as_ref().unwrap_or(&all),
        gateway,
        source: Some(source),
        link: inner.index,
        priority: 0,
        table: 0,
        scope,
    };
    let added = if !is_same_family(dst.map(|dst| dst.ip)) {
        Err("source and destination ip are not the same IP family".to_string())
    } else if !is_same_family(gateway) {
        Err("gateway, source, and destination ip are not the same IP family".to_string())
    } else {
        add_route(netlink, &route, NLM_F_EXCL).map_err(|error| errno_words(&error))
    };
    added.map_err(|why| {
        let dst = dst.as_ref().filter(|dst| is_printed(dst, &source));
        format!("failed to add route {}: {}", route_text(inner, dst, Some(&source), gateway.as_ref()), why)
    })
}

/// The host's end is the gateway, and knows the way to the container.
fn set_up_gateway(netlink: &Netlink, outer: &Link, config: &IpConfig) -> Result<(), String> {
    let gateway = config.gateway.ok_or_else(|| {
        format!("failed to add IP addr ({}) to veth: numerical result out of range", network_text(config))
    })?;
    add_address(netlink, outer.index, &whole(gateway)).map_err(|error| {
        format!("failed to add IP addr ({}) to veth: {}", network_text(config), errno_words(&error))
    })?;
    let dst = whole(config.address.ip);
    let route = NewRoute {
        dst: &dst,
        gateway: None,
        source: None,
        link: outer.index,
        priority: 0,
        table: 0,
        scope: SCOPE_HOST,
    };
    match add_route(netlink, &route, NLM_F_EXCL) {
        Err(error) if error.raw_os_error() != Some(sys::EEXIST) => {
            Err(format!("failed to add route on host: {}", errno_words(&error)))
        }
        _ => Ok(()),
    }
}

/// An address as a network of its own.
fn whole(ip: IpAddr) -> Cidr {
    Cidr { ip, prefix: if ip.is_ipv4() { 32 } else { 128 } }
}

/// Upstream gives a gateway the mask of the address's family, and Go prints no IPv6 address with a mask of IPv4.
fn is_printed(dst: &Cidr, source: &IpAddr) -> bool {
    dst.ip.is_ipv4() || source.is_ipv6()
}

/// A route as the netlink library of upstream prints it.
fn route_text(link: &Link, dst: Option<&Cidr>, source: Option<&IpAddr>, gateway: Option<&IpAddr>) -> String {
    let dst = dst.map_or("<nil>".to_string(), Cidr::to_string);
    let (source, gateway) = (ip_text(source), ip_text(gateway));
    format!("{{Ifindex: {} Dst: {} Src: {} Gw: {} Flags: [] Table: 0 Realm: 0}}", link.index, dst, source, gateway)
}

/// The gateway's network as Go prints it with all details.
fn network_text(config: &IpConfig) -> String {
    let list = |bytes: &[u8]| bytes.iter().map(|byte| format!("{:#x}", byte)).collect::<Vec<_>>().join(", ");
    let ip = match config.gateway {
        None => "(nil)".to_string(),
        // Go has read it from text, and so has it in sixteen bytes.
        Some(IpAddr::V4(ip)) => format!("{{{}}}", list(&ip.to_ipv6_mapped().octets())),
        Some(ip) => format!("{{{}}}", list(&bytes_of(&ip))),
    };
    let mask = list(&vec![0xff; if config.address.ip.is_ipv4() { 4 } else { 16 }]);
    format!("&net.IPNet{{IP:net.IP{}, Mask:net.IPMask{{{}}}}}", ip, mask)
}

impl Plugin for Ptp {
    /// An error leaves the pair for a DEL, and no address.
    fn add(&self, call: &PluginCall) -> Result<CniResult, Failure> {
        let host = Namespace::own()?;
        let mut result = attached::take_addresses(&self.ipam, call, CONTAINER)?;
        for is_ipv4 in [true, false] {
            if result.ips.iter().any(|config| config.address.ip.is_ipv4() == is_ipv4) {
                sysctl::enable_forwarding(is_ipv4).map_err(|why| format!("Could not enable IP forwarding: {}", why))?;
            }
        }
        self.connect(call, &host, &mut result).map_err(|why| attached::give_back(&self.ipam, call, why))?;
        if let Some(dns) = &self.dns {
            result.dns = dns.clone();
        }
        Ok(result)
    }

    fn check(&self, call: &PluginCall) -> Result<(), Failure> {
        let container = attached::open_container(call)?;
        self.ipam.check(call)?;
        let result = attached::required(&self.prev_result, PTP)?;
        let interface = attached::interface_of(result, call)?;
        let link = attached::find_link(&container.netlink, interface, PTP)?;
        attached::check_kind(&link, "veth", "veth/p2p")?;
        attached::check_mac(&link, interface, PTP)?;
        Ok(attached::check_addresses(&container.netlink, call, result, self.edition)?)
    }

    fn del(&self, call: &PluginCall) -> Result<(), Failure> {
        self.ipam.del(call)?;
        Ok(attached::remove(call)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_and_networks_look_as_in_go() {
        let link = Link { index: 3, ..Link::default() };
        let (dst, gateway): (Cidr, IpAddr) = (Cidr::parse("10.0.0.0/24").unwrap(), "10.0.0.1".parse().unwrap());
        let text = "{Ifindex: 3 Dst: 10.0.0.0/24 Src: <nil> Gw: 10.0.0.1 Flags: [] Table: 0 Realm: 0}";
        assert_eq!(route_text(&link, Some(&dst), None, Some(&gateway)), text);
        let config = |gateway| IpConfig { interface: None, address: dst, gateway };
        let mask = "Mask:net.IPMask{0xff, 0xff, 0xff, 0xff}}";
        assert_eq!(network_text(&config(None)), format!("&net.IPNet{{IP:net.IP(nil), {}", mask));
        let ip = "IP:net.IP{0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xff, 0xff, 0xa, 0x0, 0x0, 0x1}";
        assert_eq!(network_text(&config(Some(gateway))), format!("&net.IPNet{{{}, {}", ip, mask));
    }

    #[test]
    fn a_gateway_of_ipv6_is_not_printed_beside_an_address_of_ipv4() {
        let is_printed = |gateway: &str, address: &str| {
            super::is_printed(&whole(gateway.parse().unwrap()), &address.parse().unwrap())
        };
        assert!(!is_printed("fd00::1", "10.0.0.5"));
        assert!(is_printed("10.0.0.1", "fd00::5") && is_printed("fd00::1", "fd00::5"));
        assert!(is_printed("10.0.0.1", "10.0.0.5"));
    }
}
