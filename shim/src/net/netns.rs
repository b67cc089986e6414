//! Entering a network namespace, in a child process that does not leave it again.

use std::fs::File;
use std::io;
use std::os::unix::io::AsRawFd;

use crate::base::identity::Inode;
use crate::sys;

/// `expected` is the namespace at the path when the call began. Another one at the same path is not entered.
pub fn enter(path: &str, expected: Option<Inode>) -> Result<(), (i32, String)> {
    let problem = |doing: &str, error: io::Error| {
        (sys::errno_of(&error), format!("Cannot {} the network namespace {}: {}", doing, path, sys::error_text(&error)))
    };
    let namespace = File::open(path).map_err(|error| problem("open", error))?;
    let facts = namespace.metadata().map_err(|error| problem("look at", error))?;
    if expected.map_or(false, |expected| expected != Inode::of(&facts)) {
        let message = format!("Cannot work in {}: it is another network namespace than when the call began", path);
        return Err((sys::ENOENT, message));
    }
    sys::enter_netns(namespace.as_raw_fd()).map_err(|error| problem("enter", error))
}
