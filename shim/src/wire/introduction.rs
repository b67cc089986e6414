//! The fields that open every conversation.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::base::identity::process_stat;
use crate::wire::frame::{Fields, PROTOCOL_VERSION, PROTOCOL_VERSION_MIN};
use crate::wire::tag;

pub const SOFTWARE: &str = concat!("levee-shim ", env!("CARGO_PKG_VERSION"));

/// Which process speaks, and in which versions of the protocol.
pub fn introduction() -> Fields {
    let start = process_stat("self").map_or(0, |stat| stat.start);
    let namespace = fs::metadata("/proc/self/ns/pid").map_or(0, |facts| facts.ino());
    Fields::new()
        .number(tag::VERSION_MIN, PROTOCOL_VERSION_MIN)
        .number(tag::VERSION_MAX, PROTOCOL_VERSION)
        .text(tag::SOFTWARE, SOFTWARE)
        .number(tag::PID, std::process::id().into())
        .number(tag::PID_START, start)
        .number(tag::PID_NAMESPACE, namespace)
}
