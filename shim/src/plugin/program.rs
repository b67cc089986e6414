//! The program of a plugin on the disk: where it is, which file it is, and what it says of its own origin.

use std::fmt;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::plugin::go_marks;

pub struct Program {
    pub path: PathBuf,
    pub identity: FileIdentity,
}

/// Another program has another one. It changes with every replacement and every write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    changed_ns: i128,
}

impl Program {
    /// The first regular, executable file of that name in a colon-separated list of folders.
    pub fn find(plugin: &str, path_list: &str) -> Option<Program> {
        path_list.split(':').filter(|folder| !folder.is_empty()).find_map(|folder| {
            let path = Path::new(folder).join(plugin);
            let facts = fs::metadata(&path).ok()?;
            let is_program = facts.is_file() && facts.permissions().mode() & 0o111 != 0;
            is_program.then(|| Program { path, identity: FileIdentity::of(&facts) })
        })
    }

    /// For the daemon, which judges whose program it is: name and identity in the first line, then the file's own words.
    pub fn describe(&self, name: &str) -> String {
        format!("{} {}\n{}", name, self.identity, go_marks::read(&self.path))
    }
}

impl FileIdentity {
    fn of(facts: &fs::Metadata) -> FileIdentity {
        FileIdentity {
            device: facts.dev(),
            inode: facts.ino(),
            size: facts.size(),
            changed_ns: i128::from(facts.mtime()) * 1_000_000_000 + i128::from(facts.mtime_nsec()),
        }
    }

    pub fn parse(text: &str) -> Option<FileIdentity> {
        let mut parts = text.split(':');
        let mut number = || parts.next()?.parse::<u64>().ok();
        let (device, inode, size) = (number()?, number()?, number()?);
        let changed_ns = parts.next()?.parse().ok()?;
        parts.next().is_none().then_some(FileIdentity { device, inode, size, changed_ns })
    }
}

impl fmt::Display for FileIdentity {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "{}:{}:{}:{}", self.device, self.inode, self.size, self.changed_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_executable_of_the_list_is_found() {
        let base = std::env::temp_dir().join(format!("levee-plugin-{}", std::process::id()));
        for folder in ["a", "b", "c/tool"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        fs::write(base.join("a/tool"), "").unwrap();
        fs::write(base.join("b/tool"), "").unwrap();
        fs::set_permissions(base.join("b/tool"), fs::Permissions::from_mode(0o755)).unwrap();
        let list = |names: &[&str]| {
            names.iter().map(|name| base.join(name).display().to_string()).collect::<Vec<_>>().join(":")
        };
        let find = |list: &str| Program::find("tool", list).map(|program| program.path);
        assert_eq!(find(&list(&["none", "c", "a", "b"])), Some(base.join("b/tool")));
        assert_eq!(find(&list(&["a", "c"])), None);
        assert_eq!(find(""), None);
        fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn an_identity_is_read_as_it_is_written_and_changes_with_the_file() {
        let file = std::env::temp_dir().join(format!("levee-identity-{}", std::process::id()));
        let identity = |text: &str| {
            fs::write(&file, text).unwrap();
            FileIdentity::of(&fs::metadata(&file).unwrap())
        };
        let first = identity("a");
        assert_eq!(FileIdentity::parse(&first.to_string()), Some(first));
        assert_ne!(identity("ab"), first);
        for wrong in ["", "1:2:3", "1:2:3:4:5", "1:2:x:4", "-1:2:3:4"] {
            assert_eq!(FileIdentity::parse(wrong), None, "{:?}", wrong);
        }
        fs::remove_file(&file).unwrap();
    }
}
