//! REAP: proof that the session of a lost hand is empty. The kernel does not reuse a session's number while one of its
//! processes lives, so every process in the session was started, directly or not, by that hand.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use crate::base::clock::ms;
use crate::base::identity::{process_stat, ProcessStat};
use crate::orders::job::Job;
use crate::orders::outcome::Outcome;
use crate::orders::rules::time_limit;
use crate::plugin::leaf::{remove_orphans, LostLeaves};
use crate::sys::{self, Exit, PollFd};
use crate::wire::frame::{Fields, Frame};
use crate::wire::tag;

/// A killed process is gone within milliseconds; more frequent checks only cost CPU.
const LOOK_AGAIN_MS: u64 = 10;
/// An IPAM plugin that is killed between creating a file and writing it leaves an address that cannot be freed. Left
/// alone, it ends within milliseconds, so the processes of a lost hand get this time to end by themselves.
const GRACE_MS: u64 = 1_000;
/// A killed process closes its connections before it counts as dead, so a leader that seems alive is checked again.
const DYING_MS: u64 = 300;

pub struct ReapOrder {
    pub step: u64,
    pub pid: i32,
    pub pid_start: u64,
    pub timeout: Duration,
}

impl ReapOrder {
    pub fn read(frame: &Frame) -> Result<ReapOrder, String> {
        let pid = frame.required_number(tag::PID)?;
        Ok(ReapOrder {
            step: frame.step()?,
            pid: i32::try_from(pid).unwrap_or(0),
            pid_start: frame.required_number(tag::PID_START)?,
            timeout: time_limit(frame.required_number(tag::TIMEOUT_MS)?),
        })
    }

    /// Session 0 belongs to the kernel's threads, session 1 to init.
    pub fn refusal(&self) -> Option<String> {
        (self.pid <= 1)
            .then(|| format!("Cannot empty a session whose number is not above 1: current value is {}", self.pid))
    }
}

pub struct Reap {
    step: u64,
    leader: i32,
    leader_start: u64,
    alive_from: Instant,
    kill_from: Instant,
    deadline: Instant,
    next_look: Instant,
    killed: BTreeSet<i32>,
    /// Found once its leader is gone: from then on there are no more.
    leaves: Option<LostLeaves>,
    stopped: bool,
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
            kill_from: now + ms(GRACE_MS).min(order.timeout / 2),
            deadline: now + order.timeout,
            next_look: now,
            killed: BTreeSet::new(),
            leaves: None,
            stopped: false,
            empty_looks: 0,
        }
    }

    fn leader_lives(&self) -> bool {
        process_stat(&self.leader.to_string()).map_or(false, |stat| stat.start == self.leader_start && !stat.is_gone())
    }

    /// Whether another process, perhaps this one, has the number now. Then the old session is empty, and the processes
    /// of the new one must not be killed.
    fn number_is_reused(&self) -> bool {
        let is_other = |stat: ProcessStat| stat.start != self.leader_start;
        self.leader == sys::session_of_self() || process_stat(&self.leader.to_string()).map_or(false, is_other)
    }

    /// Whether no process is left. Kills processes whose time to end has passed.
    fn sweep(&mut self, now: Instant) -> io::Result<bool> {
        let members = if self.number_is_reused() { Vec::new() } else { session_members(self.leader)? };
        let leaves = self.leaves.get_or_insert_with(|| LostLeaves::of(self.leader, self.leader_start));
        // A child with a session of its own is in its run's leaf only.
        let in_leaves = leaves.processes();
        if now >= self.kill_from {
            for pid in &members {
                if sys::send_signal(*pid, sys::SIGKILL).is_ok() {
                    self.killed.insert(*pid);
                }
            }
            self.killed.extend(&in_leaves);
            leaves.kill();
        }
        if !members.is_empty() || !in_leaves.is_empty() {
            return Ok(false);
        }
        leaves.remove();
        Ok(true)
    }

    fn look(&mut self, now: Instant) -> io::Result<Option<Outcome>> {
        // Without a working /proc an empty list proves nothing.
        process_stat("self").ok_or_else(|| io::Error::from_raw_os_error(sys::ENOENT))?;
        if self.leader_lives() {
            if now < self.alive_from {
                return Ok(None);
            }
            return Ok(Some(Outcome::done(Fields::new().flag(tag::ALIVE, true))));
        }
        if self.sweep(now)? {
            self.empty_looks += 1;
            // One listing of /proc can miss a process that is just being forked; two in a row do not.
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
        let left =
            session_members(self.leader)?.len() + self.leaves.as_ref().map_or(0, |leaves| leaves.processes().len());
        let message = format!("Cannot empty session {}: {} processes are left after SIGKILL", self.leader, left);
        let mut outcome = Outcome::failed("timeout", None, &message);
        outcome.fields = outcome.fields.number(tag::PROCESSES, self.killed.len() as u64);
        Ok(Some(outcome))
    }

    fn answer(&self) -> Outcome {
        // A process that a plugin left behind may have ended since.
        remove_orphans();
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
        if self.stopped {
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
        self.stopped = true;
        self.next_look = Instant::now();
    }
}

/// The processes that still run in the session, without this one.
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
