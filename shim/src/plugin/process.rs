//! The process of a plugin: found by name, started in its own process group, with no descriptors except its pipes.

use std::env;
use std::ffi::{CString, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::raw::c_char;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::io::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use crate::base::trace::Trace;
use crate::plugin::run_order::RunOrder;
use crate::sys;

/// A started plugin. Its process ID is also its group ID.
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

/// The cgroups of a new process.
pub struct Cgroups {
    /// The `cgroup.procs` into which it moves itself.
    pub procs: Option<RawFd>,
    /// The cgroup of v2 in which it starts.
    pub leaf: Option<RawFd>,
    /// The leaf is below the cgroup of `procs`, so a process that starts in it stays.
    pub is_leaf_below: bool,
}

pub fn start(program: &Path, order: &RunOrder, cgroups: &Cgroups) -> io::Result<Process> {
    let image = Image::new(program, order)?;
    let parent = std::process::id() as i32;
    let (stdin_end, stdin) = pipe()?;
    let (stdout, stdout_end) = pipe()?;
    let (stderr, stderr_end) = pipe()?;
    // The child writes its errno here. Closed on exec, so its end without a word means that the plugin runs.
    let (trouble, trouble_end) = pipe()?;
    let (child, procs) = match cgroups.leaf.map(sys::fork_into) {
        Some(Ok(child)) => (child, cgroups.procs.filter(|_| !cgroups.is_leaf_below)),
        // The kernel has no such call, or the leaf is gone.
        Some(Err(_)) | None => (sys::fork_process()?, cgroups.procs),
    };
    let pid = match child {
        Some(pid) => pid,
        None => {
            let ends = [stdin_end.as_raw_fd(), stdout_end.as_raw_fd(), stderr_end.as_raw_fd()];
            let errno = sys::errno_of(&become_plugin(&image, parent, ends, procs));
            let _nobody_reads = sys::write_some(trouble_end.as_raw_fd(), &errno.to_ne_bytes());
            sys::exit_now(127)
        }
    };
    drop((stdin_end, stdout_end, stderr_end, trouble_end));
    let mut errno = [0; 4];
    if File::from(trouble).read_exact(&mut errno).is_ok() {
        // It is about to end. Its cgroup can be removed only after that.
        sys::wait_for(pid);
        return Err(io::Error::from_raw_os_error(i32::from_ne_bytes(errno)));
    }
    for fd in [&stdin, &stdout, &stderr] {
        sys::set_nonblocking(fd.as_raw_fd())?;
    }
    Ok(Process { pid, stdin, stdout, stderr })
}

/// In the child: returns only when the plugin cannot be executed. It calls execve itself, because execvp gives a file of
/// an unknown format to /bin/sh.
fn become_plugin(image: &Image, parent: i32, ends: [RawFd; 3], cgroup_procs: Option<RawFd>) -> io::Error {
    let settled = sys::own_group()
        .and_then(|()| sys::die_with_parent(parent))
        .and_then(|()| (0..).zip(ends).try_for_each(|(place, end)| sys::replace(end, place)));
    if let Err(error) = settled {
        return error;
    }
    if let Some(fd) = cgroup_procs {
        let _best_effort = sys::write_some(fd, b"0");
    }
    sys::reset_signals();
    image.exec()
}

/// A pipe as (read end, write end).
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read_end, write_end) = sys::pipe()?;
    Ok(unsafe { (OwnedFd::from_raw_fd(read_end), OwnedFd::from_raw_fd(write_end)) })
}

/// The arguments of execve, prepared before the fork so that the child does not allocate memory.
struct Image {
    path: CString,
    env: Vec<CString>,
    argv: Vec<*const c_char>,
    envp: Vec<*const c_char>,
}

impl Image {
    /// The daemon sends the variables `CNI_*`; PATH and the trace come from the shim's own environment.
    fn new(program: &Path, order: &RunOrder) -> io::Result<Image> {
        let path = CString::new(program.as_os_str().as_bytes())?;
        let mut env = Vec::new();
        for entry in &order.env {
            let key = &entry[..entry.find('=').map_or(entry.len(), |at| at + 1)];
            // The last of two values counts, for the plugin and for the checks of an order.
            env.retain(|known: &CString| !known.as_bytes().starts_with(key.as_bytes()));
            env.push(CString::new(entry.as_bytes())?);
        }
        if let Some(value) = env::var_os("PATH") {
            let mut entry = OsString::from("PATH=");
            entry.push(value);
            env.push(CString::new(entry.as_bytes())?);
        }
        for entry in Trace::from_env().variables(order.trace_parent.as_ref()) {
            env.push(CString::new(entry)?);
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
