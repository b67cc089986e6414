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

#[cfg(test)]
mod tests {
    use super::*;

    /// Ordinary files in the place of cgroup v2's: what is written where is the same.
    #[test]
    fn on_v2_the_hand_moves_aside_first() {
        let own = std::env::temp_dir().join(format!("levee-cgroup-{}", std::process::id()));
        fs::create_dir_all(own.join(NAME)).unwrap();
        fs::write(own.join(NAME).join("cgroup.procs"), "").unwrap();
        let cgroup = MemoryCgroup { version: Version::V2, root: own.clone(), folder: own.clone() };
        let made = DelegateCgroup::make(&cgroup, Some(1_000_000)).unwrap();
        let read = |path: &str| fs::read_to_string(own.join(path)).unwrap();
        assert_eq!(read("levee-hand/cgroup.procs"), "0");
        assert_eq!(read("cgroup.subtree_control"), "+memory");
        assert_eq!(read("levee-delegates/memory.max"), "1000000");
        assert_eq!(made.surroundings().cgroup.unwrap().folder, own.join(NAME));
        fs::remove_dir_all(&own).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let nowhere = Path::new("/proc/nowhere").to_path_buf();
        let cgroup = MemoryCgroup { version: Version::V1, root: nowhere.clone(), folder: nowhere };
        let problem = DelegateCgroup::make(&cgroup, None).err().unwrap();
        assert!(problem.contains("/proc/nowhere/levee-delegates") && problem.contains("making it"), "{}", problem);
    }
}
