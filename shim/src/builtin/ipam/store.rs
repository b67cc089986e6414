//! The files of host-local: in the network's folder one file for each address that is taken, with the container and the
//! interface in it; the address that each range gave last; and a lock.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::io::AsRawFd;
use std::path::{Path, PathBuf};

use crate::builtin::go::address::parse_ip;
use crate::builtin::go::words::{errno_words, path_error};
use crate::builtin::{Edition, PluginCall};
use crate::sys;

const LAST_PREFIX: &str = "last_reserved_ip.";
/// A file that gets its address by a second name, so that no file is ever without its owner. If this process is killed in
/// between, the file has an owner too, and a DEL by the program or here removes it.
const NEW_LEASE: &str = ".levee-lease";
/// A container ID of 64 letters and an interface, with room. Larger files are no leases of today.
const LEASE_BYTES_MAX: usize = 1_024;

pub struct Store {
    folder: PathBuf,
    edition: Edition,
    lock: File,
}

/// What could not be done with a file: `open` or `write`, as the program names it.
type FailedStep = (&'static str, io::Error);

/// The store while no other process changes it.
pub struct Locked(Store);

impl Store {
    pub fn open(folder: &str, edition: Edition) -> Result<Store, String> {
        make_folders(Path::new(folder))?;
        let mut options = OpenOptions::new();
        // Upstream opens it for reading only, which std takes for a mistake.
        options.read(true).custom_flags(sys::O_CREAT).mode(0o750);
        let lock = options.open(format!("{}/lock", folder)).map_err(|error| errno_words(&error))?;
        Ok(Store { folder: PathBuf::from(folder), edition, lock })
    }

    /// Waits as long as another process has the lock. The kernel takes it away from a process that ends.
    pub fn lock(self) -> Locked {
        while let Err(error) = sys::lock_file(self.lock.as_raw_fd()) {
            if error.raw_os_error() != Some(sys::EINTR) {
                // Upstream goes on without it too.
                break;
            }
        }
        Locked(self)
    }
}

impl Locked {
    /// False if the address is taken.
    pub fn reserve(&self, call: &PluginCall, ip: &IpAddr, set: usize) -> Result<bool, String> {
        let lease = self.path(&ip.to_string());
        // A full range is seen without a write.
        if fs::symlink_metadata(&lease).is_ok() {
            return Ok(false);
        }
        let owner = key_of(call);
        match self.link_lease(&lease, owner.as_bytes()) {
            Ok(()) => {}
            Err((_, error)) if error.raw_os_error() == Some(sys::EEXIST) => return Ok(false),
            Err((step, error)) => return Err(path_error(step, &lease.to_string_lossy(), &error)),
        }
        let last = self.path(&format!("{}{}", LAST_PREFIX, set));
        let written = self.write_over(&last, ip.to_string().as_bytes());
        written.map(|()| true).map_err(|(step, error)| path_error(step, &last.to_string_lossy(), &error))
    }

    /// Without emptying the file first, as the program does: ext4 writes such a file to the disk when it is closed, and
    /// the next ADD to empty it waits for that, with the lock. If this process is killed before the rest of a longer
    /// address is cut off, the file names no address or another one. It only says where to look for a free one first.
    fn write_over(&self, path: &Path, bytes: &[u8]) -> Result<(), FailedStep> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(self.file_mode());
        let mut file = options.open(path).map_err(|error| ("open", error))?;
        let length = bytes.len() as u64;
        let written = file.write_all(bytes).and_then(|()| match file.metadata()?.len() > length {
            true => file.set_len(length),
            false => Ok(()),
        });
        written.map_err(|error| ("write", error))
    }

    fn link_lease(&self, lease: &Path, owner: &[u8]) -> Result<(), FailedStep> {
        let new = self.path(NEW_LEASE);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(self.file_mode());
        let opened = options.open(&new).or_else(|error| match error.raw_os_error() {
            // Left by a killed process. It may be a lease as well, so it is not written to.
            Some(sys::EEXIST) => fs::remove_file(&new).and_then(|()| options.open(&new)),
            _ => Err(error),
        });
        let write = |mut file: File| file.write_all(owner).map_err(|error| ("write", error));
        let written = opened.map_err(|error| ("open", error)).and_then(write);
        let linked = written.and_then(|()| fs::hard_link(&new, lease).map_err(|error| ("open", error)));
        let _gone_in_either_case = fs::remove_file(&new);
        match linked {
            // Some file systems have one name for a file only. There it is as with the program.
            Err((_, error)) if matches!(error.raw_os_error(), Some(sys::EPERM | sys::EOPNOTSUPP)) => {
                options.open(lease).map_err(|error| ("open", error)).and_then(write)
            }
            linked => linked,
        }
    }

    fn file_mode(&self) -> u32 {
        if self.0.edition.is_new() {
            0o600
        } else {
            0o644
        }
    }

    /// The address that a set of ranges gave last. A file that is no address counts as none.
    pub fn last_given(&self, set: usize) -> Option<IpAddr> {
        parse_ip(&fs::read_to_string(self.path(&format!("{}{}", LAST_PREFIX, set))).ok()?)
    }

    /// The addresses that the call's interface has already, in the order of the files' names.
    pub fn taken_by(&self, call: &PluginCall) -> Vec<IpAddr> {
        let (key, old_key) = (key_of(call), call.container_id.trim());
        let paths = self.leases(|owner| owner == key || owner == old_key);
        paths.iter().filter_map(|path| parse_ip(path.file_name()?.to_str()?)).collect()
    }

    pub fn has(&self, call: &PluginCall) -> bool {
        !self.leases(|owner| owner == key_of(call)).is_empty()
            || !self.leases(|owner| owner == call.container_id.trim()).is_empty()
    }

    /// Removes the call's files, or those of old versions, which know the container only.
    pub fn release(&self, call: &PluginCall) {
        let remove = |paths: Vec<PathBuf>| paths.iter().filter(|path| fs::remove_file(path).is_ok()).count();
        if remove(self.leases(|owner| owner == key_of(call))) == 0 {
            remove(self.leases(|owner| owner == call.container_id.trim()));
        }
    }

    /// All files below the folder with such an owner.
    fn leases(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.0.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    _ if owner_in(&entry.path()).map_or(false, |owner| is_wanted(owner.trim())) => {
                        found.push(entry.path())
                    }
                    _ => {}
                }
            }
        }
        found.sort();
        found
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.folder.join(name)
    }
}

/// Whether a DEL finds the call's lease again.
pub fn is_lease_of_call_found(call: &PluginCall) -> bool {
    key_of(call).len() < LEASE_BYTES_MAX
}

/// The container's ID and the interface, on two lines as Windows has them.
fn key_of(call: &PluginCall) -> String {
    format!("{}\r\n{}", call.container_id.trim(), call.ifname)
}

/// None if the file cannot be read, is no text, or is larger than any lease.
fn owner_in(path: &Path) -> Option<String> {
    let mut bytes = [0; LEASE_BYTES_MAX];
    // Opening a FIFO would wait for its writer.
    let mut file = OpenOptions::new().read(true).custom_flags(sys::O_NONBLOCK).open(path).ok()?;
    let length = file.read(&mut bytes).ok().filter(|length| *length < LEASE_BYTES_MAX)?;
    std::str::from_utf8(&bytes[..length]).ok().map(String::from)
}

fn make_folders(folder: &Path) -> Result<(), String> {
    if folder.is_dir() {
        return Ok(());
    }
    let fail = |error: &io::Error| Err(path_error("mkdir", &folder.to_string_lossy(), error));
    if folder.exists() {
        return fail(&io::Error::from_raw_os_error(sys::ENOTDIR));
    }
    if let Some(parent) = folder.parent() {
        make_folders(parent)?;
    }
    match DirBuilder::new().mode(0o755).create(folder) {
        // Another process may have made it. A link that leads nowhere is no folder.
        Err(error) if !fs::symlink_metadata(folder).map_or(false, |found| found.is_dir()) => fail(&error),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "store_test.rs"]
mod tests;
