//! What names a process or a namespace for good, where a number or a path alone may be given to another one later.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::frame::{Fields, PROTOCOL_VERSION, PROTOCOL_VERSION_MIN};
use crate::tag;

pub const SOFTWARE: &str = concat!("levee-shim ", env!("CARGO_PKG_VERSION"));

/// Device and inode of a file, which for a namespace are the namespace itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inode {
    pub device: u64,
    pub number: u64,
}

impl Inode {
    pub fn of(facts: &fs::Metadata) -> Inode {
        Inode { device: facts.dev(), number: facts.ino() }
    }
}

/// None when it cannot be opened.
pub fn stat_opened(path: &str) -> Option<Inode> {
    if path.is_empty() {
        return None;
    }
    let facts = fs::File::open(path).ok()?.metadata().ok()?;
    Some(Inode::of(&facts))
}

/// What `/proc/PID/stat` says that we need.
#[derive(Debug, PartialEq)]
pub struct ProcessStat {
    pub state: char,
    pub group: i32,
    pub session: i32,
    /// User and system time, that of children it has waited for included.
    pub cpu_ticks: u64,
    pub start: u64,
}

impl ProcessStat {
    /// A zombie holds nothing any more: it only waits for its parent.
    pub fn is_gone(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }
}

pub fn process_stat(pid: &str) -> Option<ProcessStat> {
    // A process may put any bytes into its name: those that are no UTF-8 must not hide it.
    let bytes = fs::read(format!("/proc/{}/stat", pid)).ok()?;
    parse_stat(&String::from_utf8_lossy(&bytes))
}

/// The name in parentheses may hold anything, parentheses and spaces too: fields are counted from the last one.
fn parse_stat(text: &str) -> Option<ProcessStat> {
    let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_ascii_whitespace().collect();
    Some(ProcessStat {
        state: fields.first()?.chars().next()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        cpu_ticks: fields.get(11..15)?.iter().filter_map(|ticks| ticks.parse::<u64>().ok()).sum(),
        start: fields.get(19)?.parse().ok()?,
    })
}

/// The fields that open every conversation: who speaks, in which versions.
pub fn introduction() -> Fields {
    let start = process_stat("self").map_or(0, |stat| stat.start);
    let namespace = fs::metadata("/proc/self/ns/pid").map_or(0, |facts| facts.ino());
    Fields::new()
        .number(tag::VERSION_MIN, PROTOCOL_VERSION_MIN)
        .number(tag::VERSION_MAX, PROTOCOL_VERSION)
        .text(tag::SOFTWARE, SOFTWARE)
        .number(tag::PID, std::process::id().into())
        .number(tag::PID_START, start)
        .number(tag::PID_NAMESPACE, namespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_process_name_does_not_shift_fields() {
        let text = "42 (a) S 1) R 1 40 39 0 -1 4194304 1 0 0 0 5 6 7 8 20 0 1 0 777 1 1";
        let stat = ProcessStat { state: 'R', group: 40, session: 39, cpu_ticks: 26, start: 777 };
        assert_eq!(parse_stat(text), Some(stat));
        assert_eq!(parse_stat("42 (x) R 1"), None);
        assert_eq!(parse_stat(""), None);
    }

    #[test]
    fn own_process_is_found() {
        let own = process_stat("self").unwrap();
        assert!(own.start > 0 && !own.is_gone());
    }
}
