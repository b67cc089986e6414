//! A scratch network namespace: a child process makes it and holds it. The child ends with the hand, so the namespace is
//! never left behind.

use std::fs;
use std::io;
use std::time::Duration;

use crate::orders::forked_job::{pipe_to_child, settle_as_child, write_all};
use crate::orders::outcome::Outcome;
use crate::plugin::stream::{Keep, Stream};
use crate::sys::{self, Exit, PollFd};

/// The kernel makes a namespace only after it removed others, which takes a second or two on a busy node.
pub const MAKE_MS_MAX: u64 = 10_000;
const REPORT_BYTES_MAX: usize = 4_096;

/// The child process that holds the namespace. Dropping it ends both.
pub struct ScratchNetns {
    child: i32,
    report: Stream,
    /// Then another process can have its process ID.
    exited: bool,
}

impl ScratchNetns {
    pub fn start() -> io::Result<ScratchNetns> {
        let (read_end, write_end) = pipe_to_child()?;
        let parent = std::process::id() as i32;
        match sys::fork_process()? {
            Some(child) => {
                Ok(ScratchNetns { child, report: Stream::new(read_end, REPORT_BYTES_MAX, Keep::Start), exited: false })
            }
            None => {
                if settle_as_child(parent, &write_end).is_err() {
                    sys::exit_now(1);
                }
                let (errno, text) = make_netns();
                write_all(&write_end, &[&errno.to_le_bytes()[..], text.as_bytes()].concat());
                drop(write_end);
                if errno != 0 {
                    sys::exit_now(1);
                }
                loop {
                    std::thread::sleep(Duration::from_secs(3_600));
                }
            }
        }
    }

    /// Waits for the child's report.
    pub fn interest(&self, fds: &mut Vec<PollFd>) {
        self.report.interest(fds);
    }

    pub fn exited(&mut self, exit: &mut Option<Exit>) {
        if exit.as_ref().map_or(false, |exit| exit.pid == self.child) {
            self.exited = true;
            *exit = None;
        }
    }

    pub fn too_late() -> Outcome {
        let message = "Cannot make a scratch network namespace: it took too long";
        Outcome::failed("timeout", Some(sys::ETIMEDOUT), message)
    }

    /// The path of the namespace, once the child has reported it.
    pub fn path(&mut self) -> Option<Result<String, (i32, String)>> {
        self.report.read();
        if !self.report.is_ended() {
            return None;
        }
        let bytes = self.report.bytes();
        let text = |from: usize| String::from_utf8_lossy(&bytes[from..]).into_owned();
        Some(match bytes.get(..4) {
            Some([0, 0, 0, 0]) => Ok(text(4)),
            Some(number) => Err((i32::from_le_bytes([number[0], number[1], number[2], number[3]]), text(4))),
            None => Err((
                sys::EPROTO,
                "Cannot make a scratch network namespace: the child process sent no report".to_string(),
            )),
        })
    }
}

impl Drop for ScratchNetns {
    fn drop(&mut self) {
        if !self.exited {
            let _gone_already = sys::send_signal(self.child, sys::SIGKILL);
        }
    }
}

/// In the child: an errno and a message, or 0 and the path of its new namespace.
fn make_netns() -> (i32, String) {
    // Use the process ID of /proc, which may be mounted for another PID namespace.
    let made = sys::leave_netns().and_then(|()| fs::read_link("/proc/self"));
    match made {
        Ok(own) => (0, format!("/proc/{}/ns/net", own.display())),
        Err(error) => {
            (sys::errno_of(&error), format!("Cannot make a scratch network namespace: {}", sys::error_text(&error)))
        }
    }
}
