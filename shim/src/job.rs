//! An order being carried out. Jobs never block: the hand's loop asks each of them what it waits for.

use std::time::Instant;

use crate::outcome::Outcome;
use crate::sys::{Exit, PollFd};

pub trait Job {
    fn step(&self) -> u64;

    /// Whether it counts towards the number of plugins a hand runs at once.
    fn is_run(&self) -> bool {
        false
    }

    fn interest(&self, fds: &mut Vec<PollFd>);

    /// When to look again even if nothing happens.
    fn wake_at(&self) -> Instant;

    /// When to look how it moves, if it is something that can hang.
    fn next_look(&self) -> Option<Instant> {
        None
    }

    fn look(&mut self, _now: Instant) {}

    /// Milliseconds without CPU use, if there was a look since the last time.
    fn take_progress(&mut self) -> Option<u64> {
        None
    }

    /// A child ended; whose it is takes it.
    fn exited(&mut self, exit: &mut Option<Exit>);

    /// Does what can be done now; answers when it is over.
    fn advance(&mut self, now: Instant) -> Option<Outcome>;

    fn kill(&mut self);
}
