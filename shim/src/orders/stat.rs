//! STAT: whether paths of the host lead anywhere, and to which inode.

use std::fs;

use crate::base::identity::{Birth, Inode, NetnsIdentity};
use crate::net::netns::{look, NoNetns};
use crate::orders::outcome::Outcome;
use crate::sys;
use crate::wire::frame::Fields;
use crate::wire::tag;

/// `with_births`: the daemon understands which namespace it is.
pub fn stat(paths: &[String], with_births: bool) -> Outcome {
    look_at_all(paths, with_births).unwrap_or_else(|refusal| refusal)
}

/// The daemon deletes things on "not found", so this is the answer only if the path surely does not exist.
fn look_at_all(paths: &[String], with_births: bool) -> Result<Outcome, Outcome> {
    let mut fields = Fields::new();
    for path in paths {
        if !path.starts_with('/') {
            return Err(Outcome::refused(&format!(
                "Cannot look at a path that is not absolute: current value is {:?}",
                path
            )));
        }
        fields = fields.bytes(tag::FOUND, &look_at(path, with_births)?);
    }
    Ok(Outcome::done(fields))
}

fn look_at(path: &str, with_births: bool) -> Result<Vec<u8>, Outcome> {
    let seen = if with_births { Some(look(path, false)) } else { None };
    if let Some(Ok(open)) = seen {
        return Ok(found_netns(&open.identity));
    }
    match fs::metadata(path) {
        Ok(facts) if matches!(seen, Some(Err(NoNetns::Other(_)))) => Ok(found_with(&Inode::of(&facts), 0, 0)),
        // Something that cannot be opened, or an old daemon: nobody knows what it is.
        Ok(facts) => Ok(found(&Inode::of(&facts))),
        Err(error) if matches!(error.raw_os_error(), Some(sys::ENOENT | sys::ENOTDIR)) => Ok(vec![0]),
        Err(error) => {
            let message = format!("Cannot look at {}: {}", path, sys::error_text(&error));
            Err(Outcome::failed("refused", Some(sys::errno_of(&error)), &message))
        }
    }
}

fn found(inode: &Inode) -> Vec<u8> {
    [&[1], &inode.device.to_le_bytes()[..], &inode.number.to_le_bytes()[..]].concat()
}

fn found_netns(identity: &NetnsIdentity) -> Vec<u8> {
    match identity.birth {
        Some(Birth::Cookie(cookie)) => found_with(&identity.inode, 1, cookie),
        Some(Birth::Ctime(ctime)) => found_with(&identity.inode, 2, ctime),
        None => found_with(&identity.inode, 3, 0),
    }
}

fn found_with(inode: &Inode, kind: u8, number: u64) -> Vec<u8> {
    [&found(inode)[..], &[kind], &number.to_le_bytes()].concat()
}
