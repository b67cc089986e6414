//! The resident hand: carries out the daemon's orders that belong to no CNI call, as long as the node is up.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::base::clock::{ms, Jitter};
use crate::base::json::quote;
use crate::base::output::write_stderr;
use crate::options::ResidentOptions;
use crate::orders::conversation::{outcome_frame, send_progress, turn, welcome, Trouble};
use crate::orders::hand::Hand;
use crate::orders::rules::Rules;
use crate::orders::session::become_hand;
use crate::plugin::leaf::{self, LeafPlace};
use crate::plugin::memory_cgroup::MemoryCgroup;
use crate::plugin::run::Surroundings;
use crate::resident::place;
use crate::resident::plugin_cgroup::PluginCgroup;
use crate::resident::probe_door::ProbeDoor;
use crate::sys;
use crate::wire::channel::{Channel, NoChannel};
use crate::wire::frame::Frame;
use crate::wire::frame_type as kind;
use crate::wire::introduction::introduction;
use crate::wire::tag;

/// The time that running plugins get when the hand is asked to stop.
const STOP_MS: u64 = 5_000;
/// The bound on waiting for a run whose daemon is gone; the run also ends at its own time limit.
const LOST_RUN_MS: u64 = 600_000;
/// How long a turn waits when nothing happens.
const IDLE_MS: u64 = 60_000;

pub fn serve(options: &ResidentOptions) -> i32 {
    let door = match options.probe_socket.as_deref().map(ProbeDoor::open).transpose() {
        Ok(door) => door,
        Err(problem) => {
            log("error", &problem, &[]);
            return 1;
        }
    };
    if let Err(problem) = options.enter_root() {
        log("error", &problem, &[]);
        return 1;
    }
    if options.root.is_some() {
        place::problems().iter().for_each(|problem| log("warn", problem, &[]));
    }
    place::ensure_path();
    if let Err(error) = become_hand() {
        log("error", &format!("Cannot start a new session: {}", sys::error_text(&error)), &[]);
        return 1;
    }
    let own = MemoryCgroup::of_self();
    let plugins = match own.as_ref().map(|own| PluginCgroup::make(own, options.plugin_memory)) {
        Some(Ok(cgroup)) => Some(cgroup),
        Some(Err(problem)) => {
            log("warn", &problem, &[]);
            None
        }
        None => {
            log("warn", "Cannot find the memory cgroup of this process", &[]);
            None
        }
    };
    leaf::remove_orphans();
    let surroundings = plugins.as_ref().map(PluginCgroup::surroundings).unwrap_or_else(|| Surroundings {
        cgroup: own.clone(),
        leaves: LeafPlace::of_self(),
        cgroup_procs: None,
    });
    let signals = [sys::SIGCHLD, sys::SIGTERM, sys::SIGINT];
    let exit_code = match Hand::new(Rules::Resident, surroundings, &signals) {
        Ok(hand) => Resident { hand: hand.with_probe_door(door), socket_dir: options.socket_dir.clone() }.serve(),
        Err(error) => {
            log("error", &format!("Cannot watch for child processes: {}", sys::error_text(&error)), &[]);
            1
        }
    };
    if let Some(cgroup) = plugins {
        cgroup.remove();
    }
    exit_code
}

struct Resident {
    hand: Hand,
    socket_dir: String,
}

impl Resident {
    fn serve(&mut self) -> i32 {
        let mut jitter = Jitter::between(100, 2_000);
        let mut logged: Option<String> = None;
        while !self.hand.is_asked_to_stop() {
            match Channel::connect(&self.socket_dir) {
                Ok(channel) => {
                    let (was_welcome, why) = self.converse(channel);
                    self.hand.set_connected(false);
                    if was_welcome {
                        jitter = Jitter::between(100, 2_000);
                    }
                    self.log_once(&mut logged, was_welcome, why);
                    // The next daemon does not know these runs and must not start the same ones again.
                    self.finish_lost_runs();
                }
                Err(NoChannel::Away(why)) | Err(NoChannel::Distrusted(why)) => self.log_once(&mut logged, false, why),
            }
            let pause_end = Instant::now() + jitter.next_pause();
            while Instant::now() < pause_end && !self.hand.is_asked_to_stop() {
                self.hand.wait(&mut Vec::new(), pause_end);
            }
        }
        self.hand.finish_jobs(Instant::now() + ms(STOP_MS));
        self.hand.kill_jobs();
        log("info", "Stopped", &[("socketDir", &self.socket_dir)]);
        0
    }

    /// Logs the end of a connection and each new reason, not each try.
    fn log_once(&self, logged: &mut Option<String>, was_connected: bool, why: String) {
        if !self.hand.is_asked_to_stop() && (was_connected || logged.as_ref() != Some(&why)) {
            log("warn", "Not connected to the daemon", &[("socketDir", &self.socket_dir), ("reason", &why)]);
        }
        *logged = Some(why);
    }

    /// Serves one connection. Returns whether the daemon sent WELCOME, and why the connection ended.
    fn converse(&mut self, mut channel: Channel) -> (bool, String) {
        let mut welcomed = false;
        if let Err(why) = channel.send(&resident_frame()) {
            return (welcomed, why);
        }
        loop {
            let turn = turn(&mut channel, &mut self.hand, Instant::now() + ms(IDLE_MS));
            if self.hand.is_asked_to_stop() {
                self.stop(&mut channel);
                return (welcomed, "asked to stop".to_string());
            }
            for frame in &turn.frames {
                match self.obey(frame, &mut channel) {
                    Ok(()) => {}
                    Err(why) => return (welcomed, why),
                }
                if frame.kind == kind::WELCOME && !welcomed {
                    welcomed = true;
                    self.hand.set_connected(true);
                    log("info", "Connected to the daemon", &[("socketDir", &self.socket_dir)]);
                }
            }
            let ended = self.hand.take_ended();
            let sent = ended
                .iter()
                .try_for_each(|ended| channel.send(&outcome_frame(ended)))
                .and_then(|()| send_progress(&mut channel, &mut self.hand));
            match (turn.trouble, sent) {
                (Some(Trouble::Violated(why) | Trouble::Lost(why)), _) | (None, Err(why)) => return (welcomed, why),
                (None, Ok(())) => {}
            }
        }
    }

    fn obey(&mut self, frame: &Frame, channel: &mut Channel) -> Result<(), String> {
        match frame.kind {
            kind::WELCOME => welcome(frame, channel, &mut self.hand).map(drop),
            kind::HEARTBEAT => Ok(()),
            kind::REFUSE => Err(format!("refused: {}", frame.required_text(tag::MESSAGE)?)),
            _ => self.hand.take(frame),
        }
    }

    fn finish_lost_runs(&mut self) {
        let until = Instant::now() + ms(LOST_RUN_MS);
        while !self.hand.is_idle() && !self.hand.is_asked_to_stop() && Instant::now() < until {
            self.hand.wait(&mut Vec::new(), until);
            drop(self.hand.take_ended());
        }
        // The next daemon undoes what was tried in it, and needs no namespace for that.
        self.hand.drop_kept_netns();
    }

    /// Takes no new orders, lets the running ones end, and sends their outcomes if it can.
    fn stop(&mut self, channel: &mut Channel) {
        let until = Instant::now() + ms(STOP_MS);
        let mut is_heard = true;
        while !self.hand.is_idle() && Instant::now() < until {
            if is_heard {
                is_heard = turn(channel, &mut self.hand, until).trouble.is_none();
            } else {
                self.hand.wait(&mut Vec::new(), until);
            }
            for ended in self.hand.take_ended() {
                is_heard = is_heard && channel.send(&outcome_frame(&ended)).is_ok();
            }
        }
        self.hand.kill_jobs();
    }
}

fn resident_frame() -> Vec<u8> {
    let cni_path = std::env::var("CNI_PATH").unwrap_or_default();
    introduction().optional_text(tag::CNI_PATH, &cni_path).into_frame(kind::RESIDENT)
}

/// One JSON object per line, as in the daemon's log.
fn log(level: &str, message: &str, fields: &[(&str, &str)]) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut line = format!(
        "{{\"time\":{},\"level\":{},\"message\":{}",
        quote(&crate::base::calendar::iso_time(now.as_millis() as u64)),
        quote(level),
        quote(message)
    );
    for (name, value) in fields {
        line.push_str(&format!(",{}:{}", quote(name), quote(value)));
    }
    write_stderr(&format!("{}}}", line));
}
