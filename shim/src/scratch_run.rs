//! RUN in a scratch network namespace: a child makes one and holds it for as long as the run lasts. It ends with the
//! hand, so that whatever happens nothing of the namespace is left.

use std::fs;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::clock::ms;
use crate::forked_job::{pipe_to_child, settle_as_child, write_all};
use crate::job::Job;
use crate::orders::RunOrder;
use crate::outcome::Outcome;
use crate::run::{Run, Surroundings};
use crate::stream::{Keep, Stream};
use crate::sys::{self, Exit, PollFd};

/// Making one waits for others that are being taken down, on a busy node for a second or two.
const MAKE_MS_MAX: u64 = 10_000;
const REPORT_BYTES_MAX: usize = 4_096;

/// The child that holds the namespace; dropping it lets both go.
struct Holder {
    child: i32,
    report: Stream,
    /// Somebody else may have its number then.
    exited: bool,
}

pub struct ScratchRun {
    order: Rc<RunOrder>,
    surroundings: Surroundings,
    holder: Holder,
    make_until: Instant,
    killed: bool,
    run: Option<Run>,
}

impl ScratchRun {
    pub fn begin(order: Rc<RunOrder>, surroundings: Surroundings) -> io::Result<ScratchRun> {
        let make_until = Instant::now() + ms(MAKE_MS_MAX).min(order.timeout);
        Ok(ScratchRun { order, surroundings, holder: Holder::start()?, make_until, killed: false, run: None })
    }

    /// Starts the plugin once the namespace is there; answers when it never will be.
    fn make(&mut self, now: Instant) -> Option<Outcome> {
        match self.holder.path() {
            _ if self.killed => {
                Some(Outcome::failed("killed", None, "Killed as the daemon asked, before it was started"))
            }
            Some(Ok(path)) => {
                let order = self.order.with_netns(&path);
                self.run = Some(Run::begin(Rc::new(order), self.surroundings.clone()));
                None
            }
            Some(Err((errno, message))) => Some(Outcome::failed("exec", Some(errno), &message)),
            None if now >= self.make_until => {
                let message = "Cannot make a scratch network namespace: it takes too long";
                Some(Outcome::failed("timeout", Some(sys::ETIMEDOUT), message))
            }
            None => None,
        }
    }
}

impl Job for ScratchRun {
    fn step(&self) -> u64 {
        self.order.step
    }

    fn is_run(&self) -> bool {
        true
    }

    fn interest(&self, fds: &mut Vec<PollFd>) {
        match &self.run {
            Some(run) => run.interest(fds),
            None => self.holder.report.interest(fds),
        }
    }

    fn wake_at(&self) -> Instant {
        match &self.run {
            Some(run) => run.wake_at(),
            None if self.killed => Instant::now(),
            None => self.make_until,
        }
    }

    fn next_look(&self) -> Option<Instant> {
        self.run.as_ref().and_then(Run::next_look)
    }

    fn look(&mut self, now: Instant) {
        if let Some(run) = &mut self.run {
            run.look(now);
        }
    }

    fn take_progress(&mut self) -> Option<u64> {
        self.run.as_mut().and_then(Run::take_progress)
    }

    fn exited(&mut self, exit: &mut Option<Exit>) {
        if exit.as_ref().map_or(false, |exit| exit.pid == self.holder.child) {
            self.holder.exited = true;
            *exit = None;
        }
        if let Some(run) = &mut self.run {
            run.exited(exit);
        }
    }

    fn advance(&mut self, now: Instant) -> Option<Outcome> {
        if self.run.is_none() {
            if let Some(outcome) = self.make(now) {
                return Some(outcome);
            }
        }
        self.run.as_mut().and_then(|run| run.advance(now))
    }

    fn kill(&mut self) {
        self.killed = true;
        if let Some(run) = &mut self.run {
            run.kill();
        }
    }
}

impl Holder {
    fn start() -> io::Result<Holder> {
        let (read_end, write_end) = pipe_to_child()?;
        let parent = std::process::id() as i32;
        match sys::fork_process()? {
            Some(child) => {
                Ok(Holder { child, report: Stream::new(read_end, REPORT_BYTES_MAX, Keep::Start), exited: false })
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

    /// Where the namespace is, once the child has said so.
    fn path(&mut self) -> Option<Result<String, (i32, String)>> {
        self.report.read();
        if !self.report.is_ended() {
            return None;
        }
        let bytes = self.report.bytes();
        let text = |from: usize| String::from_utf8_lossy(&bytes[from..]).into_owned();
        Some(match bytes.get(..4) {
            Some([0, 0, 0, 0]) => Ok(text(4)),
            Some(number) => Err((i32::from_le_bytes([number[0], number[1], number[2], number[3]]), text(4))),
            None => Err((sys::EPROTO, "Cannot make a scratch network namespace: no report came".to_string())),
        })
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        if !self.exited {
            let _gone_already = sys::send_signal(self.child, sys::SIGKILL);
        }
    }
}

/// In the child: an errno and a message, or 0 and the path of its new namespace.
fn make_netns() -> (i32, String) {
    // The number that /proc gives us: it may have been mounted for another PID namespace than ours.
    let made = sys::leave_netns().and_then(|()| fs::read_link("/proc/self"));
    match made {
        Ok(own) => (0, format!("/proc/{}/ns/net", own.display())),
        Err(error) => {
            (sys::errno_of(&error), format!("Cannot make a scratch network namespace: {}", sys::error_text(&error)))
        }
    }
}
