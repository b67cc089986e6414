//! Facts about memory around a run: kills by the kernel, and the room left in the cgroup that delegates are charged to.
//! Both cgroup versions are read; what cannot be read is left out, never guessed.

use std::fs;
use std::path::{Path, PathBuf};

const MOUNT: &str = "/sys/fs/cgroup";

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Version {
    V1,
    V2,
}

/// The memory cgroup that runs are charged to.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryCgroup {
    pub version: Version,
    /// Where this version's hierarchy is mounted.
    pub root: PathBuf,
    pub folder: PathBuf,
}

/// Counts that only rise; the difference over a run is what happened during it.
#[derive(Clone, Copy, Default)]
pub struct OomCounts {
    pub cgroup: u64,
    pub node: u64,
}

/// The tightest level between our cgroup and the root.
#[derive(Debug, Default, PartialEq)]
pub struct Room {
    pub limit: Option<u64>,
    pub usage: Option<u64>,
}

impl MemoryCgroup {
    pub fn of_self() -> Option<MemoryCgroup> {
        let text = fs::read_to_string("/proc/self/cgroup").ok()?;
        MemoryCgroup::find(&text, Path::new(MOUNT))
    }

    /// v1 wins where it has the memory controller: a hybrid system has both hierarchies.
    fn find(text: &str, mount: &Path) -> Option<MemoryCgroup> {
        let (version, path) = memory_line(text)?;
        let unified = mount.join("unified");
        let root = match version {
            Version::V1 => mount.join("memory"),
            Version::V2 if unified.is_dir() => unified,
            Version::V2 => mount.to_path_buf(),
        };
        let own = root.join(path.trim_start_matches('/'));
        // Without a cgroup namespace a container sees the host's path but mounts only its own part.
        let folder = if own.is_dir() { own } else { root.clone() };
        folder.is_dir().then_some(MemoryCgroup { version, root, folder })
    }

    pub fn room(&self) -> Room {
        let mut tightest = Room { limit: None, usage: self.read(&self.folder, usage_file(self.version)) };
        let mut headroom = u64::MAX;
        for level in self.folder.ancestors().take_while(|level| level.starts_with(&self.root)) {
            let limit =
                fs::read_to_string(level.join(limit_file(self.version))).ok().and_then(|text| parse_limit(&text));
            let usage = self.read(level, usage_file(self.version));
            if let (Some(limit), Some(usage)) = (limit, usage) {
                if limit.saturating_sub(usage) < headroom {
                    headroom = limit.saturating_sub(usage);
                    tightest = Room { limit: Some(limit), usage: Some(usage) };
                }
            }
        }
        tightest
    }

    fn oom_kills(&self) -> u64 {
        let file = match self.version {
            Version::V1 => "memory.oom_control",
            Version::V2 => "memory.events",
        };
        fs::read_to_string(self.folder.join(file)).map_or(0, |text| parse_count(&text))
    }

    fn read(&self, level: &Path, file: &str) -> Option<u64> {
        fs::read_to_string(level.join(file)).ok()?.trim().parse().ok()
    }
}

impl OomCounts {
    pub fn now(cgroup: Option<&MemoryCgroup>) -> OomCounts {
        OomCounts {
            cgroup: cgroup.map_or(0, MemoryCgroup::oom_kills),
            node: fs::read_to_string("/proc/vmstat").map_or(0, |text| parse_count(&text)),
        }
    }

    pub fn risen_since(self, before: OomCounts) -> OomCounts {
        OomCounts { cgroup: self.cgroup.saturating_sub(before.cgroup), node: self.node.saturating_sub(before.node) }
    }
}

fn limit_file(version: Version) -> &'static str {
    match version {
        Version::V1 => "memory.limit_in_bytes",
        Version::V2 => "memory.max",
    }
}

fn usage_file(version: Version) -> &'static str {
    match version {
        Version::V1 => "memory.usage_in_bytes",
        Version::V2 => "memory.current",
    }
}

/// Finds the memory controller in `/proc/PID/cgroup`; v2 is the line `0::`.
fn memory_line(text: &str) -> Option<(Version, &str)> {
    let mut unified = None;
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        if controllers.split(',').any(|controller| controller == "memory") {
            return Some((Version::V1, path));
        }
        if controllers.is_empty() {
            unified = Some((Version::V2, path));
        }
    }
    unified
}

/// v2 writes `max` for unlimited, v1 the largest multiple of a page.
fn parse_limit(text: &str) -> Option<u64> {
    const V1_UNLIMITED: u64 = 0x7fff_ffff_0000_0000;
    text.trim().parse().ok().filter(|limit| *limit < V1_UNLIMITED)
}

/// The `oom_kill` line of memory.events, memory.oom_control or vmstat.
fn parse_count(text: &str) -> u64 {
    text.lines()
        .filter_map(|line| line.strip_prefix("oom_kill "))
        .find_map(|count| count.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "9:name=systemd:/\n4:cpu,memory:/kubepods/pod1/c1\n0::/\n";
    const V2: &str = "0::/system.slice/containerd.service\n";

    #[test]
    fn the_memory_line_is_found_in_both_versions() {
        assert_eq!(memory_line(V1), Some((Version::V1, "/kubepods/pod1/c1")));
        assert_eq!(memory_line(V2), Some((Version::V2, "/system.slice/containerd.service")));
        assert_eq!(memory_line("1:cpu:/\n"), None);
        assert_eq!(memory_line("nonsense"), None);
    }

    #[test]
    fn counts_are_read_from_recorded_files() {
        assert_eq!(parse_count("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"), 3);
        assert_eq!(parse_count("low 0\nhigh 0\nmax 12\noom 5\noom_kill 4\noom_group_kill 1\n"), 4);
        assert_eq!(parse_count("nr_free_pages 1\noom_kill 17\n"), 17);
        assert_eq!(parse_count("low 0\n"), 0);
    }

    #[test]
    fn unlimited_is_absent() {
        assert_eq!(parse_limit("max\n"), None);
        assert_eq!(parse_limit("9223372036854771712\n"), None);
        assert_eq!(parse_limit("9223372036854710272\n"), None);
        assert_eq!(parse_limit("52428800\n"), Some(52_428_800));
    }

    #[test]
    fn the_tightest_level_counts() {
        for (version, mount_part, line) in
            [(Version::V2, "", "0::/a/b\n"), (Version::V1, "memory", "4:memory:/a/b\n0::/\n")]
        {
            let mount = std::env::temp_dir().join(format!("levee-memory-{}-{:?}", std::process::id(), version));
            let root = mount.join(mount_part);
            fs::create_dir_all(root.join("a/b")).unwrap();
            let unlimited = if version == Version::V2 { "max\n" } else { "9223372036854771712\n" };
            let write = |level: &str, limit: &str, usage: &str| {
                fs::write(root.join(level).join(limit_file(version)), limit).unwrap();
                fs::write(root.join(level).join(usage_file(version)), usage).unwrap();
            };
            write("a/b", unlimited, "10\n");
            write("a", "100\n", "60\n");
            let cgroup = MemoryCgroup::find(line, &mount).unwrap();
            assert_eq!(cgroup.version, version);
            assert_eq!(cgroup.room(), Room { limit: Some(100), usage: Some(60) });
            write("a", unlimited, "60\n");
            assert_eq!(cgroup.room(), Room { limit: None, usage: Some(10) });
            fs::remove_dir_all(&mount).unwrap();
        }
    }
}
