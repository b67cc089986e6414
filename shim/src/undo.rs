//! Undoing our own runs when no daemon is there to order it: last first, each with its compensation.

use std::rc::Rc;
use std::time::Instant;

use crate::clock::{ms, ms_until};
use crate::hand::Hand;
use crate::orders::RunOrder;

/// Beyond its time limit a compensation is killed; this is for the kill to take effect.
const KILL_ROOM_MS: u64 = 500;

/// Returns what to tell about it, if there was anything to undo.
pub fn undo_all(hand: &mut Hand, done: &[Rc<RunOrder>], until: Instant) -> Option<String> {
    if done.is_empty() {
        return None;
    }
    let mut failed = Vec::new();
    for (left, order) in (1..=done.len() as u64).rev().zip(done.iter().rev()) {
        // A fair share: one that hangs must not take the time of all others.
        let share = ms(ms_until(until) / left);
        if !undo(hand, order, share) {
            failed.push(format!("{} of step {}", order.plugin, order.step));
        }
    }
    let undone = done.len() - failed.len();
    let mut text = format!("Undid {} of {} runs", undone, done.len());
    if !failed.is_empty() {
        text.push_str(&format!("; failed to undo {}", failed.join(", ")));
    }
    Some(text)
}

fn undo(hand: &mut Hand, order: &RunOrder, share: std::time::Duration) -> bool {
    let mut compensation = match order.compensation() {
        Some(compensation) if share > ms(0) => compensation,
        _ => return false,
    };
    compensation.timeout = compensation.timeout.min(share);
    let until = Instant::now() + compensation.timeout + ms(KILL_ROOM_MS);
    hand.run(Rc::new(compensation));
    if !hand.finish_jobs(until) {
        hand.kill_jobs();
    }
    hand.take_ended().iter().any(|ended| ended.outcome.succeeded)
}
