//! `levee-shim --probe FILE`: asks a resident hand whether it works, for kubelet.

use std::os::unix::io::AsRawFd;
use std::path::Path;
use std::time::Instant;

use crate::base::clock::{ms, ms_until};
use crate::base::output::{write_stderr, write_stdout};
use crate::sys;

/// The loop answers in a tenth of this, but a node without free CPU needs more.
const ANSWER_MS_MAX: u64 = 5_000;
const ANSWER_BYTES_MAX: usize = 512;

pub fn serve(path: &str, started: Instant) -> i32 {
    match ask(path, started + ms(ANSWER_MS_MAX)) {
        Ok(answer) => {
            let _may_have_no_reader = write_stdout(&answer, started + ms(ANSWER_MS_MAX));
            0
        }
        Err(why) => {
            write_stderr(&format!("The resident hand does not answer on {}: {}", path, why));
            1
        }
    }
}

/// Returns the line that the hand answers.
fn ask(path: &str, until: Instant) -> Result<Vec<u8>, String> {
    let problem = |error: std::io::Error| sys::error_text(&error);
    let address = sys::UnixAddress::of(Path::new(path)).ok_or("a socket's path must be shorter than 108 bytes")?;
    // Not blocking: a hand that hangs accepts no connection, and its backlog fills up.
    let kind = sys::SOCK_STREAM | sys::SOCK_NONBLOCK | sys::SOCK_CLOEXEC;
    let socket = sys::new_socket(sys::AF_UNIX, kind, 0).map_err(problem)?;
    sys::connect_unix(socket.as_raw_fd(), &address).map_err(problem)?;
    let mut answer = Vec::new();
    let mut chunk = [0u8; ANSWER_BYTES_MAX];
    while answer.last() != Some(&b'\n') {
        match sys::read_some(socket.as_raw_fd(), &mut chunk) {
            Ok(0) => return Err("it closed the connection".to_string()),
            Ok(count) => answer.extend_from_slice(&chunk[..count]),
            Err(error) if matches!(error.raw_os_error(), Some(sys::EAGAIN | sys::EINTR)) => {
                if Instant::now() >= until {
                    return Err(format!("nothing came within {} ms", ANSWER_MS_MAX));
                }
                let mut ready = [sys::PollFd { fd: socket.as_raw_fd(), events: sys::POLLIN, revents: 0 }];
                sys::poll_fds(&mut ready, ms_until(until) as i32);
            }
            Err(error) => return Err(problem(error)),
        }
        if answer.len() > ANSWER_BYTES_MAX {
            return Err(format!("its answer has more than {} bytes", ANSWER_BYTES_MAX));
        }
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixListener;

    /// The result of `ask` for a listener that sends these bytes and closes the connection, or sends nothing.
    fn asked(name: &str, says: Option<&'static [u8]>) -> Result<Vec<u8>, String> {
        let path = format!("{}/levee-probe-{}-{}", std::env::temp_dir().display(), std::process::id(), name);
        let listener = UnixListener::bind(&path).unwrap();
        let speaker = says.map(|words| {
            let listener = listener.try_clone().unwrap();
            std::thread::spawn(move || listener.accept().unwrap().0.write_all(words))
        });
        let end = ask(&path, Instant::now() + ms(if says.is_some() { 5_000 } else { 50 }));
        if let Some(speaker) = speaker {
            let _may_have_hung_up_first = speaker.join().unwrap();
        }
        std::fs::remove_file(&path).unwrap();
        end
    }

    #[test]
    fn only_a_whole_line_is_an_answer() {
        assert_eq!(asked("line", Some(b"hand 1\n")), Ok(b"hand 1\n".to_vec()));
        assert_eq!(asked("part", Some(b"hand")), Err("it closed the connection".to_string()));
        assert_eq!(asked("long", Some(&[b'x'; 2_000])), Err("its answer has more than 512 bytes".to_string()));
        assert_eq!(asked("nothing", None), Err("nothing came within 5000 ms".to_string()));
    }

    #[test]
    fn a_missing_hand_is_an_error_of_the_kernel() {
        let soon = Instant::now() + ms(50);
        assert_eq!(ask("/nowhere/probe.sock", soon), Err("No such file or directory (errno 2)".to_string()));
        assert!(ask(&"/x".repeat(60), soon).unwrap_err().contains("108 bytes"));
    }
}
