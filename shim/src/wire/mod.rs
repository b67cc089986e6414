//! The connection to the daemon: frames as docs/protocol.md defines them, and the socket they travel on.

pub mod channel;
pub mod frame;
pub mod frame_type;
pub mod introduction;
pub mod tag;
