//! A plugin as a process: found by name, started in a group of its own, with pipes and nothing else of ours.

use std::env;
use std::ffi::{CString, OsString};
use std::fs;
use std::io;
use std::os::raw::c_char;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::io::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::orders::RunOrder;
use crate::sys;

/// What a plugin gets of our own environment; the rest comes from the daemon, and is `CNI_*`.
const PASSED_ON: [&str; 3] = ["PATH", "TRACEPARENT", "TRACESTATE"];

/// A started plugin. Its process ID is its group's as well.
pub struct Process {
    pub pid: i32,
    pub stdin: OwnedFd,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
}

/// The first regular, executable file of that name in a colon-separated list of folders.
pub fn find(plugin: &str, path_list: &str) -> Option<PathBuf> {
    path_list.split(':').filter(|folder| !folder.is_empty()).map(|folder| Path::new(folder).join(plugin)).find(|path| {
        fs::metadata(path).map_or(false, |facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
    })
}

/// Starts it. `cgroup_procs` is where it moves itself first, if it is to be charged elsewhere.
pub fn start(program: &Path, order: &RunOrder, cgroup_procs: Option<RawFd>) -> io::Result<Process> {
    let image = Image::new(program, &order.env)?;
    let parent = std::process::id() as i32;
    let mut command = Command::new(program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The hook runs in the child after its pipes are in place. It ends in execve instead of returning, because std
    // would use execvp, which hands a file of a foreign format to /bin/sh.
    unsafe {
        command.pre_exec(move || {
            sys::own_group()?;
            sys::die_with_parent(parent)?;
            if let Some(fd) = cgroup_procs {
                let _best_effort = sys::write_some(fd, b"0");
            }
            sys::reset_signals();
            Err(image.exec())
        });
    }
    let child = command.spawn()?;
    let pid = child.id() as i32;
    match (child.stdin, child.stdout, child.stderr) {
        (Some(stdin), Some(stdout), Some(stderr)) => {
            let process = Process { pid, stdin: stdin.into(), stdout: stdout.into(), stderr: stderr.into() };
            for fd in [&process.stdin, &process.stdout, &process.stderr] {
                sys::set_nonblocking(fd.as_raw_fd())?;
            }
            Ok(process)
        }
        _ => Err(io::Error::from_raw_os_error(sys::EINVAL)),
    }
}

/// Everything execve needs, prepared before the fork so that the child allocates nothing.
struct Image {
    path: CString,
    env: Vec<CString>,
    argv: Vec<*const c_char>,
    envp: Vec<*const c_char>,
}

// The pointers lead into the strings beside them, which never move; the hook is called in this process's own copy.
unsafe impl Send for Image {}
unsafe impl Sync for Image {}

impl Image {
    fn new(program: &Path, given: &[String]) -> io::Result<Image> {
        let path = CString::new(program.as_os_str().as_bytes())?;
        let mut env = Vec::new();
        for entry in given {
            let key = &entry[..entry.find('=').map_or(entry.len(), |at| at + 1)];
            // Of two values the last one counts, for the plugin as for our own checks.
            env.retain(|known: &CString| !known.as_bytes().starts_with(key.as_bytes()));
            env.push(CString::new(entry.as_bytes())?);
        }
        for name in PASSED_ON {
            if let Some(value) = env::var_os(name) {
                let mut entry = OsString::from(name);
                entry.push("=");
                entry.push(value);
                env.push(CString::new(entry.as_bytes())?);
            }
        }
        let argv = vec![path.as_ptr(), std::ptr::null()];
        let envp = env.iter().map(|entry| entry.as_ptr()).chain([std::ptr::null()]).collect();
        Ok(Image { path, env, argv, envp })
    }

    fn exec(&self) -> io::Error {
        debug_assert_eq!(self.env.len() + 1, self.envp.len());
        unsafe { sys::exec(self.path.as_ptr(), self.argv.as_ptr(), self.envp.as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_executable_of_the_list_is_found() {
        let base = env::temp_dir().join(format!("levee-plugin-{}", std::process::id()));
        for folder in ["a", "b", "c/tool"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        fs::write(base.join("a/tool"), "").unwrap();
        fs::write(base.join("b/tool"), "").unwrap();
        fs::set_permissions(base.join("b/tool"), fs::Permissions::from_mode(0o755)).unwrap();
        let list = |names: &[&str]| {
            names.iter().map(|name| base.join(name).display().to_string()).collect::<Vec<_>>().join(":")
        };
        assert_eq!(find("tool", &list(&["none", "c", "a", "b"])), Some(base.join("b/tool")));
        assert_eq!(find("tool", &list(&["a", "c"])), None);
        assert_eq!(find("tool", ""), None);
        fs::remove_dir_all(&base).unwrap();
    }
}
