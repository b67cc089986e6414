//! RUN in a scratch network namespace that lasts as long as the run.

use std::io;
use std::rc::Rc;
use std::time::Instant;

use crate::base::clock::ms;
use crate::orders::job::Job;
use crate::orders::outcome::Outcome;
use crate::orders::scratch_netns::{ScratchNetns, MAKE_MS_MAX};
use crate::plugin::run::{Run, Surroundings};
use crate::plugin::run_order::RunOrder;
use crate::sys::{Exit, PollFd};

pub struct ScratchRun {
    order: Rc<RunOrder>,
    surroundings: Surroundings,
    netns: ScratchNetns,
    make_until: Instant,
    killed: bool,
    run: Option<Run>,
}

impl ScratchRun {
    pub fn begin(order: Rc<RunOrder>, surroundings: Surroundings) -> io::Result<ScratchRun> {
        let make_until = Instant::now() + ms(MAKE_MS_MAX).min(order.timeout);
        Ok(ScratchRun { order, surroundings, netns: ScratchNetns::start()?, make_until, killed: false, run: None })
    }

    /// Starts the plugin once the namespace exists. An outcome means that it never will.
    fn make(&mut self, now: Instant) -> Option<Outcome> {
        match self.netns.path() {
            _ if self.killed => {
                Some(Outcome::failed("killed", None, "Killed as the daemon asked, before it was started"))
            }
            Some(Ok(path)) => {
                let order = self.order.with_netns(&path);
                self.run = Some(Run::begin(Rc::new(order), self.surroundings.clone()));
                None
            }
            Some(Err((errno, message))) => Some(Outcome::failed("exec", Some(errno), &message)),
            None if now >= self.make_until => Some(ScratchNetns::too_late()),
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
            None => self.netns.interest(fds),
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
        self.netns.exited(exit);
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
