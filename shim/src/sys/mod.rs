//! The doorway to the C library: functions that std does not offer, declared by hand for x86_64 and aarch64 Linux.
//! The wrappers make no decisions; each one turns -1 into an `io::Error`.

mod clocks;
mod descriptors;
mod file_systems;
mod processes;
mod signals;
mod sockets;

pub use clocks::*;
pub use descriptors::*;
pub use file_systems::*;
pub use processes::*;
pub use signals::*;
pub use sockets::*;

use std::io;
use std::os::raw::{c_char, c_int};
use std::os::unix::io::{FromRawFd, OwnedFd};

pub const EPERM: i32 = 1;
pub const ENOENT: i32 = 2;
pub const ESRCH: i32 = 3;
pub const EINTR: i32 = 4;
pub const EAGAIN: i32 = 11;
pub const EBUSY: i32 = 16;
pub const EEXIST: i32 = 17;
pub const ENODEV: i32 = 19;
pub const ENOTDIR: i32 = 20;
pub const EINVAL: i32 = 22;
pub const ETXTBSY: i32 = 26;
pub const EPROTO: i32 = 71;
pub const EOPNOTSUPP: i32 = 95;
pub const ETIMEDOUT: i32 = 110;
pub const ESTALE: i32 = 116;

extern "C" {
    fn strerror(number: c_int) -> *const c_char;
}

fn check(result: c_int) -> io::Result<c_int> {
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// A descriptor that a call has just made, and that nobody else holds.
fn check_new(descriptor: c_int) -> io::Result<OwnedFd> {
    check(descriptor).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Errors that std made itself have no number and count as EINVAL.
pub fn errno_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(EINVAL)
}

/// "No such file or directory".
pub fn errno_words(errno: i32) -> String {
    unsafe {
        let pointer = strerror(errno);
        if pointer.is_null() {
            return format!("errno {}", errno);
        }
        std::ffi::CStr::from_ptr(pointer).to_string_lossy().into_owned()
    }
}

/// "No such file or directory (errno 2)".
pub fn errno_text(errno: i32) -> String {
    format!("{} (errno {})", errno_words(errno), errno)
}

pub fn error_text(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(errno) => errno_text(errno),
        None => error.to_string(),
    }
}
