//! The frames that a call sends without an order, and the files made of them.

use std::time::Instant;

use crate::base::clock::ms_until;
use crate::base::identity::Birth;
use crate::cni::request::Request;
use crate::net::netns::OpenNetns;
use crate::orders::hand::Ended;
use crate::wire::frame::Fields;
use crate::wire::frame_type as kind;
use crate::wire::introduction::introduction;
use crate::wire::tag;

/// What a shim sends to a daemon that may not know its operation.
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
        .and(&netns_fields(request.netns_open.as_ref()))
        .optional_number(tag::OWN_NETNS_DEV, request.own_netns_inode.map(|inode| inode.device))
        .optional_number(tag::OWN_NETNS_INO, request.own_netns_inode.map(|inode| inode.number))
        .optional_number(tag::NETNS_OVERRIDE, Some(1).filter(|_| request.may_be_own_netns))
        .optional_text(tag::TRACE_PARENT, request.trace.parent.as_deref().unwrap_or(""))
        .optional_text(tag::TRACE_STATE, request.trace.state.as_deref().unwrap_or(""))
        .number(tag::CONFIG_LENGTH, request.config.len() as u64)
        .number(tag::BUDGET_MS, ms_until(whole))
}

/// A daemon before version 4 skips all but the first two.
fn netns_fields(netns: Option<&OpenNetns>) -> Fields {
    let (identity, links) = match netns {
        Some(OpenNetns { identity, links, .. }) => (identity, links),
        None => return Fields::new(),
    };
    let fields =
        Fields::new().number(tag::NETNS_DEV, identity.inode.device).number(tag::NETNS_INO, identity.inode.number);
    let fields = match identity.birth {
        Some(Birth::Cookie(cookie)) => fields.number(tag::NETNS_COOKIE, cookie),
        Some(Birth::Ctime(ctime)) => fields.number(tag::NETNS_CTIME, ctime),
        None => fields,
    };
    links.iter().flatten().fold(fields, |fields, name| fields.bytes(tag::LINK, name))
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

/// Name and content of the file from which the daemon takes a DEL later.
pub fn delete_record(request: &Request, whole: Instant) -> (String, Vec<u8>) {
    let name = format!("{}:{}.del", request.container_id, request.ifname);
    (name, [call_frame(request, whole), config_frame(request)].concat())
}

/// Name and content of the file from which the daemon takes an acknowledgement later.
pub fn ack_record(token: &[u8]) -> (String, Vec<u8>) {
    let hex: String = token.iter().map(|byte| format!("{:02x}", byte)).collect();
    (format!("{}.ack", hex), ack_frame(Ok(())))
}
