//! The doorway to the C library: everything std does not offer, declared by hand, for x86_64 and aarch64 Linux.
//! Nothing here decides anything; each wrapper turns -1 into an `io::Error`.

use std::io;
use std::os::raw::{c_char, c_int, c_long, c_uint, c_void};
use std::os::unix::io::RawFd;

pub const EPERM: i32 = 1;
pub const ENOENT: i32 = 2;
pub const ESRCH: i32 = 3;
pub const EINTR: i32 = 4;
pub const EAGAIN: i32 = 11;
pub const EEXIST: i32 = 17;
pub const ENODEV: i32 = 19;
pub const ENOTDIR: i32 = 20;
pub const EINVAL: i32 = 22;
pub const ETXTBSY: i32 = 26;
pub const EPROTO: i32 = 71;
pub const ETIMEDOUT: i32 = 110;

pub const SIGINT: c_int = 2;
pub const SIGKILL: c_int = 9;
pub const SIGTERM: c_int = 15;
pub const SIGCHLD: c_int = 17;
const SIGNAL_MAX: c_int = 64;

pub const POLLIN: i16 = 1;
pub const POLLOUT: i16 = 4;

pub const AF_UNIX: c_int = 1;
pub const AF_NETLINK: c_int = 16;
pub const SOCK_STREAM: c_int = 1;
pub const SOCK_RAW: c_int = 3;
pub const SOCK_NONBLOCK: c_int = 0o4000;
pub const SOCK_CLOEXEC: c_int = 0o2_000_000;
const O_NONBLOCK: c_int = 0o4000;

const PR_SET_PDEATHSIG: c_int = 1;
const PR_SET_CHILD_SUBREAPER: c_int = 36;
const SIG_BLOCK: c_int = 0;
const SIG_SETMASK: c_int = 2;
const SIG_DFL: usize = 0;
const F_GETFL: c_int = 3;
const F_SETFL: c_int = 4;
const F_SETFD: c_int = 2;
const FD_CLOEXEC: c_int = 1;
const SOL_SOCKET: c_int = 1;
const SO_PEERCRED: c_int = 17;
const CLONE_NEWNET: c_int = 0x4000_0000;
const SYS_CLOSE_RANGE: c_long = 436;
const CLOSE_RANGE_CLOEXEC: c_uint = 4;
pub const WNOHANG: c_int = 1;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PollFd {
    pub fd: RawFd,
    pub events: i16,
    pub revents: i16,
}

/// glibc's sigset_t: 1,024 bits.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SignalSet([u64; 16]);

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct TimeVal {
    seconds: i64,
    microseconds: i64,
}

/// `struct rusage`; the fields after the peak memory are not used.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Usage {
    user: TimeVal,
    system: TimeVal,
    pub max_rss_kib: i64,
    rest: [i64; 13],
}

#[repr(C)]
#[derive(Default)]
struct PeerCredentials {
    pid: i32,
    uid: u32,
    gid: u32,
}

/// `struct sockaddr_un`.
#[repr(C)]
pub struct UnixAddress {
    pub family: u16,
    pub path: [u8; 108],
}

extern "C" {
    fn fork() -> c_int;
    fn _exit(status: c_int) -> !;
    fn setsid() -> c_int;
    fn getsid(pid: c_int) -> c_int;
    fn getppid() -> c_int;
    fn setpgid(pid: c_int, group: c_int) -> c_int;
    fn prctl(option: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int;
    fn kill(pid: c_int, signal: c_int) -> c_int;
    fn wait4(pid: c_int, status: *mut c_int, options: c_int, usage: *mut Usage) -> c_int;
    fn poll(fds: *mut PollFd, count: usize, timeout_ms: c_int) -> c_int;
    fn signal(number: c_int, handler: usize) -> usize;
    fn sigprocmask(how: c_int, set: *const SignalSet, old: *mut SignalSet) -> c_int;
    fn signalfd(fd: c_int, set: *const SignalSet, flags: c_int) -> c_int;
    fn pipe2(fds: *mut c_int, flags: c_int) -> c_int;
    fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    fn connect(fd: c_int, address: *const c_void, length: u32) -> c_int;
    fn getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, length: *mut u32) -> c_int;
    fn setns(fd: c_int, kind: c_int) -> c_int;
    fn if_nametoindex(name: *const c_char) -> c_uint;
    fn execve(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char) -> c_int;
    fn read(fd: c_int, buffer: *mut c_void, length: usize) -> isize;
    fn write(fd: c_int, buffer: *const c_void, length: usize) -> isize;
    fn strerror(number: c_int) -> *const c_char;
}

fn check(result: c_int) -> io::Result<c_int> {
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// The number of an error, for reports; errors that std made up itself count as EINVAL.
pub fn errno_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(EINVAL)
}

/// "No such file or directory (errno 2)".
pub fn errno_text(errno: i32) -> String {
    let text = unsafe {
        let pointer = strerror(errno);
        if pointer.is_null() {
            return format!("errno {}", errno);
        }
        std::ffi::CStr::from_ptr(pointer).to_string_lossy().into_owned()
    };
    format!("{} (errno {})", text, errno)
}

pub fn error_text(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(errno) => errno_text(errno),
        None => error.to_string(),
    }
}

// Processes

/// Forks this single-threaded program: Some(child) in the parent, None in the child.
pub fn fork_process() -> io::Result<Option<i32>> {
    let pid = check(unsafe { fork() })?;
    Ok(if pid == 0 { None } else { Some(pid) })
}

pub fn exit_now(status: i32) -> ! {
    unsafe { _exit(status) }
}

pub fn new_session() -> io::Result<()> {
    check(unsafe { setsid() }).map(drop)
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

/// Ends this process when its parent ends. The parent may be gone already, so its identity is checked afterwards.
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

/// Kills a whole process group. A group that is gone already is no error worth telling.
pub fn kill_group(group: i32) {
    if group > 1 {
        let _gone_already = send_signal(-group, SIGKILL);
    }
}

/// A child that ended: who, how, and what it used.
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

/// The next child that ended, any of them: as a subreaper we also collect orphans.
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

/// Replaces this process. Comes back only with an error.
///
/// # Safety
/// Both arrays must end with a null pointer and hold pointers to C strings.
pub unsafe fn exec(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char) -> io::Error {
    execve(path, argv, envp);
    io::Error::last_os_error()
}

// Signals

fn signal_set(numbers: &[c_int]) -> SignalSet {
    let mut set = SignalSet([0; 16]);
    for number in numbers {
        set.0[0] |= 1 << (number - 1);
    }
    set
}

/// Blocks these signals and returns a descriptor that becomes readable when one arrives.
pub fn signal_descriptor(numbers: &[c_int]) -> io::Result<RawFd> {
    let set = signal_set(numbers);
    check(unsafe { sigprocmask(SIG_BLOCK, &set, std::ptr::null_mut()) })?;
    check(unsafe { signalfd(-1, &set, SOCK_NONBLOCK | SOCK_CLOEXEC) })
}

/// The number of the next signal waiting in the descriptor.
pub fn next_signal(fd: RawFd) -> Option<c_int> {
    let mut record = [0u8; 128];
    match read_some(fd, &mut record) {
        Ok(128) => Some(i32::from_le_bytes([record[0], record[1], record[2], record[3]])),
        _ => None,
    }
}

/// Default handlers and an empty mask: a delegate inherits neither our blocked SIGCHLD nor our ignored SIGPIPE.
pub fn reset_signals() {
    unsafe {
        for number in 1..=SIGNAL_MAX {
            signal(number, SIG_DFL);
        }
        sigprocmask(SIG_SETMASK, &signal_set(&[]), std::ptr::null_mut());
    }
}

// Descriptors

/// A pipe as (read end, write end), both closed on exec.
pub fn pipe() -> io::Result<(RawFd, RawFd)> {
    let mut fds = [0; 2];
    check(unsafe { pipe2(fds.as_mut_ptr(), SOCK_CLOEXEC) })?;
    Ok((fds[0], fds[1]))
}

pub fn set_nonblocking(fd: RawFd) -> io::Result<()> {
    let flags = check(unsafe { fcntl(fd, F_GETFL) })?;
    check(unsafe { fcntl(fd, F_SETFL, flags | O_NONBLOCK) }).map(drop)
}

pub fn set_close_on_exec(fd: RawFd) -> io::Result<()> {
    check(unsafe { fcntl(fd, F_SETFD, FD_CLOEXEC) }).map(drop)
}

/// Marks every descriptor from 3 up close-on-exec in one call; kernels before 5.11 do not know it.
pub fn close_range_on_exec() -> io::Result<()> {
    let result = unsafe { syscall(SYS_CLOSE_RANGE, 3 as c_uint, c_uint::MAX, CLOSE_RANGE_CLOEXEC) };
    check(result as c_int).map(drop)
}

/// Closes every descriptor from 3 up but one, in a forked child that will not exec.
pub fn close_all_but(kept: RawFd) {
    let close = |first: RawFd, last: c_uint| unsafe {
        syscall(SYS_CLOSE_RANGE, first as c_uint, last, 0 as c_uint);
    };
    if kept > 3 {
        close(3, kept as c_uint - 1);
    }
    close(kept + 1, c_uint::MAX);
}

pub fn read_some(fd: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
    let count = unsafe { read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
    if count < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(count as usize)
    }
}

pub fn write_some(fd: RawFd, bytes: &[u8]) -> io::Result<usize> {
    let count = unsafe { write(fd, bytes.as_ptr().cast(), bytes.len()) };
    if count < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(count as usize)
    }
}

/// Waits for one of the descriptors. An interruption counts as nothing ready: callers look again anyway.
pub fn poll_fds(fds: &mut [PollFd], timeout_ms: c_int) {
    unsafe { poll(fds.as_mut_ptr(), fds.len(), timeout_ms) };
}

// Sockets and namespaces

pub fn new_socket(domain: c_int, kind: c_int, protocol: c_int) -> io::Result<RawFd> {
    check(unsafe { socket(domain, kind, protocol) })
}

pub fn connect_unix(fd: RawFd, address: &UnixAddress) -> io::Result<()> {
    let length = std::mem::size_of::<UnixAddress>() as u32;
    let pointer: *const UnixAddress = address;
    check(unsafe { connect(fd, pointer.cast(), length) }).map(drop)
}

pub fn peer_uid(fd: RawFd) -> io::Result<u32> {
    let mut peer = PeerCredentials::default();
    let mut length = std::mem::size_of::<PeerCredentials>() as u32;
    let pointer: *mut PeerCredentials = &mut peer;
    check(unsafe { getsockopt(fd, SOL_SOCKET, SO_PEERCRED, pointer.cast(), &mut length) })?;
    Ok(peer.uid)
}

pub fn enter_netns(fd: RawFd) -> io::Result<()> {
    check(unsafe { setns(fd, CLONE_NEWNET) }).map(drop)
}

pub fn interface_index(name: &std::ffi::CStr) -> Option<u32> {
    match unsafe { if_nametoindex(name.as_ptr()) } {
        0 => None,
        index => Some(index),
    }
}
