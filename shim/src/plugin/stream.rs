//! One pipe of a child process, read to its end without blocking.

use std::os::unix::io::{AsRawFd, OwnedFd};

use crate::sys;

pub enum Keep {
    Start,
    End,
}

/// Keeps a bounded number of bytes, from the start or from the end.
pub struct Stream {
    pipe: Option<OwnedFd>,
    bytes: Vec<u8>,
    bytes_max: usize,
    keep: Keep,
    lost: u64,
}

impl Stream {
    pub fn new(pipe: OwnedFd, bytes_max: usize, keep: Keep) -> Stream {
        Stream { pipe: Some(pipe), bytes: Vec::new(), bytes_max, keep, lost: 0 }
    }

    pub fn interest(&self, fds: &mut Vec<sys::PollFd>) {
        if let Some(pipe) = &self.pipe {
            fds.push(sys::PollFd { fd: pipe.as_raw_fd(), events: sys::POLLIN, revents: 0 });
        }
    }

    pub fn read(&mut self) {
        let mut chunk = [0u8; 16 * 1024];
        // Bounded, so that a plugin that never stops writing does not delay the check of its time limit.
        for _ in 0..64 {
            let fd = match &self.pipe {
                Some(pipe) => pipe.as_raw_fd(),
                None => return,
            };
            match sys::read_some(fd, &mut chunk) {
                Ok(0) => self.pipe = None,
                Ok(count) => self.take(&chunk[..count]),
                Err(error) => match error.raw_os_error() {
                    Some(sys::EAGAIN) => return,
                    Some(sys::EINTR) => {}
                    _ => self.pipe = None,
                },
            }
        }
    }

    fn take(&mut self, received: &[u8]) {
        match self.keep {
            Keep::Start => {
                let count = received.len().min(self.bytes_max - self.bytes.len());
                self.bytes.extend_from_slice(&received[..count]);
                self.lost += (received.len() - count) as u64;
            }
            Keep::End => {
                self.bytes.extend_from_slice(received);
                // Cut rarely: moving bytes costs more than holding a few more of them.
                if self.bytes.len() > 4 * self.bytes_max {
                    let excess = self.bytes.len() - self.bytes_max;
                    self.bytes.drain(..excess);
                }
            }
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.bytes.len().saturating_sub(self.bytes_max)..]
    }

    pub fn is_truncated(&self) -> bool {
        self.lost > 0
    }

    pub fn is_ended(&self) -> bool {
        self.pipe.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(bytes: &[u8], bytes_max: usize, keep: Keep) -> Stream {
        let (read_end, write_end) = sys::pipe().unwrap();
        sys::set_nonblocking(read_end.as_raw_fd()).unwrap();
        let mut stream = Stream::new(read_end, bytes_max, keep);
        for chunk in bytes.chunks(1000) {
            sys::write_some(write_end.as_raw_fd(), chunk).unwrap();
            stream.read();
        }
        assert!(!stream.is_ended());
        drop(write_end);
        stream.read();
        assert!(stream.is_ended());
        stream
    }

    #[test]
    fn the_start_is_kept_and_a_loss_is_marked() {
        let bytes: Vec<u8> = (0..5000u32).map(|count| count as u8).collect();
        let stream = written(&bytes, 1500, Keep::Start);
        assert_eq!((stream.bytes(), stream.is_truncated()), (&bytes[..1500], true));
        let stream = written(&bytes, 5000, Keep::Start);
        assert_eq!((stream.bytes(), stream.is_truncated()), (&bytes[..], false));
    }

    #[test]
    fn the_end_is_kept() {
        let bytes: Vec<u8> = (0..50_000u32).map(|count| count as u8).collect();
        assert_eq!(written(&bytes, 700, Keep::End).bytes(), &bytes[49_300..]);
        assert_eq!(written(&bytes[..500], 700, Keep::End).bytes(), &bytes[..500]);
    }
}
