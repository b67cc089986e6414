//! rtnetlink messages as bytes, and the socket that sends them and reads the answers: only what routes and links need.

use std::io;
use std::os::unix::io::{AsRawFd, OwnedFd, RawFd};

use crate::sys;

pub const RTM_NEWLINK: u16 = 16;
pub const RTM_DELLINK: u16 = 17;
pub const RTM_GETLINK: u16 = 18;
pub const RTM_SETLINK: u16 = 19;
pub const RTM_NEWADDR: u16 = 20;
pub const RTM_DELADDR: u16 = 21;
pub const RTM_GETADDR: u16 = 22;
pub const RTM_NEWROUTE: u16 = 24;
pub const RTM_DELROUTE: u16 = 25;
pub const RTM_GETROUTE: u16 = 26;

pub const NLM_F_REQUEST: u16 = 1;
pub const NLM_F_ACK: u16 = 4;
pub const NLM_F_REPLACE: u16 = 0x100;
pub const NLM_F_EXCL: u16 = 0x200;
pub const NLM_F_CREATE: u16 = 0x400;
pub const NLM_F_DUMP: u16 = 0x300;

/// Something changed while the kernel was listing.
const NLM_F_DUMP_INTR: u16 = 0x10;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NETLINK_ROUTE: i32 = 0;
/// The group of changes of links, as a bit.
const RTMGRP_LINK: u32 = 1;
const HEADER_BYTES: usize = 16;
/// How often a list is asked for while it is interrupted.
const LISTS_MAX: usize = 5;
/// The kernel's answers are at most 32 KiB each.
const ANSWER_BYTES: usize = 64 * 1024;

/// One attribute: its number without the flag bits, and its bytes.
pub type Attribute<'a> = (u16, &'a [u8]);

/// A request: header, the fixed part, then attributes padded to four bytes.
pub fn message(kind: u16, flags: u16, fixed: &[u8], attributes: &[Attribute]) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    bytes.extend_from_slice(&kind.to_ne_bytes());
    bytes.extend_from_slice(&flags.to_ne_bytes());
    bytes.extend_from_slice(&[0; 8]);
    bytes.extend_from_slice(fixed);
    bytes.extend(nested(attributes));
    let length = bytes.len() as u32;
    bytes[..4].copy_from_slice(&length.to_ne_bytes());
    bytes
}

/// Attributes padded to four bytes, as the value of an attribute that holds others.
pub fn nested(attributes: &[Attribute]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, value) in attributes {
        bytes.extend_from_slice(&(value.len() as u16 + 4).to_ne_bytes());
        bytes.extend_from_slice(&number.to_ne_bytes());
        bytes.extend_from_slice(value);
        bytes.resize((bytes.len() + 3) / 4 * 4, 0);
    }
    bytes
}

/// Cuts `length, …` records padded to four bytes, as attributes and next hops are. A broken record ends the list.
pub fn records(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while bytes.len() >= 4 {
        let length = u16::from_ne_bytes([bytes[0], bytes[1]]) as usize;
        if length < 4 || length > bytes.len() {
            break;
        }
        found.push(&bytes[..length]);
        bytes = &bytes[((length + 3) / 4 * 4).min(bytes.len())..];
    }
    found
}

pub fn attributes(bytes: &[u8]) -> Vec<Attribute<'_>> {
    const NUMBER_MASK: u16 = 0x3fff;
    records(bytes)
        .into_iter()
        .map(|record| (u16::from_ne_bytes([record[2], record[3]]) & NUMBER_MASK, &record[4..]))
        .collect()
}

pub fn as_u32(value: &[u8]) -> Option<u32> {
    let bytes = value.get(..4)?;
    Some(u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// One message out of an answer.
#[derive(Debug, PartialEq)]
enum Part<'a> {
    Done,
    /// 0 is an acknowledgement.
    Errno(i32),
    Payload(u16, &'a [u8]),
    /// The list so far may be incomplete.
    Interrupted,
}

fn parts(mut bytes: &[u8]) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    while bytes.len() >= HEADER_BYTES {
        let length = as_u32(bytes).unwrap_or(0) as usize;
        if length < HEADER_BYTES || length > bytes.len() {
            break;
        }
        let payload = &bytes[HEADER_BYTES..length];
        if u16::from_ne_bytes([bytes[6], bytes[7]]) & NLM_F_DUMP_INTR != 0 {
            found.push(Part::Interrupted);
        }
        found.push(match u16::from_ne_bytes([bytes[4], bytes[5]]) {
            NLMSG_DONE => Part::Done,
            NLMSG_ERROR => Part::Errno(as_u32(payload).map_or(sys::EPROTO, |number| (number as i32).wrapping_neg())),
            kind => Part::Payload(kind, payload),
        });
        bytes = &bytes[((length + 3) / 4 * 4).min(bytes.len())..];
    }
    found
}

pub struct Netlink {
    socket: OwnedFd,
}

impl Netlink {
    pub fn open() -> io::Result<Netlink> {
        let socket = sys::new_socket(sys::AF_NETLINK, sys::SOCK_RAW | sys::SOCK_CLOEXEC, NETLINK_ROUTE)?;
        Ok(Netlink { socket })
    }

    /// A socket that receives every change of links in the namespace of this process.
    pub fn open_for_link_changes() -> io::Result<Netlink> {
        let netlink = Netlink::open()?;
        sys::join_netlink_groups(netlink.socket.as_raw_fd(), RTMGRP_LINK).map(|()| netlink)
    }

    /// Waits for the next changes, and passes each of them on.
    pub fn next_changes(&self, each: &mut dyn FnMut(u16, &[u8])) -> io::Result<()> {
        let mut changes = vec![0; ANSWER_BYTES];
        let count = sys::read_some(self.socket.as_raw_fd(), &mut changes)?;
        for part in parts(&changes[..count]) {
            if let Part::Payload(kind, payload) = part {
                each(kind, payload);
            }
        }
        Ok(())
    }

    /// Sends a change and waits for its acknowledgement.
    pub fn change(&self, request: &[u8]) -> io::Result<()> {
        self.ask(request, &mut |_, _| {}).map(drop)
    }

    /// What `read` finds in the answers to a dump request, which is sent again if something changed meanwhile. False if
    /// each answer was interrupted so: the last one, which is given then, may be incomplete.
    pub fn list<T>(&self, request: &[u8], read: impl Fn(u16, &[u8]) -> Option<T>) -> io::Result<(Vec<T>, bool)> {
        let mut found = Vec::new();
        for _ in 0..LISTS_MAX {
            found.clear();
            if self.dump(request, &mut |kind, payload| found.extend(read(kind, payload)))? {
                return Ok((found, true));
            }
        }
        Ok((found, false))
    }

    /// Sends a dump request and passes every payload of the answer to `each`. False if something changed meanwhile: the
    /// list may be incomplete.
    pub fn dump(&self, request: &[u8], each: &mut dyn FnMut(u16, &[u8])) -> io::Result<bool> {
        self.ask(request, each)
    }

    fn ask(&self, request: &[u8], each: &mut dyn FnMut(u16, &[u8])) -> io::Result<bool> {
        let mut is_whole = true;
        sys::write_some(self.socket.as_raw_fd(), request)?;
        let mut answer = vec![0; ANSWER_BYTES];
        loop {
            let count = sys::read_some(self.socket.as_raw_fd(), &mut answer)?;
            for part in parts(&answer[..count]) {
                match part {
                    Part::Done | Part::Errno(0) => return Ok(is_whole),
                    Part::Errno(errno) => return Err(io::Error::from_raw_os_error(errno)),
                    Part::Payload(kind, payload) => each(kind, payload),
                    Part::Interrupted => is_whole = false,
                }
            }
        }
    }
}

#[cfg(test)]
impl Netlink {
    /// One whose other end gives these answers, in their order, one to each request.
    pub fn answering(answers: Vec<Vec<u8>>) -> Netlink {
        let (own, other) = std::os::unix::net::UnixDatagram::pair().unwrap();
        std::thread::spawn(move || {
            for answer in answers {
                other.recv(&mut [0; 4096]).and_then(|_| other.send(&answer)).unwrap();
            }
        });
        Netlink { socket: own.into() }
    }

    /// The end of a list. One that was interrupted says so.
    pub fn end_of_list(is_whole: bool) -> Vec<u8> {
        message(NLMSG_DONE, if is_whole { 0 } else { NLM_F_DUMP_INTR }, &[0; 4], &[])
    }
}

impl AsRawFd for Netlink {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_padded_and_carries_its_length() {
        let bytes = message(24, 5, &[9, 9, 9, 9], &[(4, &[7, 0, 0, 0]), (1, &[1])]);
        let expected = [
            36, 0, 0, 0, 24, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9, 8, 0, 4, 0, 7, 0, 0, 0, 5, 0, 1, 0, 1, 0, 0,
            0,
        ];
        assert_eq!(bytes, expected);
        assert_eq!(attributes(&bytes[20..]), vec![(4, &[7, 0, 0, 0][..]), (1, &[1][..])]);
    }

    #[test]
    fn an_interrupted_list_is_asked_for_again_and_in_the_end_taken_as_it_is() {
        let answer = |kind: u16, is_whole| [message(kind, 0, &[], &[]), Netlink::end_of_list(is_whole)].concat();
        let kinds = |answers: Vec<Vec<u8>>| Netlink::answering(answers).list(&[0; 16], |kind, _| Some(kind)).unwrap();
        assert_eq!(kinds(vec![answer(20, false), answer(21, false), answer(22, true)]), (vec![22], true));
        assert_eq!(kinds((20..20 + LISTS_MAX as u16).map(|kind| answer(kind, false)).collect()), (vec![24], false));
    }

    #[test]
    fn broken_answers_end_the_list() {
        assert!(parts(&[1, 0, 0, 0]).is_empty());
        assert!(parts(&[255; 40]).is_empty());
        assert!(attributes(&[3, 0, 1, 0]).is_empty());
        assert!(attributes(&[200, 0, 1, 0]).is_empty());
        let error = message(2, 0, &(-17i32).to_ne_bytes(), &[]);
        assert_eq!(parts(&error), vec![Part::Errno(17)]);
        let interrupted = message(NLMSG_DONE, NLM_F_DUMP_INTR, &[], &[]);
        assert_eq!(parts(&interrupted), vec![Part::Interrupted, Part::Done]);
    }
}
