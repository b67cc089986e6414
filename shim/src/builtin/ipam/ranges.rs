//! The ranges of host-local: which addresses there are, and in which order they are given.

use std::fmt;
use std::net::IpAddr;

use crate::builtin::go::address::{has_next, next, number_of, Cidr};
use crate::builtin::go::members::Members;
use crate::builtin::go::tree::Json;
use crate::builtin::{Edition, Unsupported};

/// A network with fewer free bits has no address to give.
const FREE_BITS_MIN: u8 = 2;

#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    pub subnet: Cidr,
    /// Both ends belong to the range.
    pub start: IpAddr,
    pub end: IpAddr,
    pub gateway: IpAddr,
}

impl Range {
    /// None if the object names no subnet and nothing else of a range.
    pub fn read(members: &mut Members) -> Result<Option<Range>, Unsupported> {
        let subnet = members.cidr("subnet")?;
        let gateway = members.address("gateway")?;
        let (start, end) = (members.address("rangeStart")?, members.address("rangeEnd")?);
        match subnet {
            Some(subnet) => Range::of(subnet, gateway, start, end).map(Some),
            None if gateway.or(start).or(end).is_some() => Err(members.wrong("subnet", "missing")),
            None => Ok(None),
        }
    }

    fn of(
        subnet: Cidr,
        gateway: Option<IpAddr>,
        start: Option<IpAddr>,
        end: Option<IpAddr>,
    ) -> Result<Range, Unsupported> {
        let wrong = |why: &str| Err(Unsupported(format!("the range {} {}", subnet, why)));
        let bits = if subnet.ip.is_ipv4() { 32 } else { 128 };
        if subnet.prefix > bits - FREE_BITS_MIN || subnet.network() != subnet.ip {
            return wrong("is no network to give addresses of");
        }
        let first = next(&subnet.ip);
        if gateway.map_or(false, |gateway| gateway.is_ipv4() != subnet.ip.is_ipv4()) {
            return wrong("has a gateway of another family");
        }
        let start = start.unwrap_or(first);
        let is_in = |ip: &IpAddr| subnet.contains(ip);
        if !is_in(&start) || end.map_or(false, |end| !is_in(&end) || number_of(&end) < number_of(&start)) {
            return wrong("does not contain its start and its end");
        }
        let range =
            Range { subnet, start, end: end.unwrap_or_else(|| last(&subnet)), gateway: gateway.unwrap_or(first) };
        match number_of(&range.start) > number_of(&range.end) {
            true => wrong("starts after its end"),
            false => Ok(range),
        }
    }

    pub fn contains(&self, ip: &IpAddr) -> bool {
        let number = number_of(ip);
        self.subnet.contains(ip) && number_of(&self.start) <= number && number <= number_of(&self.end)
    }

    fn overlaps(&self, other: &Range) -> bool {
        self.contains(&other.start)
            || self.contains(&other.end)
            || other.contains(&self.start)
            || other.contains(&self.end)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}-{}", self.start, self.end)
    }
}

/// The last address to give: in IPv4 not the broadcast address.
fn last(subnet: &Cidr) -> IpAddr {
    match subnet.last() {
        IpAddr::V4(ip) => std::net::Ipv4Addr::from(u32::from(ip) - 1).into(),
        ip => ip,
    }
}

/// Ranges of one family, of which one address is given.
#[derive(Debug, PartialEq)]
pub struct RangeSet(Vec<Range>);

impl RangeSet {
    pub fn one(range: Range) -> RangeSet {
        RangeSet(vec![range])
    }

    /// A list of sets, each a list of ranges.
    pub fn read_all(sets: &[Json], place: &str) -> Result<Vec<RangeSet>, Unsupported> {
        sets.iter().map(|set| RangeSet::read(set, place)).collect()
    }

    fn read(set: &Json, place: &str) -> Result<RangeSet, Unsupported> {
        let items = match set {
            Json::List(items) if !items.is_empty() => items,
            _ => return Err(Unsupported(format!("{} has a set that is no list of ranges", place))),
        };
        let mut ranges: Vec<Range> = Vec::new();
        for item in items {
            let mut members = Members::of(item, place)?;
            let range = Range::read(&mut members)?.ok_or_else(|| members.wrong("subnet", "missing"))?;
            members.end()?;
            if ranges.iter().any(|other| other.overlaps(&range) || other.start.is_ipv4() != range.start.is_ipv4()) {
                return Err(Unsupported(format!("{} has ranges in one set that do not fit together", place)));
            }
            ranges.push(range);
        }
        Ok(RangeSet(ranges))
    }

    pub fn overlaps(&self, other: &RangeSet) -> bool {
        self.0.iter().any(|range| other.0.iter().any(|another| range.overlaps(another)))
    }

    /// Whether that edition goes from one address to the next as it should.
    pub fn is_counted_by(&self, edition: Edition) -> bool {
        self.0.iter().all(|range| has_next(&range.subnet.ip, edition))
    }

    pub fn range_of(&self, ip: &IpAddr) -> Option<&Range> {
        self.0.iter().find(|range| range.contains(ip))
    }

    /// All addresses with their ranges, once around: after the one that was given last, else from the first one. Gateways
    /// are left out.
    pub fn from(&self, last_given: Option<IpAddr>) -> Turn<'_> {
        let at = last_given.and_then(|ip| self.0.iter().position(|range| range.contains(&ip)));
        Turn { set: self, at: at.unwrap_or(0), current: last_given.filter(|_| at.is_some()), first: None }
    }
}

impl fmt::Display for RangeSet {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.0.iter().map(Range::to_string).collect::<Vec<_>>().join(","))
    }
}

pub struct Turn<'a> {
    set: &'a RangeSet,
    at: usize,
    current: Option<IpAddr>,
    first: Option<IpAddr>,
}

impl<'a> Iterator for Turn<'a> {
    type Item = (IpAddr, &'a Range);

    fn next(&mut self) -> Option<(IpAddr, &'a Range)> {
        loop {
            let ip = match self.current {
                None => self.set.0[self.at].start,
                Some(ip) if ip == self.set.0[self.at].end => {
                    self.at = (self.at + 1) % self.set.0.len();
                    self.set.0[self.at].start
                }
                Some(ip) => next(&ip),
            };
            self.current = Some(ip);
            if self.first == Some(ip) {
                return None;
            }
            self.first = self.first.or(Some(ip));
            let range = &self.set.0[self.at];
            if ip != range.gateway {
                return Some((ip, range));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::go::tree::parse;

    fn sets(text: &str) -> Result<Vec<RangeSet>, Unsupported> {
        match parse(text.as_bytes()).unwrap() {
            Json::List(items) => RangeSet::read_all(&items, "ranges"),
            _ => panic!("no list"),
        }
    }

    fn turn(text: &str, last: Option<&str>) -> Vec<String> {
        let set = sets(text).unwrap().remove(0);
        let found = set.from(last.map(|ip| ip.parse().unwrap())).map(|(ip, _)| ip.to_string()).collect();
        found
    }

    #[test]
    fn addresses_go_around_once_without_gateways() {
        let small = r#"[[{"subnet":"10.0.0.0/29"}]]"#;
        assert_eq!(turn(small, None), ["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"]);
        assert_eq!(turn(small, Some("10.0.0.5")), ["10.0.0.6", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"]);
        assert_eq!(turn(small, Some("10.9.0.5")), turn(small, None));
        let two = r#"[[{"subnet":"10.0.0.0/30"},{"subnet":"10.0.1.0/30","gateway":"10.0.1.2"}]]"#;
        assert_eq!(turn(two, None), ["10.0.0.2", "10.0.1.1"]);
        assert_eq!(turn(two, Some("10.0.0.2")), ["10.0.1.1", "10.0.0.2"]);
        let one = r#"[[{"subnet":"fd00::/64","rangeStart":"fd00::1","rangeEnd":"fd00::1"}]]"#;
        assert!(turn(one, None).is_empty());
    }

    #[test]
    fn ranges_have_gos_ends_and_words() {
        let text = |text: &str| sets(text).unwrap()[0].to_string();
        assert_eq!(text(r#"[[{"subnet":"10.1.0.0/16"}]]"#), "10.1.0.1-10.1.255.254");
        assert_eq!(text(r#"[[{"subnet":"fd00::/120"}]]"#), "fd00::1-fd00::ff");
        assert_eq!(
            text(r#"[[{"subnet":"10.0.0.0/30"},{"subnet":"10.0.1.0/30"}]]"#),
            "10.0.0.1-10.0.0.2,10.0.1.1-10.0.1.2"
        );
    }

    #[test]
    fn old_editions_miscount_addresses_that_begin_with_zeros() {
        let is_counted = |subnet: &str, edition| {
            sets(&format!(r#"[[{{"subnet":"10.0.0.0/30"}},{{"subnet":"{}"}}]]"#, subnet)).unwrap()[0]
                .is_counted_by(edition)
        };
        assert!(!is_counted("0.0.0.0/8", Edition::V1_1_1) && is_counted("0.0.0.0/8", Edition::V1_9_1));
        assert!(is_counted("255.255.255.252/30", Edition::V1_1_1));
    }

    #[test]
    fn ranges_that_host_local_refuses_are_left_to_it() {
        for wrong in [
            r#"[[]]"#,
            r#"[{"subnet":"10.0.0.0/30"}]"#,
            r#"[[{"subnet":"10.0.0.0/31"}]]"#,
            r#"[[{"subnet":"10.0.0.1/24"}]]"#,
            r#"[[{"subnet":"10.0.0.0/24","rangeStart":"10.0.1.1"}]]"#,
            r#"[[{"subnet":"10.0.0.0/24","rangeStart":"10.0.0.9","rangeEnd":"10.0.0.8"}]]"#,
            r#"[[{"subnet":"10.0.0.0/24","gateway":"fd00::1"}]]"#,
            r#"[[{"subnet":"10.0.0.0/24"},{"subnet":"fd00::/64"}]]"#,
            r#"[[{"subnet":"10.0.0.0/24"},{"subnet":"10.0.0.0/25"}]]"#,
            r#"[[{"subnet":"10.0.0.0/24","x":1}]]"#,
            r#"[[{"gateway":"10.0.0.1"}]]"#,
        ] {
            assert!(sets(wrong).is_err(), "{}", wrong);
        }
    }
}
