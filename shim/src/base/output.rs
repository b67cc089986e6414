//! Writing to stdout and stderr. A reader that is gone or slow is a result, not a crash.

use std::io;
use std::time::Instant;

use crate::base::clock::ms_until;
use crate::sys;

/// Below PIPE_BUF a pipe that polls writable takes a write whole, so a slow reader cannot block us.
const CHUNK_BYTES: usize = 4_096;

/// The error is the errno that stopped the write.
pub fn write_stdout(bytes: &[u8], until: Instant) -> Result<(), i32> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let mut ready = [sys::PollFd { fd: 1, events: sys::POLLOUT, revents: 0 }];
        sys::poll_fds(&mut ready, ms_until(until) as i32);
        if ready[0].revents == 0 {
            if Instant::now() < until {
                continue;
            }
            return Err(sys::ETIMEDOUT);
        }
        match sys::write_some(1, &rest[..rest.len().min(CHUNK_BYTES)]) {
            Ok(count) => rest = &rest[count..],
            Err(error) => match sys::errno_of(&error) {
                sys::EINTR | sys::EAGAIN => {}
                errno => return Err(errno),
            },
        }
    }
    Ok(())
}

/// For a plugin, whose reader is the hand, which kills it when its time is over.
pub fn write_all_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match sys::write_some(1, rest) {
            Ok(count) => rest = &rest[count..],
            Err(error) if error.raw_os_error() == Some(sys::EINTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes one line for people. An error is ignored, because stderr may have no reader.
pub fn write_stderr(line: &str) {
    let _may_have_no_reader = sys::write_some(2, format!("{}\n", line).as_bytes());
}
