//! The hand: carries out orders concurrently in one loop, and collects every child process that ends.

use std::fs;
use std::io;
use std::os::unix::io::{AsRawFd, OwnedFd};
use std::rc::Rc;
use std::time::Instant;

use crate::base::clock::{ms, ms_until};
use crate::base::identity::{Inode, NetnsIdentity};
use crate::orders::job::Job;
use crate::orders::kept_netns::{KeptNetns, ScratchOrder};
use crate::orders::links::{self, LinksOrder};
use crate::orders::list::{self, ListOrder};
use crate::orders::outcome::Outcome;
use crate::orders::reap::{Reap, ReapOrder};
use crate::orders::remove::{self, RemoveOrder};
use crate::orders::routes::{self, RoutesOrder};
use crate::orders::rules::Rules;
use crate::orders::stat::stat;
use crate::plugin::run::{Run, Surroundings};
use crate::plugin::run_order::RunOrder;
use crate::plugin::scratch_run::ScratchRun;
use crate::resident::probe_door::ProbeDoor;
use crate::sys;
use crate::wire::frame::Frame;
use crate::wire::frame_type as kind;
use crate::wire::tag;

/// Orders in progress. A daemon that keeps the protocol never asks for so many.
const JOBS_MAX: usize = 32;
/// How long the hand waits for killed jobs before it leaves them to the kernel.
const KILL_WAIT_MS: u64 = 4_000;

pub struct Hand {
    rules: Rules,
    surroundings: Surroundings,
    /// The namespace at the call's netns path when the call began. The hand does not touch another one at that path.
    netns: Option<NetnsIdentity>,
    signals: OwnedFd,
    probe_door: Option<ProbeDoor>,
    jobs: Vec<Box<dyn Job>>,
    ended: Vec<Ended>,
    /// At most one: the daemon tries one network at a time.
    kept: Option<KeptNetns>,
    stop_asked: bool,
    /// Without a daemon that understands PROGRESS, runs are not watched.
    progress_wanted: bool,
    births_wanted: bool,
}

/// Whether a run in progress still moves.
pub struct Progress {
    pub step: u64,
    pub idle_ms: u64,
}

pub struct Ended {
    pub step: u64,
    pub outcome: Outcome,
}

impl Hand {
    /// The loop receives `signals`, which must include SIGCHLD.
    pub fn new(rules: Rules, surroundings: Surroundings, signals: &[i32]) -> io::Result<Hand> {
        let signals = sys::signal_descriptor(signals)?;
        Ok(Hand {
            rules,
            surroundings,
            netns: None,
            signals,
            probe_door: None,
            jobs: Vec::new(),
            ended: Vec::new(),
            kept: None,
            stop_asked: false,
            progress_wanted: false,
            births_wanted: false,
        })
    }

    pub fn with_netns(mut self, identity: Option<NetnsIdentity>) -> Hand {
        self.netns = identity;
        self
    }

    pub fn with_probe_door(mut self, door: Option<ProbeDoor>) -> Hand {
        self.probe_door = door;
        self
    }

    /// The probe door shows this to its peers.
    pub fn set_connected(&mut self, is_connected: bool) {
        if let Some(door) = &mut self.probe_door {
            door.is_connected = is_connected;
        }
    }

    /// Whether the connected daemon understands PROGRESS.
    pub fn want_progress(&mut self, is_wanted: bool) {
        self.progress_wanted = is_wanted;
    }

    /// Whether the connected daemon understands a longer answer to STAT.
    pub fn want_births(&mut self, are_wanted: bool) {
        self.births_wanted = are_wanted;
    }

    /// Begins one order. An error means that the frame broke the protocol.
    pub fn take(&mut self, frame: &Frame) -> Result<(), String> {
        if self.jobs.len() >= JOBS_MAX && frame.kind != kind::KILL {
            let message = format!("Cannot carry out more than {} orders at a time", JOBS_MAX);
            self.end(frame.step()?, Outcome::too_busy(&message));
            return Ok(());
        }
        match frame.kind {
            kind::RUN => self.run(Rc::new(RunOrder::read(frame)?)),
            kind::ROUTES => self.change_routes(RoutesOrder::read(frame)?),
            kind::STAT => self.end(frame.step()?, stat(&frame.texts(tag::PATH)?, self.births_wanted)),
            kind::REAP => self.reap(ReapOrder::read(frame)?),
            kind::LINKS => self.look_at_links(LinksOrder::read(frame)?),
            kind::LIST => self.list(ListOrder::read(frame)?),
            kind::REMOVE => self.remove(RemoveOrder::read(frame)?),
            kind::SCRATCH => self.keep_netns(&ScratchOrder::read(frame)?),
            kind::KILL => self.kill(frame.step()?),
            other => return Err(format!("Cannot carry out a frame of type {}", other)),
        }
        Ok(())
    }

    pub fn run(&mut self, mut order: Rc<RunOrder>) {
        if self.is_elsewhere(&order) {
            if order.variable("CNI_COMMAND") != "DEL" {
                let message = format!(
                    "Cannot run a plugin in {}: it is another network namespace than when the call began",
                    order.variable("CNI_NETNS")
                );
                return self.end(order.step, Outcome::refused(&message).without_netns());
            }
            // The namespace of the attachment is gone, and the one at its path belongs to another container.
            order = Rc::new(order.with_netns(""));
        }
        let running = self.jobs.iter().filter(|job| job.is_run()).count();
        let most = self.rules.runs_at_once();
        match order.refusal(&self.rules) {
            Some(message) => self.end(order.step, Outcome::refused(&message)),
            None if running >= most => {
                let message = format!("Cannot run more than {} plugins at a time: {} are running", most, running);
                self.end(order.step, Outcome::too_busy(&message));
            }
            None if order.scratch_netns => {
                let (step, surroundings) = (order.step, self.surroundings.clone());
                self.begin(step, "exec", ScratchRun::begin(order, surroundings));
            }
            None => self.jobs.push(Box::new(Run::begin(order, self.surroundings.clone()))),
        }
    }

    /// Whether the path of the run leads to another namespace than when the call began. The call keeps its own open, so
    /// no other one can have its inode number: a look at the path is enough.
    fn is_elsewhere(&self, order: &RunOrder) -> bool {
        let path = order.variable("CNI_NETNS");
        let expected = self.netns.filter(|_| !path.is_empty());
        let now = fs::metadata(path).ok().map(|facts| Inode::of(&facts));
        expected.map_or(false, |expected| now.map_or(false, |now| now != expected.inode))
    }

    fn change_routes(&mut self, order: RoutesOrder) {
        match order.refusal(&self.rules) {
            Some(message) => self.end(order.step, Outcome::refused(&message)),
            None => self.begin(order.step, "routes", routes::begin(&order, self.netns)),
        }
    }

    fn look_at_links(&mut self, order: LinksOrder) {
        match order.refusal(&self.rules) {
            Some(message) => self.end(order.step, Outcome::refused(&message)),
            None => self.begin(order.step, "links", links::begin(&order, self.netns)),
        }
    }

    fn list(&mut self, order: ListOrder) {
        match order.refusal(&self.rules) {
            Some(message) => self.end(order.step, Outcome::refused(&message)),
            None => self.begin(order.step, "list", list::begin(&order)),
        }
    }

    fn remove(&mut self, order: RemoveOrder) {
        match order.refusal(&self.rules) {
            Some(message) => self.end(order.step, Outcome::refused(&message)),
            None => self.begin(order.step, "remove", remove::begin(&order)),
        }
    }

    /// A job whose child process may have failed to start.
    fn begin<J: Job + 'static>(&mut self, step: u64, failure: &str, job: io::Result<J>) {
        match job {
            Ok(job) => self.jobs.push(Box::new(job)),
            Err(error) => self.no_process(step, failure, &error),
        }
    }

    fn no_process(&mut self, step: u64, failure: &str, error: &io::Error) {
        let message = format!("Cannot start a process for the order: {}", sys::error_text(error));
        self.end(step, Outcome::failed(failure, Some(sys::errno_of(error)), &message));
    }

    fn reap(&mut self, order: ReapOrder) {
        match order.refusal() {
            Some(message) => self.end(order.step, Outcome::refused(&message)),
            None => self.jobs.push(Box::new(Reap::begin(&order))),
        }
    }

    fn keep_netns(&mut self, order: &ScratchOrder) {
        match (order.refusal(&self.rules), &self.kept) {
            (Some(message), _) => self.end(order.step, Outcome::refused(&message)),
            (None, Some(_)) => {
                self.end(order.step, Outcome::too_busy("Cannot keep more than one scratch network namespace"))
            }
            (None, None) => match KeptNetns::begin(order) {
                Ok(kept) => self.kept = Some(kept),
                Err(error) => self.no_process(order.step, "exec", &error),
            },
        }
    }

    /// Ends the scratch namespace. Runs in it go on, in a namespace that nobody else sees.
    pub fn drop_kept_netns(&mut self) {
        self.kept = None;
    }

    fn kill(&mut self, step: u64) {
        self.jobs.iter_mut().filter(|job| job.step() == step).for_each(|job| job.kill());
        if let Some(kept) = self.kept.take() {
            if kept.step != step {
                self.kept = Some(kept);
            } else if let Some(outcome) = kept.taken_back() {
                self.end(step, outcome);
            }
        }
    }

    fn end(&mut self, step: u64, outcome: Outcome) {
        self.ended.push(Ended { step, outcome });
    }

    pub fn is_idle(&self) -> bool {
        self.jobs.is_empty() && self.ended.is_empty()
    }

    /// Whether an outcome waits to be taken. Then the loop must not wait.
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Whether a signal other than SIGCHLD arrived.
    pub fn is_asked_to_stop(&self) -> bool {
        self.stop_asked
    }

    /// Waits for an event, at most until then, and advances every job.
    pub fn wait(&mut self, also: &mut Vec<sys::PollFd>, until: Instant) {
        also.push(sys::PollFd { fd: self.signals.as_raw_fd(), events: sys::POLLIN, revents: 0 });
        self.jobs.iter().for_each(|job| job.interest(also));
        self.kept.iter().for_each(|kept| kept.interest(also));
        self.probe_door.iter().for_each(|door| door.interest(also));
        let until = self.kept.iter().map(KeptNetns::wake_at).fold(until, Instant::min);
        let wake = self.jobs.iter().map(|job| self.wake_at(job.as_ref())).fold(until, Instant::min);
        sys::poll_fds(also, ms_until(wake).min(60_000) as i32);
        self.advance();
        self.probe_door.iter().for_each(|door| door.answer(self.jobs.len()));
    }

    fn wake_at(&self, job: &dyn Job) -> Instant {
        let wake_at = job.wake_at();
        match job.next_look() {
            Some(next_look) if self.progress_wanted => wake_at.min(next_look),
            _ => wake_at,
        }
    }

    /// Progress seen since the last call of this function.
    pub fn take_progress(&mut self) -> Vec<Progress> {
        let progress =
            |job: &mut Box<dyn Job>| job.take_progress().map(|idle_ms| Progress { step: job.step(), idle_ms });
        self.jobs.iter_mut().filter_map(progress).collect()
    }

    /// Orders that ended since the last call of this function.
    pub fn take_ended(&mut self) -> Vec<Ended> {
        std::mem::take(&mut self.ended)
    }

    /// Waits until no job is in progress; false if that took too long.
    pub fn finish_jobs(&mut self, until: Instant) -> bool {
        while !self.jobs.is_empty() {
            if Instant::now() >= until {
                return false;
            }
            self.wait(&mut Vec::new(), until);
        }
        true
    }

    /// Kills all jobs with their process groups, and waits until they are gone.
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
            self.kept.iter_mut().for_each(|kept| kept.exited(&mut exit));
        }
        let now = Instant::now();
        self.advance_kept(now);
        let ended = &mut self.ended;
        self.jobs.retain_mut(|job| match job.advance(now) {
            Some(outcome) => {
                ended.push(Ended { step: job.step(), outcome });
                false
            }
            None => true,
        });
        if self.progress_wanted {
            self.jobs.iter_mut().for_each(|job| job.look(now));
        }
    }

    fn advance_kept(&mut self, now: Instant) {
        if let Some(mut kept) = self.kept.take() {
            match kept.tell(now) {
                Some(Ok(outcome)) => self.end(kept.step, outcome),
                Some(Err(outcome)) => return self.end(kept.step, outcome),
                None => {}
            }
            self.kept = Some(kept).filter(|kept| !kept.is_over(now));
        }
    }
}
