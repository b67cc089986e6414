//! Undo of the call's own runs when no daemon is there to order it, last run first.

use std::rc::Rc;
use std::time::Instant;

use crate::base::clock::{ms, ms_until};
use crate::orders::hand::Hand;
use crate::plugin::run_order::RunOrder;

/// Time for the kill of an undo at its time limit to take effect.
const KILL_ROOM_MS: u64 = 500;

/// Returns a sentence for the error, or None if there was nothing to undo.
pub fn undo_all(hand: &mut Hand, done: &[Rc<RunOrder>], until: Instant) -> Option<String> {
    if done.is_empty() {
        return None;
    }
    let mut failed = Vec::new();
    for (left, order) in (1..=done.len() as u64).rev().zip(done.iter().rev()) {
        // A fair share, so that an undo that hangs does not take the time of the others.
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
    let mut undo_order = match order.undo_order() {
        Some(undo_order) if share > ms(0) => undo_order,
        _ => return false,
    };
    undo_order.timeout = undo_order.timeout.min(share);
    let until = Instant::now() + undo_order.timeout + ms(KILL_ROOM_MS);
    hand.run(Rc::new(undo_order));
    if !hand.finish_jobs(until) {
        hand.kill_jobs();
    }
    hand.take_ended().iter().any(|ended| ended.outcome.succeeded)
}
