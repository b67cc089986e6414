//! The life of one CNI call: reach the daemon, do what it says, print what it answers. If it goes away, come back to it;
//! if it stays away, leave nothing half done.

use std::rc::Rc;
use std::time::Instant;

use crate::channel::{Channel, NoChannel};
use crate::clock::{ms_until, Jitter};
use crate::cni_error::{CniError, DAEMON_UNREACHABLE, IO_FAILURE, PROTOCOL_VIOLATED, TRY_LATER};
use crate::conversation::{outcome_frame, tell_progress, turn, welcome, Trouble};
use crate::frame::Frame;
use crate::frame_type as kind;
use crate::greeting::{call_frame, config_frame, delete_record, resume_frame, Resume};
use crate::hand::{Ended, Hand};
use crate::limits::Limits;
use crate::memory::MemoryCgroup;
use crate::offline::write_record;
use crate::orders::{Rules, RunOrder};
use crate::output::{note, write_stdout};
use crate::request::Request;
use crate::run::Surroundings;
use crate::sys;
use crate::tag;
use crate::undo::undo_all;
use crate::verb::Verb;

pub struct Call {
    pub request: Request,
    pub limits: Limits,
    pub hand: Hand,
    pub jitter: Jitter,
    /// Names this operation to the daemon, once it welcomed us.
    pub token: Option<Vec<u8>>,
    pub last: Option<Ended>,
    /// Runs that may have left something behind, in the order they were started.
    pub to_undo: Vec<Rc<RunOrder>>,
    pub printed: bool,
}

/// The daemon's last word.
pub struct Answer {
    pub channel: Channel,
    pub exit_code: i32,
    pub output: Vec<u8>,
}

/// Why there is no answer, with the number for the runtime.
pub struct NoAnswer {
    pub code: u32,
    pub why: String,
    /// Nobody was there to talk to, so another try right after the record is written may succeed.
    pub was_away: bool,
}

impl NoAnswer {
    fn new(code: u32, why: String) -> NoAnswer {
        NoAnswer { code, why, was_away: false }
    }
}

enum Told {
    Answer(i32, Vec<u8>),
    Lost(String),
    No(NoAnswer),
}

/// Makes the call and returns the exit code.
pub fn make_call(request: Request, started: Instant) -> i32 {
    let mut call = match Call::new(request, started) {
        Ok(call) => call,
        Err((version, error)) => return fail(&version, &error),
    };
    match call.until_answered() {
        Ok(answer) => call.deliver(answer),
        Err(no_answer) => call.give_up(no_answer),
    }
}

/// Prints the error where the runtime looks for it.
pub fn fail(version: &str, error: &CniError) -> i32 {
    let until = Instant::now() + crate::clock::ms(2_000);
    if let Err(errno) = write_stdout(error.to_json(version).as_bytes(), until) {
        note(&format!("levee-shim: {} (and stdout: {})", error.message, sys::errno_text(errno)));
    }
    1
}

impl Call {
    fn new(request: Request, started: Instant) -> Result<Call, (String, CniError)> {
        let rules = Rules::Call { container_id: request.container_id.clone(), netns: request.netns.clone() };
        let surroundings = Surroundings { cgroup: MemoryCgroup::of_self(), cgroup_procs: None };
        let hand = Hand::new(rules, surroundings, &[sys::SIGCHLD]).map_err(|error| {
            let message = format!("Cannot watch for child processes: {}", sys::error_text(&error));
            (request.conf.cni_version.clone(), CniError::new(IO_FAILURE, message))
        })?;
        Ok(Call {
            limits: Limits::of(request.verb, &request.conf, started),
            hand: hand.with_netns(request.netns_inode),
            jitter: Jitter::between(100, 2_000),
            token: None,
            last: None,
            to_undo: Vec::new(),
            printed: false,
            request,
        })
    }

    fn until_answered(&mut self) -> Result<Answer, NoAnswer> {
        let mut lost: Option<String> = None;
        loop {
            let mut channel = self.reach(self.limits.reach(), lost.as_deref())?;
            match self.converse(&mut channel) {
                Told::Answer(exit_code, output) => return Ok(Answer { channel, exit_code, output }),
                Told::No(no_answer) => return Err(no_answer),
                Told::Lost(why) => lost = Some(why),
            }
            // The daemon would not know of a run that is still going on, so it ends before we come back.
            if !self.hand.finish_jobs(self.limits.work) {
                return Err(self.at_limit());
            }
            self.remember_ended();
        }
    }

    /// Connects, with jitter between tries. `lost` is why we were thrown back, which also asks for a pause before the first try.
    pub fn reach(&mut self, until: Instant, lost: Option<&str>) -> Result<Channel, NoAnswer> {
        let began = Instant::now();
        let mut tries = 0;
        let mut why = lost.unwrap_or("not tried yet").to_string();
        let mut is_first = lost.is_none();
        loop {
            if !is_first {
                let pause_end = (Instant::now() + self.jitter.next_pause()).min(until);
                while Instant::now() < pause_end {
                    self.hand.wait(&mut Vec::new(), pause_end);
                }
                if Instant::now() >= until {
                    let waited = began.elapsed().as_millis();
                    let why = format!("Cannot reach the daemon, tried {} times within {} ms: {}", tries, waited, why);
                    return Err(NoAnswer { code: TRY_LATER, why, was_away: true });
                }
            }
            is_first = false;
            tries += 1;
            match Channel::connect(&self.request.conf.socket_dir) {
                Ok(channel) => return Ok(channel),
                Err(NoChannel::Away(reason)) => why = reason,
                Err(NoChannel::Distrusted(reason)) => return Err(NoAnswer::new(DAEMON_UNREACHABLE, reason)),
            }
        }
    }

    pub fn greeting(&self) -> Vec<u8> {
        match &self.token {
            None => call_frame(&self.request, self.limits.whole),
            Some(token) => {
                let resume = Resume { token, printed: self.printed, last: self.last.as_ref() };
                resume_frame(&self.request, self.limits.whole, &resume)
            }
        }
    }

    /// Obeys until the daemon has its last word or is gone.
    fn converse(&mut self, channel: &mut Channel) -> Told {
        let mut welcomed = false;
        if let Err(why) = channel.send(&self.greeting()) {
            return Told::Lost(why);
        }
        loop {
            let limit = if welcomed { self.limits.work } else { self.limits.welcome };
            if Instant::now() >= limit {
                return Told::No(self.at_limit());
            }
            let turn = turn(channel, &mut self.hand, limit);
            for frame in &turn.frames {
                welcomed |= frame.kind == kind::WELCOME;
                match self.obey(frame, channel) {
                    Ok(None) => {}
                    Ok(Some(told)) => return told,
                    Err(message) => return Told::No(NoAnswer::new(PROTOCOL_VIOLATED, message)),
                }
            }
            let ended = self.remember_ended();
            let sent = ended
                .iter()
                .try_for_each(|frame| channel.send(frame))
                .and_then(|()| tell_progress(channel, &mut self.hand));
            match (turn.trouble, sent) {
                (Some(Trouble::Violated(message)), _) => return Told::No(NoAnswer::new(PROTOCOL_VIOLATED, message)),
                (Some(Trouble::Lost(why)), _) | (None, Err(why)) => return Told::Lost(why),
                (None, Ok(())) => {}
            }
        }
    }

    fn obey(&mut self, frame: &Frame, channel: &mut Channel) -> Result<Option<Told>, String> {
        if self.token.is_none() && !matches!(frame.kind, kind::WELCOME | kind::HEARTBEAT | kind::REFUSE) {
            return Err(format!("Cannot take a frame of type {} before WELCOME", frame.kind));
        }
        match frame.kind {
            kind::WELCOME => {
                self.token = Some(welcome(frame, channel, &mut self.hand)?);
                self.jitter = Jitter::between(100, 2_000);
            }
            kind::HEARTBEAT => {}
            kind::GO => {
                if let Err(why) = channel.send(&config_frame(&self.request)) {
                    return Ok(Some(Told::Lost(why)));
                }
            }
            kind::RUN => {
                let order = Rc::new(RunOrder::read(frame)?);
                if order.undo.is_some() {
                    self.to_undo.push(order.clone());
                }
                self.hand.run(order);
            }
            kind::FINISH => {
                let exit_code = frame.required_number(tag::EXIT_CODE)?.min(255) as i32;
                return Ok(Some(Told::Answer(exit_code, frame.required_bytes(tag::OUTPUT)?.to_vec())));
            }
            kind::REFUSE => return Ok(Some(Told::No(refused(frame)?))),
            _ => self.hand.take(frame)?,
        }
        Ok(None)
    }

    /// Keeps what RESUME and undo need of the orders that are over, and makes their OUTCOME frames.
    fn remember_ended(&mut self) -> Vec<Vec<u8>> {
        let ended = self.hand.take_ended();
        let frames = ended.iter().map(outcome_frame).collect();
        for one in ended {
            if !one.outcome.ran {
                // The last of that number: an earlier run of the same step may well have left something.
                if let Some(at) = self.to_undo.iter().rposition(|order| order.step == one.step) {
                    self.to_undo.remove(at);
                }
            }
            self.last = Some(one);
        }
        frames
    }

    fn at_limit(&self) -> NoAnswer {
        let state = if self.token.is_some() { "did not finish it" } else { "did not answer" };
        let (verb, within) = (self.request.verb.name(), self.limits.work_ms);
        NoAnswer::new(TRY_LATER, format!("Cannot complete {} within {} ms: the daemon {}", verb, within, state))
    }

    /// The end of a call without an answer, for each verb the one that does least harm.
    fn give_up(mut self, no_answer: NoAnswer) -> i32 {
        self.hand.kill_jobs();
        self.remember_ended();
        match self.request.verb {
            // The runtime takes the whole node out of service on a failed STATUS.
            Verb::Status => 0,
            Verb::Del => self.keep_delete(&no_answer),
            Verb::Add | Verb::Check | Verb::Gc => {
                let report = undo_all(&mut self.hand, &self.to_undo, self.limits.whole);
                let mut error = CniError::new(no_answer.code, no_answer.why);
                if let Some(text) = report {
                    error = error.with_details(text);
                }
                fail(&self.request.conf.cni_version, &error)
            }
        }
    }

    /// A delete that cannot be made now is kept on disk for the daemon, and so succeeds.
    fn keep_delete(mut self, no_answer: &NoAnswer) -> i32 {
        let (name, frames) = delete_record(&self.request, self.limits.whole);
        match write_record(&self.request.conf.state_dir, &name, &frames) {
            Ok(path) => note(&format!("levee-shim: {}; the delete is kept in {}", no_answer.why, path.display())),
            Err(message) => {
                let error = CniError::new(IO_FAILURE, message).with_details(&no_answer.why);
                return fail(&self.request.conf.cni_version, &error);
            }
        }
        // A daemon that began to listen meanwhile may have read the folder before the record was there.
        if no_answer.was_away && ms_until(self.limits.work) > 0 {
            if let Ok(mut channel) = Channel::connect(&self.request.conf.socket_dir) {
                if let Told::Answer(exit_code, output) = self.converse(&mut channel) {
                    return self.deliver(Answer { channel, exit_code, output });
                }
                self.hand.kill_jobs();
            }
        }
        0
    }
}

fn refused(frame: &Frame) -> Result<NoAnswer, String> {
    let code = match frame.required_text(tag::CODE)?.as_str() {
        "protocol-violated" => PROTOCOL_VIOLATED,
        _ => TRY_LATER,
    };
    Ok(NoAnswer::new(code, frame.required_text(tag::MESSAGE)?))
}
