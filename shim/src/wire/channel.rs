//! The connection to the daemon: found, checked, and read without blocking.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::io::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::base::clock::ms;
use crate::sys;
use crate::wire::frame::{Frame, FrameReader};

/// Until WELCOME says otherwise.
const DEFAULT_HEARTBEAT_MS: u64 = 5_000;
/// A shorter interval would count every delay as a loss; a longer one would wait too long for a lost daemon.
const HEARTBEAT_MS_MIN: u64 = 100;
const HEARTBEAT_MS_MAX: u64 = 60_000;
/// The daemon counts as lost after this many intervals without a frame.
const SILENT_INTERVALS: u32 = 3;

pub enum NoChannel {
    /// No daemon listens now: another try can succeed.
    Away(String),
    /// The listener may not be root's: another try does not help.
    Distrusted(String),
}

pub struct Channel {
    socket: OwnedFd,
    reader: FrameReader,
    unsent: Vec<u8>,
    heard_at: Instant,
    heartbeat_ms: u64,
}

pub fn socket_path(folder: &str) -> PathBuf {
    Path::new(folder).join("levee.sock")
}

impl Channel {
    /// Tries once and does not block: a full listen backlog would block a plain connect for ever.
    pub fn connect(folder: &str) -> Result<Channel, NoChannel> {
        check_folder(folder)?;
        let path = socket_path(folder);
        let away = |error: io::Error| {
            NoChannel::Away(format!("connecting to {} failed: {}", path.display(), sys::error_text(&error)))
        };
        let address = sys::UnixAddress::of(&path).ok_or_else(|| {
            NoChannel::Distrusted(format!(
                "Cannot connect to {}: a socket's path must be shorter than 108 bytes",
                path.display()
            ))
        })?;
        let kind = sys::SOCK_STREAM | sys::SOCK_NONBLOCK | sys::SOCK_CLOEXEC;
        let socket = sys::new_socket(sys::AF_UNIX, kind, 0).map_err(away)?;
        sys::connect_unix(socket.as_raw_fd(), &address).map_err(away)?;
        let uid = sys::peer_uid(socket.as_raw_fd()).map_err(away)?;
        if uid != 0 {
            return Err(NoChannel::Distrusted(format!(
                "Cannot obey the process that listens on {}: it must run as uid 0, current value is {}",
                path.display(),
                uid
            )));
        }
        Ok(Channel {
            socket,
            reader: FrameReader::default(),
            unsent: Vec::new(),
            heard_at: Instant::now(),
            heartbeat_ms: DEFAULT_HEARTBEAT_MS,
        })
    }

    pub fn set_heartbeat(&mut self, heartbeat_ms: u64) {
        self.heartbeat_ms = heartbeat_ms.clamp(HEARTBEAT_MS_MIN, HEARTBEAT_MS_MAX);
    }

    /// The daemon counts as lost at this time, unless a frame comes before.
    pub fn silent_at(&self) -> Instant {
        self.heard_at + ms(self.heartbeat_ms) * SILENT_INTERVALS
    }

    pub fn interest(&self, fds: &mut Vec<sys::PollFd>) {
        let events = if self.unsent.is_empty() { sys::POLLIN } else { sys::POLLIN | sys::POLLOUT };
        fds.push(sys::PollFd { fd: self.socket.as_raw_fd(), events, revents: 0 });
    }

    /// Queues a frame and sends as much as the socket takes now; `exchange` sends the rest.
    pub fn send(&mut self, frame: &[u8]) -> Result<(), String> {
        self.unsent.extend_from_slice(frame);
        self.flush()
    }

    /// Whether the daemon has taken everything so far.
    pub fn is_clear(&self) -> bool {
        self.unsent.is_empty()
    }

    /// Sends the queued bytes and receives everything available. An error means that the daemon is lost.
    pub fn exchange(&mut self) -> Result<(), String> {
        self.flush()?;
        let mut chunk = [0u8; 16 * 1024];
        loop {
            match sys::read_some(self.socket.as_raw_fd(), &mut chunk) {
                Ok(0) => return Err("the daemon closed the connection".to_string()),
                Ok(count) => {
                    self.heard_at = Instant::now();
                    self.reader.push(&chunk[..count]);
                }
                Err(error) => match error.raw_os_error() {
                    Some(sys::EAGAIN) => return self.check_silence(),
                    Some(sys::EINTR) => {}
                    _ => return Err(format!("reading from the daemon failed: {}", sys::error_text(&error))),
                },
            }
        }
    }

    /// The next complete frame. An error means that the peer broke the protocol.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, String> {
        self.reader.next_frame()
    }

    /// Called after everything available was read: a shim that was itself paused must not blame the daemon.
    fn check_silence(&self) -> Result<(), String> {
        if Instant::now() < self.silent_at() {
            return Ok(());
        }
        let silence = ms(self.heartbeat_ms) * SILENT_INTERVALS;
        Err(format!("the daemon was silent for {} ms", silence.as_millis()))
    }

    fn flush(&mut self) -> Result<(), String> {
        while !self.unsent.is_empty() {
            match sys::write_some(self.socket.as_raw_fd(), &self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) => match error.raw_os_error() {
                    Some(sys::EAGAIN) => return Ok(()),
                    Some(sys::EINTR) => {}
                    _ => return Err(format!("sending to the daemon failed: {}", sys::error_text(&error))),
                },
            }
        }
        self.unsent = Vec::new();
        Ok(())
    }
}

/// A process that can write to this folder can run plugins as root, so only root may write to it.
fn check_folder(folder: &str) -> Result<(), NoChannel> {
    let facts = fs::metadata(folder)
        .map_err(|error| NoChannel::Away(format!("looking for {} failed: {}", folder, sys::error_text(&error))))?;
    let mode = facts.mode() & 0o7777;
    if facts.is_dir() && facts.uid() == 0 && mode == 0o700 {
        return Ok(());
    }
    let kind = if facts.is_dir() { "a folder" } else { "no folder" };
    Err(NoChannel::Distrusted(format!(
        "Cannot trust the socket folder {}: it must be a folder of uid 0 with mode 0700, it is {} of uid {} with mode {:04o}",
        folder,
        kind,
        facts.uid(),
        mode
    )))
}
