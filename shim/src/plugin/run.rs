//! One run of a plugin, from finding it to the facts about how it ended.

use std::fs;
use std::io;
use std::os::unix::io::{AsRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::base::clock::{micros_since, ms, Jitter};
use crate::orders::job::Job;
use crate::orders::outcome::Outcome;
use crate::plugin::built_in::BuiltIn;
use crate::plugin::leaf::{Leaf, LeafPlace};
use crate::plugin::memory_cgroup::{MemoryCgroup, OomCounts, Version};
use crate::plugin::process::{self, Body, Cgroups, Image, Process, Trouble};
use crate::plugin::program::Program;
use crate::plugin::progress::Watch;
use crate::plugin::run_order::RunOrder;
use crate::plugin::stand_in::StandIns;
use crate::plugin::stream::{Keep, Stream};
use crate::sys::{self, Exit};
use crate::wire::frame::Fields;
use crate::wire::tag;

/// More than any result. A plugin that floods its stdout must not fill the shim's memory.
const STDOUT_BYTES_MAX: usize = 512 * 1024;
/// The reason of a failure is at the end of stderr.
const STDERR_BYTES_KEPT: usize = 8 * 1024;
/// A child of the plugin can keep its pipes open for ever, so the run does not wait longer for them.
const LINGER_MS: u64 = 1_000;
/// A killed process that still exists after this is stuck in the kernel.
const KILL_WAIT_MS: u64 = 3_000;
/// A killed process is gone within milliseconds.
const DYING_LOOK_MS: u64 = 5;
/// Replacing a program file takes milliseconds, not seconds.
const BUSY_TRIES_MAX: u32 = 6;
const BUSY_MS_MAX: u64 = 3_000;

/// The cgroups of a run.
#[derive(Clone, Default)]
pub struct Surroundings {
    pub cgroup: Option<MemoryCgroup>,
    /// Where each run gets a cgroup of its own.
    pub leaves: Option<LeafPlace>,
    /// The `cgroup.procs` into which plugins move themselves, if they do not share the hand's cgroup.
    pub cgroup_procs: Option<RawFd>,
}

impl Surroundings {
    fn is_unified(&self) -> bool {
        self.cgroup.as_ref().map_or(false, |cgroup| cgroup.version == Version::V2)
    }
}

pub struct Run {
    order: Rc<RunOrder>,
    surroundings: Surroundings,
    stage: Stage,
    killed_at: Option<Instant>,
    /// Killed by a KILL order, not at its time limit.
    by_order: bool,
    /// Which of the two served, the plugin's program or the one that is built in, and why.
    served: Fields,
}

enum Stage {
    /// Not started yet; a program file that is open for writing needs more than one try.
    Busy {
        program: PathBuf,
        jitter: Jitter,
        tries: u32,
        since: Instant,
        next_try: Instant,
    },
    Started(Box<Started>),
    Ended(Outcome),
}

struct Started {
    pid: i32,
    leaf: Option<Leaf>,
    at: Instant,
    deadline: Instant,
    oom_before: OomCounts,
    stdin: Option<OwnedFd>,
    sent: usize,
    stdout: Stream,
    stderr: Stream,
    exit: Option<(Exit, Instant)>,
    watch: Watch,
}

impl Run {
    pub fn begin(order: Rc<RunOrder>, surroundings: Surroundings) -> Run {
        let program = Program::find(&order.plugin, order.variable("CNI_PATH"));
        let stand_ins = StandIns::of(&order, program.as_ref());
        let stage = match program {
            Some(Program { path, .. }) => {
                let now = Instant::now();
                Stage::Busy { program: path, jitter: Jitter::between(200, 900), tries: 0, since: now, next_try: now }
            }
            None => Stage::Ended(missing(&order, "")),
        };
        let mut run = Run { order, surroundings, stage, killed_at: None, by_order: false, served: Fields::new() };
        stand_ins.unknown.iter().for_each(|program| run.say(tag::PROGRAM, program));
        run.try_built_in(&stand_ins);
        run.try_start();
        run
    }

    /// Nothing has changed when a built-in does not serve, so the program can run instead.
    fn try_built_in(&mut self, stand_ins: &StandIns) {
        let order = Rc::clone(&self.order);
        let version = match stand_ins.version(&order.plugin) {
            Some(version) => version,
            None => return,
        };
        // No child of it can leave its group. Where runs are charged to another cgroup, a leaf gets it there.
        let wants_leaf = self.surroundings.cgroup_procs.is_some();
        let body = BuiltIn { order: &order, version, stand_ins, waits_for_children: wants_leaf };
        match self.start(&body, wants_leaf) {
            Ok(()) => self.say(tag::BUILT_IN, version),
            Err(Trouble::Unsupported(reason)) => {
                self.say(tag::NOT_BUILT_IN, &reason);
                if let Stage::Ended(_) = self.stage {
                    let more = format!(", and the built-in plugin does not serve it: {}", reason);
                    self.stage = Stage::Ended(missing(&order, &more));
                }
            }
            Err(Trouble::Exec(error)) => {
                let message = format!("Cannot start a process for {}: {}", order.plugin, sys::error_text(&error));
                self.stage = Stage::Ended(Outcome::failed("exec", Some(sys::errno_of(&error)), &message));
            }
        }
    }

    fn say(&mut self, tag: u8, text: &str) {
        self.served = std::mem::take(&mut self.served).text(tag, text);
    }

    fn start(&mut self, body: &dyn Body, wants_leaf: bool) -> Result<(), Trouble> {
        let oom_before = OomCounts::now(self.surroundings.cgroup.as_ref());
        let leaf = self.surroundings.leaves.as_ref().filter(|_| wants_leaf).and_then(LeafPlace::make);
        let cgroups = Cgroups {
            procs: self.surroundings.cgroup_procs,
            leaf: leaf.as_ref().map(Leaf::descriptor),
            is_leaf_below: self.surroundings.is_unified(),
        };
        let process = process::start(body, &cgroups)?;
        self.stage = Stage::Started(Box::new(Started::new(process, leaf, self.order.timeout, oom_before)));
        self.pump();
        Ok(())
    }

    fn try_start(&mut self) {
        let program = match &mut self.stage {
            Stage::Busy { program, tries, next_try, .. } if Instant::now() >= *next_try => {
                *tries += 1;
                program.clone()
            }
            _ => return,
        };
        let image = Image::new(&program, &self.order).map_err(Trouble::from);
        let error = match image.and_then(|image| self.start(&image, true)) {
            Ok(()) => return,
            Err(Trouble::Exec(error)) => error,
            Err(Trouble::Unsupported(reason)) => io::Error::new(io::ErrorKind::Other, reason),
        };
        let errno = sys::errno_of(&error);
        if errno == sys::ETXTBSY {
            return self.wait_for_writer();
        }
        let message = format!("Cannot run {}: {}", program.display(), sys::error_text(&error));
        self.stage = Stage::Ended(Outcome::failed("exec", Some(errno), &message));
    }

    /// The program's file is open for writing.
    fn wait_for_writer(&mut self) {
        if let Stage::Busy { program, jitter, tries, since, next_try } = &mut self.stage {
            let pause = jitter.next_pause();
            *next_try = Instant::now() + pause;
            if *tries >= BUSY_TRIES_MAX || since.elapsed() + pause > ms(BUSY_MS_MAX) {
                let message =
                    format!("Cannot run {}: its file is being written, tried {} times", program.display(), tries);
                self.stage = Stage::Ended(Outcome::failed("busy", Some(sys::ETXTBSY), &message));
            }
        }
    }

    fn pump(&mut self) {
        if let Stage::Started(started) = &mut self.stage {
            started.feed(&self.order.stdin);
            started.stdout.read();
            started.stderr.read();
        }
    }

    fn check_time(&mut self, now: Instant) {
        if let Stage::Started(started) = &self.stage {
            if now >= started.deadline && started.exit.is_none() && self.killed_at.is_none() {
                self.killed_at = Some(now);
                started.kill();
            }
        }
    }

    fn outcome(&self, now: Instant) -> Option<Outcome> {
        match &self.stage {
            Stage::Busy { .. } => None,
            Stage::Ended(outcome) => Some(outcome.clone()),
            Stage::Started(started) => match (&started.exit, self.killed_at) {
                // A killed plugin's children may still be at work, and the daemon undoes their work next.
                (Some(_), Some(killed_at)) if now < killed_at + ms(KILL_WAIT_MS) && !started.is_empty() => None,
                (Some((exit, at)), _) if started.is_drained() || now >= *at + ms(LINGER_MS) => {
                    Some(self.facts(started, Some((exit, *at))))
                }
                (None, Some(killed_at)) if now >= killed_at + ms(KILL_WAIT_MS) => Some(self.facts(started, None)),
                _ => None,
            },
        }
    }

    /// Every started plugin ends with these fields.
    fn facts(&self, started: &Started, ended: Option<(&Exit, Instant)>) -> Outcome {
        let oom = OomCounts::now(self.surroundings.cgroup.as_ref()).risen_since(started.oom_before);
        let room = self.surroundings.cgroup.as_ref().map(MemoryCgroup::room).unwrap_or_default();
        let exit = ended.map(|(exit, _)| exit);
        let wall = ended.map_or_else(|| micros_since(started.at), |(_, at)| (at - started.at).as_micros() as u64);
        let mut fields = Fields::new()
            .optional_number(tag::EXIT_CODE, exit.and_then(Exit::exit_code))
            .optional_number(tag::SIGNAL, exit.and_then(Exit::signal))
            .flag(tag::TIMED_OUT, self.killed_at.is_some() && !self.by_order)
            .bytes(tag::STDOUT, started.stdout.bytes())
            .flag(tag::STDOUT_TRUNCATED, started.stdout.is_truncated())
            .bytes(tag::STDERR, started.stderr.bytes())
            .number(tag::WALL_US, wall)
            .number(tag::CPU_US, exit.map_or(0, Exit::cpu_us))
            .number(tag::MAX_RSS_KIB, exit.map_or(0, Exit::max_rss_kib))
            .number(tag::OOM_CGROUP, oom.cgroup)
            .number(tag::OOM_NODE, oom.node)
            .optional_number(tag::CGROUP_LIMIT, room.limit)
            .optional_number(tag::CGROUP_USAGE, room.usage);
        if self.by_order {
            fields = fields.text(tag::FAILURE, "killed").text(tag::MESSAGE, "Killed as the daemon asked");
        } else if exit.is_none() {
            let message = format!("Killed at its time limit, but process {} still exists", started.pid);
            fields = fields.text(tag::FAILURE, "timeout").text(tag::MESSAGE, &message);
        }
        let succeeded = exit.and_then(Exit::exit_code) == Some(0) && self.killed_at.is_none();
        let outcome = Outcome { fields, ran: true, succeeded };
        if succeeded || !self.is_netns_gone() {
            return outcome;
        }
        outcome.without_netns()
    }

    fn is_netns_gone(&self) -> bool {
        let path = self.order.variable("CNI_NETNS");
        !path.is_empty() && matches!(fs::metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

impl Job for Run {
    fn step(&self) -> u64 {
        self.order.step
    }

    fn is_run(&self) -> bool {
        true
    }

    fn interest(&self, fds: &mut Vec<sys::PollFd>) {
        if let Stage::Started(started) = &self.stage {
            if let Some(stdin) = &started.stdin {
                fds.push(sys::PollFd { fd: stdin.as_raw_fd(), events: sys::POLLOUT, revents: 0 });
            }
            started.stdout.interest(fds);
            started.stderr.interest(fds);
        }
    }

    fn wake_at(&self) -> Instant {
        match &self.stage {
            Stage::Busy { next_try, .. } => *next_try,
            Stage::Ended(_) => Instant::now(),
            Stage::Started(started) => match (&started.exit, self.killed_at) {
                (Some(_), Some(_)) if !started.is_empty() => Instant::now() + ms(DYING_LOOK_MS),
                (Some((_, at)), _) => *at + ms(LINGER_MS),
                (None, Some(killed_at)) => killed_at + ms(KILL_WAIT_MS),
                (None, None) => started.deadline,
            },
        }
    }

    fn next_look(&self) -> Option<Instant> {
        match &self.stage {
            Stage::Started(started) if started.exit.is_none() => Some(started.watch.next_look()),
            _ => None,
        }
    }

    fn look(&mut self, now: Instant) {
        match &mut self.stage {
            Stage::Started(started) if started.exit.is_none() => started.watch.look(started.pid, now),
            _ => {}
        }
    }

    fn take_progress(&mut self) -> Option<u64> {
        match &mut self.stage {
            Stage::Started(started) => started.watch.take(),
            _ => None,
        }
    }

    fn exited(&mut self, exit: &mut Option<Exit>) {
        if let Stage::Started(started) = &mut self.stage {
            if started.exit.is_none() && exit.as_ref().map_or(false, |exit| exit.pid == started.pid) {
                started.exit = exit.take().map(|exit| (exit, Instant::now()));
            }
        }
    }

    fn advance(&mut self, now: Instant) -> Option<Outcome> {
        self.try_start();
        self.pump();
        self.check_time(now);
        let outcome = self.outcome(now)?;
        Some(Outcome { fields: outcome.fields.and(&self.served), ..outcome })
    }

    fn kill(&mut self) {
        match &self.stage {
            Stage::Busy { .. } => {
                self.stage =
                    Stage::Ended(Outcome::failed("killed", None, "Killed as the daemon asked, before it was started"));
            }
            Stage::Started(started) if self.killed_at.is_none() => {
                self.killed_at = Some(Instant::now());
                self.by_order = true;
                started.kill();
            }
            _ => {}
        }
    }
}

impl Started {
    fn new(process: Process, leaf: Option<Leaf>, timeout: Duration, oom_before: OomCounts) -> Started {
        let now = Instant::now();
        Started {
            pid: process.pid,
            leaf,
            at: now,
            deadline: now + timeout,
            oom_before,
            stdin: Some(process.stdin),
            sent: 0,
            stdout: Stream::new(process.stdout, STDOUT_BYTES_MAX, Keep::Start),
            stderr: Stream::new(process.stderr, STDERR_BYTES_KEPT, Keep::End),
            exit: None,
            watch: Watch::new(now),
        }
    }

    /// Sends more of its stdin, and closes it when all is sent or the plugin does not read it.
    fn feed(&mut self, bytes: &[u8]) {
        while let Some(stdin) = &self.stdin {
            if self.sent == bytes.len() {
                self.stdin = None;
                return;
            }
            match sys::write_some(stdin.as_raw_fd(), &bytes[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) => match error.raw_os_error() {
                    Some(sys::EAGAIN) => return,
                    Some(sys::EINTR) => {}
                    _ => self.stdin = None,
                },
            }
        }
    }

    fn kill(&self) {
        sys::kill_group(self.pid);
        if let Some(leaf) = &self.leaf {
            leaf.kill();
        }
    }

    fn is_empty(&self) -> bool {
        self.leaf.as_ref().map_or(true, Leaf::is_empty)
    }

    fn is_drained(&self) -> bool {
        self.stdout.is_ended() && self.stderr.is_ended()
    }
}

fn missing(order: &RunOrder, more: &str) -> Outcome {
    let list = order.variable("CNI_PATH");
    let message = format!("Cannot find an executable plugin {:?} in the CNI_PATH {:?}{}", order.plugin, list, more);
    Outcome::failed("missing", Some(sys::ENOENT), &message)
}
