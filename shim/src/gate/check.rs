//! Reads the ticket that the daemon keeps on this node, and says yes or no in time whatever happens to the file.

use std::fs::{read_to_string, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use crate::base::clock::{ms, ms_until};
use crate::base::output::write_stdout;
use crate::gate::ticket::{judge, Now};
use crate::sys;

/// Where the daemon writes when `gateFile` is set as the manifests have it. /run is in memory, so it cannot hang.
pub const DEFAULT_FILE: &str = "/run/levee/gate";
/// kured waits for its sentinel command for ever.
const ANSWER_MS_MAX: u64 = 5_000;
/// A ticket has some 400 bytes.
const TICKET_BYTES_MAX: usize = 4_096;
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

pub fn serve(path: Result<String, String>, started: Instant) -> i32 {
    let until = started + ms(ANSWER_MS_MAX);
    let verdict = path.and_then(|path| in_time(until, move || look(&path)));
    let (code, line) = match verdict {
        Ok(reason) => (0, format!("Allow: {}\n", reason)),
        Err(reason) => (1, format!("Deny: {}\n", reason)),
    };
    // The exit code is the answer; the line may have no reader.
    let _may_have_no_reader = write_stdout(line.as_bytes(), until);
    code
}

/// A thread waits for the file system, because a signal does not wake it from there. It ends with the process.
fn in_time<F>(until: Instant, look: F) -> Result<String, String>
where
    F: FnOnce() -> Result<String, String> + Send + 'static,
{
    let (tell, hear) = mpsc::channel();
    thread::Builder::new()
        .spawn(move || {
            let _may_be_too_late = tell.send(look());
        })
        .map_err(|error| format!("cannot start a thread: {}", sys::error_text(&error)))?;
    hear.recv_timeout(ms(ms_until(until)))
        .unwrap_or_else(|_| Err(format!("the file could not be read within {} ms", ANSWER_MS_MAX)))
}

/// The reason for Allow, or for Deny.
fn look(path: &str) -> Result<String, String> {
    let text = read_ticket(path)?;
    let boot =
        read_to_string(BOOT_ID).map_err(|error| format!("cannot read {}: {}", BOOT_ID, sys::error_text(&error)))?;
    let now = Now { boot: boot.trim(), wall_ms: sys::wall_ms(), uptime_ms: sys::uptime_ms() };
    judge(&text, &now)
}

/// Does not wait for the writer of a pipe, and reads no device and no long file.
fn read_ticket(path: &str) -> Result<String, String> {
    let problem = |error: std::io::Error| {
        let hint = if error.raw_os_error() == Some(sys::ENOENT) { "; the daemon's gateFile makes it" } else { "" };
        format!("cannot read {}: {}{}", path, sys::error_text(&error), hint)
    };
    let file = OpenOptions::new().read(true).custom_flags(sys::O_NONBLOCK).open(path).map_err(problem)?;
    if !file.metadata().map_err(problem)?.is_file() {
        return Err(format!("{} is no regular file", path));
    }
    let mut bytes = Vec::with_capacity(TICKET_BYTES_MAX);
    file.take(TICKET_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(problem)?;
    if bytes.len() > TICKET_BYTES_MAX {
        return Err(format!("{} has more than {} bytes", path, TICKET_BYTES_MAX));
    }
    String::from_utf8(bytes).map_err(|_| format!("{} is damaged", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_too_long_is_denied() {
        let late = in_time(Instant::now() + ms(20), || {
            thread::sleep(ms(2_000));
            Ok("too late".to_string())
        });
        assert_eq!(late, Err("the file could not be read within 5000 ms".to_string()));
        assert_eq!(in_time(Instant::now() + ms(2_000), || Ok("soon".to_string())), Ok("soon".to_string()));
    }

    #[test]
    fn only_a_short_regular_file_is_read() {
        assert!(read_ticket("/nowhere/gate").unwrap_err().ends_with("(errno 2); the daemon's gateFile makes it"));
        assert_eq!(read_ticket("/dev/zero"), Err("/dev/zero is no regular file".to_string()));
        assert_eq!(read_ticket("/run"), Err("/run is no regular file".to_string()));
        let path = format!("{}/levee-gate-{}", std::env::temp_dir().display(), std::process::id());
        std::fs::write(&path, [b'x'; TICKET_BYTES_MAX + 1]).unwrap();
        assert_eq!(read_ticket(&path), Err(format!("{} has more than 4096 bytes", path)));
        std::fs::write(&path, [0xff]).unwrap();
        assert_eq!(read_ticket(&path), Err(format!("{} is damaged", path)));
        std::fs::remove_file(&path).unwrap();
    }
}
