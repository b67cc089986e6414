//! The CNI side: what the runtime starts, with variables in the environment and a configuration on stdin.

use std::env;
use std::time::Instant;

use crate::call::{fail, make_call};
use crate::clock::ms;
use crate::cni_error::{CniError, IO_FAILURE};
use crate::conf::{NEWEST_VERSION, SUPPORTED_VERSIONS};
use crate::output::{note, write_stdout};
use crate::request::read_request;
use crate::session::{become_hand, give_way};
use crate::sys;
use crate::verb::Verb;

const ABOUT: &str = "meta-plugin that delegates to other CNI plugins";

pub fn serve(started: Instant) -> i32 {
    let command = env::var_os("CNI_COMMAND").unwrap_or_default();
    match command.to_string_lossy().as_ref() {
        "" => {
            note(&format!("{}\nCNI protocol versions supported: {}", ABOUT, SUPPORTED_VERSIONS.join(", ")));
            0
        }
        "VERSION" => match write_stdout(versions(&SUPPORTED_VERSIONS).as_bytes(), started + ms(10_000)) {
            Ok(()) => 0,
            Err(_) => 1,
        },
        command => match read_request(command) {
            Err((version, error)) => fail(&version, &error),
            Ok(request) => match become_hand() {
                Ok(()) => {
                    if request.verb == Verb::Del {
                        give_way();
                    }
                    make_call(request, started)
                }
                Err(error) => {
                    let message = format!("Cannot start a session of its own: {}", sys::error_text(&error));
                    fail(&request.conf.cni_version, &CniError::new(IO_FAILURE, message))
                }
            },
        },
    }
}

pub fn versions(supported: &[&str]) -> String {
    let list: Vec<String> = supported.iter().map(|version| format!("\"{}\"", version)).collect();
    format!("{{\"cniVersion\":\"{}\",\"supportedVersions\":[{}]}}\n", NEWEST_VERSION, list.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_answer_is_the_one_runtimes_know() {
        assert_eq!(
            versions(&SUPPORTED_VERSIONS),
            "{\"cniVersion\":\"1.1.0\",\"supportedVersions\":[\"0.1.0\",\"0.2.0\",\"0.3.0\",\"0.3.1\",\"0.4.0\",\"1.0.0\",\"1.1.0\"]}\n"
        );
    }
}
