//! Talking to the daemon: frames and their fields.

pub mod channel;
pub mod conversation;
pub mod frame;
pub mod frame_type;
pub mod greeting;
pub mod identity;
pub mod tag;
