//! Records left on disk for a daemon that cannot be told: durable before they are believed.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::crc::crc32;
use crate::sys;

/// To bound what a runtime that repeats itself for hours can leave behind.
const FILES_MAX: usize = 1_024;

/// Writes frames and their checksum under a name. The error says what failed, where and why.
pub fn write_record(state_dir: &str, name: &str, frames: &[u8]) -> Result<PathBuf, String> {
    let folder = Path::new(state_dir).join("offline");
    let path = folder.join(name);
    let told = |doing: &str, error: io::Error| {
        format!(
            "Cannot keep the record {} for the daemon: {} failed: {}",
            path.display(),
            doing,
            sys::error_text(&error)
        )
    };
    make_folder(&folder).map_err(|error| told("making its folder", error))?;
    let count = fs::read_dir(&folder).map_err(|error| told("listing its folder", error))?.count();
    if count >= FILES_MAX && !path.exists() {
        return Err(format!(
            "Cannot keep the record {} for the daemon: its folder must hold at most {} files, it holds {}",
            path.display(),
            FILES_MAX,
            count
        ));
    }
    let temporary = folder.join(format!(".shim-{}.tmp", std::process::id()));
    let written = write_synced(&temporary, frames).map_err(|error| told("writing", error)).and_then(|()| {
        fs::rename(&temporary, &path).map_err(|error| told("renaming", error))?;
        sync(&folder).map_err(|error| told("syncing its folder", error))
    });
    if written.is_err() {
        let _may_not_exist = fs::remove_file(&temporary);
    }
    written.map(|()| path)
}

/// A folder that is new must be as durable as the record in it.
fn make_folder(folder: &Path) -> io::Result<()> {
    let missing = folder.ancestors().take_while(|path| !path.exists()).count();
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    folder.ancestors().skip(1).take(missing).try_for_each(sync)
}

fn write_synced(path: &Path, frames: &[u8]) -> io::Result<()> {
    // One that an earlier process of this number left behind is nobody's any more.
    match fs::remove_file(path) {
        Err(error) if error.raw_os_error() != Some(sys::ENOENT) => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(frames)?;
    file.write_all(&crc32(frames).to_le_bytes())?;
    file.sync_all()
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> String {
        std::env::temp_dir().join(format!("levee-offline-{}-{}", name, std::process::id())).display().to_string()
    }

    #[test]
    fn a_record_ends_with_its_checksum() {
        let state = scratch("ok");
        let path = write_record(&state, "c1:eth0.del", b"123456789").unwrap();
        assert_eq!(fs::read(&path).unwrap(), [&b"123456789"[..], &[0x26, 0x39, 0xf4, 0xcb]].concat());
        // The same delete again takes the same place.
        write_record(&state, "c1:eth0.del", b"x").unwrap();
        assert_eq!(fs::read_dir(Path::new(&state).join("offline")).unwrap().count(), 1);
        fs::remove_dir_all(&state).unwrap();
    }

    #[test]
    fn a_full_folder_is_an_error_but_not_for_a_record_it_holds() {
        let state = scratch("full");
        let folder = Path::new(&state).join("offline");
        fs::create_dir_all(&folder).unwrap();
        for count in 0..FILES_MAX {
            fs::write(folder.join(format!("c{}:eth0.del", count)), "").unwrap();
        }
        assert!(write_record(&state, "new:eth0.del", b"x").unwrap_err().contains("at most 1024 files, it holds 1024"));
        assert!(write_record(&state, "c5:eth0.del", b"x").is_ok());
        fs::remove_dir_all(&state).unwrap();
    }

    #[test]
    fn folders_are_made_on_the_way() {
        let state = scratch("deep");
        let deep = Path::new(&state).join("a/b").display().to_string();
        assert!(write_record(&deep, "c1:eth0.del", b"x").unwrap().ends_with("a/b/offline/c1:eth0.del"));
        fs::remove_dir_all(&state).unwrap();
    }

    #[test]
    fn an_unusable_folder_is_named() {
        let error = write_record("/proc/levee", "a.del", b"x").unwrap_err();
        assert!(error.contains("/proc/levee/offline/a.del") && error.contains("errno 2"), "{}", error);
    }
}
