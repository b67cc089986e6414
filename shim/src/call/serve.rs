//! The program as the runtime starts it, with variables in the environment and a configuration on stdin.

use std::env;
use std::time::Instant;

use crate::base::clock::ms;
use crate::base::output::{write_stderr, write_stdout};
use crate::call::make_call::make_call;
use crate::cni::cni_error::{fail, CniError, IO_FAILURE};
use crate::cni::request::read_request;
use crate::cni::verb::Verb;
use crate::cni::versions::{version_answer, SUPPORTED_VERSIONS};
use crate::orders::session::{become_hand, give_way};
use crate::sys;

const ABOUT: &str = "meta-plugin that delegates to other CNI plugins";

pub fn serve(started: Instant) -> i32 {
    let command = env::var_os("CNI_COMMAND").unwrap_or_default();
    match command.to_string_lossy().as_ref() {
        "" => {
            write_stderr(&format!("{}\nCNI protocol versions supported: {}", ABOUT, SUPPORTED_VERSIONS.join(", ")));
            0
        }
        "VERSION" => match write_stdout(version_answer(&SUPPORTED_VERSIONS).as_bytes(), started + ms(10_000)) {
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
                    let message = format!("Cannot start a new session: {}", sys::error_text(&error));
                    fail(&request.conf.cni_version, &CniError::new(IO_FAILURE, message))
                }
            },
        },
    }
}
