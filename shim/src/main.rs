//! levee-shim, the hands of Levee. It has no policy: the daemon decides, the shim carries out.
//! docs/protocol.md describes their conversation.

#![deny(unsafe_code)]

mod base;
mod builtin;
mod call;
mod cni;
mod gate;
mod net;
mod options;
mod orders;
mod plugin;
mod resident;
#[allow(unsafe_code)]
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
        Ok(Options::Cni) if passthru::is_requested() => passthru::serve(started),
        Ok(Options::Cni) => call::serve::serve(started),
        Ok(Options::Resident(options)) => resident::serve::serve(&options),
        Ok(Options::Probe(path)) => probe::serve(&path, started),
        Ok(Options::Plugin(plugin, edition)) => builtin::command::serve(&plugin, edition),
        Ok(Options::Gate(path)) => gate::check::serve(path, started),
        Ok(Options::Version) => print(&format!("{}\n", SOFTWARE), started),
        Ok(Options::Help) => print(HELP, started),
        Err(problem) => {
            output::write_stderr(&format!("levee-shim: {}", problem));
            2
        }
    };
    std::process::exit(exit_code);
}

fn print(text: &str, started: Instant) -> i32 {
    i32::from(output::write_stdout(text.as_bytes(), started + clock::ms(10_000)).is_err())
}
