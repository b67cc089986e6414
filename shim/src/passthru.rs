//! The plugin `passthru`: the first of an auxiliary chain, there to give the chain a result to start with. Multus brings
//! it as a program of its own; here it is the shim under another name.

use std::env;
use std::path::Path;
use std::time::Instant;

use crate::call::fail;
use crate::clock::ms;
use crate::cni_error::{CniError, INCOMPATIBLE_VERSION, IO_FAILURE};
use crate::cni_face::versions;
use crate::conf::SUPPORTED_VERSIONS;
use crate::json::quote;
use crate::output::{note, write_stdout};
use crate::request::read_request;
use crate::sys;
use crate::verb::Verb;

const NAME: &str = "passthru";
const ABOUT: &str = "plugin that does nothing and starts a chain";
/// Results of older versions cannot be empty.
const OLDEST: usize = 2;

/// Whether this program was started under that name.
pub fn is_meant() -> bool {
    env::args_os().next().map_or(false, |path| Path::new(&path).file_name().map_or(false, |name| name == NAME))
}

pub fn serve(started: Instant) -> i32 {
    let supported = &SUPPORTED_VERSIONS[OLDEST..];
    let command = env::var_os("CNI_COMMAND").unwrap_or_default();
    match command.to_string_lossy().as_ref() {
        "" => {
            note(&format!("{}\nCNI protocol versions supported: {}", ABOUT, supported.join(", ")));
            0
        }
        "VERSION" => i32::from(write_stdout(versions(supported).as_bytes(), started + ms(10_000)).is_err()),
        command => match read_request(command) {
            Err((version, error)) => fail(&version, &error),
            Ok(request) => answer(request.verb, &request.conf.cni_version, started),
        },
    }
}

fn answer(verb: Verb, version: &str, started: Instant) -> i32 {
    if SUPPORTED_VERSIONS[..OLDEST].contains(&version) {
        let details = format!("config is {:?}, plugin supports {:?}", version, &SUPPORTED_VERSIONS[OLDEST..]);
        let error = CniError::new(INCOMPATIBLE_VERSION, "incompatible CNI versions").with_details(details);
        return fail(version, &error);
    }
    if verb != Verb::Add {
        return 0;
    }
    let result = format!("{{\n    \"cniVersion\": {}\n}}", quote(version));
    match write_stdout(result.as_bytes(), started + ms(10_000)) {
        Ok(()) => 0,
        Err(errno) => {
            let message = format!("Cannot write the result: {}", sys::errno_text(errno));
            fail(version, &CniError::new(IO_FAILURE, message))
        }
    }
}
