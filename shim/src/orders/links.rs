//! LINKS: the names of the interfaces inside a network namespace, and how many processes use them.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use crate::base::identity::{process_stat, Inode, NetnsIdentity};
use crate::net::netlink::{attributes, message, Netlink, NLM_F_DUMP, NLM_F_REQUEST, RTM_GETLINK, RTM_NEWLINK};
use crate::net::netns;
use crate::orders::forked_job::{About, ForkedJob, Found};
use crate::orders::rules::Rules;
use crate::sys;
use crate::wire::frame::{Fields, Frame};
use crate::wire::tag;

/// An outcome with its step and its flag stays below the 4,096 fields of a frame. No node has that many interfaces.
const LINKS_MAX: usize = 4_000;
/// When interfaces come or go during the listing, the kernel marks the list and the hand asks again. On a busy host that
/// may be so each time.
const TRIES_MAX: u32 = 5;
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
}

impl LinksOrder {
    pub fn read(frame: &Frame) -> Result<LinksOrder, String> {
        Ok(LinksOrder {
            step: frame.step()?,
            netns: frame.required_text(tag::NETNS)?,
            counts_users: frame.flag(tag::COUNT_USERS)?,
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
    if !order.counts_users {
        return Ok(fields);
    }
    let users = users_here().map_err(|error| {
        (sys::errno_of(&error), format!("Cannot count the processes in {}: {}", order.netns, sys::error_text(&error)))
    })?;
    Ok(fields.number(tag::USERS, users))
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

/// The names, and whether these are certainly all. One list may lack an interface that was there the whole time; five
/// together hardly do.
fn names_here() -> io::Result<(BTreeSet<Vec<u8>>, bool)> {
    let netlink = Netlink::open()?;
    let mask = SKIP_STATISTICS.to_ne_bytes();
    let request = message(RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, &[0; FIXED_BYTES], &[(IFLA_EXT_MASK, &mask[..])]);
    let mut seen = BTreeSet::new();
    for _ in 0..TRIES_MAX {
        let mut names = BTreeSet::new();
        let is_whole = netlink.dump(&request, &mut |kind, payload| {
            if kind == RTM_NEWLINK {
                names.extend(name_of(payload));
            }
        })?;
        if is_whole {
            return Ok((names, true));
        }
        seen.append(&mut names);
    }
    Ok((seen, false))
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
        let order = |netns: &str| LinksOrder { step: 1, netns: netns.to_string(), counts_users: false };
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
    }
}
