//! Addresses of links by rtnetlink.

use std::io;
use std::net::IpAddr;

use crate::builtin::go::address::{bytes_of, ip_of_bytes, Cidr};
use crate::net::netlink::{
    as_u32, attributes, message, Attribute, Netlink, NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REQUEST,
    RTM_DELADDR, RTM_GETADDR, RTM_NEWADDR,
};

pub const AF_INET: u8 = 2;
pub const AF_INET6: u8 = 10;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_BROADCAST: u16 = 4;
const IFA_FLAGS: u16 = 8;
pub const IFA_F_DADFAILED: u32 = 0x08;
pub const IFA_F_TENTATIVE: u32 = 0x40;
/// `struct ifaddrmsg`.
const FIXED_BYTES: usize = 8;

pub struct Address {
    pub cidr: Cidr,
    pub flags: u32,
}

pub fn family_of(ip: &IpAddr) -> u8 {
    if ip.is_ipv4() {
        AF_INET
    } else {
        AF_INET6
    }
}

/// The addresses of one family on a link, in the kernel's order. Family 0 stands for both.
pub fn addresses(netlink: &Netlink, index: u32, family: u8) -> io::Result<Vec<Address>> {
    let request = message(RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP, &header(family, 0, index), &[]);
    // As upstream does, the last list counts if each was interrupted.
    netlink.list(&request, |kind, payload| read(kind, payload, index, family)).map(|(found, _)| found)
}

fn read(kind: u16, payload: &[u8], index: u32, family: u8) -> Option<Address> {
    if kind != RTM_NEWADDR {
        return None;
    }
    let (fixed, rest) = (payload.get(..FIXED_BYTES)?, payload.get(FIXED_BYTES..)?);
    if as_u32(&fixed[4..])? != index || (family != 0 && fixed[0] != family) {
        return None;
    }
    let (mut ip, mut flags) = (None, u32::from(fixed[2]));
    for (number, value) in attributes(rest) {
        match number {
            // The own end of a point-to-point address counts before the other one.
            IFA_LOCAL => ip = ip_of_bytes(value),
            IFA_ADDRESS if ip.is_none() => ip = ip_of_bytes(value),
            IFA_FLAGS => flags = as_u32(value)?,
            _ => {}
        }
    }
    Some(Address { cidr: Cidr { ip: ip?, prefix: fixed[1] }, flags })
}

/// EEXIST if the link has it already.
pub fn add_address(netlink: &Netlink, index: u32, cidr: &Cidr) -> io::Result<()> {
    change(netlink, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, index, cidr)
}

pub fn delete_address(netlink: &Netlink, index: u32, cidr: &Cidr) -> io::Result<()> {
    change(netlink, RTM_DELADDR, 0, index, cidr)
}

fn change(netlink: &Netlink, kind: u16, flags: u16, index: u32, cidr: &Cidr) -> io::Result<()> {
    let ip = bytes_of(&cidr.ip);
    let mut wanted: Vec<Attribute> = vec![(IFA_LOCAL, &ip), (IFA_ADDRESS, &ip)];
    let broadcast = bytes_of(&cidr.last());
    // Smaller networks have no address to spare for it.
    if cidr.ip.is_ipv4() && cidr.prefix < 31 && broadcast != [0; 4] {
        wanted.push((IFA_BROADCAST, &broadcast));
    }
    let header = header(family_of(&cidr.ip), cidr.prefix, index);
    netlink.change(&message(kind, NLM_F_REQUEST | NLM_F_ACK | flags, &header, &wanted))
}

fn header(family: u8, prefix: u8, index: u32) -> [u8; FIXED_BYTES] {
    let index = index.to_ne_bytes();
    [family, prefix, 0, 0, index[0], index[1], index[2], index[3]]
}
