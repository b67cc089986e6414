//! levee-shim, the hands of Levee. It holds no policy: the daemon decides, the shim does.
//! docs/protocol.md says what both say to each other.

// The CNI side
mod cni_error;
mod cni_face;
mod conf;
mod conf_scan;
mod passthru;
mod request;
mod verb;

// The life of one call
mod call;
mod deliver;
mod limits;
mod offline;
mod undo;

// The resident hand
mod delegate_cgroup;
mod options;
mod place;
mod probe;
mod probe_door;
mod progress;
mod resident;

// The hand itself: orders and how they are carried out
mod forked_job;
mod hand;
mod job;
mod links;
mod list;
mod memory;
mod netlink;
mod netns;
mod orders;
mod outcome;
mod plugin;
mod reap;
mod routes;
mod routes_job;
mod run;
mod scratch_run;
mod session;
mod stream;

// Talking to the daemon
mod channel;
mod conversation;
mod frame;
mod frame_type;
mod greeting;
mod identity;
mod tag;

// Ground
mod calendar;
mod clock;
mod crc;
mod json;
mod output;
mod sys;

use std::time::Instant;

use options::{Options, HELP};

fn main() {
    let started = Instant::now();
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    let exit_code = match Options::read(&arguments) {
        Ok(Options::Cni) if passthru::is_meant() => passthru::serve(started),
        Ok(Options::Cni) => cni_face::serve(started),
        Ok(Options::Resident(options)) => resident::serve(&options),
        Ok(Options::Probe(path)) => probe::serve(&path, started),
        Ok(Options::Version) => say(&format!("{}\n", identity::SOFTWARE), started),
        Ok(Options::Help) => say(HELP, started),
        Err(problem) => {
            output::note(&format!("levee-shim: {}", problem));
            2
        }
    };
    std::process::exit(exit_code);
}

fn say(text: &str, started: Instant) -> i32 {
    i32::from(output::write_stdout(text.as_bytes(), started + clock::ms(10_000)).is_err())
}
