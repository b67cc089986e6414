//! One turn of the conversation with the daemon while the hand works: wait, advance the jobs, receive frames.

use std::time::Instant;

use crate::orders::hand::{Ended, Hand, Progress};
use crate::wire::channel::Channel;
use crate::wire::frame::{Fields, Frame, BIRTH_VERSION, PROGRESS_VERSION, PROTOCOL_VERSION, PROTOCOL_VERSION_MIN};
use crate::wire::frame_type as kind;
use crate::wire::tag;

const TOKEN_BYTES: usize = 16;

/// Why a conversation ends without an answer.
pub enum Trouble {
    /// The daemon went away and may come back.
    Lost(String),
    /// The daemon broke the protocol and would do so again.
    Violated(String),
}

/// The result of one turn. Frames that came before the trouble still count.
pub struct Turn {
    pub frames: Vec<Frame>,
    pub trouble: Option<Trouble>,
}

pub fn turn(channel: &mut Channel, hand: &mut Hand, until: Instant) -> Turn {
    let mut fds = Vec::new();
    channel.interest(&mut fds);
    let until = if hand.has_ended() { Instant::now() } else { until.min(channel.silent_at()) };
    hand.wait(&mut fds, until);
    let mut trouble = channel.exchange().err().map(Trouble::Lost);
    let mut frames = Vec::new();
    loop {
        match channel.next_frame() {
            Ok(Some(frame)) => frames.push(frame),
            Ok(None) => break,
            Err(message) => {
                trouble = Some(Trouble::Violated(message));
                break;
            }
        }
    }
    Turn { frames, trouble }
}

pub fn outcome_frame(ended: &Ended) -> Vec<u8> {
    Fields::new().number(tag::STEP, ended.step).and(&ended.outcome.fields).into_frame(kind::OUTCOME)
}

/// Sends PROGRESS of the runs. A daemon that does not read gets none, because a queued PROGRESS is soon out of date.
pub fn send_progress(channel: &mut Channel, hand: &mut Hand) -> Result<(), String> {
    let seen = hand.take_progress();
    if !channel.is_clear() {
        return Ok(());
    }
    seen.iter().try_for_each(|progress| channel.send(&progress_frame(progress)))
}

fn progress_frame(progress: &Progress) -> Vec<u8> {
    Fields::new().number(tag::STEP, progress.step).number(tag::IDLE_MS, progress.idle_ms).into_frame(kind::PROGRESS)
}

/// Applies what WELCOME agrees on, and returns the token of this operation.
pub fn welcome(frame: &Frame, channel: &mut Channel, hand: &mut Hand) -> Result<Vec<u8>, String> {
    let version = frame.required_number(tag::VERSION)?;
    if !(PROTOCOL_VERSION_MIN..=PROTOCOL_VERSION).contains(&version) {
        return Err(format!(
            "Cannot speak version {} of the protocol: this shim speaks {} to {}; install the shim that came with the daemon",
            version, PROTOCOL_VERSION_MIN, PROTOCOL_VERSION
        ));
    }
    hand.want_progress(version >= PROGRESS_VERSION);
    hand.want_births(version >= BIRTH_VERSION);
    channel.set_heartbeat(frame.required_number(tag::HEARTBEAT_MS)?);
    let token = frame.required_bytes(tag::TOKEN)?;
    // The token becomes a file name that the daemon must find again.
    if token.len() != TOKEN_BYTES {
        return Err(format!(
            "Cannot use the token in WELCOME as it must have {} bytes: its length is {}",
            TOKEN_BYTES,
            token.len()
        ));
    }
    Ok(token.to_vec())
}
