//! Writing to stdout and stderr, where a reader that is gone or slow is an answer, not a crash.

use std::time::Instant;

use crate::clock::ms_until;
use crate::sys;

/// Below PIPE_BUF a pipe that polls writable takes a write whole, so a slow reader cannot block us.
const CHUNK_BYTES: usize = 4_096;

/// Writes everything to stdout, or tells the errno that stopped it.
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

/// One line for people on stderr. Nobody may be listening, and that is fine.
pub fn note(line: &str) {
    let _nobody_listens = sys::write_some(2, format!("{}\n", line).as_bytes());
}
