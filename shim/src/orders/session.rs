//! Becoming a hand: this process leads a new session, adopts orphans of its children, and passes no inherited
//! descriptor on to a plugin.

use std::fs;
use std::io;
use std::os::unix::io::{AsRawFd, OwnedFd};

use crate::sys;

/// Makes this process a session leader, so that the session ID identifies every process it starts. A process that
/// leads a group cannot do that: then a child does the work, and this process passes on signals and the child's exit.
pub fn become_hand() -> io::Result<()> {
    mark_descriptors()?;
    if sys::session_of_self() != std::process::id() as i32 {
        lead_session()?;
    }
    adopt_orphans()?;
    raise_oom_score();
    Ok(())
}

/// Orphans of a plugin become children of this process. QEMU's emulation of single programs lacks this; there, a plugin's
/// process group is all that a deadline ends.
fn adopt_orphans() -> io::Result<()> {
    match sys::become_subreaper() {
        Err(error) if error.raw_os_error() == Some(sys::EINVAL) => Ok(()),
        other => other,
    }
}

/// A drained node deletes all its pods at once, and starting pods are more urgent. With a third of a share, a DEL still
/// moves on a node that stays busy. Kernels that share cores between sessions use the session's value, others the
/// process's.
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
    // Before the fork: a signal right after it must reach the child, and must not end this process.
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
fn stand_in_for(child: i32, signals: io::Result<OwnedFd>) -> ! {
    loop {
        let options = if signals.is_ok() { sys::WNOHANG } else { 0 };
        while let Some(exit) = sys::next_exit(options) {
            if exit.pid == child {
                let by_signal = exit.signal().map(|number| 128 + number);
                sys::exit_now(exit.exit_code().or(by_signal).unwrap_or(1) as i32);
            }
        }
        if let Ok(signals) = &signals {
            let fd = signals.as_raw_fd();
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

/// Plugins must not inherit descriptors that the runtime left open.
fn mark_descriptors() -> io::Result<()> {
    if sys::close_range_on_exec().is_ok() {
        return Ok(());
    }
    for entry in fs::read_dir("/proc/self/fd")? {
        if let Some(fd) = entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) {
            if fd > 2 {
                // The listing's own descriptor is included, which does no harm.
                sys::set_close_on_exec(fd)?;
            }
        }
    }
    Ok(())
}

/// A runtime has a negative score; the kernel would kill plugins that inherit it last.
fn raise_oom_score() {
    const FILE: &str = "/proc/self/oom_score_adj";
    let score = fs::read_to_string(FILE).ok().and_then(|text| text.trim().parse::<i32>().ok());
    if score.map_or(false, |score| score < 0) {
        let _raising_is_always_allowed = fs::write(FILE, "0");
    }
}
