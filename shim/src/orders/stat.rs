//! STAT: whether paths of the host lead anywhere, and to which inode.

use std::fs;

use crate::base::identity::Inode;
use crate::orders::outcome::Outcome;
use crate::sys;
use crate::wire::frame::Fields;
use crate::wire::tag;

pub fn stat(paths: &[String]) -> Outcome {
    look_at_all(paths).unwrap_or_else(|refusal| refusal)
}

/// The daemon deletes things on "not found", so this is the answer only if the path surely does not exist.
fn look_at_all(paths: &[String]) -> Result<Outcome, Outcome> {
    let mut fields = Fields::new();
    for path in paths {
        if !path.starts_with('/') {
            return Err(Outcome::refused(&format!(
                "Cannot look at a path that is not absolute: current value is {:?}",
                path
            )));
        }
        let found = match fs::metadata(path) {
            Ok(facts) => {
                let inode = Inode::of(&facts);
                [&[1], &inode.device.to_le_bytes()[..], &inode.number.to_le_bytes()[..]].concat()
            }
            Err(error) if matches!(error.raw_os_error(), Some(sys::ENOENT | sys::ENOTDIR)) => vec![0],
            Err(error) => {
                let message = format!("Cannot look at {}: {}", path, sys::error_text(&error));
                return Err(Outcome::failed("refused", Some(sys::errno_of(&error)), &message));
            }
        };
        fields = fields.bytes(tag::FOUND, &found);
    }
    Ok(Outcome::done(fields))
}
