//! The file that keeps the settings of an interface from before an ADD, for the DEL.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::builtin::conf::Conf;
use crate::builtin::go::members::Members;
use crate::builtin::go::path::plain_path;
use crate::builtin::go::tree;
use crate::builtin::go::words::path_error;
use crate::builtin::tuning::settings::Settings;
use crate::builtin::{PluginCall, Unsupported};
use crate::sys;

const DEFAULT_FOLDER: &str = "/run/cni/tuning";
/// Upstream makes folders with the mode of its files.
const MODE: u32 = 0o600;

#[derive(Debug, PartialEq)]
pub enum Found {
    Nothing,
    /// An ADD was killed while it wrote them, so it had not changed the interface yet.
    CutOff,
    Kept(Settings),
}

pub struct Backup {
    folder: String,
    path: String,
    /// What a DEL has found in the file.
    pub found: Found,
}

impl Backup {
    pub fn read(conf: &mut Conf, call: &PluginCall) -> Result<Backup, Unsupported> {
        let folder = conf.own.text("dataDir")?.filter(|folder| !folder.is_empty()).unwrap_or(DEFAULT_FOLDER);
        let folder = plain_path(folder).ok_or_else(|| conf.own.wrong("dataDir", "not a plain absolute path"))?;
        let path = format!("{}/{}_{}.json", folder, call.container_id, call.ifname);
        let found = if call.command == "DEL" { read_file(&path)? } else { Found::Nothing };
        Ok(Backup { folder: folder.to_string(), path, found })
    }

    pub fn save(&self, settings: &Settings, ifname: &str) -> Result<(), String> {
        if fs::metadata(&self.folder).map_or_else(|error| error.raw_os_error() == Some(sys::ENOENT), |_| false) {
            make_folders(Path::new(&self.folder))
                .map_err(|why| format!("failed to create backup directory: {}", why))?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(MODE);
        let mut file = options.open(&self.path).map_err(|error| self.not_saved(ifname, "open", &error))?;
        file.write_all(print(settings).as_bytes()).map_err(|error| self.not_saved(ifname, "write", &error))
    }

    fn not_saved(&self, ifname: &str, operation: &str, error: &io::Error) -> String {
        format!("failed to save file {}.json: {}", ifname, path_error(operation, &self.path, error))
    }

    pub fn remove(&self) {
        // A DEL by upstream does not say either that it could not.
        let _gone_or_read_again = fs::remove_file(&self.path);
    }
}

/// A file that this plugin would read otherwise than upstream is left to it.
fn read_file(path: &str) -> Result<Found, Unsupported> {
    let bytes = match fs::read(path) {
        // What is written begins with a brace. Upstream reads nothing out of half of it, and leaves it there.
        Ok(bytes) if !bytes.ends_with(b"}") && bytes.first().map_or(true, |byte| *byte == b'{') => {
            return Ok(Found::CutOff)
        }
        Ok(bytes) => bytes,
        Err(_) => return Ok(Found::Nothing),
    };
    let tree = tree::parse(&bytes).map_err(|why| Unsupported(format!("{} is not plain JSON: {}", path, why)))?;
    Settings::read_kept(Members::of(&tree, path)?).map(Found::Kept)
}

/// Go's words need the folder that fails.
fn make_folders(folder: &Path) -> Result<(), String> {
    if folder.is_dir() {
        return Ok(());
    }
    folder.parent().map_or(Ok(()), make_folders)?;
    match DirBuilder::new().mode(MODE).create(folder) {
        Err(error) if !folder.is_dir() => Err(path_error("mkdir", &folder.to_string_lossy(), &error)),
        _ => Ok(()),
    }
}

/// JSON as Go prints it with an indent of one space.
fn print(settings: &Settings) -> String {
    let mut members = Vec::new();
    members.extend(settings.mac.as_ref().map(|mac| format!("\"mac\": \"{}\"", mac.text)));
    members.extend(settings.is_promiscuous.map(|is_on| format!("\"promisc\": {}", is_on)));
    members.extend(settings.mtu.map(|mtu| format!("\"mtu\": {}", mtu)));
    members.extend(settings.all_multicast.map(|is_on| format!("\"allmulti\": {}", is_on)));
    members.extend(settings.queue.map(|queue| format!("\"txQLen\": {}", queue)));
    format!("{{\n {}\n}}", members.join(",\n "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::tuning::settings::Mac;

    #[test]
    fn settings_are_kept_in_gos_bytes_and_read_again() {
        let all = Settings {
            mac: Some(Mac { text: "02:00:00:00:00:01".to_string(), bytes: vec![2, 0, 0, 0, 0, 1] }),
            is_promiscuous: Some(false),
            mtu: Some(1500),
            all_multicast: Some(true),
            queue: Some(0),
        };
        let text = print(&all);
        assert!(text.starts_with("{\n \"mac\": \"02:00:00:00:00:01\",\n \"promisc\": false,\n \"mtu\": 1500,\n "));
        assert!(text.ends_with(" \"allmulti\": true,\n \"txQLen\": 0\n}"));
        let tree = tree::parse(text.as_bytes()).unwrap();
        assert_eq!(Settings::read_kept(Members::of(&tree, "").unwrap()).unwrap(), all);
        let other = tree::parse(br#"{"mtu":1,"more":2}"#).unwrap();
        assert!(Settings::read_kept(Members::of(&other, "").unwrap()).is_err());
    }

    #[test]
    fn a_file_that_is_none_is_nothing_to_set_back() {
        assert_eq!(read_file("/no/such"), Ok(Found::Nothing));
        assert_eq!(read_file("/dev/null/x"), Ok(Found::Nothing));
        assert!(read_file("/proc/self/status").is_err());
    }

    #[test]
    fn what_a_killed_add_has_written_is_cut_off() {
        let path = std::env::temp_dir().join(format!("levee-backup-{}", std::process::id()));
        for (text, is_cut_off) in [("", true), ("{", true), ("{\n \"mtu\": 15", true), ("{\n \"mtu\": 15\n}", false)] {
            fs::write(&path, text).unwrap();
            let found = read_file(path.to_str().unwrap()).unwrap();
            assert_eq!(found == Found::CutOff, is_cut_off, "{}", text);
        }
        fs::remove_file(&path).unwrap();
    }
}
