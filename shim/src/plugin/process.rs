//! The process of a plugin: started in its own process group, with no descriptors except its pipes. It executes the
//! plugin's program, or it carries out the plugin that is built in.

use std::env;
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{AsRawFd, OwnedFd, RawFd};
use std::path::Path;

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

/// The cgroups of a new process.
pub struct Cgroups {
    /// The `cgroup.procs` into which it moves itself.
    pub procs: Option<RawFd>,
    /// The cgroup of v2 in which it starts.
    pub leaf: Option<RawFd>,
    /// The leaf is below the cgroup of `procs`, so a process that starts in it stays.
    pub is_leaf_below: bool,
}

/// What the child does once it is settled.
pub trait Body {
    /// Returns only if the plugin cannot be served this way, and has changed nothing then. The pipe for that news is closed
    /// when a program is executed; a body that executes none takes it before it changes anything.
    fn serve(&self, trouble: &mut Option<OwnedFd>) -> Trouble;
}

/// Why a body did not become the plugin. Nothing was changed.
pub enum Trouble {
    /// The program could not be executed.
    Exec(io::Error),
    /// The plugin that is built in does not serve this order.
    Unsupported(String),
}

pub fn start(body: &dyn Body, cgroups: &Cgroups) -> Result<Process, Trouble> {
    let parent = std::process::id() as i32;
    let (stdin_end, stdin) = sys::pipe()?;
    let (stdout, stdout_end) = sys::pipe()?;
    let (stderr, stderr_end) = sys::pipe()?;
    // The child says here why it is no plugin. The end without a word means that the plugin runs.
    let (trouble, trouble_end) = sys::pipe()?;
    let (child, procs) = match cgroups.leaf.map(sys::fork_into) {
        Some(Ok(child)) => (child, cgroups.procs.filter(|_| !cgroups.is_leaf_below)),
        // The kernel has no such call, or the leaf is gone.
        Some(Err(_)) | None => (sys::fork_process()?, cgroups.procs),
    };
    let pid = match child {
        Some(pid) => pid,
        None => {
            let mut trouble_end = Some(trouble_end);
            let ends = [stdin_end.as_raw_fd(), stdout_end.as_raw_fd(), stderr_end.as_raw_fd()];
            let met = match settle(parent, ends, procs) {
                Ok(()) => body.serve(&mut trouble_end),
                Err(error) => Trouble::Exec(error),
            };
            if let Some(end) = trouble_end {
                let _nobody_reads = sys::write_some(end.as_raw_fd(), &met.encode());
            }
            sys::exit_now(127)
        }
    };
    drop((stdin_end, stdout_end, stderr_end, trouble_end));
    let mut met = Vec::new();
    File::from(trouble).read_to_end(&mut met)?;
    if let Some(met) = Trouble::decode(&met) {
        // It is about to end. Its cgroup can be removed only after that.
        sys::wait_for(pid);
        return Err(met);
    }
    for fd in [&stdin, &stdout, &stderr] {
        sys::set_nonblocking(fd.as_raw_fd())?;
    }
    Ok(Process { pid, stdin, stdout, stderr })
}

/// In the child: its own group, which ends with its parent, and its pipes in their places.
fn settle(parent: i32, ends: [RawFd; 3], cgroup_procs: Option<RawFd>) -> io::Result<()> {
    sys::own_group()?;
    sys::die_with_parent(parent)?;
    (0..).zip(ends).try_for_each(|(place, end)| sys::replace(end, place))?;
    if let Some(fd) = cgroup_procs {
        let _best_effort = sys::write_some(fd, b"0");
    }
    sys::reset_signals();
    Ok(())
}

impl Trouble {
    /// Four bytes errno, then the reason of a built-in, which has no errno.
    fn encode(&self) -> Vec<u8> {
        match self {
            Trouble::Exec(error) => sys::errno_of(error).to_ne_bytes().to_vec(),
            Trouble::Unsupported(reason) => [&[0; 4], reason.as_bytes()].concat(),
        }
    }

    fn decode(bytes: &[u8]) -> Option<Trouble> {
        let errno = bytes.get(..4)?;
        Some(match i32::from_ne_bytes([errno[0], errno[1], errno[2], errno[3]]) {
            0 => Trouble::Unsupported(String::from_utf8_lossy(&bytes[4..]).into_owned()),
            errno => Trouble::Exec(io::Error::from_raw_os_error(errno)),
        })
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Exec(error)
    }
}

/// A program, prepared before the fork.
pub struct Image(sys::Execution);

impl Image {
    /// The daemon sends the variables `CNI_*`; PATH and the trace come from the shim's own environment.
    pub fn new(program: &Path, order: &RunOrder) -> io::Result<Image> {
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
        Ok(Image(sys::Execution::new(path, env)))
    }
}

/// It calls execve itself, because execvp gives a file of an unknown format to /bin/sh.
impl Body for Image {
    fn serve(&self, _closed_by_exec: &mut Option<OwnedFd>) -> Trouble {
        Trouble::Exec(self.0.begin())
    }
}
