//! Default routes of one interface, in the main table of the current namespace.

use std::ffi::CString;
use std::io;

use crate::net::netlink::{
    as_u32, attributes, message, records, Attribute, Netlink, NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL,
    NLM_F_REPLACE, NLM_F_REQUEST, RTM_DELROUTE, RTM_GETROUTE, RTM_NEWROUTE,
};
use crate::sys;

const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_METRICS: u16 = 8;
const RTA_MULTIPATH: u16 = 9;
const RTA_TABLE: u16 = 15;
const RTA_NH_ID: u16 = 30;
const TABLE_MAIN: u8 = 254;
const PROTOCOL_BOOT: u8 = 3;
const TYPE_UNICAST: u8 = 1;
const SCOPE_ANY: u8 = 255;
const FIXED_BYTES: usize = 12;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
/// So many deletes on one interface mean that another process keeps adding the routes.
const DELETES_MAX: usize = 256;

#[derive(Debug, PartialEq)]
pub struct RouteOp {
    pub is_add: bool,
    pub family: Family,
    pub ifname: String,
    pub gateway: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Family {
    V4,
    V6,
}

impl Family {
    fn number(self) -> u8 {
        match self {
            Family::V4 => AF_INET,
            Family::V6 => AF_INET6,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Family::V4 => "IPv4",
            Family::V6 => "IPv6",
        }
    }

    fn address_bytes(self) -> usize {
        match self {
            Family::V4 => 4,
            Family::V6 => 16,
        }
    }
}

impl RouteOp {
    /// Operation, family, length of the name, name, then for an add the gateway.
    pub fn read(bytes: &[u8]) -> Result<RouteOp, String> {
        let wrong = || "Cannot read a route_op field: it does not have the form of the protocol".to_string();
        let (head, rest) = (bytes.get(..3).ok_or_else(wrong)?, &bytes[3..]);
        let (name_bytes, gateway) = (rest.get(..head[2] as usize).ok_or_else(wrong)?, &rest[head[2] as usize..]);
        let ifname = String::from_utf8(name_bytes.to_vec()).map_err(|_| wrong())?;
        let family = match head[1] {
            4 => Family::V4,
            6 => Family::V6,
            _ => return Err(wrong()),
        };
        let gateway_bytes = match head[0] {
            1 => 0,
            2 => family.address_bytes(),
            _ => return Err(wrong()),
        };
        if gateway.len() != gateway_bytes || ifname.is_empty() || ifname.contains('\0') {
            return Err(wrong());
        }
        Ok(RouteOp { is_add: head[0] == 2, family, ifname, gateway: gateway.to_vec() })
    }

    pub fn apply(&self, netlink: &Netlink) -> Result<(), (i32, String)> {
        let doing = if self.is_add { "add" } else { "delete" };
        let problem = |error: io::Error| {
            let text = sys::error_text(&error);
            (
                sys::errno_of(&error),
                format!("Cannot {} the {} default route of {}: {}", doing, self.family.name(), self.ifname, text),
            )
        };
        let found =
            CString::new(self.ifname.as_str()).map_err(io::Error::from).and_then(|name| sys::interface_index(&name));
        match found {
            Ok(index) if self.is_add => add_default(netlink, self.family, index, &self.gateway).map_err(problem),
            Ok(index) => delete_defaults(netlink, self.family, index).map_err(problem),
            // A device for DPDK has no link, so no route leads through it.
            Err(error) if !self.is_add && error.raw_os_error() == Some(sys::ENODEV) => Ok(()),
            Err(error) => Err(problem(error)),
        }
    }
}

/// A default route as the kernel lists it.
#[derive(Debug, Default, PartialEq)]
struct Route {
    tos: u8,
    oif: Option<u32>,
    gateway: Option<Vec<u8>>,
    metric: Option<u32>,
    nexthop_id: Option<u32>,
    metrics: Option<Vec<u8>>,
    /// `struct rtnexthop` records, unchanged.
    hops: Vec<Vec<u8>>,
    fixed: Vec<u8>,
}

impl Route {
    /// None if it is not a unicast default route of the main table.
    fn read(payload: &[u8]) -> Option<Route> {
        let fixed = payload.get(..FIXED_BYTES)?;
        let mut route = Route { tos: fixed[3], fixed: fixed.to_vec(), ..Route::default() };
        let mut table = fixed[4] as u32;
        for (number, value) in attributes(&payload[FIXED_BYTES..]) {
            match number {
                RTA_OIF => route.oif = as_u32(value),
                RTA_GATEWAY => route.gateway = Some(value.to_vec()),
                RTA_PRIORITY => route.metric = as_u32(value),
                RTA_TABLE => table = as_u32(value)?,
                RTA_NH_ID => route.nexthop_id = as_u32(value),
                RTA_METRICS => route.metrics = Some(value.to_vec()),
                RTA_MULTIPATH => route.hops = records(value).into_iter().map(<[u8]>::to_vec).collect(),
                _ => {}
            }
        }
        let is_default = fixed[1] == 0 && table == TABLE_MAIN as u32 && fixed[7] == TYPE_UNICAST;
        is_default.then_some(route)
    }

    fn leads_through(&self, index: u32) -> bool {
        self.oif == Some(index) || self.hops.iter().any(|hop| hop_index(hop) == Some(index))
    }
}

/// The interface of a next hop: the last four of its eight fixed bytes.
fn hop_index(hop: &[u8]) -> Option<u32> {
    hop.get(4..8).and_then(as_u32)
}

fn hop_gateway(hop: &[u8]) -> Option<Vec<u8>> {
    let found = attributes(hop.get(8..)?).into_iter().find(|(number, _)| *number == RTA_GATEWAY)?;
    Some(found.1.to_vec())
}

fn default_routes(netlink: &Netlink, family: Family) -> io::Result<Vec<Route>> {
    let mut fixed = [0; FIXED_BYTES];
    fixed[0] = family.number();
    let request = message(RTM_GETROUTE, NLM_F_REQUEST | NLM_F_DUMP, &fixed, &[]);
    let read = |kind, payload: &[u8]| if kind == RTM_NEWROUTE { Route::read(payload) } else { None };
    match netlink.list(&request, read)? {
        (routes, true) => Ok(routes),
        (_, false) => Err(io::Error::from_raw_os_error(sys::EAGAIN)),
    }
}

/// Afterwards no default route leads through the interface, of any metric, gateway or origin.
fn delete_defaults(netlink: &Netlink, family: Family, index: u32) -> io::Result<()> {
    for _ in 0..DELETES_MAX {
        let route = match default_routes(netlink, family)?.into_iter().find(|route| route.leads_through(index)) {
            Some(route) => route,
            None => return Ok(()),
        };
        match netlink.change(&removal(family, index, &route)) {
            // Another process deleted it first; the next listing shows.
            Err(error) if error.raw_os_error() == Some(sys::ESRCH) => {}
            other => other?,
        }
    }
    Err(io::Error::from_raw_os_error(sys::EEXIST))
}

/// The message that takes the interface out of one route.
fn removal(family: Family, index: u32, route: &Route) -> Vec<u8> {
    let others: Vec<u8> = remaining_hops(index, route);
    let metric = route.metric.map(u32::to_ne_bytes);
    let mut list: Vec<Attribute> = metric.iter().map(|metric| (RTA_PRIORITY, &metric[..])).collect();
    // An IPv4 multipath route is one route: replace it by one without our hops. IPv6 deletes hop by hop.
    if family == Family::V4 && !others.is_empty() {
        list.push((RTA_MULTIPATH, &others));
        list.extend(route.metrics.iter().map(|metrics| (RTA_METRICS, metrics.as_slice())));
        return message(RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_ACK | NLM_F_REPLACE, &route.fixed, &list);
    }
    let fixed = [family.number(), 0, 0, route.tos, TABLE_MAIN, 0, SCOPE_ANY, 0, 0, 0, 0, 0];
    let nexthop_id = route.nexthop_id.map(u32::to_ne_bytes);
    let oif = index.to_ne_bytes();
    let own_hop = route.hops.iter().find(|hop| hop_index(hop) == Some(index));
    let gateway = own_hop.and_then(|hop| hop_gateway(hop));
    let all_hops = route.hops.concat();
    if let Some(id) = &nexthop_id {
        list.push((RTA_NH_ID, id));
    } else if family == Family::V4 && !route.hops.is_empty() {
        list.push((RTA_MULTIPATH, &all_hops));
    } else {
        list.push((RTA_OIF, &oif));
        list.extend(gateway.iter().map(|gateway| (RTA_GATEWAY, gateway.as_slice())));
    }
    message(RTM_DELROUTE, NLM_F_REQUEST | NLM_F_ACK, &fixed, &list)
}

fn remaining_hops(index: u32, route: &Route) -> Vec<u8> {
    let mut bytes = Vec::new();
    for hop in route.hops.iter().filter(|hop| hop_index(hop) != Some(index)) {
        bytes.extend_from_slice(hop);
        bytes.resize((bytes.len() + 3) / 4 * 4, 0);
    }
    bytes
}

fn add_default(netlink: &Netlink, family: Family, index: u32, gateway: &[u8]) -> io::Result<()> {
    match netlink.change(&addition(family, index, gateway)) {
        Err(error) if error.raw_os_error() == Some(sys::EEXIST) => {
            let is_there = default_routes(netlink, family)?
                .iter()
                .any(|route| route.oif == Some(index) && route.gateway.as_deref() == Some(gateway));
            if is_there {
                Ok(())
            } else {
                Err(error)
            }
        }
        other => other,
    }
}

/// The message that `ip route add default via … dev …` sends.
fn addition(family: Family, index: u32, gateway: &[u8]) -> Vec<u8> {
    let fixed = [family.number(), 0, 0, 0, TABLE_MAIN, PROTOCOL_BOOT, 0, TYPE_UNICAST, 0, 0, 0, 0];
    let flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
    message(RTM_NEWROUTE, flags, &fixed, &[(RTA_GATEWAY, gateway), (RTA_OIF, &index.to_ne_bytes())])
}

#[cfg(test)]
#[path = "default_routes_test.rs"]
mod tests;
