//! An order that a short-lived child carries out, because it enters another namespace or may wait for a slow disk. The
//! child reports through a pipe: four bytes errno, four bytes length, then the fields of the outcome or, with an errno,
//! a message.

use std::io;
use std::os::unix::io::{AsRawFd, OwnedFd};
use std::time::Instant;

use crate::base::clock::ms;
use crate::orders::job::Job;
use crate::orders::outcome::Outcome;
use crate::plugin::stream::{Keep, Stream};
use crate::sys::{self, Exit, PollFd};
use crate::wire::frame::Fields;

/// Every plugin on the node takes the kernel's lock on links and routes, but none holds it this long.
const TIMEOUT_MS: u64 = 10_000;
const HEAD_BYTES: usize = 8;
/// Room for the largest outcome that fits into a frame.
const REPORT_BYTES_MAX: usize = HEAD_BYTES + 1_000_000;
const MESSAGE_BYTES_MAX: usize = 4_096;

/// The fields of the outcome, or an errno and a message.
pub type Found = Result<Fields, (i32, String)>;

/// The parts of an order that its outcome needs.
pub struct About {
    pub step: u64,
    /// The name of a failure in the protocol.
    pub failure: &'static str,
    /// Completes "Cannot tell …", the message when no report comes.
    pub question: &'static str,
}

pub struct ForkedJob {
    about: About,
    child: i32,
    report: Stream,
    deadline: Instant,
    exited: bool,
    killed: bool,
}

impl ForkedJob {
    pub fn begin(about: About, work: impl FnOnce() -> Found) -> io::Result<ForkedJob> {
        let (read_end, write_end) = pipe_to_child()?;
        let parent = std::process::id() as i32;
        match sys::fork_process()? {
            Some(child) => Ok(ForkedJob {
                about,
                child,
                report: Stream::new(read_end, REPORT_BYTES_MAX, Keep::Start),
                deadline: Instant::now() + ms(TIMEOUT_MS),
                exited: false,
                killed: false,
            }),
            None => {
                if settle_as_child(parent, &write_end).is_ok() {
                    write_all(&write_end, &encode(work()));
                }
                sys::exit_now(0)
            }
        }
    }

    fn outcome(&self) -> Outcome {
        let failed = |errno: i32, message: &str| Outcome::failed(self.about.failure, Some(errno), message);
        match decode(self.report.bytes()) {
            Some(Ok(fields)) => Outcome::done(fields),
            Some(Err((errno, message))) => failed(errno, &message),
            None if self.killed => failed(
                sys::ETIMEDOUT,
                &format!("Cannot tell {}: the child process was stopped before it ended", self.about.question),
            ),
            None => {
                failed(sys::EPROTO, &format!("Cannot tell {}: the child process sent no report", self.about.question))
            }
        }
    }
}

impl Job for ForkedJob {
    fn step(&self) -> u64 {
        self.about.step
    }

    fn interest(&self, fds: &mut Vec<PollFd>) {
        self.report.interest(fds);
    }

    fn wake_at(&self) -> Instant {
        self.deadline
    }

    fn exited(&mut self, exit: &mut Option<Exit>) {
        if exit.as_ref().map_or(false, |exit| exit.pid == self.child) {
            self.exited = true;
            *exit = None;
        }
    }

    fn advance(&mut self, now: Instant) -> Option<Outcome> {
        self.report.read();
        if now >= self.deadline && !self.killed {
            self.kill();
            self.deadline = now + ms(1_000);
            return None;
        }
        let is_over = self.exited && self.report.is_ended();
        (is_over || (self.killed && now >= self.deadline)).then(|| self.outcome())
    }

    fn kill(&mut self) {
        self.killed = true;
        if !self.exited {
            let _gone_already = sys::send_signal(self.child, sys::SIGKILL);
        }
    }
}

/// A pipe as (our end, the child's end). Our end does not block.
pub fn pipe_to_child() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read_end, write_end) = sys::pipe()?;
    sys::set_nonblocking(read_end.as_raw_fd())?;
    Ok((read_end, write_end))
}

/// The first act of every forked child: it will end with its parent, and it closes everything except the pipe.
pub fn settle_as_child(parent: i32, report: &OwnedFd) -> io::Result<()> {
    sys::die_with_parent(parent)?;
    let _own_group_is_a_nicety = sys::own_group();
    // Otherwise a plugin would not see the end of its stdin when the hand closes it.
    sys::close_all_but(report.as_raw_fd());
    Ok(())
}

/// An error is not reported: the reader finds that the report is too short.
pub fn write_all(report: &OwnedFd, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match sys::write_some(report.as_raw_fd(), bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.raw_os_error() == Some(sys::EINTR) => {}
            Err(_) => return,
        }
    }
}

fn encode(found: Found) -> Vec<u8> {
    let (errno, body) = match found {
        Ok(fields) => (0, fields.into_bytes()),
        Err((errno, message)) => {
            // 0 would mean success.
            let errno = if errno == 0 { sys::EPROTO } else { errno };
            (errno, message.into_bytes().into_iter().take(MESSAGE_BYTES_MAX).collect())
        }
    };
    [&errno.to_le_bytes()[..], &(body.len() as u32).to_le_bytes()[..], &body].concat()
}

/// None if the report is not complete.
fn decode(bytes: &[u8]) -> Option<Found> {
    let number = |from: usize| -> Option<u32> {
        let bytes = bytes.get(from..from + 4)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    let (errno, length) = (number(0)? as i32, number(4)? as usize);
    let body = bytes.get(HEAD_BYTES..HEAD_BYTES + length)?;
    Some(match errno {
        0 => Ok(Fields::of_bytes(body)),
        errno => Err((errno, String::from_utf8_lossy(body).into_owned())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::tag;

    #[test]
    fn a_report_comes_back_and_a_part_of_it_is_none() {
        let fields = Fields::new().text(tag::LINK, "lo");
        let done = encode(Ok(fields.clone()));
        assert_eq!(decode(&done).unwrap().unwrap().into_bytes(), fields.into_bytes());
        let failed = encode(Err((2, "gone".to_string())));
        assert_eq!(decode(&failed).unwrap().err(), Some((2, "gone".to_string())));
        for length in 0..done.len() {
            assert!(decode(&done[..length]).is_none(), "{}", length);
        }
        assert_eq!(decode(&encode(Err((0, "?".to_string())))).unwrap().err(), Some((sys::EPROTO, "?".to_string())));
    }
}
