//! Becoming a hand: leader of a session of our own, reaper of every orphan below us, with nothing inherited that a
//! delegate could get hold of.

use std::fs;
use std::io;
use std::os::unix::io::RawFd;

use crate::sys;

/// Makes this process a session leader, so that the session ID names everything it will ever start. A process that
/// already leads a group cannot: then a child does the work, and this process only passes signals and its exit on.
pub fn become_hand() -> io::Result<()> {
    mark_descriptors()?;
    if sys::session_of_self() != std::process::id() as i32 {
        lead_session()?;
    }
    sys::become_subreaper()?;
    raise_oom_score();
    Ok(())
}

/// A drained node deletes its pods all at once, and nobody waits for that: where cores are short, pods that start go
/// first. With a third of a share a delete still moves on a node that is busy for long. Kernels that share cores between
/// sessions look at the session's value, all others at the process's.
pub fn give_way() {
    const NICER_BY: i32 = 5;
    sys::be_nicer(NICER_BY);
    let _not_on_every_kernel = fs::write("/proc/self/autogroup", NICER_BY.to_string());
}

fn lead_session() -> io::Result<()> {
    match sys::new_session() {
        Err(error) if error.raw_os_error() == Some(sys::EPERM) => {}
        other => return other,
    }
    let parent = std::process::id() as i32;
    // Before the fork: a signal that comes right after it must reach the child, not end the one who stands in for it.
    let signals = sys::signal_descriptor(&[sys::SIGCHLD, sys::SIGTERM, sys::SIGINT]);
    match sys::fork_process()? {
        Some(child) => stand_in_for(child, signals),
        None => {
            sys::unblock_signals();
            sys::die_with_parent(parent)?;
            sys::new_session()
        }
    }
}

/// Waits for the child and ends as it ended.
fn stand_in_for(child: i32, signals: io::Result<RawFd>) -> ! {
    loop {
        let options = if signals.is_ok() { sys::WNOHANG } else { 0 };
        while let Some(exit) = sys::next_exit(options) {
            if exit.pid == child {
                let by_signal = exit.signal().map(|number| 128 + number);
                sys::exit_now(exit.exit_code().or(by_signal).unwrap_or(1) as i32);
            }
        }
        if let Ok(fd) = signals {
            let mut ready = [sys::PollFd { fd, events: sys::POLLIN, revents: 0 }];
            sys::poll_fds(&mut ready, -1);
            while let Some(number) = sys::next_signal(fd) {
                if number != sys::SIGCHLD {
                    let _child_gone = sys::send_signal(child, number);
                }
            }
        }
    }
}

/// Whatever the runtime left open in us, no delegate inherits it.
fn mark_descriptors() -> io::Result<()> {
    if sys::close_range_on_exec().is_ok() {
        return Ok(());
    }
    for entry in fs::read_dir("/proc/self/fd")? {
        if let Some(fd) = entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) {
            if fd > 2 {
                // The listing's own descriptor is in it as well, and is closed at the end.
                sys::set_close_on_exec(fd)?;
            }
        }
    }
    Ok(())
}

/// A runtime protects itself with a negative score; plugins that inherit it would be the last to be killed.
fn raise_oom_score() {
    const FILE: &str = "/proc/self/oom_score_adj";
    let score = fs::read_to_string(FILE).ok().and_then(|text| text.trim().parse::<i32>().ok());
    if score.map_or(false, |score| score < 0) {
        let _raising_is_always_allowed = fs::write(FILE, "0");
    }
}
