//! A memory cgroup of their own for the resident hand's delegates, so that one of them cannot take the hand with it.
//! Best effort: where the hand may not make one, delegates are charged to the hand, and that is said once.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::io::AsRawFd;
use std::path::Path;

use crate::memory::{MemoryCgroup, Version};
use crate::run::Surroundings;
use crate::sys;

const NAME: &str = "levee-delegates";
/// On v2 a cgroup that has children may hold no processes itself, so the hand moves aside.
const OWN_LEAF: &str = "levee-hand";

pub struct DelegateCgroup {
    cgroup: MemoryCgroup,
    procs: File,
}

impl DelegateCgroup {
    pub fn make(own: &MemoryCgroup, limit: Option<u64>) -> Result<DelegateCgroup, String> {
        let folder = own.folder.join(NAME);
        let told = |doing: &str, error: io::Error| {
            format!(
                "Cannot give delegates the cgroup {}: {} failed: {}",
                folder.display(),
                doing,
                sys::error_text(&error)
            )
        };
        if own.version == Version::V2 {
            split_own(&own.folder).map_err(|error| told("moving aside", error))?;
        }
        make_folder(&folder).map_err(|error| told("making it", error))?;
        if let Some(bytes) = limit {
            let file = match own.version {
                Version::V1 => "memory.limit_in_bytes",
                Version::V2 => "memory.max",
            };
            fs::write(folder.join(file), bytes.to_string()).map_err(|error| told("setting its limit", error))?;
        }
        let procs = OpenOptions::new()
            .write(true)
            .open(folder.join("cgroup.procs"))
            .map_err(|error| told("opening its list of processes", error))?;
        Ok(DelegateCgroup { cgroup: MemoryCgroup { folder, ..own.clone() }, procs })
    }

    pub fn surroundings(&self) -> Surroundings {
        Surroundings { cgroup: Some(self.cgroup.clone()), cgroup_procs: Some(self.procs.as_raw_fd()) }
    }

    /// It goes only when it is empty; the next hand takes over one that is left.
    pub fn remove(self) {
        let _still_in_use = fs::remove_dir(&self.cgroup.folder);
    }
}

fn split_own(own: &Path) -> io::Result<()> {
    let leaf = own.join(OWN_LEAF);
    make_folder(&leaf)?;
    fs::write(leaf.join("cgroup.procs"), "0")?;
    fs::write(own.join("cgroup.subtree_control"), "+memory")
}

fn make_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.raw_os_error() == Some(sys::EEXIST) => Ok(()),
        other => other,
    }
}
