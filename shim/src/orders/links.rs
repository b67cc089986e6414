//! LINKS: the names of the interfaces inside a network namespace, the addresses of one, and how many processes use them.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use crate::base::identity::{process_stat, Inode, NetnsIdentity};
use crate::builtin::addresses_of;
use crate::net::netlink::{attributes, message, Netlink, NLM_F_DUMP, NLM_F_REQUEST, RTM_GETLINK, RTM_NEWLINK};
use crate::net::netns;
use crate::orders::forked_job::{About, ForkedJob, Found};
use crate::orders::rules::Rules;
use crate::sys;
use crate::wire::frame::{Fields, Frame};
use crate::wire::tag;

/// An outcome with its step and its flag stays below the 4,096 fields of a frame. No node has that many interfaces.
const LINKS_MAX: usize = 4_000;
/// Together with the names they fit into a frame. No bridge has that many.
const ADDRESSES_MAX: usize = 64;
/// Two equal lists in a row are the truth. On a busy host each may differ from the one before.
const LOOKS_MAX: u32 = 6;
/// `struct ifinfomsg`.
const FIXED_BYTES: usize = 16;
const IFLA_IFNAME: u16 = 3;
const IFLA_EXT_MASK: u16 = 29;
/// The host's first process belongs to no container. Some hosts hide its namespaces from every other process.
const INIT: &str = "1";
/// Counters make up most of an answer and are not needed.
const SKIP_STATISTICS: u32 = 1 << 3;

pub struct LinksOrder {
    pub step: u64,
    /// Empty means the hand's own namespace, which is the host's.
    pub netns: String,
    /// Whether the daemon asks for the processes in the namespace. That reads all of /proc.
    pub counts_users: bool,
    /// The interface whose addresses the daemon asks for.
    pub addresses_of: Option<String>,
}

impl LinksOrder {
    pub fn read(frame: &Frame) -> Result<LinksOrder, String> {
        Ok(LinksOrder {
            step: frame.step()?,
            netns: frame.required_text(tag::NETNS)?,
            counts_users: frame.flag(tag::COUNT_USERS)?,
            addresses_of: frame.text(tag::ADDRESSES_OF)?,
        })
    }

    pub fn refusal(&self, rules: &Rules) -> Option<String> {
        match rules {
            Rules::Call { netns, .. } if self.netns.is_empty() || &self.netns != netns => Some(format!(
                "Cannot look into another network namespace than {:?}: current value is {:?}",
                netns, self.netns
            )),
            _ => self.netns.contains('\0').then(|| "Cannot look into a path with NUL in it".to_string()),
        }
    }
}

pub fn begin(order: &LinksOrder, expected: Option<NetnsIdentity>) -> io::Result<ForkedJob> {
    let about = About { step: order.step, failure: "links", question: "which interfaces there are" };
    ForkedJob::begin(about, || work(order, expected))
}

fn work(order: &LinksOrder, expected: Option<NetnsIdentity>) -> Found {
    if !order.netns.is_empty() {
        netns::enter(&order.netns, expected)?;
    }
    let (names, is_whole) = names_here().map_err(|error| {
        let place = if order.netns.is_empty() { "the host" } else { &order.netns };
        (sys::errno_of(&error), format!("Cannot list the interfaces of {}: {}", place, sys::error_text(&error)))
    })?;
    let fields = names.iter().take(LINKS_MAX).fold(Fields::new(), |fields, name| fields.bytes(tag::LINK, name));
    let fields = fields.flag(tag::TRUNCATED, !is_whole || names.len() > LINKS_MAX);
    let fields = with_addresses(fields, order, &names)?;
    if !order.counts_users {
        return Ok(fields);
    }
    let users = users_here().map_err(|error| {
        (sys::errno_of(&error), format!("Cannot count the processes in {}: {}", order.netns, sys::error_text(&error)))
    })?;
    Ok(fields.number(tag::USERS, users))
}

/// An interface that is not there has no addresses.
fn with_addresses(fields: Fields, order: &LinksOrder, names: &BTreeSet<Vec<u8>>) -> Result<Fields, (i32, String)> {
    let link = match &order.addresses_of {
        Some(link) if names.contains(link.as_bytes()) => link,
        _ => return Ok(fields),
    };
    let found = addresses_of(link).map_err(|error| {
        (sys::errno_of(&error), format!("Cannot list the addresses of {}: {}", link, sys::error_text(&error)))
    })?;
    Ok(found.iter().take(ADDRESSES_MAX).fold(fields, |fields, address| fields.text(tag::ADDRESS, address)))
}

/// How many processes are in this process's network namespace, apart from those of the hand.
fn users_here() -> io::Result<u64> {
    let here = Inode::of(&fs::metadata("/proc/self/ns/net")?);
    let mut users = 0;
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let pid = match name.to_str() {
            Some(pid) if pid != INIT && pid.bytes().all(|byte| byte.is_ascii_digit()) => pid,
            _ => continue,
        };
        users += u64::from(is_user(pid, here)?);
    }
    Ok(users)
}

fn is_user(pid: &str, here: Inode) -> io::Result<bool> {
    match fs::metadata(format!("/proc/{}/ns/net", pid)) {
        Ok(facts) if Inode::of(&facts) != here => Ok(false),
        Ok(_) => Ok(process_stat(pid).map_or(false, |stat| stat.session != sys::session_of_self())),
        // A process that ends answers with one error or the other. One that lives and hides may be in the namespace.
        Err(error) => match process_stat(pid) {
            Some(stat) if !stat.is_gone() && !stat.is_ending => Err(error),
            _ => Ok(false),
        },
    }
}

/// The names, and whether these are certainly all. A list that is read while interfaces come and go may lack one that was
/// there the whole time; several together hardly do.
fn names_here() -> io::Result<(BTreeSet<Vec<u8>>, bool)> {
    let mut seen = BTreeSet::new();
    let mut last = BTreeSet::new();
    for _ in 0..LOOKS_MAX {
        let names = match netns::own_names() {
            Some(names) => names.into_iter().collect(),
            None => names_by_netlink()?,
        };
        if names == last {
            return Ok((names, true));
        }
        seen.extend(names.iter().cloned());
        last = names;
    }
    Ok((seen, false))
}

fn names_by_netlink() -> io::Result<BTreeSet<Vec<u8>>> {
    let mask = SKIP_STATISTICS.to_ne_bytes();
    let request = message(RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, &[0; FIXED_BYTES], &[(IFLA_EXT_MASK, &mask[..])]);
    let mut names = BTreeSet::new();
    Netlink::open()?.dump(&request, &mut |kind, payload| {
        if kind == RTM_NEWLINK {
            names.extend(name_of(payload));
        }
    })?;
    Ok(names)
}

fn name_of(payload: &[u8]) -> Option<Vec<u8>> {
    let (_, name) = attributes(payload.get(FIXED_BYTES..)?).into_iter().find(|(number, _)| *number == IFLA_IFNAME)?;
    Some(name.split(|byte| *byte == 0).next().unwrap_or_default().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_looks_into_its_own_namespace_only() {
        let rules = Rules::Call { container_id: "c1".to_string(), netns: "/run/netns/a".to_string() };
        let order =
            |netns: &str| LinksOrder { step: 1, netns: netns.to_string(), counts_users: false, addresses_of: None };
        assert_eq!(order("/run/netns/a").refusal(&rules), None);
        assert!(order("/run/netns/b").refusal(&rules).is_some());
        assert!(order("").refusal(&rules).is_some());
        assert!(order("a\0").refusal(&Rules::Resident).is_some());
        assert_eq!(order("").refusal(&Rules::Resident), None);
        let without = Rules::Call { container_id: "c1".to_string(), netns: String::new() };
        assert!(order("").refusal(&without).is_some());
    }

    #[test]
    fn names_are_read_from_the_kernels_answer() {
        let answer = message(RTM_NEWLINK, 0, &[0; FIXED_BYTES], &[(1, &[0; 6]), (IFLA_IFNAME, b"eth0\0")]);
        assert_eq!(name_of(&answer[16..]), Some(b"eth0".to_vec()));
        assert_eq!(name_of(&[0; 4]), None);
        assert_eq!(name_of(&[0; FIXED_BYTES]), None);
    }

    #[test]
    fn processes_here_are_counted_without_the_hands_own() {
        let own = sys::session_of_self();
        let here = Inode::of(&fs::metadata("/proc/self/ns/net").unwrap());
        assert!(!is_user(&std::process::id().to_string(), here).unwrap(), "session {}", own);
        // No process has this number.
        assert!(!is_user("4194305", here).unwrap());
        let elsewhere = Inode { device: here.device, number: here.number + 1 };
        assert!(!is_user(&std::process::id().to_string(), elsewhere).unwrap());
    }

    #[test]
    fn the_loopback_is_everywhere() {
        assert!(names_here().unwrap().0.contains(b"lo".as_slice()));
        assert!(names_by_netlink().unwrap().contains(b"lo".as_slice()));
    }

    #[test]
    fn the_addresses_of_one_link_come_when_they_are_asked_for() {
        let order = |addresses_of: Option<&str>| {
            let netns = String::new();
            LinksOrder { step: 1, netns, counts_users: false, addresses_of: addresses_of.map(str::to_string) }
        };
        let names = names_here().unwrap().0;
        let bytes = |of| with_addresses(Fields::new(), &order(of), &names).unwrap().into_bytes();
        assert_eq!(bytes(None), Fields::new().into_bytes());
        assert_eq!(bytes(Some("nosuchlink")), Fields::new().into_bytes());
        let own = bytes(Some("lo"));
        assert!(own.windows(11).any(|part| part == b"127.0.0.1/8"), "{:?}", own);
    }
}
