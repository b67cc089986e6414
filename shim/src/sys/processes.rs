//! Processes: sessions, groups, signals, and exits.

use std::ffi::CString;
use std::io;
use std::os::raw::{c_char, c_int, c_long};
use std::os::unix::io::RawFd;

use super::{check, EINTR, ESRCH, SIGKILL};

const PR_SET_PDEATHSIG: c_int = 1;
const PR_SET_CHILD_SUBREAPER: c_int = 36;
pub const WNOHANG: c_int = 1;
const SYS_CLONE3: c_long = 435;
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
const SIGCHLD: u64 = 17;

/// `struct clone_args` of Linux 5.7.
#[repr(C)]
#[derive(Default)]
struct CloneArgs {
    flags: u64,
    unused: [u64; 3],
    exit_signal: u64,
    unused_too: [u64; 5],
    cgroup: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct TimeVal {
    seconds: i64,
    microseconds: i64,
}

/// `struct rusage`; the fields after the peak memory are not used.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Usage {
    user: TimeVal,
    system: TimeVal,
    max_rss_kib: i64,
    rest: [i64; 13],
}

extern "C" {
    fn fork() -> c_int;
    fn _exit(status: c_int) -> !;
    fn setsid() -> c_int;
    fn getsid(pid: c_int) -> c_int;
    fn getppid() -> c_int;
    fn nice(more: c_int) -> c_int;
    fn setpgid(pid: c_int, group: c_int) -> c_int;
    fn prctl(option: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn wait4(pid: c_int, status: *mut c_int, options: c_int, usage: *mut Usage) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
    fn execve(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char) -> c_int;
}

/// Forks this single-threaded program: Some(child) in the parent, None in the child.
pub fn fork_process() -> io::Result<Option<i32>> {
    let pid = check(unsafe { fork() })?;
    Ok(if pid == 0 { None } else { Some(pid) })
}

/// The same, with the child in the cgroup of v2 whose folder is open. A child that moved itself there would wait for the
/// other cores, for 10 ms and more. The child must not use the C library's own notes about threads; it only executes.
pub fn fork_into(cgroup: RawFd) -> io::Result<Option<i32>> {
    let args =
        CloneArgs { flags: CLONE_INTO_CGROUP, exit_signal: SIGCHLD, cgroup: cgroup as u64, ..CloneArgs::default() };
    let pid = check(unsafe { syscall(SYS_CLONE3, &args, std::mem::size_of::<CloneArgs>()) } as c_int)?;
    Ok(if pid == 0 { None } else { Some(pid) })
}

pub fn exit_now(status: i32) -> ! {
    unsafe { _exit(status) }
}

pub fn new_session() -> io::Result<()> {
    check(unsafe { setsid() }).map(drop)
}

/// Raises the nice value of this process and of the processes it starts later. Raising is always allowed.
pub fn be_nicer(by: i32) {
    // -1 is a valid new value, so the result does not tell an error.
    let _new_value = unsafe { nice(by) };
}

pub fn session_of_self() -> i32 {
    unsafe { getsid(0) }
}

pub fn parent_pid() -> i32 {
    unsafe { getppid() }
}

pub fn own_group() -> io::Result<()> {
    check(unsafe { setpgid(0, 0) }).map(drop)
}

pub fn become_subreaper() -> io::Result<()> {
    check(unsafe { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }).map(drop)
}

/// Ends this process when its parent ends. The parent may already be gone, so the parent is checked afterwards.
pub fn die_with_parent(parent: i32) -> io::Result<()> {
    check(unsafe { prctl(PR_SET_PDEATHSIG, SIGKILL as usize, 0, 0, 0) })?;
    if parent_pid() == parent {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(ESRCH))
    }
}

pub fn send_signal(pid: i32, number: c_int) -> io::Result<()> {
    check(unsafe { kill(pid, number) }).map(drop)
}

/// Kills a whole process group. A group that is already gone is not an error.
pub fn kill_group(group: i32) {
    if group > 1 {
        let _gone_already = send_signal(-group, SIGKILL);
    }
}

/// A child that ended: its process ID, how it ended, and what it used.
pub struct Exit {
    pub pid: i32,
    status: c_int,
    usage: Usage,
}

impl Exit {
    pub fn exit_code(&self) -> Option<u64> {
        if self.status & 0x7f == 0 {
            Some(((self.status >> 8) & 0xff) as u64)
        } else {
            None
        }
    }

    pub fn signal(&self) -> Option<u64> {
        let number = self.status & 0x7f;
        if number == 0 {
            None
        } else {
            Some(number as u64)
        }
    }

    pub fn cpu_us(&self) -> u64 {
        let of = |time: &TimeVal| time.seconds.max(0) as u64 * 1_000_000 + time.microseconds.max(0) as u64;
        of(&self.usage.user) + of(&self.usage.system)
    }

    pub fn max_rss_kib(&self) -> u64 {
        self.usage.max_rss_kib.max(0) as u64
    }
}

/// Any child that ended: as a subreaper this process also collects orphans.
pub fn next_exit(options: c_int) -> Option<Exit> {
    loop {
        let mut exit = Exit { pid: 0, status: 0, usage: Usage::default() };
        let pid = unsafe { wait4(-1, &mut exit.status, options, &mut exit.usage) };
        if pid > 0 {
            exit.pid = pid;
            return Some(exit);
        }
        if pid == 0 || io::Error::last_os_error().raw_os_error() != Some(EINTR) {
            return None;
        }
    }
}

/// Waits for one child, and forgets how it ended.
pub fn wait_for(pid: i32) {
    let mut exit = Exit { pid, status: 0, usage: Usage::default() };
    while unsafe { wait4(pid, &mut exit.status, 0, &mut exit.usage) } == -1
        && io::Error::last_os_error().raw_os_error() == Some(EINTR)
    {}
}

/// A program to execute, with all that execve needs: between a fork and that call no memory is allocated.
pub struct Execution {
    path: CString,
    argv: [*const c_char; 2],
    envp: Vec<*const c_char>,
    /// What `envp` points to.
    _env: Vec<CString>,
}

impl Execution {
    /// The program's only argument is its own path.
    pub fn new(path: CString, env: Vec<CString>) -> Execution {
        let argv = [path.as_ptr(), std::ptr::null()];
        let envp = env.iter().map(|entry| entry.as_ptr()).chain([std::ptr::null()]).collect();
        Execution { path, argv, envp, _env: env }
    }

    /// Replaces this process. Returns only if that failed.
    pub fn begin(&self) -> io::Error {
        unsafe { execve(self.path.as_ptr(), self.argv.as_ptr(), self.envp.as_ptr()) };
        io::Error::last_os_error()
    }
}
