//! Going into a network namespace, in a child that does not come back.

use std::fs::File;
use std::io;
use std::os::unix::io::AsRawFd;

use crate::identity::Inode;
use crate::sys;

/// `expected` is what the path led to when the call began: another one there now is not entered.
pub fn enter(path: &str, expected: Option<Inode>) -> Result<(), (i32, String)> {
    let told = |doing: &str, error: io::Error| {
        (sys::errno_of(&error), format!("Cannot {} the network namespace {}: {}", doing, path, sys::error_text(&error)))
    };
    let namespace = File::open(path).map_err(|error| told("open", error))?;
    let facts = namespace.metadata().map_err(|error| told("look at", error))?;
    if expected.map_or(false, |expected| expected != Inode::of(&facts)) {
        let message = format!("Cannot work in {}: it is another network namespace than when the call began", path);
        return Err((sys::ENOENT, message));
    }
    sys::enter_netns(namespace.as_raw_fd()).map_err(|error| told("enter", error))
}
