//! The two network namespaces of a call. A netlink socket stays in the namespace in which it was opened; sysctls belong to
//! the namespace in which the process is.

use std::fs::File;
use std::io;
use std::os::unix::io::AsRawFd;
use std::path::Path;

use crate::builtin::go::words::{errno_words, path_error};
use crate::net::netlink::Netlink;
use crate::net::netns::{NSFS, PROC};
use crate::sys;

/// One namespace, with a socket in it.
pub struct Namespace {
    file: File,
    path: String,
    pub netlink: Netlink,
}

/// Why a namespace cannot be used, in the upstream plugins' words.
pub enum NoNamespace {
    /// Its path leads nowhere.
    Gone(String),
    Other(String),
}

impl NoNamespace {
    pub fn message(self) -> String {
        match self {
            NoNamespace::Gone(message) | NoNamespace::Other(message) => message,
        }
    }
}

impl Namespace {
    /// The namespace in which this process is.
    pub fn own() -> Result<Namespace, String> {
        let path = "/proc/thread-self/ns/net";
        let file = File::open(path).map_err(|error| path_error("open", path, &error))?;
        let netlink = Netlink::open().map_err(|error| errno_words(&error))?;
        Ok(Namespace { file, path: path.to_string(), netlink })
    }

    /// The namespace at a path. The process is in it afterwards.
    pub fn open(path: &str) -> Result<Namespace, NoNamespace> {
        let kind = sys::file_system_of(Path::new(path)).map_err(|error| {
            let message = format!("failed to Statfs \"{}\": {}", path, errno_words(&error));
            match error.raw_os_error() {
                Some(sys::ENOENT) => NoNamespace::Gone(message),
                _ => NoNamespace::Other(message),
            }
        })?;
        if kind != NSFS && kind != PROC {
            return Err(NoNamespace::Other(format!("unknown FS magic on \"{}\": {:x}", path, kind)));
        }
        let file = File::open(path).map_err(|error| NoNamespace::Other(path_error("open", path, &error)))?;
        enter(&file, path).map_err(NoNamespace::Other)?;
        let netlink = Netlink::open().map_err(|error| NoNamespace::Other(errno_words(&error)))?;
        Ok(Namespace { file, path: path.to_string(), netlink })
    }

    pub fn enter(&self) -> Result<(), String> {
        enter(&self.file, &self.path)
    }

    pub fn descriptor(&self) -> u32 {
        self.file.as_raw_fd() as u32
    }
}

fn enter(file: &File, path: &str) -> Result<(), String> {
    sys::enter_netns(file.as_raw_fd()).map_err(|error: io::Error| {
        format!("error switching to ns {}: Error switching to ns {}: {}", path, path, errno_words(&error))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_refused_in_gos_words() {
        let why = |path: &str| Namespace::open(path).err().map(NoNamespace::message).unwrap_or_default();
        assert_eq!(why("/no/such"), "failed to Statfs \"/no/such\": no such file or directory");
        assert!(matches!(Namespace::open("/no/such"), Err(NoNamespace::Gone(_))));
        assert!(why("/dev/null").starts_with("unknown FS magic on \"/dev/null\": "), "{}", why("/dev/null"));
        assert!(why("/proc/self/ns/pid").ends_with("/ns/pid: invalid argument"), "{}", why("/proc/self/ns/pid"));
    }
}
