//! Routes by rtnetlink, in the main table unless they name another one.

use std::io;
use std::net::IpAddr;

use crate::builtin::go::address::{bytes_of, ip_of_bytes, Cidr};
use crate::builtin::kernel::addresses::{family_of, AF_INET};
use crate::net::netlink::{
    as_u32, attributes, message, Attribute, Netlink, NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_REQUEST, RTM_DELROUTE,
    RTM_GETROUTE, RTM_NEWROUTE,
};

const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_PREFSRC: u16 = 7;
const RTA_TABLE: u16 = 15;
const TABLE_MAIN: u8 = 254;
const PROTOCOL_BOOT: u8 = 3;
const TYPE_UNICAST: u8 = 1;
const FLAG_CLONED: u32 = 0x200;
/// `struct rtmsg`.
const FIXED_BYTES: usize = 12;

pub const SCOPE_UNIVERSE: u8 = 0;
pub const SCOPE_LINK: u8 = 253;
pub const SCOPE_HOST: u8 = 254;
const SCOPE_NOWHERE: u8 = 255;

/// A route to add.
pub struct NewRoute<'a> {
    pub dst: &'a Cidr,
    pub gateway: Option<IpAddr>,
    pub source: Option<IpAddr>,
    pub link: u32,
    pub priority: u32,
    pub table: u32,
    pub scope: u8,
}

/// A route of the main table. The default route has the destination 0.0.0.0/0 or ::/0.
pub struct Route {
    pub dst: Cidr,
    pub gateway: Option<IpAddr>,
    pub link: u32,
}

/// `more_flags` says whether the route may be there already (NLM_F_EXCL, NLM_F_REPLACE).
pub fn add_route(netlink: &Netlink, route: &NewRoute, more_flags: u16) -> io::Result<()> {
    let dst = bytes_of(&route.dst.ip);
    let gateway = route.gateway.as_ref().map(bytes_of);
    let source = route.source.as_ref().map(bytes_of);
    let (table, priority, link) = (route.table.to_ne_bytes(), route.priority.to_ne_bytes(), route.link.to_ne_bytes());
    let mut wanted: Vec<Attribute> = vec![(RTA_DST, &dst)];
    wanted.extend(source.as_ref().map(|source| (RTA_PREFSRC, &source[..])));
    wanted.extend(gateway.as_ref().map(|gateway| (RTA_GATEWAY, &gateway[..])));
    let small_table = match route.table {
        0 => TABLE_MAIN,
        small @ 1..=255 => small as u8,
        _ => {
            wanted.push((RTA_TABLE, &table));
            0
        }
    };
    if route.priority > 0 {
        wanted.push((RTA_PRIORITY, &priority));
    }
    wanted.push((RTA_OIF, &link));
    let family = family_of(&route.dst.ip);
    let fixed = [family, route.dst.prefix, 0, 0, small_table, PROTOCOL_BOOT, route.scope, TYPE_UNICAST, 0, 0, 0, 0];
    netlink.change(&message(RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | more_flags, &fixed, &wanted))
}

/// Deletes a route of the main table, whatever its scope is. ESRCH if there is none.
pub fn delete_route(netlink: &Netlink, link: u32, dst: &Cidr) -> io::Result<()> {
    let fixed = [family_of(&dst.ip), dst.prefix, 0, 0, TABLE_MAIN, 0, SCOPE_NOWHERE, 0, 0, 0, 0, 0];
    let (dst, link) = (bytes_of(&dst.ip), link.to_ne_bytes());
    netlink.change(&message(RTM_DELROUTE, NLM_F_REQUEST | NLM_F_ACK, &fixed, &[(RTA_DST, &dst), (RTA_OIF, &link)]))
}

/// The routes of one family in the main table.
pub fn routes(netlink: &Netlink, family: u8) -> io::Result<Vec<Route>> {
    let mut fixed = [0; FIXED_BYTES];
    fixed[0] = family;
    let request = message(RTM_GETROUTE, NLM_F_REQUEST | NLM_F_DUMP, &fixed, &[]);
    let read = |kind, payload: &[u8]| if kind == RTM_NEWROUTE { read(payload, family) } else { None };
    // As upstream does, the last list counts if each was interrupted.
    netlink.list(&request, read).map(|(found, _)| found)
}

fn read(payload: &[u8], family: u8) -> Option<Route> {
    let (fixed, rest) = (payload.get(..FIXED_BYTES)?, payload.get(FIXED_BYTES..)?);
    if fixed[0] != family || fixed[4] != TABLE_MAIN || as_u32(&fixed[8..])? & FLAG_CLONED != 0 {
        return None;
    }
    let zero = ip_of_bytes(&vec![0; if family == AF_INET { 4 } else { 16 }])?;
    let mut route = Route { dst: Cidr { ip: zero, prefix: fixed[1] }, gateway: None, link: 0 };
    for (number, value) in attributes(rest) {
        match number {
            RTA_DST => route.dst.ip = ip_of_bytes(value)?,
            RTA_GATEWAY => route.gateway = ip_of_bytes(value),
            RTA_OIF => route.link = as_u32(value)?,
            _ => {}
        }
    }
    Some(route)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_that_an_interrupted_list_lacks_are_found() {
        let fixed = [AF_INET, 0, 0, 0, TABLE_MAIN, 0, 0, TYPE_UNICAST, 0, 0, 0, 0];
        let route = message(RTM_NEWROUTE, 0, &fixed, &[(RTA_OIF, &7u32.to_ne_bytes())]);
        let whole = [route, Netlink::end_of_list(true)].concat();
        let found = routes(&Netlink::answering(vec![Netlink::end_of_list(false), whole]), AF_INET).unwrap();
        assert_eq!(found.iter().map(|route| route.link).collect::<Vec<_>>(), [7]);
    }
}
