//! LIST: the entries of a folder of the host, with the content of small files. The leases of host-local and the result
//! caches are small. The daemon cannot see the host's folders itself.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::orders::forked_job::{About, ForkedJob, Found};
use crate::orders::rules::{is_plain, Rules};
use crate::sys;
use crate::wire::frame::{Fields, Frame};
use crate::wire::tag;

/// An outcome with its step and its flags stays below the 4,096 fields of a frame.
const ENTRIES_MAX: usize = 4_000;
/// A page fits into one frame, whose limit is 1 MiB.
const PAGE_BYTES_MAX: usize = 900 * 1024;
const CONTENT_BYTES_MAX: usize = 4_096;

/// File systems that several machines can use at a time: NFS, SMB (three kinds), Ceph, FUSE (Gluster and many more),
/// 9p, GFS2, OCFS2, Lustre, AFS.
const SHARED_KINDS: [i64; 11] = [
    0x6969,
    0x517b,
    0xff53_4d42,
    0xfe53_4d42,
    0x00c3_6400,
    0x6573_5546,
    0x0102_1997,
    0x0116_1970,
    0x7461_636f,
    0x0bd0_0bd0,
    0x5346_414f,
];

const FILE: u8 = 1;
const FILE_WITHOUT_CONTENT: u8 = 2;
const FOLDER: u8 = 3;
const OTHER: u8 = 4;

pub struct ListOrder {
    pub step: u64,
    pub path: String,
    /// The last name of the page before; empty for the first page.
    pub after: String,
}

impl ListOrder {
    pub fn read(frame: &Frame) -> Result<ListOrder, String> {
        Ok(ListOrder {
            step: frame.step()?,
            path: frame.required_text(tag::PATH)?,
            after: frame.text(tag::AFTER)?.unwrap_or_default(),
        })
    }

    /// Every folder is allowed, because a network may keep its leases anywhere.
    pub fn refusal(&self, rules: &Rules) -> Option<String> {
        match rules {
            Rules::Call { .. } => Some("Cannot list a folder for a call: only the resident hand does".to_string()),
            Rules::Resident if is_plain(&self.path) => None,
            Rules::Resident => Some(format!(
                "Cannot list a folder whose path is not absolute and without \"..\": current value is {:?}",
                self.path
            )),
        }
    }
}

pub fn begin(order: &ListOrder) -> io::Result<ForkedJob> {
    let about = About { step: order.step, failure: "list", question: "what the folder holds" };
    ForkedJob::begin(about, || work(order, ENTRIES_MAX, PAGE_BYTES_MAX))
}

fn work(order: &ListOrder, entries_max: usize, bytes_max: usize) -> Found {
    page(order, entries_max, bytes_max).map_err(|error| {
        (sys::errno_of(&error), format!("Cannot list the folder {}: {}", order.path, sys::error_text(&error)))
    })
}

fn page(order: &ListOrder, entries_max: usize, bytes_max: usize) -> io::Result<Fields> {
    let folder = Path::new(&order.path);
    if !fs::symlink_metadata(folder)?.is_dir() {
        return Err(io::Error::from_raw_os_error(sys::ENOTDIR));
    }
    let (names, mut is_cut) = names_after(folder, &order.after, entries_max)?;
    let mut fields = Vec::new();
    for name in names {
        let entry = match entry_of(folder, &name) {
            Some(entry) => Fields::new().bytes(tag::ENTRY, &entry).into_bytes(),
            None => continue,
        };
        if fields.len() + entry.len() > bytes_max {
            is_cut = true;
            break;
        }
        fields.extend_from_slice(&entry);
    }
    Ok(Fields::of_bytes(&fields)
        .flag(tag::TRUNCATED, is_cut)
        .flag(tag::SHARED, is_shared(sys::file_system_of(folder)?)))
}

fn is_shared(kind: i64) -> bool {
    SHARED_KINDS.contains(&(kind & 0xffff_ffff))
}

/// The first names in byte order, and whether some were left out. No plugin that the daemon looks for writes names that
/// are not UTF-8.
fn names_after(folder: &Path, after: &str, most: usize) -> io::Result<(BTreeSet<String>, bool)> {
    let mut names = BTreeSet::new();
    let mut is_cut = false;
    for entry in fs::read_dir(folder)? {
        match entry?.file_name().into_string() {
            Ok(name) if name.as_str() > after => names.insert(name),
            _ => continue,
        };
        if names.len() > most {
            is_cut = true;
            let last = names.iter().next_back().cloned();
            last.map(|last| names.remove(&last));
        }
    }
    Ok((names, is_cut))
}

/// Kind, time of the last change, name and content. None if the entry is gone.
fn entry_of(folder: &Path, name: &str) -> Option<Vec<u8>> {
    let path = folder.join(name);
    let facts = fs::symlink_metadata(&path).ok()?;
    let content =
        if facts.is_file() && facts.len() <= CONTENT_BYTES_MAX as u64 { read_small(&path).ok()? } else { None };
    let kind = match &content {
        Some(_) => FILE,
        None if facts.is_file() => FILE_WITHOUT_CONTENT,
        None if facts.is_dir() => FOLDER,
        None => OTHER,
    };
    let mut entry = vec![kind];
    entry.extend_from_slice(&changed_ms(&facts).to_le_bytes());
    // The kernel allows names of up to 255 bytes.
    entry.push(name.len() as u8);
    entry.extend_from_slice(name.as_bytes());
    entry.extend_from_slice(&content.unwrap_or_default());
    Some(entry)
}

/// The time of the last change, in ms since 1970.
pub fn changed_ms(facts: &Metadata) -> u64 {
    let changed = facts.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    changed.as_millis() as u64
}

/// None if it cannot be read or is no longer a small file; an error if it is gone.
fn read_small(path: &Path) -> io::Result<Option<Vec<u8>>> {
    // The file may have been replaced meanwhile: never follow a link, never wait for the other end of a pipe.
    let opened = OpenOptions::new().read(true).custom_flags(sys::O_NOFOLLOW | sys::O_NONBLOCK).open(path);
    let file: File = match opened {
        Err(error) if error.raw_os_error() == Some(sys::ENOENT) => return Err(error),
        Err(_) => return Ok(None),
        Ok(file) => file,
    };
    let is_file = file.metadata().map_or(false, |facts| facts.is_file());
    let mut bytes = Vec::new();
    let read = file.take(CONTENT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
    Ok((is_file && read.is_ok() && bytes.len() <= CONTENT_BYTES_MAX).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("levee-list-{}-{}", std::process::id(), name));
            fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn order(&self, after: &str) -> ListOrder {
            ListOrder { step: 1, path: self.0.display().to_string(), after: after.to_string() }
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    /// Each entry as kind, name and content, and whether there is more.
    fn read(fields: Fields) -> (Vec<(u8, String, Vec<u8>)>, bool) {
        let frame = crate::wire::frame::decode_for_test(&fields.into_frame(3));
        let entries = frame.all(tag::ENTRY).map(|entry| {
            let end = 10 + entry[9] as usize;
            (entry[0], String::from_utf8(entry[10..end].to_vec()).unwrap(), entry[end..].to_vec())
        });
        (entries.collect(), frame.required_number(tag::TRUNCATED) == Ok(1))
    }

    #[test]
    fn every_kind_of_entry_is_told_and_only_small_files_are_read() {
        let folder = Folder::new("kinds");
        fs::write(folder.0.join("a"), "10.1.0.2").unwrap();
        fs::write(folder.0.join("b"), vec![7; CONTENT_BYTES_MAX]).unwrap();
        fs::write(folder.0.join("c"), vec![7; CONTENT_BYTES_MAX + 1]).unwrap();
        fs::create_dir(folder.0.join("d")).unwrap();
        symlink("/etc/hostname", folder.0.join("e")).unwrap();
        let (entries, is_cut) = read(work(&folder.order(""), 10, 100_000).unwrap());
        let seen: Vec<(u8, &str, usize)> =
            entries.iter().map(|(kind, name, content)| (*kind, name.as_str(), content.len())).collect();
        assert_eq!(seen, [(1, "a", 8), (1, "b", 4096), (2, "c", 0), (3, "d", 0), (4, "e", 0)]);
        assert!(!is_cut);
        assert!(read_small(&folder.0.join("e")).unwrap().is_none());
        assert!(read_small(&folder.0.join("none")).is_err());
    }

    #[test]
    fn file_systems_of_several_machines_are_told_from_those_of_one() {
        let proc = sys::file_system_of(Path::new("/proc")).unwrap();
        assert_eq!(proc, 0x9fa0);
        // ext4, xfs, btrfs, tmpfs, overlay.
        assert!([proc, 0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630]
            .iter()
            .all(|kind| !is_shared(*kind)));
        assert!([0x6969, 0x6573_5546, 0xff53_4d42].iter().all(|kind| is_shared(*kind)));
        assert!(sys::file_system_of(Path::new("/nowhere")).is_err());
        let folder = Folder::new("shared");
        let frame = crate::wire::frame::decode_for_test(&work(&folder.order(""), 10, 1_000).unwrap().into_frame(3));
        assert_eq!(frame.flag(tag::SHARED), Ok(false));
    }

    #[test]
    fn pages_join_whatever_ends_them() {
        let folder = Folder::new("pages");
        for number in 0..25 {
            fs::write(folder.0.join(format!("{:02}", number)), "x".repeat(90)).unwrap();
        }
        for (entries_max, bytes_max) in [(4, 100_000), (100, 500), (100, 100_000)] {
            let mut names: Vec<String> = Vec::new();
            loop {
                let after = names.last().cloned().unwrap_or_default();
                let (entries, is_cut) = read(work(&folder.order(&after), entries_max, bytes_max).unwrap());
                names.extend(entries.into_iter().map(|(_, name, _)| name));
                if !is_cut {
                    break;
                }
            }
            assert_eq!(names, (0..25).map(|number| format!("{:02}", number)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_path_that_is_not_a_folder_is_an_error_with_its_number() {
        let folder = Folder::new("none");
        symlink(&folder.0, folder.0.join("link")).unwrap();
        let errno = |name: &str| {
            let path = folder.0.join(name).display().to_string();
            work(&ListOrder { step: 1, path, after: String::new() }, 10, 1_000).err().unwrap().0
        };
        assert_eq!((errno("absent"), errno("link")), (sys::ENOENT, sys::ENOTDIR));
    }

    #[test]
    fn paths_that_lead_elsewhere_and_calls_are_refused() {
        let order = |path: &str| ListOrder { step: 1, path: path.to_string(), after: String::new() };
        for path in ["", "var", "/var/../etc", "/..", "/a\0b"] {
            assert!(order(path).refusal(&Rules::Resident).is_some(), "{:?}", path);
        }
        assert_eq!(order("/var/lib/cni/networks/a..b").refusal(&Rules::Resident), None);
        let call = Rules::Call { container_id: "c1".to_string(), netns: "/run/netns/a".to_string() };
        assert!(order("/var/lib/cni/results").refusal(&call).is_some());
    }
}
