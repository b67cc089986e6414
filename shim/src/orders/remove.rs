//! REMOVE: takes one file of the host away, exactly as the daemon saw it, while its owner's lock is held. Which file is
//! of no use any more is the daemon's to say.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::io::AsRawFd;

use crate::orders::forked_job::{About, ForkedJob, Found};
use crate::orders::list::changed_ms;
use crate::orders::rules::{is_plain, Rules};
use crate::sys;
use crate::wire::frame::{Fields, Frame};
use crate::wire::tag;

pub struct RemoveOrder {
    pub step: u64,
    pub path: String,
    /// The time of the last change that the daemon saw.
    pub changed_ms: u64,
    /// The file that the owner of the path locks for every change.
    pub lock: String,
}

impl RemoveOrder {
    pub fn read(frame: &Frame) -> Result<RemoveOrder, String> {
        Ok(RemoveOrder {
            step: frame.step()?,
            path: frame.required_text(tag::PATH)?,
            changed_ms: frame.required_number(tag::CHANGED_MS)?,
            lock: frame.required_text(tag::LOCK)?,
        })
    }

    pub fn refusal(&self, rules: &Rules) -> Option<String> {
        let crooked = [&self.path, &self.lock].into_iter().find(|path| !is_plain(path));
        match (rules, crooked) {
            (Rules::Call { .. }, _) => Some("Cannot remove a file for a call: only the resident hand does".to_string()),
            (Rules::Resident, Some(path)) => Some(format!(
                "Cannot use a path that is not absolute and without \"..\" to remove a file: current value is {:?}",
                path
            )),
            (Rules::Resident, None) => None,
        }
    }
}

/// In a child, because the lock may be held for a while.
pub fn begin(order: &RemoveOrder) -> io::Result<ForkedJob> {
    let about = About { step: order.step, failure: "remove", question: "whether the file is gone" };
    ForkedJob::begin(about, || work(order))
}

fn work(order: &RemoveOrder) -> Found {
    let told = |action: &str, path: &str, error: io::Error| {
        (sys::errno_of(&error), format!("Cannot {} {}: {}", action, path, sys::error_text(&error)))
    };
    let _held = hold(&order.lock).map_err(|error| told("lock", &order.lock, error))?;
    let facts = match fs::symlink_metadata(&order.path) {
        Err(error) if error.raw_os_error() == Some(sys::ENOENT) => return Ok(Fields::new()),
        facts => facts.map_err(|error| told("look at", &order.path, error))?,
    };
    if !facts.is_file() || changed_ms(&facts) != order.changed_ms {
        let message = format!("Cannot remove {}: it is not the file any more that the daemon saw", order.path);
        return Err((sys::ESTALE, message));
    }
    fs::remove_file(&order.path).map_err(|error| told("remove", &order.path, error))?;
    Ok(Fields::new())
}

/// The lock must be there: its owner makes it before the first file, and a hand makes none on the host.
fn hold(lock: &str) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(sys::O_NOFOLLOW | sys::O_NONBLOCK).open(lock)?;
    loop {
        match sys::lock_file(file.as_raw_fd()) {
            Err(error) if error.raw_os_error() == Some(sys::EINTR) => {}
            other => return other.map(|()| file),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("levee-remove-{}-{}", std::process::id(), name));
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("lock"), "").unwrap();
            Folder(path)
        }

        fn order(&self, name: &str, changed_ms: u64) -> RemoveOrder {
            let path = |name: &str| self.0.join(name).display().to_string();
            RemoveOrder { step: 1, path: path(name), changed_ms, lock: path("lock") }
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn time_of(path: &Path) -> u64 {
        changed_ms(&fs::symlink_metadata(path).unwrap())
    }

    fn errno(found: Found) -> i32 {
        found.err().unwrap().0
    }

    #[test]
    fn the_file_that_was_seen_goes_and_nothing_else() {
        let folder = Folder::new("seen");
        let file = folder.0.join("10.1.0.2");
        fs::write(&file, "").unwrap();
        fs::write(folder.0.join("10.1.0.3"), "").unwrap();
        assert!(work(&folder.order("10.1.0.2", time_of(&file))).is_ok());
        assert!(!file.exists());
        assert!(folder.0.join("10.1.0.3").exists() && folder.0.join("lock").exists());
        // It is gone, which is what was asked for.
        assert!(work(&folder.order("10.1.0.2", 7)).is_ok());
    }

    #[test]
    fn what_is_not_the_file_that_was_seen_stays() {
        let folder = Folder::new("other");
        let file = folder.0.join("10.1.0.2");
        fs::write(&file, "").unwrap();
        assert_eq!(errno(work(&folder.order("10.1.0.2", time_of(&file) - 1))), sys::ESTALE);
        assert!(file.exists());
        fs::create_dir(folder.0.join("folder")).unwrap();
        symlink(&file, folder.0.join("link")).unwrap();
        for name in ["folder", "link"] {
            let path = folder.0.join(name);
            assert_eq!(errno(work(&folder.order(name, time_of(&path)))), sys::ESTALE, "{}", name);
            assert!(fs::symlink_metadata(&path).is_ok());
        }
    }

    #[test]
    fn without_the_owners_lock_nothing_is_removed_and_no_lock_is_made() {
        let folder = Folder::new("lock");
        let file = folder.0.join("10.1.0.2");
        fs::write(&file, "").unwrap();
        fs::remove_file(folder.0.join("lock")).unwrap();
        assert_eq!(errno(work(&folder.order("10.1.0.2", time_of(&file)))), sys::ENOENT);
        assert!(file.exists() && !folder.0.join("lock").exists());
    }

    #[test]
    fn paths_that_lead_elsewhere_and_calls_are_refused() {
        let order = |path: &str, lock: &str| RemoveOrder {
            step: 1,
            path: path.to_string(),
            changed_ms: 0,
            lock: lock.to_string(),
        };
        for path in ["", "var", "/var/../etc", "/..", "/a\0b"] {
            assert!(order(path, "/a/lock").refusal(&Rules::Resident).is_some(), "{:?}", path);
            assert!(order("/a/b", path).refusal(&Rules::Resident).is_some(), "{:?}", path);
        }
        assert_eq!(order("/a/b", "/a/lock").refusal(&Rules::Resident), None);
        let call = Rules::Call { container_id: "c1".to_string(), netns: "/run/netns/a".to_string() };
        assert!(order("/a/b", "/a/lock").refusal(&call).is_some());
    }
}
