//! Descriptors: pipes, flags, waiting, and plain reads and writes.

use std::fs;
use std::io;
use std::os::raw::{c_int, c_long, c_uint, c_void};
use std::os::unix::io::{FromRawFd, OwnedFd, RawFd};

use super::{check, SOCK_CLOEXEC};

pub const POLLIN: i16 = 1;
pub const POLLOUT: i16 = 4;
pub const O_CREAT: c_int = 0o100;
pub const O_NONBLOCK: c_int = 0o4000;
#[cfg(target_arch = "x86_64")]
pub const O_NOFOLLOW: c_int = 0o400_000;
#[cfg(not(target_arch = "x86_64"))]
pub const O_NOFOLLOW: c_int = 0o100_000;
const LOCK_EX: c_int = 2;
const F_GETFL: c_int = 3;
const F_SETFL: c_int = 4;
const F_SETFD: c_int = 2;
const FD_CLOEXEC: c_int = 1;
const SYS_CLOSE_RANGE: c_long = 436;
const CLOSE_RANGE_CLOEXEC: c_uint = 4;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct PollFd {
    pub fd: RawFd,
    pub events: i16,
    pub revents: i16,
}

extern "C" {
    fn poll(fds: *mut PollFd, count: usize, timeout_ms: c_int) -> c_int;
    fn pipe2(fds: *mut c_int, flags: c_int) -> c_int;
    fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    fn syscall(number: c_long, ...) -> c_long;
    fn close(fd: c_int) -> c_int;
    fn flock(fd: c_int, operation: c_int) -> c_int;
    fn dup2(from: c_int, to: c_int) -> c_int;
    fn read(fd: c_int, buffer: *mut c_void, length: usize) -> isize;
    fn write(fd: c_int, buffer: *const c_void, length: usize) -> isize;
}

/// A pipe as (read end, write end), both closed on exec.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    check(unsafe { pipe2(fds.as_mut_ptr(), SOCK_CLOEXEC) })?;
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}

/// Puts a descriptor in the place of another one. The copy stays open on exec.
pub fn replace(from: RawFd, to: RawFd) -> io::Result<()> {
    check(unsafe { dup2(from, to) }).map(drop)
}

/// Waits until no other process has the file locked, and locks it until the descriptor is closed.
pub fn lock_file(fd: RawFd) -> io::Result<()> {
    check(unsafe { flock(fd, LOCK_EX) }).map(drop)
}

pub fn set_nonblocking(fd: RawFd) -> io::Result<()> {
    let flags = check(unsafe { fcntl(fd, F_GETFL) })?;
    check(unsafe { fcntl(fd, F_SETFL, flags | O_NONBLOCK) }).map(drop)
}

pub fn set_close_on_exec(fd: RawFd) -> io::Result<()> {
    check(unsafe { fcntl(fd, F_SETFD, FD_CLOEXEC) }).map(drop)
}

/// Marks every descriptor from 3 up close-on-exec. Kernels before 5.11 do not have this call.
pub fn close_range_on_exec() -> io::Result<()> {
    let result = unsafe { syscall(SYS_CLOSE_RANGE, 3 as c_uint, c_uint::MAX, CLOSE_RANGE_CLOEXEC) };
    check(result as c_int).map(drop)
}

/// Closes every descriptor from 3 up except one, in a forked child that will not exec. Kernels before 5.9 and some
/// sandboxes have no call for a range, so there is a slow way too.
pub fn close_all_but(kept: RawFd) {
    let close_range = |first: RawFd, last: c_uint| -> bool {
        let first = first as c_uint;
        first > last || unsafe { syscall(SYS_CLOSE_RANGE, first, last, 0 as c_uint) } == 0
    };
    if close_range(3, kept.max(3) as c_uint - 1) && close_range(kept.max(2) + 1, c_uint::MAX) {
        return;
    }
    for fd in open_descriptors().unwrap_or_default().into_iter().filter(|fd| *fd > 2 && *fd != kept) {
        // The listing's own descriptor is closed already, and closing it again does no harm.
        unsafe { close(fd) };
    }
}

fn open_descriptors() -> io::Result<Vec<RawFd>> {
    let mut open = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        open.extend(entry?.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok()));
    }
    Ok(open)
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

/// An interruption counts as nothing ready: callers look again anyway.
pub fn poll_fds(fds: &mut [PollFd], timeout_ms: c_int) {
    unsafe { poll(fds.as_mut_ptr(), fds.len(), timeout_ms) };
}
