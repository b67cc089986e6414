//! levee-shim, the hands of Levee. It holds no policy: the daemon decides, the shim does.
//! docs/protocol.md says what both say to each other.

mod base;
mod call;
mod cni;
mod net;
mod options;
mod orders;
mod plugin;
mod resident;
mod sys;
mod wire;

use std::time::Instant;

use base::{clock, output};
use cni::passthru;
use options::{Options, HELP};
use resident::probe;
use wire::introduction::SOFTWARE;

fn main() {
    let started = Instant::now();
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    let exit_code = match Options::read(&arguments) {
        Ok(Options::Cni) if passthru::is_meant() => passthru::serve(started),
        Ok(Options::Cni) => call::serve::serve(started),
        Ok(Options::Resident(options)) => resident::serve::serve(&options),
        Ok(Options::Probe(path)) => probe::serve(&path, started),
        Ok(Options::Version) => say(&format!("{}\n", SOFTWARE), started),
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
