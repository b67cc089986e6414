//! Signals read from a descriptor, and their reset in a child.

use std::io;
use std::os::raw::c_int;
use std::os::unix::io::{OwnedFd, RawFd};

use super::{check, check_new, read_some, SOCK_CLOEXEC, SOCK_NONBLOCK};

pub const SIGINT: c_int = 2;
pub const SIGKILL: c_int = 9;
pub const SIGTERM: c_int = 15;
pub const SIGCHLD: c_int = 17;
const SIGNAL_MAX: c_int = 64;
const SIG_BLOCK: c_int = 0;
const SIG_SETMASK: c_int = 2;
const SIG_DFL: usize = 0;

/// glibc's sigset_t: 1,024 bits.
#[repr(C)]
#[derive(Clone, Copy)]
struct SignalSet([u64; 16]);

extern "C" {
    fn signal(number: c_int, handler: usize) -> usize;
    fn sigprocmask(how: c_int, set: *const SignalSet, old: *mut SignalSet) -> c_int;
    fn signalfd(fd: c_int, set: *const SignalSet, flags: c_int) -> c_int;
}

fn signal_set(numbers: &[c_int]) -> SignalSet {
    let mut set = SignalSet([0; 16]);
    for number in numbers {
        set.0[0] |= 1 << (number - 1);
    }
    set
}

/// Blocks these signals and returns a descriptor that becomes readable when one arrives.
pub fn signal_descriptor(numbers: &[c_int]) -> io::Result<OwnedFd> {
    let set = signal_set(numbers);
    check(unsafe { sigprocmask(SIG_BLOCK, &set, std::ptr::null_mut()) })?;
    check_new(unsafe { signalfd(-1, &set, SOCK_NONBLOCK | SOCK_CLOEXEC) })
}

/// The number of the next signal waiting in the descriptor.
pub fn next_signal(fd: RawFd) -> Option<c_int> {
    let mut record = [0u8; 128];
    match read_some(fd, &mut record) {
        Ok(128) => Some(i32::from_le_bytes([record[0], record[1], record[2], record[3]])),
        _ => None,
    }
}

/// Empties the mask and leaves the handlers as they are.
pub fn unblock_signals() {
    unsafe { sigprocmask(SIG_SETMASK, &signal_set(&[]), std::ptr::null_mut()) };
}

/// Default handlers and an empty mask: a plugin must not inherit our blocked SIGCHLD or our ignored SIGPIPE.
pub fn reset_signals() {
    unsafe {
        for number in 1..=SIGNAL_MAX {
            signal(number, SIG_DFL);
        }
    }
    unblock_signals();
}
