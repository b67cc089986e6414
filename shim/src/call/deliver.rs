//! The last part of a call: the shim writes the result, acknowledges it to the daemon, and only then exits.

use std::time::Instant;

use crate::base::clock::ms;
use crate::base::output::{write_stderr, write_stdout};
use crate::call::frames::{ack_frame, ack_record};
use crate::call::make_call::{Answer, Call};
use crate::call::offline::write_record;
use crate::cni::verb::Verb;
use crate::orders::conversation::{turn, welcome};
use crate::wire::channel::Channel;
use crate::wire::frame_type as kind;

/// Short, because the runtime waits, and the daemon notices the closed connection anyway.
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
                self.wait_for_bye(&mut channel, Instant::now() + ms(BYE_AFTER_FAILURE_MS));
            }
            return 1;
        }
        self.printed = true;
        if sent.is_ok() && self.wait_for_bye(&mut channel, self.limits.whole) {
            return exit_code;
        }
        drop(channel);
        // Only a successful ADD needs the acknowledgement. After a failed one it would keep what must be undone.
        if self.request.verb != Verb::Add || exit_code != 0 {
            return exit_code;
        }
        self.leave_acknowledgement(exit_code)
    }

    /// Whether the daemon confirmed that it recorded the acknowledgement.
    fn wait_for_bye(&mut self, channel: &mut Channel, until: Instant) -> bool {
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
                    // After RESUME the daemon may send its answer again, which is already written.
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

    /// Without the acknowledgement the daemon would undo attachments that the runtime relies on.
    fn leave_acknowledgement(&mut self, exit_code: i32) -> i32 {
        let (name, frame) = ack_record(self.token.as_deref().unwrap_or(&[]));
        let problem = match write_record(&self.request.conf.state_dir, &name, &frame) {
            Ok(_) => return exit_code,
            Err(problem) => problem,
        };
        let until = self.limits.whole;
        while let Ok(mut channel) = self.reach(until, Some("the daemon did not confirm the acknowledgement")) {
            if channel.send(&self.greeting()).is_ok() && self.wait_for_bye(&mut channel, until) {
                return exit_code;
            }
        }
        write_stderr(&format!("levee-shim: Cannot acknowledge the written result to the daemon: {}", problem));
        1
    }
}
