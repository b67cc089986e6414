//! One CNI call: reach the daemon, carry out its orders, print its answer. If the daemon goes away, reconnect; if it
//! stays away, leave nothing half done.

use std::rc::Rc;
use std::time::Instant;

use crate::base::clock::{ms_until, Jitter};
use crate::base::output::write_stderr;
use crate::call::frames::{call_frame, config_frame, delete_record, resume_frame, Resume};
use crate::call::limits::Limits;
use crate::call::offline::write_record;
use crate::call::undo::undo_all;
use crate::cni::cni_error::{fail, CniError, DAEMON_UNREACHABLE, IO_FAILURE, PROTOCOL_VIOLATED, TRY_LATER};
use crate::cni::request::Request;
use crate::cni::verb::Verb;
use crate::orders::conversation::{outcome_frame, send_progress, turn, welcome, Trouble};
use crate::orders::hand::{Ended, Hand};
use crate::orders::rules::Rules;
use crate::plugin::leaf::LeafPlace;
use crate::plugin::memory_cgroup::MemoryCgroup;
use crate::plugin::run::Surroundings;
use crate::plugin::run_order::RunOrder;
use crate::sys;
use crate::wire::channel::{Channel, NoChannel};
use crate::wire::frame::Frame;
use crate::wire::frame_type as kind;
use crate::wire::tag;

pub struct Call {
    pub request: Request,
    pub limits: Limits,
    pub hand: Hand,
    pub jitter: Jitter,
    /// The daemon's name for this operation, from WELCOME on.
    pub token: Option<Vec<u8>>,
    pub last: Option<Ended>,
    /// Runs that may need an undo, in the order of their start.
    pub to_undo: Vec<Rc<RunOrder>>,
    pub printed: bool,
}

/// The daemon's final answer.
pub struct Answer {
    pub channel: Channel,
    pub exit_code: i32,
    pub output: Vec<u8>,
}

/// Why there is no answer, with the error number for the runtime.
pub struct NoAnswer {
    pub code: u32,
    pub why: String,
    /// No daemon was there, so another try right after the file is written can succeed.
    pub was_away: bool,
}

impl NoAnswer {
    fn new(code: u32, why: String) -> NoAnswer {
        NoAnswer { code, why, was_away: false }
    }
}

/// How a conversation ended.
enum Ending {
    Answer(i32, Vec<u8>),
    Lost(String),
    NoAnswer(NoAnswer),
}

/// Makes the call and returns the exit code.
pub fn make_call(request: Request, started: Instant) -> i32 {
    let mut call = match Call::new(request, started) {
        Ok(call) => call,
        Err((version, error)) => return fail(&version, &error),
    };
    match call.until_answered() {
        Ok(answer) => call.deliver(answer),
        Err(no_answer) => call.end_without_answer(no_answer),
    }
}

impl Call {
    fn new(request: Request, started: Instant) -> Result<Call, (String, CniError)> {
        let rules = Rules::Call { container_id: request.container_id.clone(), netns: request.netns.clone() };
        let surroundings =
            Surroundings { cgroup: MemoryCgroup::of_self(), leaves: LeafPlace::of_self(), cgroup_procs: None };
        let hand = Hand::new(rules, surroundings, &[sys::SIGCHLD]).map_err(|error| {
            let message = format!("Cannot watch for child processes: {}", sys::error_text(&error));
            (request.conf.cni_version.clone(), CniError::new(IO_FAILURE, message))
        })?;
        Ok(Call {
            limits: Limits::of(request.verb, &request.conf, started),
            hand: hand.with_netns(request.netns_open.as_ref().map(|open| open.identity)),
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
                Ending::Answer(exit_code, output) => return Ok(Answer { channel, exit_code, output }),
                Ending::NoAnswer(no_answer) => return Err(no_answer),
                Ending::Lost(why) => lost = Some(why),
            }
            // The daemon would not know of a run in progress, so the run ends before the shim reconnects.
            if !self.hand.finish_jobs(self.limits.lost_run()) {
                if Instant::now() >= self.limits.work {
                    return Err(self.at_limit());
                }
                self.hand.kill_jobs();
            }
            self.remember_ended();
        }
    }

    /// Connects, with jitter between tries. `lost` is why the last connection ended; then the first try waits too.
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

    /// Carries out orders until the daemon answers or is gone.
    fn converse(&mut self, channel: &mut Channel) -> Ending {
        let mut welcomed = false;
        if let Err(why) = channel.send(&self.greeting()) {
            return Ending::Lost(why);
        }
        loop {
            let limit = if welcomed { self.limits.work } else { self.limits.welcome };
            if Instant::now() >= limit {
                return Ending::NoAnswer(self.at_limit());
            }
            let turn = turn(channel, &mut self.hand, limit);
            for frame in &turn.frames {
                welcomed |= frame.kind == kind::WELCOME;
                match self.obey(frame, channel) {
                    Ok(None) => {}
                    Ok(Some(ending)) => return ending,
                    Err(message) => return Ending::NoAnswer(NoAnswer::new(PROTOCOL_VIOLATED, message)),
                }
            }
            let ended = self.remember_ended();
            let sent = ended
                .iter()
                .try_for_each(|frame| channel.send(frame))
                .and_then(|()| send_progress(channel, &mut self.hand));
            match (turn.trouble, sent) {
                (Some(Trouble::Violated(message)), _) => {
                    return Ending::NoAnswer(NoAnswer::new(PROTOCOL_VIOLATED, message))
                }
                (Some(Trouble::Lost(why)), _) | (None, Err(why)) => return Ending::Lost(why),
                (None, Ok(())) => {}
            }
        }
    }

    fn obey(&mut self, frame: &Frame, channel: &mut Channel) -> Result<Option<Ending>, String> {
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
                    return Ok(Some(Ending::Lost(why)));
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
                return Ok(Some(Ending::Answer(exit_code, frame.required_bytes(tag::OUTPUT)?.to_vec())));
            }
            kind::REFUSE => return Ok(Some(Ending::NoAnswer(refused(frame)?))),
            _ => self.hand.take(frame)?,
        }
        Ok(None)
    }

    /// Keeps what RESUME and undo need of the ended orders, and makes their OUTCOME frames.
    fn remember_ended(&mut self) -> Vec<Vec<u8>> {
        let ended = self.hand.take_ended();
        let frames = ended.iter().map(outcome_frame).collect();
        for one in ended {
            if !one.outcome.ran {
                // Only the last run of this step did not start; an earlier one may still need its undo.
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

    /// Ends a call without an answer, for each verb in the way that does least harm.
    fn end_without_answer(mut self, no_answer: NoAnswer) -> i32 {
        self.hand.kill_jobs();
        self.remember_ended();
        match self.request.verb {
            // A failed STATUS makes the runtime take the whole node out of service.
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

    /// Keeps a DEL on disk for the daemon, so that the call succeeds.
    fn keep_delete(mut self, no_answer: &NoAnswer) -> i32 {
        let (name, frames) = delete_record(&self.request, self.limits.whole);
        match write_record(&self.request.conf.state_dir, &name, &frames) {
            Ok(path) => {
                write_stderr(&format!("levee-shim: {}; the delete is kept in {}", no_answer.why, path.display()))
            }
            Err(message) => {
                let error = CniError::new(IO_FAILURE, message).with_details(&no_answer.why);
                return fail(&self.request.conf.cni_version, &error);
            }
        }
        // A daemon that started meanwhile may have read the folder before the file was there.
        if no_answer.was_away && ms_until(self.limits.work) > 0 {
            if let Ok(mut channel) = Channel::connect(&self.request.conf.socket_dir) {
                if let Ending::Answer(exit_code, output) = self.converse(&mut channel) {
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
