//! An order in progress. Jobs never block: each one names the descriptors that the hand's loop waits for.

use std::time::Instant;

use crate::orders::outcome::Outcome;
use crate::sys::{Exit, PollFd};

pub trait Job {
    fn step(&self) -> u64;

    /// Whether it counts towards the plugins that a hand runs at once.
    fn is_run(&self) -> bool {
        false
    }

    fn interest(&self, fds: &mut Vec<PollFd>);

    /// When to advance it even if no event comes.
    fn wake_at(&self) -> Instant;

    /// When to check whether it still moves; None for a job that is not watched.
    fn next_look(&self) -> Option<Instant> {
        None
    }

    fn look(&mut self, _now: Instant) {}

    /// Milliseconds without CPU use, if it was checked since the last call of this function.
    fn take_progress(&mut self) -> Option<u64> {
        None
    }

    /// A child process ended. The job that started it takes the exit.
    fn exited(&mut self, exit: &mut Option<Exit>);

    /// Does what is possible now, and returns the outcome once the job has ended.
    fn advance(&mut self, now: Instant) -> Option<Outcome>;

    fn kill(&mut self);
}
