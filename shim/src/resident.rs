//! The resident hand: serves the work that belongs to no CNI call, for as long as the node is up.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::channel::{Channel, NoChannel};
use crate::clock::{ms, Jitter};
use crate::conversation::{outcome_frame, tell_progress, turn, welcome, Trouble};
use crate::delegate_cgroup::DelegateCgroup;
use crate::frame::Frame;
use crate::frame_type as kind;
use crate::hand::Hand;
use crate::identity::introduction;
use crate::json::quote;
use crate::memory::MemoryCgroup;
use crate::options::ResidentOptions;
use crate::orders::Rules;
use crate::output::note;
use crate::place;
use crate::probe_door::ProbeDoor;
use crate::run::Surroundings;
use crate::session::become_hand;
use crate::sys;
use crate::tag;

/// What running delegates get when we are asked to stop.
const STOP_MS: u64 = 5_000;
/// A run that the daemon lost sight of still ends at its own limit; this is only a bound on waiting for it.
const LOST_RUN_MS: u64 = 600_000;
/// Far enough away to mean "whenever something happens".
const IDLE_MS: u64 = 60_000;

pub fn serve(options: &ResidentOptions) -> i32 {
    let door = match options.probe_socket.as_deref().map(ProbeDoor::open).transpose() {
        Ok(door) => door,
        Err(problem) => {
            log("error", &problem, "");
            return 1;
        }
    };
    if let Err(problem) = options.enter_root() {
        log("error", &problem, "");
        return 1;
    }
    if options.root.is_some() {
        place::shortcomings().iter().for_each(|problem| log("warn", problem, ""));
    }
    place::ensure_path();
    if let Err(error) = become_hand() {
        log("error", &format!("Cannot start a session of its own: {}", sys::error_text(&error)), "");
        return 1;
    }
    let own = MemoryCgroup::of_self();
    let delegates = match own.as_ref().map(|own| DelegateCgroup::make(own, options.delegate_memory)) {
        Some(Ok(cgroup)) => Some(cgroup),
        Some(Err(problem)) => {
            log("warn", &problem, "");
            None
        }
        None => {
            log("warn", "Cannot find the memory cgroup of this process", "");
            None
        }
    };
    let surroundings = delegates
        .as_ref()
        .map(DelegateCgroup::surroundings)
        .unwrap_or_else(|| Surroundings { cgroup: own.clone(), cgroup_procs: None });
    let signals = [sys::SIGCHLD, sys::SIGTERM, sys::SIGINT];
    let exit_code = match Hand::new(Rules::Resident, surroundings, &signals) {
        Ok(hand) => Resident { hand: hand.with_probe_door(door), socket_dir: options.socket_dir.clone() }.serve(),
        Err(error) => {
            log("error", &format!("Cannot watch for child processes: {}", sys::error_text(&error)), "");
            1
        }
    };
    if let Some(cgroup) = delegates {
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
        let mut told: Option<String> = None;
        while !self.hand.is_asked_to_stop() {
            match Channel::connect(&self.socket_dir) {
                Ok(channel) => {
                    let (was_welcome, why) = self.converse(channel);
                    self.hand.set_connected(false);
                    if was_welcome {
                        jitter = Jitter::between(100, 2_000);
                    }
                    self.tell_once(&mut told, was_welcome, why);
                    // Its daemon cannot be told of what still runs, and the next one must not start the same twice.
                    self.finish_lost_runs();
                }
                Err(NoChannel::Away(why)) | Err(NoChannel::Distrusted(why)) => self.tell_once(&mut told, false, why),
            }
            let pause_end = Instant::now() + jitter.next_pause();
            while Instant::now() < pause_end && !self.hand.is_asked_to_stop() {
                self.hand.wait(&mut Vec::new(), pause_end);
            }
        }
        self.hand.finish_jobs(Instant::now() + ms(STOP_MS));
        self.hand.kill_jobs();
        log("info", "stopped", &self.socket_dir);
        0
    }

    /// A line when a connection ends or a reason is new, not one for each try.
    fn tell_once(&self, told: &mut Option<String>, was_connected: bool, why: String) {
        if !self.hand.is_asked_to_stop() && (was_connected || told.as_ref() != Some(&why)) {
            log("warn", &format!("not connected to the daemon: {}", why), &self.socket_dir);
        }
        *told = Some(why);
    }

    /// Serves one connection. Returns whether the daemon welcomed us, and why it ended.
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
                    log("info", "connected to the daemon", &self.socket_dir);
                }
            }
            let ended = self.hand.take_ended();
            let sent = ended
                .iter()
                .try_for_each(|ended| channel.send(&outcome_frame(ended)))
                .and_then(|()| tell_progress(&mut channel, &mut self.hand));
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
    }

    /// New orders are not taken any more; what runs may end, and is told while it still can be.
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

/// One JSON object a line, as the daemon logs.
fn log(level: &str, message: &str, socket_dir: &str) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut line = format!(
        "{{\"time\":{},\"level\":{},\"message\":{}",
        quote(&crate::calendar::iso_time(now.as_millis() as u64)),
        quote(level),
        quote(message)
    );
    if !socket_dir.is_empty() {
        line.push_str(&format!(",\"socketDir\":{}", quote(socket_dir)));
    }
    note(&format!("{}}}", line));
}
