//! The plugin `passthru`: the first link of an auxiliary chain, which gives the chain a first result. Multus has a
//! separate program for it; here it is the shim under another name.

use std::env;
use std::path::Path;
use std::time::Instant;

use crate::base::clock::ms;
use crate::base::json::quote;
use crate::base::output::{write_stderr, write_stdout};
use crate::cni::cni_error::{fail, CniError, INCOMPATIBLE_VERSION, IO_FAILURE};
use crate::cni::request::read_request;
use crate::cni::verb::Verb;
use crate::cni::versions::{version_answer, SUPPORTED_VERSIONS};
use crate::sys;

const NAME: &str = "passthru";
const ABOUT: &str = "plugin that does nothing and starts a chain";
/// The index of the first version whose result may be empty.
const OLDEST: usize = 2;

/// Whether this program was started as `passthru`.
pub fn is_requested() -> bool {
    env::args_os().next().map_or(false, |path| Path::new(&path).file_name().map_or(false, |name| name == NAME))
}

pub fn serve(started: Instant) -> i32 {
    let supported = &SUPPORTED_VERSIONS[OLDEST..];
    let command = env::var_os("CNI_COMMAND").unwrap_or_default();
    match command.to_string_lossy().as_ref() {
        "" => {
            write_stderr(&format!("{}\nCNI protocol versions supported: {}", ABOUT, supported.join(", ")));
            0
        }
        "VERSION" => i32::from(write_stdout(version_answer(supported).as_bytes(), started + ms(10_000)).is_err()),
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
