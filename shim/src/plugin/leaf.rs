//! A cgroup of v2 for each run, so that a run can be ended as a whole: a child that leaves the plugin's process group,
//! or starts a session of its own, is still in it. No controller is enabled there, so memory stays charged where it was.
//! Where such a cgroup cannot be made, the kill of the process group and REAP's search by session remain.

use std::fs::{self, File};
use std::os::unix::io::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::identity::process_stat;

const MOUNT: &str = "/sys/fs/cgroup";
const PREFIX: &str = "levee-run-";
/// The runtime's cgroup and those of pods are within so many levels.
const DEPTH_MAX: u32 = 8;

static MADE: AtomicU64 = AtomicU64::new(0);

/// Where the leaves of this hand are made.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafPlace {
    parent: PathBuf,
    prefix: String,
}

pub struct Leaf {
    folder: PathBuf,
    open: File,
}

impl LeafPlace {
    pub fn of_self() -> Option<LeafPlace> {
        let text = fs::read_to_string("/proc/self/cgroup").ok()?;
        LeafPlace::below(&own_folder(&text, &root()?)?)
    }

    pub fn below(parent: &Path) -> Option<LeafPlace> {
        let start = process_stat("self")?.start;
        parent
            .is_dir()
            .then(|| LeafPlace { parent: parent.to_path_buf(), prefix: prefix(std::process::id() as i32, start) })
    }

    /// None where the kernel has no `cgroup.kill` (before 5.14), or the folder may not be written.
    pub fn make(&self) -> Option<Leaf> {
        let folder = self.parent.join(format!("{}{}", self.prefix, MADE.fetch_add(1, Ordering::Relaxed)));
        fs::create_dir(&folder).ok()?;
        match File::open(&folder) {
            Ok(open) if folder.join("cgroup.kill").exists() => Some(Leaf { folder, open }),
            _ => {
                let _without_processes = fs::remove_dir(&folder);
                None
            }
        }
    }
}

impl Leaf {
    pub fn descriptor(&self) -> RawFd {
        self.open.as_raw_fd()
    }

    /// Kills every process in it.
    pub fn kill(&self) {
        kill(&self.folder);
    }

    pub fn is_empty(&self) -> bool {
        is_empty(&self.folder)
    }
}

/// The kernel removes only an empty cgroup. A process that the plugin left behind keeps its leaf.
impl Drop for Leaf {
    fn drop(&mut self) {
        let _still_in_use = fs::remove_dir(&self.folder);
    }
}

/// Removes empty leaves of hands that are gone. A plugin that leaves a process behind keeps its leaf until that has ended.
pub fn remove_orphans() {
    let mut found = Vec::new();
    if let Some(root) = root() {
        collect(&root, PREFIX, DEPTH_MAX, &mut found);
    }
    for folder in found.iter().filter(|folder| is_orphan(folder)) {
        let _still_in_use = fs::remove_dir(folder);
    }
}

/// A living hand may have made it just now.
fn is_orphan(folder: &Path) -> bool {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut parts = name.trim_start_matches(PREFIX).split('-');
    match (parts.next(), parts.next().and_then(|start| start.parse::<u64>().ok())) {
        (Some(pid), Some(start)) => process_stat(pid).map_or(true, |stat| stat.start != start || stat.is_gone()),
        _ => false,
    }
}

/// The leaves that a lost hand has left.
pub struct LostLeaves(Vec<PathBuf>);

impl LostLeaves {
    pub fn of(pid: i32, start: u64) -> LostLeaves {
        let mut found = Vec::new();
        if let Some(root) = root() {
            collect(&root, &prefix(pid, start), DEPTH_MAX, &mut found);
        }
        LostLeaves(found)
    }

    pub fn processes(&self) -> Vec<i32> {
        let pids = |folder: &PathBuf| fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        self.0
            .iter()
            .flat_map(|folder| pids(folder).lines().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
            .collect()
    }

    pub fn kill(&self) {
        self.0.iter().for_each(|folder| kill(folder));
    }

    pub fn remove(&self) {
        for folder in &self.0 {
            let _still_in_use = fs::remove_dir(folder);
        }
    }
}

fn prefix(pid: i32, start: u64) -> String {
    format!("{}{}-{}-", PREFIX, pid, start)
}

fn kill(folder: &Path) {
    let _gone_already = fs::write(folder.join("cgroup.kill"), "1");
}

fn is_empty(folder: &Path) -> bool {
    fs::read_to_string(folder.join("cgroup.events"))
        .map_or(true, |text| !text.lines().any(|line| line == "populated 1"))
}

/// A hybrid system has the hierarchy of v2 beside those of v1.
fn root() -> Option<PathBuf> {
    let mount = Path::new(MOUNT);
    [mount.to_path_buf(), mount.join("unified")].into_iter().find(|folder| folder.join("cgroup.controllers").exists())
}

/// A container without a cgroup namespace sees a path of the host that is not mounted there: then there is no leaf.
fn own_folder(text: &str, root: &Path) -> Option<PathBuf> {
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(root.join(path)).filter(|folder| folder.is_dir())
}

fn collect(folder: &Path, prefix: &str, depth: u32, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_type().map_or(false, |kind| kind.is_dir()) {
            continue;
        }
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(prefix) {
            found.push(entry.path());
        } else if depth > 0 && !name.starts_with(PREFIX) {
            collect(&entry.path(), prefix, depth - 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_folder_is_below_the_root_or_nowhere() {
        let root = std::env::temp_dir().join(format!("levee-leaf-{}", std::process::id()));
        fs::create_dir_all(root.join("system.slice/containerd.service")).unwrap();
        let of = |text: &str| own_folder(text, &root);
        assert_eq!(of("4:memory:/x\n0::/\n"), Some(root.clone()));
        let service = "0::/system.slice/containerd.service\n";
        assert_eq!(of(service), Some(root.join("system.slice/containerd.service")));
        assert_eq!(of("0::/kubepods/pod1/c1\n"), None);
        assert_eq!(of("4:memory:/x\n"), None);
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn leaves_of_one_hand_are_found_at_any_depth() {
        let root = std::env::temp_dir().join(format!("levee-leaves-{}", std::process::id()));
        let ours = [format!("a/b/{}1", prefix(7, 99)), format!("a/{}2", prefix(7, 99))];
        for folder in ours.iter().map(String::as_str).chain(["a/levee-run-7-98-1", "a/levee-run-77-99-1"]) {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let mut found = Vec::new();
        collect(&root, &prefix(7, 99), DEPTH_MAX, &mut found);
        found.sort();
        let mut wanted: Vec<PathBuf> = ours.iter().map(|folder| root.join(folder)).collect();
        wanted.sort();
        assert_eq!(found, wanted);
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn only_leaves_of_hands_that_are_gone_are_orphans() {
        let start = process_stat("self").unwrap().start;
        let own = prefix(std::process::id() as i32, start);
        assert!(!is_orphan(Path::new(&format!("/x/{}1", own))));
        assert!(is_orphan(Path::new(&format!("/x/{}1", prefix(std::process::id() as i32, start - 1)))));
        assert!(is_orphan(Path::new(&format!("/x/{}1", prefix(i32::MAX, 1)))));
        assert!(!is_orphan(Path::new("/x/levee-run-strange")));
    }

    #[test]
    fn a_folder_that_is_no_cgroup_gives_no_leaf_and_keeps_none() {
        let parent = std::env::temp_dir().join(format!("levee-no-leaf-{}", std::process::id()));
        fs::create_dir_all(&parent).unwrap();
        assert!(LeafPlace::below(&parent).unwrap().make().is_none());
        assert_eq!(fs::read_dir(&parent).unwrap().count(), 0);
        assert!(LeafPlace::below(&parent.join("missing")).is_none());
        fs::remove_dir_all(&parent).unwrap();
    }
}
