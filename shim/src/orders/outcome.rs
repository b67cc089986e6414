//! How an order ended, in the fields that OUTCOME and RESUME carry.

use crate::sys;
use crate::wire::frame::Fields;
use crate::wire::tag;

#[derive(Clone)]
pub struct Outcome {
    pub fields: Fields,
    /// Whether a plugin was started and may need an undo.
    pub ran: bool,
    /// Whether the plugin ended with 0; the shim's own undo reads it.
    pub succeeded: bool,
}

impl Outcome {
    pub fn done(fields: Fields) -> Outcome {
        Outcome { fields, ran: false, succeeded: true }
    }

    /// For an order that did not run a plugin.
    pub fn failed(failure: &str, errno: Option<i32>, message: &str) -> Outcome {
        let fields = Fields::new()
            .text(tag::FAILURE, failure)
            .optional_number(tag::ERRNO, errno.map(|number| number.max(0) as u64))
            .text(tag::MESSAGE, message);
        Outcome { fields, ran: false, succeeded: false }
    }

    pub fn refused(message: &str) -> Outcome {
        Outcome::failed("refused", None, message)
    }

    /// The runtime has taken the namespace of the call away, so no plugin can work in it.
    pub fn without_netns(self) -> Outcome {
        Outcome { fields: self.fields.flag(tag::NETNS_GONE, true), ..self }
    }

    /// For an order that comes at a bad moment and can be made again later.
    pub fn too_busy(message: &str) -> Outcome {
        Outcome::failed("refused", Some(sys::EAGAIN), message)
    }
}
