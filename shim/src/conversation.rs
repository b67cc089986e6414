//! One turn of talking to the daemon while the hand works: wait, carry on with jobs, receive.

use std::time::Instant;

use crate::channel::Channel;
use crate::frame::{Fields, Frame, PROGRESS_VERSION, PROTOCOL_VERSION, PROTOCOL_VERSION_MIN};
use crate::frame_type as kind;
use crate::hand::{Ended, Hand, Progress};
use crate::tag;

const TOKEN_BYTES: usize = 16;

/// What ends a conversation, other than an answer.
pub enum Trouble {
    /// The daemon went away: it may come back.
    Lost(String),
    /// The daemon broke the protocol: it would do so again.
    Violated(String),
}

/// What one turn brought. Frames that came before the trouble still count.
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

/// Tells how runs move. Not to a daemon that does not read: what it has not taken by the next look is old by then.
pub fn tell_progress(channel: &mut Channel, hand: &mut Hand) -> Result<(), String> {
    let told = hand.take_progress();
    if !channel.is_clear() {
        return Ok(());
    }
    told.iter().try_for_each(|progress| channel.send(&progress_frame(progress)))
}

fn progress_frame(progress: &Progress) -> Vec<u8> {
    Fields::new().number(tag::STEP, progress.step).number(tag::IDLE_MS, progress.idle_ms).into_frame(kind::PROGRESS)
}

/// What WELCOME agrees on: the token of this operation, and whether the daemon understands progress.
pub fn welcome(frame: &Frame, channel: &mut Channel, hand: &mut Hand) -> Result<Vec<u8>, String> {
    let version = frame.required_number(tag::VERSION)?;
    if !(PROTOCOL_VERSION_MIN..=PROTOCOL_VERSION).contains(&version) {
        return Err(format!(
            "Cannot speak version {} of the protocol: this shim speaks {} to {}; install the shim that came with the daemon",
            version, PROTOCOL_VERSION_MIN, PROTOCOL_VERSION
        ));
    }
    hand.tell_progress(version >= PROGRESS_VERSION);
    channel.set_heartbeat(frame.required_number(tag::HEARTBEAT_MS)?);
    let token = frame.required_bytes(tag::TOKEN)?;
    // It becomes a file name that the daemon must find again.
    if token.len() != TOKEN_BYTES {
        return Err(format!("Cannot use a token that has not {} bytes: its length is {}", TOKEN_BYTES, token.len()));
    }
    Ok(token.to_vec())
}
