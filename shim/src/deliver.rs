//! The last part of a call: the result is written, the daemon learns of it, and only then the shim leaves.

use std::time::Instant;

use crate::call::{Answer, Call};
use crate::channel::Channel;
use crate::clock::ms;
use crate::conversation::{turn, welcome};
use crate::frame_type as kind;
use crate::greeting::{ack_frame, ack_record};
use crate::offline::write_record;
use crate::output::{note, write_stdout};
use crate::verb::Verb;

/// The runtime waits for a failed call; the daemon will find out anyway.
const BYE_AFTER_FAILURE_MS: u64 = 2_000;

impl Call {
    pub fn deliver(mut self, answer: Answer) -> i32 {
        let Answer { mut channel, exit_code, output } = answer;
        self.hand.kill_jobs();
        drop(self.hand.take_ended());
        let written = write_stdout(&output, self.limits.whole.max(Instant::now() + ms(1_000)));
        let sent = channel.send(&ack_frame(written));
        if written.is_err() {
            if sent.is_ok() {
                self.hear_bye(&mut channel, Instant::now() + ms(BYE_AFTER_FAILURE_MS));
            }
            return 1;
        }
        self.printed = true;
        if sent.is_ok() && self.hear_bye(&mut channel, self.limits.whole) {
            return exit_code;
        }
        drop(channel);
        // Only an attachment waits for it. After a failure there is none, and the note would make one of what is left to undo.
        if self.request.verb != Verb::Add || exit_code != 0 {
            return exit_code;
        }
        self.leave_acknowledgement(exit_code)
    }

    /// Whether the daemon said that it recorded the acknowledgement.
    fn hear_bye(&mut self, channel: &mut Channel, until: Instant) -> bool {
        while Instant::now() < until {
            let turn = turn(channel, &mut self.hand, until);
            for frame in &turn.frames {
                match frame.kind {
                    kind::BYE => return true,
                    kind::REFUSE => return false,
                    kind::WELCOME => match welcome(frame, channel, &mut self.hand) {
                        Ok(token) => self.token = Some(token),
                        Err(_) => return false,
                    },
                    // After RESUME the daemon may give its answer again; it was written already.
                    kind::FINISH if channel.send(&ack_frame(Ok(()))).is_err() => return false,
                    _ => {}
                }
            }
            if turn.trouble.is_some() {
                return false;
            }
        }
        false
    }

    /// Without it the daemon would undo what the runtime now believes to have.
    fn leave_acknowledgement(&mut self, exit_code: i32) -> i32 {
        let (name, frame) = ack_record(self.token.as_deref().unwrap_or(&[]));
        let problem = match write_record(&self.request.conf.state_dir, &name, &frame) {
            Ok(_) => return exit_code,
            Err(problem) => problem,
        };
        let until = self.limits.whole;
        while let Ok(mut channel) = self.reach(until, Some("the daemon did not confirm the acknowledgement")) {
            if channel.send(&self.greeting()).is_ok() && self.hear_bye(&mut channel, until) {
                return exit_code;
            }
        }
        note(&format!("levee-shim: the result was written but the daemon could not be told: {}", problem));
        1
    }
}
