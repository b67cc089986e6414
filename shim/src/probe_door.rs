//! Where kubelet's probes ask the resident hand whether it still turns. The loop itself answers, between its other
//! work: an answer is the proof, and a hand that hangs gives none. Being connected to the daemon is told, not judged:
//! a hand that is ended because its daemon is away takes the plugins it runs with it.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::io::AsRawFd;
use std::os::unix::net::UnixListener;

use crate::sys;

/// Those who asked while the loop was held up and went away again are answered too, but not all in one turn.
const ANSWERS_A_TURN: usize = 16;

#[derive(Debug)]
pub struct ProbeDoor {
    listener: UnixListener,
    pub is_connected: bool,
}

impl ProbeDoor {
    /// Before the change of root, so that the file is the pod's own: nobody else can take its name, and the hand of
    /// another pod on the same node, which may still be ending, has another one.
    pub fn open(path: &str) -> Result<ProbeDoor, String> {
        let problem = |error: io::Error| format!("Cannot listen for probes on {}: {}", path, sys::error_text(&error));
        // A container that was started again finds the socket of the one before.
        if fs::symlink_metadata(path).map_or(false, |facts| facts.file_type().is_socket()) {
            fs::remove_file(path).map_err(problem)?;
        }
        let listener = UnixListener::bind(path).map_err(problem)?;
        listener.set_nonblocking(true).map_err(problem)?;
        Ok(ProbeDoor { listener, is_connected: false })
    }

    pub fn interest(&self, fds: &mut Vec<sys::PollFd>) {
        fds.push(sys::PollFd { fd: self.listener.as_raw_fd(), events: sys::POLLIN, revents: 0 });
    }

    pub fn answer(&self, orders: usize) {
        for _ in 0..ANSWERS_A_TURN {
            match self.listener.accept() {
                Ok((mut asker, _)) => {
                    let _gone_already = asker.write_all(self.line(orders).as_bytes());
                }
                Err(_) => return,
            }
        }
    }

    /// Short enough for the empty buffer of a new connection: writing it never waits.
    fn line(&self, orders: usize) -> String {
        let connection = if self.is_connected { "connected" } else { "not connected" };
        format!("hand {}: {} to the daemon, orders in progress: {}\n", std::process::id(), connection, orders)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    fn place(name: &str) -> String {
        format!("{}/levee-probe-door-{}-{}", std::env::temp_dir().display(), std::process::id(), name)
    }

    #[test]
    fn answers_everyone_who_asked_and_goes_on_without_those_who_left() {
        let path = place("answers");
        let mut door = ProbeDoor::open(&path).unwrap();
        drop(UnixStream::connect(&path).unwrap());
        let mut asker = UnixStream::connect(&path).unwrap();
        door.is_connected = true;
        door.answer(2);
        let mut text = String::new();
        asker.read_to_string(&mut text).unwrap();
        let expected = format!("hand {}: connected to the daemon, orders in progress: 2\n", std::process::id());
        assert_eq!(text, expected);
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn takes_the_place_of_a_socket_that_was_left_and_of_nothing_else() {
        let path = place("left");
        drop(ProbeDoor::open(&path).unwrap());
        drop(ProbeDoor::open(&path).unwrap());
        fs::remove_file(&path).unwrap();
        fs::write(&path, "mine").unwrap();
        let problem = ProbeDoor::open(&path).unwrap_err();
        assert_eq!(problem, format!("Cannot listen for probes on {}: Address already in use (errno 98)", path));
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        fs::remove_file(&path).unwrap();
    }
}
