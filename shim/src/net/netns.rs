//! Network namespaces: which one a path leads to, and entering it. A process that enters one to change something does not
//! leave it again.

use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::io::AsRawFd;
use std::path::Path;

use crate::base::identity::{Birth, Inode, NetnsIdentity};
use crate::sys;

/// The file systems of namespaces; the second one before Linux 3.19.
pub const NSFS: i64 = 0x6e73_6673;
pub const PROC: i64 = 0x9fa0;
/// Far above the few interfaces of a namespace before its ADD. A call with more names none.
const LINKS_MAX: usize = 1_000;

/// Why a path cannot be used as a network namespace.
#[derive(Debug)]
pub enum NoNetns {
    /// It does not exist or cannot be opened.
    Closed(io::Error),
    /// It is something else, in words.
    Other(&'static str),
}

/// A namespace that was looked into. As long as it is open, the kernel gives its inode number to no other.
pub struct OpenNetns {
    pub identity: NetnsIdentity,
    /// None when nobody asked, or when there are too many to tell.
    pub links: Option<Vec<Vec<u8>>>,
    _open: File,
}

/// Opens a namespace and nothing else: opening a FIFO would wait for its writer, and a device may do anything.
fn open(path: &str) -> Result<File, NoNetns> {
    let kind = sys::file_system_of(Path::new(path)).map_err(NoNetns::Closed)?;
    if kind != NSFS && kind != PROC {
        return Err(NoNetns::Other(kind_of(fs::metadata(path).map_err(NoNetns::Closed)?.file_type())));
    }
    // The path may lead elsewhere by now, so this too must not wait.
    OpenOptions::new().read(true).custom_flags(sys::O_NONBLOCK).open(path).map_err(NoNetns::Closed)
}

fn kind_of(kind: FileType) -> &'static str {
    match kind {
        _ if kind.is_dir() => "a folder",
        _ if kind.is_fifo() => "a FIFO",
        _ if kind.is_socket() => "a socket",
        _ if kind.is_file() => "a plain file",
        _ => "a device",
    }
}

/// Looks into the namespace at a path and comes back.
pub fn look(path: &str, with_links: bool) -> Result<OpenNetns, NoNetns> {
    let file = open(path)?;
    let facts = file.metadata().map_err(NoNetns::Closed)?;
    let (cookie, links) = match visit(&file, || (own_cookie(), if with_links { own_links() } else { None })) {
        Ok(seen) => seen,
        Err(error) if error.raw_os_error() == Some(sys::EINVAL) => {
            return Err(NoNetns::Other("not a network namespace"));
        }
        // Without the right to enter it, its numbers still say which one it is.
        Err(_) => (None, None),
    };
    let identity = NetnsIdentity {
        inode: Inode::of(&facts),
        birth: cookie.map(Birth::Cookie).or_else(|| ctime_of(path, &facts).map(Birth::Ctime)),
    };
    Ok(OpenNetns { identity, links, _open: file })
}

/// Does something inside of the namespace at a path. None if it cannot be entered.
pub fn visit_path<T>(path: &str, work: impl FnOnce() -> T) -> Option<T> {
    visit(&open(path).ok()?, work).ok()
}

/// Does something inside of a namespace. A thread of its own would be simpler, but on a busy node a call would wait for
/// its turn on a CPU twice more.
fn visit<T>(namespace: &File, work: impl FnOnce() -> T) -> io::Result<T> {
    let home = File::open("/proc/thread-self/ns/net")?;
    // Entering where it is already changes nothing, and shows that it may come back.
    sys::enter_netns(home.as_raw_fd())?;
    sys::enter_netns(namespace.as_raw_fd())?;
    let done = work();
    if let Err(error) = sys::enter_netns(home.as_raw_fd()) {
        // Plugins would work in the wrong namespace.
        panic!("Cannot come back to the own network namespace: {}", sys::error_text(&error));
    }
    Ok(done)
}

/// The cookie of this thread's namespace. Kernels before 5.14 do not tell it.
fn own_cookie() -> Option<u64> {
    let socket = sys::new_socket(sys::AF_UNIX, sys::SOCK_STREAM | sys::SOCK_CLOEXEC, 0).ok()?;
    sys::netns_cookie(socket.as_raw_fd()).ok()
}

/// A mount keeps the inode, and so its times. Behind a link, as in /proc/PID/ns, each look may make a new inode.
fn ctime_of(path: &str, facts: &fs::Metadata) -> Option<u64> {
    let is_mount = !fs::symlink_metadata(path).ok()?.file_type().is_symlink();
    let nanoseconds = facts.ctime().checked_mul(1_000_000_000)?.checked_add(facts.ctime_nsec())?;
    is_mount.then_some(u64::try_from(nanoseconds).ok()?)
}

fn own_links() -> Option<Vec<Vec<u8>>> {
    own_names().filter(|names| names.len() <= LINKS_MAX)
}

/// The interfaces of this thread's namespace. Unlike rtnetlink, this file does not wait for the kernel's lock on links,
/// which every plugin of the node takes. None if /proc belongs to another PID namespace.
pub fn own_names() -> Option<Vec<Vec<u8>>> {
    Some(names_in(&fs::read("/proc/thread-self/net/dev").ok()?))
}

/// Two lines of headings, then a line for each interface: its name, a colon, counters.
fn names_in(table: &[u8]) -> Vec<Vec<u8>> {
    let name_of = |line: &[u8]| -> Option<Vec<u8>> {
        let end = line.iter().position(|byte| *byte == b':')?;
        Some(line[..end].iter().copied().skip_while(|byte| *byte == b' ').collect())
    };
    table.split(|byte| *byte == b'\n').skip(2).filter_map(name_of).collect()
}

/// `expected` is the namespace at the path when the call began. Another one at the same path is not entered.
pub fn enter(path: &str, expected: Option<NetnsIdentity>) -> Result<(), (i32, String)> {
    let problem = |doing: &str, error: &io::Error| {
        (sys::errno_of(error), format!("Cannot {} the network namespace {}: {}", doing, path, sys::error_text(error)))
    };
    let namespace = open(path).map_err(|why| match why {
        NoNetns::Closed(error) => problem("open", &error),
        NoNetns::Other(kind) => (sys::EINVAL, format!("Cannot work in {}: it is {}", path, kind)),
    })?;
    let facts = namespace.metadata().map_err(|error| problem("look at", &error))?;
    let other = || {
        let message = format!("Cannot work in {}: it is another network namespace than when the call began", path);
        (sys::ENOENT, message)
    };
    if expected.map_or(false, |expected| expected.inode != Inode::of(&facts)) {
        return Err(other());
    }
    sys::enter_netns(namespace.as_raw_fd()).map_err(|error| problem("enter", &error))?;
    match expected.and_then(|expected| expected.birth) {
        Some(Birth::Cookie(cookie)) if own_cookie() != Some(cookie) => Err(other()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_the_kernels_table() {
        let table = b"Inter-|   Receive\n face |bytes\n    lo: 1 2\nabcdefghijklmno:99 0\n";
        assert_eq!(names_in(table), vec![b"lo".to_vec(), b"abcdefghijklmno".to_vec()]);
        assert!(names_in(b"").is_empty());
    }

    #[test]
    fn other_kinds_of_files_are_not_opened() {
        let kind = |path: &str| match look(path, false) {
            Err(NoNetns::Other(kind)) => kind,
            _ => "",
        };
        assert_eq!(kind("/"), "a folder");
        assert_eq!(kind("/dev/null"), "a device");
        assert_eq!(kind("/proc/self/ns/pid"), "not a network namespace");
        assert!(matches!(look("/no/such", false), Err(NoNetns::Closed(_))));
    }

    #[test]
    fn a_look_is_the_same_each_time_and_comes_back() {
        let other = std::thread::spawn(|| {
            // Only root may make one.
            sys::leave_netns().ok().map(|()| {
                let own = "/proc/thread-self/ns/net";
                (look(own, true).unwrap(), look(own, false).unwrap(), look("/proc/self/ns/net", false).unwrap())
            })
        });
        if let Some((first, second, main)) = other.join().unwrap() {
            assert_eq!(first.identity, second.identity);
            assert!(first.links.unwrap().contains(&b"lo".to_vec()) && second.links.is_none());
            assert_ne!(main.identity, second.identity);
            assert!(!matches!(second.identity.birth, Some(Birth::Ctime(_))));
            let here = || Inode::of(&fs::metadata("/proc/thread-self/ns/net").unwrap());
            let before = here();
            visit(&second._open, || assert_eq!(here(), second.identity.inode)).unwrap();
            assert_eq!(here(), before);
        }
    }

    #[test]
    fn the_time_of_an_inode_counts_only_where_a_mount_keeps_it() {
        let facts = fs::metadata("/proc/self/ns/net").unwrap();
        assert_eq!(ctime_of("/proc/self/ns/net", &facts), None);
        let mounted = fs::metadata("/").unwrap();
        let expected = mounted.ctime() as u64 * 1_000_000_000 + mounted.ctime_nsec() as u64;
        assert_eq!(ctime_of("/", &mounted), Some(expected));
    }
}
