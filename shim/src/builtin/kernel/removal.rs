//! Removes a link without the last part of the wait for the kernel.
//!
//! The kernel answers a request to delete a link 10 to 30 ms late. By then the link has long been gone, with the other end
//! of a pair: out of every namespace and bridge, without addresses and routes. What the kernel waits for, without any lock,
//! is that no processor can still read the memory of the link. So a child process sends the request and waits, and this
//! process goes on as soon as the kernel says that the link is gone.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::io::{AsRawFd, OwnedFd};

use crate::builtin::kernel::links::{delete_link_by_index, removed_link, set_link};
use crate::builtin::kernel::namespaces::Namespace;
use crate::net::netlink::Netlink;
use crate::sys::{self, PollFd};

/// The process must be in the namespace. A link that is gone counts as removed. The number of a link is never given to a
/// later one, which a child that outlives this process by a moment could meet under the same name.
pub fn remove_link(inside: &Namespace, index: u32) -> io::Result<()> {
    let removed = match Removal::begin(index) {
        Ok(mut removal) => removal.wait(&inside.netlink),
        Err(_no_child_or_no_news) => delete_link_by_index(&inside.netlink, index),
    };
    match removed {
        Err(error) if error.raw_os_error() == Some(sys::ENODEV) => Ok(()),
        other => other,
    }
}

struct Removal {
    index: u32,
    changes: Netlink,
    answer: File,
}

impl Removal {
    fn begin(index: u32) -> io::Result<Removal> {
        let changes = Netlink::open_for_link_changes()?;
        let (answer, answer_end) = sys::pipe()?;
        let parent = std::process::id() as i32;
        match sys::fork_process()? {
            Some(_) => Ok(Removal { index, changes, answer: File::from(answer) }),
            None => {
                let _nothing_was_sent = send(parent, index, &answer_end);
                sys::exit_now(0)
            }
        }
    }

    /// Until the link is gone, or the kernel refuses to delete it.
    fn wait(&mut self, inside: &Netlink) -> io::Result<()> {
        let mut hears = true;
        loop {
            let mut fds: Vec<PollFd> = vec![readable(&self.answer)];
            fds.extend(hears.then(|| readable(&self.changes)));
            sys::poll_fds(&mut fds, -1);
            if fds[0].revents != 0 {
                return self.answered(inside);
            }
            if fds.get(1).map_or(false, |changes| changes.revents != 0) {
                match self.hear() {
                    Ok(true) if self.is_over(inside) => return Ok(()),
                    Ok(_) => {}
                    // The kernel had more to tell than fits. The answer comes in any case.
                    Err(_) => hears = false,
                }
            }
        }
    }

    /// Whether the kernel says that the link is being removed.
    fn hear(&self) -> io::Result<bool> {
        let mut is_removed = false;
        self.changes
            .next_changes(&mut |kind, payload| is_removed |= removed_link(kind, payload) == Some(self.index))?;
        Ok(is_removed)
    }

    /// The kernel says it in the midst of the removal. A change waits for its lock, and then finds no such link.
    fn is_over(&self, inside: &Netlink) -> bool {
        let nothing = set_link(inside, self.index, (0, 0), &[]);
        nothing.map_or_else(|error| error.raw_os_error() == Some(sys::ENODEV), |()| false)
    }

    fn answered(&mut self, inside: &Netlink) -> io::Result<()> {
        let mut errno = [0; 4];
        match self.answer.read_exact(&mut errno).ok().map(|()| i32::from_ne_bytes(errno)) {
            Some(0) => Ok(()),
            Some(errno) => Err(io::Error::from_raw_os_error(errno)),
            // The child was killed.
            None => delete_link_by_index(inside, self.index),
        }
    }
}

/// In the child. It ends with its parent: at once, or as soon as the kernel has answered.
fn send(parent: i32, index: u32, answer_end: &OwnedFd) -> io::Result<()> {
    sys::die_with_parent(parent)?;
    // The end of the plugin's output must not wait for this process.
    (0..3).try_for_each(|place| sys::replace(answer_end.as_raw_fd(), place))?;
    sys::close_all_but(answer_end.as_raw_fd());
    let deleted = Netlink::open().and_then(|netlink| delete_link_by_index(&netlink, index));
    let errno = deleted.err().map_or(0, |error| sys::errno_of(&error));
    sys::write_some(answer_end.as_raw_fd(), &errno.to_ne_bytes()).map(drop)
}

fn readable(source: &impl AsRawFd) -> PollFd {
    PollFd { fd: source.as_raw_fd(), events: sys::POLLIN, revents: 0 }
}
