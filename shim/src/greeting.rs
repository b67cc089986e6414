//! The frames a shim speaks of its own accord, and the records made of them.

use std::time::Instant;

use crate::clock::ms_until;
use crate::frame::Fields;
use crate::frame_type as kind;
use crate::hand::Ended;
use crate::identity::introduction;
use crate::request::Request;
use crate::tag;

/// What a shim tells a daemon that may or may not remember it.
pub struct Resume<'a> {
    pub token: &'a [u8],
    pub printed: bool,
    pub last: Option<&'a Ended>,
}

fn call_fields(request: &Request, whole: Instant) -> Fields {
    introduction()
        .text(tag::VERB, request.verb.name())
        .optional_text(tag::CONTAINER_ID, &request.container_id)
        .optional_text(tag::NETNS, &request.netns)
        .optional_text(tag::IFNAME, &request.ifname)
        .optional_text(tag::CNI_ARGS, &request.cni_args)
        .optional_text(tag::CNI_PATH, &request.cni_path)
        .optional_number(tag::NETNS_DEV, request.netns_inode.map(|inode| inode.device))
        .optional_number(tag::NETNS_INO, request.netns_inode.map(|inode| inode.number))
        .optional_number(tag::OWN_NETNS_DEV, request.own_netns_inode.map(|inode| inode.device))
        .optional_number(tag::OWN_NETNS_INO, request.own_netns_inode.map(|inode| inode.number))
        .number(tag::CONFIG_LENGTH, request.config.len() as u64)
        .number(tag::BUDGET_MS, ms_until(whole))
}

pub fn call_frame(request: &Request, whole: Instant) -> Vec<u8> {
    call_fields(request, whole).into_frame(kind::CALL)
}

pub fn resume_frame(request: &Request, whole: Instant, resume: &Resume) -> Vec<u8> {
    let fields = call_fields(request, whole).bytes(tag::TOKEN, resume.token).flag(tag::PRINTED, resume.printed);
    match resume.last {
        Some(last) => fields.number(tag::STEP, last.step).and(&last.outcome.fields),
        None => fields,
    }
    .into_frame(kind::RESUME)
}

pub fn config_frame(request: &Request) -> Vec<u8> {
    Fields::new().bytes(tag::CONFIG, &request.config).into_frame(kind::CONFIG)
}

pub fn ack_frame(written: Result<(), i32>) -> Vec<u8> {
    Fields::new()
        .flag(tag::PRINTED, written.is_ok())
        .optional_number(tag::ERRNO, written.err().map(|errno| errno.max(0) as u64))
        .into_frame(kind::ACK)
}

/// The name and the frames of a delete that the daemon will find on disk.
pub fn delete_record(request: &Request, whole: Instant) -> (String, Vec<u8>) {
    let name = format!("{}:{}.del", request.container_id, request.ifname);
    (name, [call_frame(request, whole), config_frame(request)].concat())
}

/// The name and the frame of an acknowledgement that the daemon will find on disk.
pub fn ack_record(token: &[u8]) -> (String, Vec<u8>) {
    let hex: String = token.iter().map(|byte| format!("{:02x}", byte)).collect();
    (format!("{}.ack", hex), ack_frame(Ok(())))
}
