//! ROUTES: a short-lived child enters the namespace and changes the routes there, so that the hand itself never leaves
//! its own. It reports through a pipe: four bytes errno, then a message.

use std::fs::File;
use std::io;
use std::os::unix::io::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Instant;

use crate::clock::ms;
use crate::frame::Fields;
use crate::identity::Inode;
use crate::job::Job;
use crate::netlink::Netlink;
use crate::orders::RoutesOrder;
use crate::outcome::Outcome;
use crate::stream::{Keep, Stream};
use crate::sys::{self, Exit, PollFd};

/// The kernel's lock around routes is shared with every other plugin on the node, but not for that long.
const TIMEOUT_MS: u64 = 10_000;
const REPORT_BYTES_MAX: usize = 4_096;

pub struct RoutesJob {
    step: u64,
    child: i32,
    report: Stream,
    deadline: Instant,
    exited: bool,
    killed: bool,
}

impl RoutesJob {
    pub fn begin(order: &RoutesOrder, expected: Option<Inode>) -> io::Result<RoutesJob> {
        let (read_end, write_end) = sys::pipe()?;
        let (read_end, write_end) = unsafe { (OwnedFd::from_raw_fd(read_end), OwnedFd::from_raw_fd(write_end)) };
        sys::set_nonblocking(read_end.as_raw_fd())?;
        let parent = std::process::id() as i32;
        match sys::fork_process()? {
            Some(child) => Ok(RoutesJob {
                step: order.step,
                child,
                report: Stream::new(read_end, REPORT_BYTES_MAX, Keep::Start),
                deadline: Instant::now() + ms(TIMEOUT_MS),
                exited: false,
                killed: false,
            }),
            None => work_and_exit(order, expected, parent, &write_end),
        }
    }

    fn outcome(&self) -> Outcome {
        let bytes = self.report.bytes();
        match bytes.get(..4) {
            Some([0, 0, 0, 0]) => Outcome::done(Fields::new()),
            Some(number) => {
                let errno = i32::from_le_bytes([number[0], number[1], number[2], number[3]]);
                Outcome::failed("routes", Some(errno), &String::from_utf8_lossy(&bytes[4..]))
            }
            None if self.killed => {
                let message = "Cannot tell whether the routes were changed: it was stopped before it was done";
                Outcome::failed("routes", Some(sys::ETIMEDOUT), message)
            }
            None => Outcome::failed(
                "routes",
                Some(sys::EPROTO),
                "Cannot tell whether the routes were changed: no report came",
            ),
        }
    }
}

impl Job for RoutesJob {
    fn step(&self) -> u64 {
        self.step
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

fn work_and_exit(order: &RoutesOrder, expected: Option<Inode>, parent: i32, report: &OwnedFd) -> ! {
    if sys::die_with_parent(parent).is_ok() {
        let _own_group_is_a_nicety = sys::own_group();
        // A plugin that runs beside us must see the end of its stdin when the hand closes it.
        sys::close_all_but(report.as_raw_fd());
        let (errno, message) = work(order, expected).err().unwrap_or_default();
        let bytes = [&errno.to_le_bytes()[..], message.as_bytes()].concat();
        let _nobody_to_tell = sys::write_some(report.as_raw_fd(), &bytes[..bytes.len().min(REPORT_BYTES_MAX)]);
    }
    sys::exit_now(0)
}

fn work(order: &RoutesOrder, expected: Option<Inode>) -> Result<(), (i32, String)> {
    let told = |doing: &str, error: io::Error| {
        (sys::errno_of(&error), format!("Cannot {} {}: {}", doing, order.netns, sys::error_text(&error)))
    };
    let namespace = File::open(&order.netns).map_err(|error| told("open the network namespace", error))?;
    let facts = namespace.metadata().map_err(|error| told("look at the network namespace", error))?;
    if expected.map_or(false, |expected| expected != Inode::of(&facts)) {
        let message = format!(
            "Cannot change routes in {}: it is another network namespace than when the call began",
            order.netns
        );
        return Err((sys::ENOENT, message));
    }
    sys::enter_netns(namespace.as_raw_fd()).map_err(|error| told("enter the network namespace", error))?;
    let netlink = Netlink::open().map_err(|error| told("open a netlink socket in", error))?;
    order.ops.iter().try_for_each(|op| op.apply(&netlink))
}
