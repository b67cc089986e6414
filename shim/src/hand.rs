//! The hand: carries out orders side by side in one loop, and collects every child that ends below it.

use std::fs;
use std::io;
use std::os::unix::io::{AsRawFd, FromRawFd, OwnedFd};
use std::rc::Rc;
use std::time::Instant;

use crate::clock::{ms, ms_until};
use crate::frame::{Fields, Frame};
use crate::frame_type as kind;
use crate::identity::Inode;
use crate::job::Job;
use crate::links::{self, LinksOrder};
use crate::list::{self, ListOrder};
use crate::orders::{ReapOrder, RoutesOrder, Rules, RunOrder};
use crate::outcome::Outcome;
use crate::probe_door::ProbeDoor;
use crate::reap::Reap;
use crate::routes_job;
use crate::run::{Run, Surroundings};
use crate::scratch_run::ScratchRun;
use crate::sys;
use crate::tag;

/// Orders of all kinds in progress; far more than a daemon that keeps the protocol ever asks for.
const JOBS_MAX: usize = 32;
/// How long killed jobs are waited for before we leave them to the kernel.
const KILL_WAIT_MS: u64 = 4_000;

pub struct Hand {
    rules: Rules,
    surroundings: Surroundings,
    /// What the call's own netns path led to when the call began; another one there later is not touched.
    netns_inode: Option<Inode>,
    signals: OwnedFd,
    probe_door: Option<ProbeDoor>,
    jobs: Vec<Box<dyn Job>>,
    ended: Vec<Ended>,
    stop_asked: bool,
    /// Whether anybody wants to know how runs move; otherwise nobody looks.
    tells_progress: bool,
}

/// How a run that goes on moves.
pub struct Progress {
    pub step: u64,
    pub idle_ms: u64,
}

/// An order that is over.
pub struct Ended {
    pub step: u64,
    pub outcome: Outcome,
}

impl Hand {
    /// `signals` are delivered through the loop; SIGCHLD must be among them.
    pub fn new(rules: Rules, surroundings: Surroundings, signals: &[i32]) -> io::Result<Hand> {
        let signals = unsafe { OwnedFd::from_raw_fd(sys::signal_descriptor(signals)?) };
        Ok(Hand {
            rules,
            surroundings,
            netns_inode: None,
            signals,
            probe_door: None,
            jobs: Vec::new(),
            ended: Vec::new(),
            stop_asked: false,
            tells_progress: false,
        })
    }

    pub fn with_netns(mut self, inode: Option<Inode>) -> Hand {
        self.netns_inode = inode;
        self
    }

    pub fn with_probe_door(mut self, door: Option<ProbeDoor>) -> Hand {
        self.probe_door = door;
        self
    }

    /// For whoever asks at the door.
    pub fn set_connected(&mut self, is_connected: bool) {
        if let Some(door) = &mut self.probe_door {
            door.is_connected = is_connected;
        }
    }

    /// Whether the daemon we talk to now understands how runs move.
    pub fn tell_progress(&mut self, is_wanted: bool) {
        self.tells_progress = is_wanted;
    }

    /// Begins one order. An error means that the frame broke the protocol.
    pub fn take(&mut self, frame: &Frame) -> Result<(), String> {
        if self.jobs.len() >= JOBS_MAX && frame.kind != kind::KILL {
            let message = format!("Cannot carry out more than {} orders at a time", JOBS_MAX);
            self.end(frame.step()?, Outcome::refused(&message));
            return Ok(());
        }
        match frame.kind {
            kind::RUN => self.run(Rc::new(RunOrder::read(frame)?)),
            kind::ROUTES => self.change_routes(RoutesOrder::read(frame)?),
            kind::STAT => self.stat(frame.step()?, &frame.texts(tag::PATH)?),
            kind::REAP => self.reap(ReapOrder::read(frame)?),
            kind::LINKS => self.look_at_links(LinksOrder::read(frame)?),
            kind::LIST => self.list(ListOrder::read(frame)?),
            kind::KILL => self.kill(frame.step()?),
            other => return Err(format!("Cannot carry out a frame of type {}", other)),
        }
        Ok(())
    }

    pub fn run(&mut self, order: Rc<RunOrder>) {
        let running = self.jobs.iter().filter(|job| job.is_run()).count();
        let refusal = order.refusal(&self.rules).or_else(|| {
            let most = self.rules.runs_at_once();
            (running >= most)
                .then(|| format!("Cannot run more than {} plugins at a time: {} are running", most, running))
        });
        match refusal {
            Some(message) => self.end(order.step, Outcome::refused(&message)),
            None if order.scratch_netns => {
                let (step, surroundings) = (order.step, self.surroundings.clone());
                self.begin(step, "exec", ScratchRun::begin(order, surroundings));
            }
            None => self.jobs.push(Box::new(Run::begin(order, self.surroundings.clone()))),
        }
    }

    fn change_routes(&mut self, order: RoutesOrder) {
        match order.refusal(&self.rules) {
            Some(message) => self.end(order.step, Outcome::refused(&message)),
            None => self.begin(order.step, "routes", routes_job::begin(&order, self.netns_inode)),
        }
    }

    fn look_at_links(&mut self, order: LinksOrder) {
        match order.refusal(&self.rules) {
            Some(message) => self.end(order.step, Outcome::refused(&message)),
            None => self.begin(order.step, "links", links::begin(&order, self.netns_inode)),
        }
    }

    fn list(&mut self, order: ListOrder) {
        match order.refusal(&self.rules) {
            Some(message) => self.end(order.step, Outcome::refused(&message)),
            None => self.begin(order.step, "list", list::begin(&order)),
        }
    }

    /// A job whose child may not have been started.
    fn begin<J: Job + 'static>(&mut self, step: u64, failure: &str, job: io::Result<J>) {
        match job {
            Ok(job) => self.jobs.push(Box::new(job)),
            Err(error) => {
                let message = format!("Cannot start a process for it: {}", sys::error_text(&error));
                self.end(step, Outcome::failed(failure, Some(sys::errno_of(&error)), &message));
            }
        }
    }

    fn reap(&mut self, order: ReapOrder) {
        match order.refusal() {
            Some(message) => self.end(order.step, Outcome::refused(&message)),
            None => self.jobs.push(Box::new(Reap::begin(&order))),
        }
    }

    fn stat(&mut self, step: u64, paths: &[String]) {
        let outcome = stat_all(paths).unwrap_or_else(|refusal| refusal);
        self.end(step, outcome);
    }

    fn kill(&mut self, step: u64) {
        self.jobs.iter_mut().filter(|job| job.step() == step).for_each(|job| job.kill());
    }

    fn end(&mut self, step: u64, outcome: Outcome) {
        self.ended.push(Ended { step, outcome });
    }

    pub fn is_idle(&self) -> bool {
        self.jobs.is_empty() && self.ended.is_empty()
    }

    /// Whether an outcome waits to be taken: then there is nothing to wait for.
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Whether one of the signals other than SIGCHLD arrived.
    pub fn is_asked_to_stop(&self) -> bool {
        self.stop_asked
    }

    /// Waits for anything to happen, at most until then, and does what can be done.
    pub fn wait(&mut self, also: &mut Vec<sys::PollFd>, until: Instant) {
        also.push(sys::PollFd { fd: self.signals.as_raw_fd(), events: sys::POLLIN, revents: 0 });
        self.jobs.iter().for_each(|job| job.interest(also));
        self.probe_door.iter().for_each(|door| door.interest(also));
        let wake = self.jobs.iter().map(|job| self.wake_at(job.as_ref())).fold(until, Instant::min);
        sys::poll_fds(also, ms_until(wake).min(60_000) as i32);
        self.advance();
        self.probe_door.iter().for_each(|door| door.answer(self.jobs.len()));
    }

    fn wake_at(&self, job: &dyn Job) -> Instant {
        let wake_at = job.wake_at();
        match job.next_look() {
            Some(next_look) if self.tells_progress => wake_at.min(next_look),
            _ => wake_at,
        }
    }

    /// What was seen of the runs that go on since the last time.
    pub fn take_progress(&mut self) -> Vec<Progress> {
        let told = |job: &mut Box<dyn Job>| job.take_progress().map(|idle_ms| Progress { step: job.step(), idle_ms });
        self.jobs.iter_mut().filter_map(told).collect()
    }

    /// What ended since the last time.
    pub fn take_ended(&mut self) -> Vec<Ended> {
        std::mem::take(&mut self.ended)
    }

    /// Waits until nothing is in progress; false when that took too long.
    pub fn finish_jobs(&mut self, until: Instant) -> bool {
        while !self.jobs.is_empty() {
            if Instant::now() >= until {
                return false;
            }
            self.wait(&mut Vec::new(), until);
        }
        true
    }

    /// Kills what is in progress, whole groups, and waits for it to be gone.
    pub fn kill_jobs(&mut self) {
        self.jobs.iter_mut().for_each(|job| job.kill());
        self.finish_jobs(Instant::now() + ms(KILL_WAIT_MS));
        self.jobs.clear();
    }

    fn advance(&mut self) {
        while let Some(number) = sys::next_signal(self.signals.as_raw_fd()) {
            self.stop_asked |= number != sys::SIGCHLD;
        }
        while let Some(exit) = sys::next_exit(sys::WNOHANG) {
            let mut exit = Some(exit);
            self.jobs.iter_mut().for_each(|job| job.exited(&mut exit));
        }
        let now = Instant::now();
        let ended = &mut self.ended;
        self.jobs.retain_mut(|job| match job.advance(now) {
            Some(outcome) => {
                ended.push(Ended { step: job.step(), outcome });
                false
            }
            None => true,
        });
        if self.tells_progress {
            self.jobs.iter_mut().for_each(|job| job.look(now));
        }
    }
}

/// Only a path that surely leads nowhere is answered "not found": somebody will delete things because of it.
fn stat_all(paths: &[String]) -> Result<Outcome, Outcome> {
    let mut fields = Fields::new();
    for path in paths {
        if !path.starts_with('/') {
            return Err(Outcome::refused(&format!(
                "Cannot look at a path that is not absolute: current value is {:?}",
                path
            )));
        }
        let found = match fs::metadata(path) {
            Ok(facts) => {
                let inode = Inode::of(&facts);
                [&[1], &inode.device.to_le_bytes()[..], &inode.number.to_le_bytes()[..]].concat()
            }
            Err(error) if matches!(error.raw_os_error(), Some(sys::ENOENT | sys::ENOTDIR)) => vec![0],
            Err(error) => {
                let message = format!("Cannot look at {}: {}", path, sys::error_text(&error));
                return Err(Outcome::failed("refused", Some(sys::errno_of(&error)), &message));
            }
        };
        fields = fields.bytes(tag::FOUND, &found);
    }
    Ok(Outcome::done(fields))
}
