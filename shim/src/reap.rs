//! REAP: proving that a lost hand's session is empty. The kernel gives a session's number to nobody else while one of
//! its processes lives, so whatever carries it was started, directly or not, by that hand.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::time::Instant;

use crate::clock::ms;
use crate::frame::Fields;
use crate::identity::{process_stat, ProcessStat};
use crate::job::Job;
use crate::orders::ReapOrder;
use crate::outcome::Outcome;
use crate::sys::{self, Exit, PollFd};
use crate::tag;

/// A killed process is gone within moments; looking more often only costs.
const LOOK_AGAIN_MS: u64 = 10;
/// An IPAM plugin that is killed between making a file and writing into it leaves an address that nobody can free; one
/// that is let be is done in milliseconds. So what a lost hand left running gets a moment to end by itself.
const MERCY_MS: u64 = 1_000;
/// A killed process closes its connections some time before it counts as dead: what seems alive is looked at again.
const DYING_MS: u64 = 300;

pub struct Reap {
    step: u64,
    leader: i32,
    leader_start: u64,
    alive_from: Instant,
    kill_from: Instant,
    deadline: Instant,
    next_look: Instant,
    killed: BTreeSet<i32>,
    given_up: bool,
    empty_looks: u32,
}

impl Reap {
    pub fn begin(order: &ReapOrder) -> Reap {
        let now = Instant::now();
        Reap {
            step: order.step,
            leader: order.pid,
            leader_start: order.pid_start,
            alive_from: now + ms(DYING_MS).min(order.timeout / 2),
            kill_from: now + ms(MERCY_MS).min(order.timeout / 2),
            deadline: now + order.timeout,
            next_look: now,
            killed: BTreeSet::new(),
            given_up: false,
            empty_looks: 0,
        }
    }

    fn leader_lives(&self) -> bool {
        process_stat(&self.leader.to_string()).map_or(false, |stat| stat.start == self.leader_start && !stat.is_gone())
    }

    /// Whether somebody else, perhaps we ourselves, has the number now: then nothing of the old session can be left,
    /// and what carries it is not ours to kill.
    fn number_is_anothers(&self) -> bool {
        let is_another = |stat: ProcessStat| stat.start != self.leader_start;
        self.leader == sys::session_of_self() || process_stat(&self.leader.to_string()).map_or(false, is_another)
    }

    /// Whether there is no member left. Those that had their time are killed.
    fn sweep(&mut self, now: Instant) -> io::Result<bool> {
        let members = session_members(self.leader)?;
        for pid in members.iter().filter(|_| now >= self.kill_from) {
            if sys::send_signal(*pid, sys::SIGKILL).is_ok() {
                self.killed.insert(*pid);
            }
        }
        Ok(members.is_empty())
    }

    fn look(&mut self, now: Instant) -> io::Result<Option<Outcome>> {
        // Without a working /proc nothing is proven, and "empty" would be a lie.
        process_stat("self").ok_or_else(|| io::Error::from_raw_os_error(sys::ENOENT))?;
        if self.leader_lives() {
            if now < self.alive_from {
                return Ok(None);
            }
            return Ok(Some(Outcome::done(Fields::new().flag(tag::ALIVE, true))));
        }
        if self.number_is_anothers() {
            return Ok(Some(self.answer()));
        }
        if self.sweep(now)? {
            self.empty_looks += 1;
            // One look may miss a process that is being forked while /proc is listed; two in a row do not.
            if self.empty_looks == 2 {
                return Ok(Some(self.answer()));
            }
            self.next_look = now;
            return Ok(None);
        }
        self.empty_looks = 0;
        if now < self.deadline {
            return Ok(None);
        }
        let left = session_members(self.leader)?.len();
        let message = format!("Cannot empty session {}: {} processes are left after SIGKILL", self.leader, left);
        let mut outcome = Outcome::failed("timeout", None, &message);
        outcome.fields = outcome.fields.number(tag::PROCESSES, self.killed.len() as u64);
        Ok(Some(outcome))
    }

    fn answer(&self) -> Outcome {
        Outcome::done(Fields::new().number(tag::PROCESSES, self.killed.len() as u64))
    }
}

impl Job for Reap {
    fn step(&self) -> u64 {
        self.step
    }

    fn interest(&self, _fds: &mut Vec<PollFd>) {}

    fn wake_at(&self) -> Instant {
        self.next_look
    }

    fn exited(&mut self, _exit: &mut Option<Exit>) {}

    fn advance(&mut self, now: Instant) -> Option<Outcome> {
        if self.given_up {
            return Some(Outcome::failed("killed", None, "Stopped as the daemon asked"));
        }
        if now < self.next_look {
            return None;
        }
        self.next_look = now + ms(LOOK_AGAIN_MS);
        self.look(now).unwrap_or_else(|error| {
            let message =
                format!("Cannot look for the processes of session {}: {}", self.leader, sys::error_text(&error));
            Some(Outcome::failed("refused", Some(sys::errno_of(&error)), &message))
        })
    }

    fn kill(&mut self) {
        self.given_up = true;
        self.next_look = Instant::now();
    }
}

/// Everything that still runs in that session, never ourselves.
fn session_members(session: i32) -> io::Result<Vec<i32>> {
    let own = std::process::id() as i32;
    let belongs = |stat: &ProcessStat| stat.session == session && !stat.is_gone();
    let mut members = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let pid = match entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) {
            Some(pid) if pid != own => pid,
            _ => continue,
        };
        if process_stat(&pid.to_string()).as_ref().map_or(false, belongs) {
            members.push(pid);
        }
    }
    Ok(members)
}
