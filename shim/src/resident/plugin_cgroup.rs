//! A memory cgroup for the plugins of the resident hand, so that one that runs out of memory does not end the hand.
//! If the hand may not make one, it logs that once, and plugins are charged to the hand.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::io::AsRawFd;
use std::path::Path;

use crate::base::clock::ms;
use crate::plugin::leaf::LeafPlace;
use crate::plugin::memory_cgroup::{MemoryCgroup, Version};
use crate::plugin::run::Surroundings;
use crate::sys;

const NAME: &str = "levee-delegates";
/// On v2 a cgroup with children must not hold processes itself, so the hand moves into this one.
const OWN_LEAF: &str = "levee-hand";
/// All processes of the cgroup move with the hand. A probe that kubelet starts meanwhile moves at the next try, unless
/// it has ended.
const MOVES_MAX: u32 = 10;
const MOVE_PAUSE_MS: u64 = 20;

pub struct PluginCgroup {
    cgroup: MemoryCgroup,
    procs: File,
}

impl PluginCgroup {
    pub fn make(own: &MemoryCgroup, limit: Option<u64>) -> Result<PluginCgroup, String> {
        let folder = own.folder.join(NAME);
        let problem = |doing: &str, error: io::Error| {
            format!(
                "Cannot give plugins the cgroup {}: {} failed: {}",
                folder.display(),
                doing,
                sys::error_text(&error)
            )
        };
        // A container with its own cgroup namespace finds another container's folder at this path of the host's mount.
        if !processes_in(&own.folder).map_err(|error| problem("reading its parent", error))?.contains(&own_pid()) {
            return Err(format!(
                "Cannot give plugins the cgroup {}: this process is not in {}; its pod needs hostPID and the host's cgroup namespace",
                folder.display(),
                own.folder.display()
            ));
        }
        // The root cgroup may hold processes; it has no cgroup.type.
        if own.version == Version::V2 && own.folder.join("cgroup.type").exists() {
            split_own(&own.folder).map_err(|error| problem("moving this process", error))?;
        }
        make_folder(&folder).map_err(|error| problem("making it", error))?;
        if let Some(bytes) = limit {
            let file = match own.version {
                Version::V1 => "memory.limit_in_bytes",
                Version::V2 => "memory.max",
            };
            fs::write(folder.join(file), bytes.to_string()).map_err(|error| problem("setting its limit", error))?;
        }
        let procs = OpenOptions::new()
            .write(true)
            .open(folder.join("cgroup.procs"))
            .map_err(|error| problem("opening its list of processes", error))?;
        Ok(PluginCgroup { cgroup: MemoryCgroup { folder, ..own.clone() }, procs })
    }

    pub fn surroundings(&self) -> Surroundings {
        let leaves = match self.cgroup.version {
            // A leaf below it is charged to it, so nothing is left to move.
            Version::V2 => LeafPlace::below(&self.cgroup.folder),
            Version::V1 => LeafPlace::of_self(),
        };
        Surroundings { cgroup: Some(self.cgroup.clone()), leaves, cgroup_procs: Some(self.procs.as_raw_fd()) }
    }

    /// The kernel removes only an empty cgroup. If plugins still run in it, the next hand takes it over.
    pub fn remove(self) {
        let _still_in_use = fs::remove_dir(&self.cgroup.folder);
    }
}

fn split_own(own: &Path) -> io::Result<()> {
    let leaf = own.join(OWN_LEAF);
    make_folder(&leaf)?;
    let mut moves = 0;
    loop {
        for pid in processes_in(own)? {
            match fs::write(leaf.join("cgroup.procs"), &pid) {
                Err(error) if error.raw_os_error() == Some(sys::ESRCH) => {}
                other => other?,
            }
        }
        moves += 1;
        match fs::write(own.join("cgroup.subtree_control"), "+memory") {
            Err(error) if error.raw_os_error() == Some(sys::EBUSY) && moves < MOVES_MAX => {
                std::thread::sleep(ms(MOVE_PAUSE_MS));
            }
            other => return other,
        }
    }
}

fn processes_in(folder: &Path) -> io::Result<Vec<String>> {
    Ok(fs::read_to_string(folder.join("cgroup.procs"))?.lines().map(str::to_string).collect())
}

fn own_pid() -> String {
    std::process::id().to_string()
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

    /// Ordinary files in place of the kernel's; the code writes the same to both.
    struct FakeCgroup(MemoryCgroup);

    impl FakeCgroup {
        fn new(name: &str, version: Version, processes: &str) -> FakeCgroup {
            let folder = std::env::temp_dir().join(format!("levee-cgroup-{}-{}", std::process::id(), name));
            fs::create_dir_all(folder.join(NAME)).unwrap();
            fs::write(folder.join(NAME).join("cgroup.procs"), "").unwrap();
            fs::write(folder.join("cgroup.procs"), processes).unwrap();
            if version == Version::V2 {
                fs::write(folder.join("cgroup.type"), "domain\n").unwrap();
            }
            FakeCgroup(MemoryCgroup { version, root: folder.clone(), folder })
        }

        fn read(&self, path: &str) -> Option<String> {
            fs::read_to_string(self.0.folder.join(path)).ok()
        }
    }

    impl Drop for FakeCgroup {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0.folder).unwrap();
        }
    }

    fn with_us() -> String {
        format!("1\n{}\n", own_pid())
    }

    #[test]
    fn on_v2_the_hand_moves_first() {
        let own = FakeCgroup::new("v2", Version::V2, &with_us());
        let made = PluginCgroup::make(&own.0, Some(1_000_000)).unwrap();
        assert_eq!(own.read("levee-hand/cgroup.procs"), Some(own_pid()));
        assert_eq!(own.read("cgroup.subtree_control").as_deref(), Some("+memory"));
        assert_eq!(own.read("levee-delegates/memory.max").as_deref(), Some("1000000"));
        assert_eq!(made.surroundings().cgroup.unwrap().folder, own.0.folder.join(NAME));
    }

    #[test]
    fn on_v1_and_in_the_root_of_v2_the_hand_stays() {
        for (name, version, file) in [("v1", Version::V1, "memory.limit_in_bytes"), ("root", Version::V2, "memory.max")]
        {
            let own = FakeCgroup::new(name, version, &with_us());
            let _only_below_the_root = fs::remove_file(own.0.folder.join("cgroup.type"));
            PluginCgroup::make(&own.0, Some(7)).unwrap();
            assert_eq!(own.read(&format!("{}/{}", NAME, file)).as_deref(), Some("7"));
            assert_eq!((own.read("levee-hand/cgroup.procs"), own.read("cgroup.subtree_control")), (None, None));
        }
    }

    #[test]
    fn the_cgroup_of_another_container_is_left_alone() {
        for version in [Version::V1, Version::V2] {
            let own = FakeCgroup::new("other", version, "0\n1\n");
            let problem = PluginCgroup::make(&own.0, Some(7)).err().unwrap();
            assert!(problem.contains("this process is not in"), "{}", problem);
            assert_eq!((own.read("levee-hand/cgroup.procs"), own.read("cgroup.subtree_control")), (None, None));
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let nowhere = Path::new("/proc/nowhere").to_path_buf();
        let cgroup = MemoryCgroup { version: Version::V1, root: nowhere.clone(), folder: nowhere };
        let problem = PluginCgroup::make(&cgroup, None).err().unwrap();
        assert!(problem.contains("/proc/nowhere/levee-delegates"), "{}", problem);
    }
}
