//! SCRATCH: makes a scratch network namespace and keeps it for the runs that follow, until KILL of its step, its time
//! limit, the loss of the daemon or the end of the hand.

use std::io;
use std::time::Instant;

use crate::base::clock::ms;
use crate::orders::outcome::Outcome;
use crate::orders::rules::{time_limit, Rules};
use crate::orders::scratch_netns::{ScratchNetns, MAKE_MS_MAX};
use crate::sys::{Exit, PollFd};
use crate::wire::frame::{Fields, Frame};
use crate::wire::tag;

pub struct ScratchOrder {
    pub step: u64,
    timeout_ms: u64,
}

impl ScratchOrder {
    pub fn read(frame: &Frame) -> Result<ScratchOrder, String> {
        Ok(ScratchOrder { step: frame.step()?, timeout_ms: frame.required_number(tag::TIMEOUT_MS)? })
    }

    pub fn refusal(&self, rules: &Rules) -> Option<String> {
        rules.check_scratch(true, "").err()
    }
}

pub struct KeptNetns {
    pub step: u64,
    netns: ScratchNetns,
    make_until: Instant,
    until: Instant,
    is_told: bool,
}

impl KeptNetns {
    pub fn begin(order: &ScratchOrder) -> io::Result<KeptNetns> {
        let now = Instant::now();
        Ok(KeptNetns {
            step: order.step,
            netns: ScratchNetns::start()?,
            make_until: now + ms(MAKE_MS_MAX),
            until: now + time_limit(order.timeout_ms),
            is_told: false,
        })
    }

    pub fn interest(&self, fds: &mut Vec<PollFd>) {
        if !self.is_told {
            self.netns.interest(fds);
        }
    }

    pub fn wake_at(&self) -> Instant {
        if self.is_told {
            self.until
        } else {
            self.make_until.min(self.until)
        }
    }

    pub fn exited(&mut self, exit: &mut Option<Exit>) {
        self.netns.exited(exit);
    }

    pub fn is_over(&self, now: Instant) -> bool {
        self.is_told && now >= self.until
    }

    /// The answer to the order, once. A failure means that there is no namespace to keep.
    pub fn tell(&mut self, now: Instant) -> Option<Result<Outcome, Outcome>> {
        if self.is_told {
            return None;
        }
        let told = match self.netns.path() {
            Some(Ok(path)) => Some(Ok(Outcome::done(Fields::new().text(tag::PATH, &path)))),
            Some(Err((errno, message))) => Some(Err(Outcome::failed("exec", Some(errno), &message))),
            None if now >= self.wake_at() => Some(Err(ScratchNetns::too_late())),
            None => None,
        };
        self.is_told = told.is_some();
        told
    }

    /// The answer to an order that is taken back before its own answer.
    pub fn taken_back(&self) -> Option<Outcome> {
        let message = "Killed as the daemon asked, before the scratch network namespace was made";
        (!self.is_told).then(|| Outcome::failed("killed", None, message))
    }
}
