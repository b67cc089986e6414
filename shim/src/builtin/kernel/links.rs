//! Links by rtnetlink: one function for each request.

use std::io;

use crate::builtin::Edition;
use crate::net::netlink::{
    as_u32, attributes, message, nested, Attribute, Netlink, NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL,
    NLM_F_REQUEST, RTM_DELLINK, RTM_GETLINK, RTM_NEWLINK, RTM_SETLINK,
};
use crate::sys;

pub const IFLA_ADDRESS: u16 = 1;
pub const IFLA_IFNAME: u16 = 3;
pub const IFLA_MTU: u16 = 4;
pub const IFLA_LINK: u16 = 5;
pub const IFLA_MASTER: u16 = 10;
pub const IFLA_PROTINFO: u16 = 12;
pub const IFLA_TXQLEN: u16 = 13;
const IFLA_OPERSTATE: u16 = 16;
const IFLA_LINKINFO: u16 = 18;
pub const IFLA_IFALIAS: u16 = 20;
pub const IFLA_NET_NS_FD: u16 = 28;
const IFLA_EXT_MASK: u16 = 29;
const IFLA_PROMISCUITY: u16 = 30;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
pub const NLA_F_NESTED: u16 = 0x8000;

pub const IFF_UP: u32 = 1;
pub const IFF_PROMISC: u32 = 0x100;
pub const IFF_ALLMULTI: u32 = 0x200;
pub const AF_UNSPEC: u8 = 0;
pub const AF_BRIDGE: u8 = 7;
pub const OPER_UP: u8 = 6;
/// `struct ifinfomsg`.
const FIXED_BYTES: usize = 16;
/// Counters make up most of an answer and are not needed.
const SKIP_STATISTICS: u32 = 1 << 3;

/// The facts about a link that plugins use.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Link {
    pub index: u32,
    pub flags: u32,
    pub name: String,
    pub mac: Vec<u8>,
    pub mtu: u32,
    /// 0 if it has none.
    pub master: u32,
    /// The link below, or the other end of a pair; 0 if it has none.
    pub parent: u32,
    pub oper_state: u8,
    pub promiscuity: u32,
    /// The length of its transmit queue.
    pub queue: u32,
    pub alias: String,
    /// `veth`, `bridge` and so on; empty for hardware and the loopback.
    pub kind: String,
    /// The attributes of its kind.
    pub data: Vec<u8>,
}

impl Link {
    pub fn is_up(&self) -> bool {
        self.flags & IFF_UP != 0
    }

    /// How many ask for all packets. The library of older editions sees only whether an administrator does.
    pub fn promiscuity_by(&self, edition: Edition) -> u32 {
        if edition.is_new() {
            self.promiscuity
        } else {
            u32::from(self.flags & IFF_PROMISC != 0)
        }
    }

    /// An attribute of the link's kind.
    pub fn data_attribute(&self, number: u16) -> Option<&[u8]> {
        attributes(&self.data).into_iter().find(|(known, _)| *known == number).map(|(_, value)| value)
    }

    fn read(payload: &[u8]) -> Option<Link> {
        let (fixed, rest) = (payload.get(..FIXED_BYTES)?, payload.get(FIXED_BYTES..)?);
        let mut link = Link { index: as_u32(&fixed[4..])?, flags: as_u32(&fixed[8..])?, ..Link::default() };
        for (number, value) in attributes(rest) {
            match number {
                IFLA_ADDRESS => link.mac = value.to_vec(),
                IFLA_IFNAME => link.name = text_of(value),
                IFLA_MTU => link.mtu = as_u32(value)?,
                IFLA_LINK => link.parent = as_u32(value)?,
                IFLA_MASTER => link.master = as_u32(value)?,
                IFLA_OPERSTATE => link.oper_state = *value.first()?,
                IFLA_IFALIAS => link.alias = text_of(value),
                IFLA_TXQLEN => link.queue = as_u32(value)?,
                IFLA_PROMISCUITY => link.promiscuity = as_u32(value)?,
                IFLA_LINKINFO => link.read_info(value),
                _ => {}
            }
        }
        Some(link)
    }

    fn read_info(&mut self, info: &[u8]) {
        for (number, value) in attributes(info) {
            match number {
                IFLA_INFO_KIND => self.kind = text_of(value),
                IFLA_INFO_DATA => self.data = value.to_vec(),
                _ => {}
            }
        }
    }
}

fn text_of(value: &[u8]) -> String {
    String::from_utf8_lossy(value.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

/// The bytes of a name in an attribute.
pub fn name_bytes(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0]].concat()
}

/// `struct ifinfomsg`.
pub fn link_header(family: u8, index: u32, flags: u32, change: u32) -> [u8; FIXED_BYTES] {
    let mut header = [0; FIXED_BYTES];
    header[0] = family;
    header[4..8].copy_from_slice(&index.to_ne_bytes());
    header[8..12].copy_from_slice(&flags.to_ne_bytes());
    header[12..16].copy_from_slice(&change.to_ne_bytes());
    header
}

/// ENODEV if there is none.
pub fn link_by_name(netlink: &Netlink, name: &str) -> io::Result<Link> {
    get_link(netlink, 0, &[(IFLA_IFNAME, &name_bytes(name))])
}

pub fn link_by_index(netlink: &Netlink, index: u32) -> io::Result<Link> {
    get_link(netlink, index, &[])
}

fn get_link(netlink: &Netlink, index: u32, wanted: &[Attribute]) -> io::Result<Link> {
    let mask = SKIP_STATISTICS.to_ne_bytes();
    let wanted = [&[(IFLA_EXT_MASK, &mask[..])], wanted].concat();
    let header = link_header(AF_UNSPEC, index, 0, 0);
    let mut found = None;
    netlink.dump(&message(RTM_GETLINK, NLM_F_REQUEST | NLM_F_ACK, &header, &wanted), &mut |kind, payload| {
        if kind == RTM_NEWLINK {
            found = Link::read(payload);
        }
    })?;
    found.ok_or_else(|| io::Error::from_raw_os_error(sys::ENODEV))
}

/// All links, in the kernel's order.
pub fn links(netlink: &Netlink) -> io::Result<Vec<Link>> {
    let mask = SKIP_STATISTICS.to_ne_bytes();
    let header = link_header(AF_UNSPEC, 0, 0, 0);
    let request = message(RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, &header, &[(IFLA_EXT_MASK, &mask)]);
    let read = |kind, payload: &[u8]| if kind == RTM_NEWLINK { Link::read(payload) } else { None };
    // As upstream does, the last list counts if each was interrupted.
    netlink.list(&request, read).map(|(found, _)| found)
}

/// Makes a link of a kind. EEXIST if its name is taken. `data` are the attributes of its kind.
pub fn add_link(netlink: &Netlink, kind: &str, common: &[Attribute], data: &[Attribute]) -> io::Result<()> {
    let data = nested(data);
    let info = nested(&[(IFLA_INFO_KIND, kind.as_bytes()), (IFLA_INFO_DATA, &data)]);
    let whole = [common, &[(IFLA_LINKINFO, &info[..])]].concat();
    let header = link_header(AF_UNSPEC, 0, 0, 0);
    netlink.change(&message(RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, &header, &whole))
}

/// Changes attributes of a link, and then the flags of `change` to their bits in `flags`.
pub fn set_link(netlink: &Netlink, index: u32, (flags, change): (u32, u32), changed: &[Attribute]) -> io::Result<()> {
    let header = link_header(AF_UNSPEC, index, flags, change);
    netlink.change(&message(RTM_SETLINK, NLM_F_REQUEST | NLM_F_ACK, &header, changed))
}

pub fn set_up(netlink: &Netlink, index: u32) -> io::Result<()> {
    set_link(netlink, index, (IFF_UP, IFF_UP), &[])
}

pub fn set_down(netlink: &Netlink, index: u32) -> io::Result<()> {
    set_link(netlink, index, (0, IFF_UP), &[])
}

pub fn set_mac(netlink: &Netlink, index: u32, mac: &[u8]) -> io::Result<()> {
    set_link(netlink, index, (0, 0), &[(IFLA_ADDRESS, mac)])
}

pub fn set_mtu(netlink: &Netlink, index: u32, mtu: u32) -> io::Result<()> {
    set_link(netlink, index, (0, 0), &[(IFLA_MTU, &mtu.to_ne_bytes())])
}

pub fn set_name(netlink: &Netlink, index: u32, name: &str) -> io::Result<()> {
    set_link(netlink, index, (0, 0), &[(IFLA_IFNAME, &name_bytes(name))])
}

pub fn set_promiscuous(netlink: &Netlink, index: u32, is_on: bool) -> io::Result<()> {
    set_link(netlink, index, (if is_on { IFF_PROMISC } else { 0 }, IFF_PROMISC), &[])
}

/// ENODEV if there is none.
pub fn delete_link(netlink: &Netlink, name: &str) -> io::Result<()> {
    delete(netlink, 0, &[(IFLA_IFNAME, &name_bytes(name))])
}

/// ENODEV if there is none.
pub fn delete_link_by_index(netlink: &Netlink, index: u32) -> io::Result<()> {
    delete(netlink, index, &[])
}

fn delete(netlink: &Netlink, index: u32, wanted: &[Attribute]) -> io::Result<()> {
    let header = link_header(AF_UNSPEC, index, 0, 0);
    netlink.change(&message(RTM_DELLINK, NLM_F_REQUEST | NLM_F_ACK, &header, wanted))
}

/// The number of the link whose removal the kernel tells, if that is what it tells. A bridge tells of its ports too, in a
/// family of its own.
pub fn removed_link(kind: u16, payload: &[u8]) -> Option<u32> {
    let fixed = payload.get(..FIXED_BYTES).filter(|fixed| kind == RTM_DELLINK && fixed[0] == AF_UNSPEC)?;
    as_u32(&fixed[4..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_an_interrupted_list_lacks_are_found() {
        let link = message(RTM_NEWLINK, 0, &link_header(AF_UNSPEC, 7, 0, 0), &[]);
        let whole = [link, Netlink::end_of_list(true)].concat();
        let found = links(&Netlink::answering(vec![Netlink::end_of_list(false), whole])).unwrap();
        assert_eq!(found.iter().map(|link| link.index).collect::<Vec<_>>(), [7]);
    }
}
