//! Addresses in the forms that Go's `net` reads and prints. A form that Go reads as another family than Rust is refused.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::builtin::Edition;

/// An address with the length of its network's prefix. The address keeps its host bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cidr {
    pub ip: IpAddr,
    pub prefix: u8,
}

impl Cidr {
    pub fn parse(text: &str) -> Option<Cidr> {
        let (ip, prefix) = text.split_once('/')?;
        let ip = parse_ip(ip)?;
        let is_plain =
            prefix.bytes().all(|byte| byte.is_ascii_digit()) && (prefix.len() == 1 || !prefix.starts_with('0'));
        let prefix = prefix.parse().ok().filter(|prefix| is_plain && *prefix <= bits_of(&ip))?;
        Some(Cidr { ip, prefix })
    }

    /// The route to everything.
    pub fn default_of(ip: &IpAddr) -> Cidr {
        match ip {
            IpAddr::V4(_) => Cidr { ip: Ipv4Addr::UNSPECIFIED.into(), prefix: 0 },
            IpAddr::V6(_) => Cidr { ip: Ipv6Addr::UNSPECIFIED.into(), prefix: 0 },
        }
    }

    /// The first address of the network.
    pub fn network(&self) -> IpAddr {
        from_number(number_of(&self.ip) & self.mask(), &self.ip)
    }

    /// The last address of the network.
    pub fn last(&self) -> IpAddr {
        from_number(number_of(&self.ip) | (!self.mask() & all_of(&self.ip)), &self.ip)
    }

    pub fn contains(&self, ip: &IpAddr) -> bool {
        self.ip.is_ipv4() == ip.is_ipv4() && number_of(ip) & self.mask() == number_of(&self.ip) & self.mask()
    }

    fn mask(&self) -> u128 {
        let host_bits = u32::from(bits_of(&self.ip) - self.prefix);
        all_of(&self.ip) & u128::MAX.checked_shl(host_bits).unwrap_or(0)
    }

    /// `ffffff00`, as Go prints a mask.
    pub fn mask_text(&self) -> String {
        match self.ip {
            IpAddr::V4(_) => format!("{:08x}", self.mask()),
            IpAddr::V6(_) => format!("{:032x}", self.mask()),
        }
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}/{}", self.ip, self.prefix)
    }
}

/// Go reads `::ffff:10.0.0.1` as the IPv4 address. That and its kin are refused.
pub fn parse_ip(text: &str) -> Option<IpAddr> {
    let ip: IpAddr = text.parse().ok()?;
    match ip {
        IpAddr::V6(ip) if text.contains('.') || is_mixed(&ip) => None,
        ip => Some(ip),
    }
}

/// Whether the address holds an IPv4 address. Programs print these in different forms.
fn is_mixed(ip: &Ipv6Addr) -> bool {
    let start = &ip.segments()[..6];
    start == [0, 0, 0, 0, 0, 0xffff] || (start == [0; 6] && !ip.is_unspecified() && !ip.is_loopback())
}

/// `<nil>` is what Go prints for an address that is not there.
pub fn ip_text(ip: Option<&IpAddr>) -> String {
    ip.map_or("<nil>".to_string(), IpAddr::to_string)
}

fn bits_of(ip: &IpAddr) -> u8 {
    if ip.is_ipv4() {
        32
    } else {
        128
    }
}

fn all_of(ip: &IpAddr) -> u128 {
    if ip.is_ipv4() {
        u128::from(u32::MAX)
    } else {
        u128::MAX
    }
}

pub fn number_of(ip: &IpAddr) -> u128 {
    match ip {
        IpAddr::V4(ip) => u128::from(u32::from(*ip)),
        IpAddr::V6(ip) => u128::from(*ip),
    }
}

/// An address of the same family as another one.
pub fn from_number(number: u128, family: &IpAddr) -> IpAddr {
    match family {
        IpAddr::V4(_) => Ipv4Addr::from(number as u32).into(),
        IpAddr::V6(_) => Ipv6Addr::from(number).into(),
    }
}

pub fn next(ip: &IpAddr) -> IpAddr {
    from_number(number_of(ip).wrapping_add(1), ip)
}

/// Whether the upstream plugins find the next address too. Those of 1.1.1 lose the zero bytes with which an address begins,
/// and none of them gets past the last address of all.
pub fn has_next(ip: &IpAddr, edition: Edition) -> bool {
    number_of(ip) != all_of(ip) && (edition.is_new() || bytes_of(ip)[0] != 0)
}

/// The bytes as netlink has them.
pub fn bytes_of(ip: &IpAddr) -> Vec<u8> {
    match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    }
}

pub fn ip_of_bytes(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(|bytes| Ipv4Addr::from(bytes).into()),
        16 => <[u8; 16]>::try_from(bytes).ok().map(|bytes| Ipv6Addr::from(bytes).into()),
        _ => None,
    }
}

/// Six bytes with colons or hyphens between them. Go reads more forms, for other kinds of links.
pub fn parse_mac(text: &str) -> Option<[u8; 6]> {
    let separator = if text.contains('-') { '-' } else { ':' };
    let mut mac = [0; 6];
    let mut parts = text.split(separator);
    for byte in &mut mac {
        let part =
            parts.next().filter(|part| part.len() == 2 && part.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        *byte = u8::from_str_radix(part, 16).ok()?;
    }
    parts.next().is_none().then_some(mac)
}

pub fn mac_text(mac: &[u8]) -> String {
    mac.iter().map(|byte| format!("{:02x}", byte)).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_and_their_ends() {
        let cidr = Cidr::parse("10.1.2.3/16").unwrap();
        assert_eq!((cidr.network().to_string(), cidr.last().to_string()), ("10.1.0.0".into(), "10.1.255.255".into()));
        assert_eq!(cidr.mask_text(), "ffff0000");
        assert!(cidr.contains(&"10.1.9.9".parse().unwrap()) && !cidr.contains(&"10.2.0.0".parse().unwrap()));
        assert!(!cidr.contains(&"::a01:203".parse().unwrap()));
        let all = Cidr::parse("::/0").unwrap();
        assert_eq!(all.last().to_string(), "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
        assert_eq!(Cidr::parse("fd00::5/64").unwrap().network().to_string(), "fd00::");
        assert_eq!(Cidr::parse("1.2.3.4/32").unwrap().last().to_string(), "1.2.3.4");
    }

    #[test]
    fn the_next_address_is_doubtful_after_zeros_in_old_editions_and_after_the_last_one() {
        let has_next = |text: &str, edition| super::has_next(&text.parse().unwrap(), edition);
        for zeros in ["0.0.0.0", "0.255.0.0", "::", "64:ff9b::"] {
            assert!(!has_next(zeros, Edition::V1_1_1) && has_next(zeros, Edition::V1_9_1), "{}", zeros);
        }
        for last in ["255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"] {
            assert!(!has_next(last, Edition::V1_1_1) && !has_next(last, Edition::V1_9_1), "{}", last);
        }
        assert!(has_next("1.0.0.0", Edition::V1_1_1) && has_next("100::", Edition::V1_1_1));
    }

    #[test]
    fn doubtful_forms_are_refused() {
        for wrong in
            ["1.2.3.4", "1.2.3.4/33", "1.2.3.4/+8", "1.2.3.4/08", "1.2.3.4/", "::ffff:1.2.3.4/96", "::/129", "x/8"]
        {
            assert_eq!(Cidr::parse(wrong), None, "{}", wrong);
        }
        for wrong in ["01.2.3.4", "::ffff:102:304", "fe80::1%eth0", "::1.2.3.4", "::5", ""] {
            assert_eq!(parse_ip(wrong), None, "{}", wrong);
        }
        for wrong in
            ["0a:1b:2c:3d:4e", "0a:1b:2c:3d:4e:5f:60:71", "a:1b:2c:3d:4e:5f", "0a1b.2c3d.4e5f", "+a:1b:2c:3d:4e:5f"]
        {
            assert_eq!(parse_mac(wrong), None, "{}", wrong);
        }
        assert_eq!(parse_mac("0A-1b-2c-3d-4e-5F").map(|mac| mac_text(&mac)), Some("0a:1b:2c:3d:4e:5f".to_string()));
    }
}
