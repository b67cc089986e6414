//! How an order ended, as the fields that OUTCOME and RESUME carry.

use crate::frame::Fields;
use crate::tag;

#[derive(Clone)]
pub struct Outcome {
    pub fields: Fields,
    /// Whether a plugin was started: if so it may have left something to undo.
    pub ran: bool,
    /// For our own undo: the plugin ended with 0.
    pub succeeded: bool,
}

impl Outcome {
    pub fn done(fields: Fields) -> Outcome {
        Outcome { fields, ran: false, succeeded: true }
    }

    /// Nothing ran, or the order could not be carried out.
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
}
