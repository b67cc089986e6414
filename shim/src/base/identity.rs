//! Identities of processes and namespaces. A process ID or a path alone can later belong to another one.

use std::fs;
use std::os::unix::fs::MetadataExt;

/// Device and inode of a file. A living namespace shares them with no other, but a later one may get them.
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

/// What tells a network namespace from a later one with the same inode number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Birth {
    /// The kernel never gives it to another namespace of the same boot.
    Cookie(u64),
    /// The last change of the inode, in nanoseconds since 1970.
    Ctime(u64),
}

/// A network namespace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetnsIdentity {
    pub inode: Inode,
    /// None when neither can be found out.
    pub birth: Option<Birth>,
}

/// The kernel's flag of a process that ends.
const PF_EXITING: u32 = 0x4;

/// The fields of `/proc/PID/stat` that the shim uses.
#[derive(Debug, PartialEq)]
pub struct ProcessStat {
    pub state: char,
    /// It ends, and has left its namespaces or will do so at once.
    pub is_ending: bool,
    pub group: i32,
    pub session: i32,
    /// User and system time, including that of children it has waited for.
    pub cpu_ticks: u64,
    pub start: u64,
}

impl ProcessStat {
    /// A zombie counts as gone: it holds no resources and only waits for its parent.
    pub fn is_gone(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }
}

pub fn process_stat(pid: &str) -> Option<ProcessStat> {
    // A process can put any bytes into its name, and bytes that are not UTF-8 must not hide it.
    let bytes = fs::read(format!("/proc/{}/stat", pid)).ok()?;
    parse_stat(&String::from_utf8_lossy(&bytes))
}

/// The name in parentheses can itself contain parentheses and spaces, so fields are counted from the last parenthesis.
fn parse_stat(text: &str) -> Option<ProcessStat> {
    let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_ascii_whitespace().collect();
    Some(ProcessStat {
        state: fields.first()?.chars().next()?,
        is_ending: fields.get(6)?.parse::<u32>().ok()? & PF_EXITING != 0,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        cpu_ticks: fields.get(11..15)?.iter().filter_map(|ticks| ticks.parse::<u64>().ok()).sum(),
        start: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_process_name_does_not_shift_fields() {
        let text = "42 (a) S 1) R 1 40 39 0 -1 4194304 1 0 0 0 5 6 7 8 20 0 1 0 777 1 1";
        let stat = ProcessStat { state: 'R', is_ending: false, group: 40, session: 39, cpu_ticks: 26, start: 777 };
        assert_eq!(parse_stat(text), Some(stat));
        assert!(parse_stat(&text.replace("4194304", "4194308")).unwrap().is_ending);
        assert_eq!(parse_stat("42 (x) R 1"), None);
        assert_eq!(parse_stat(""), None);
    }

    #[test]
    fn own_process_is_found() {
        let own = process_stat("self").unwrap();
        assert!(own.start > 0 && !own.is_gone() && !own.is_ending);
    }
}
