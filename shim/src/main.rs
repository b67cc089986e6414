//! levee-shim, the hands of Levee. It holds no policy: the daemon decides, the shim does.
//! docs/protocol.md says what both say to each other.

mod call;
mod cni;
mod ground;
mod hand;
mod options;
mod resident;
mod wire;

use std::time::Instant;

use options::{Options, HELP};

fn main() {
    let started = Instant::now();
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    let exit_code = match Options::read(&arguments) {
        Ok(Options::Cni) if cni::passthru::is_meant() => cni::passthru::serve(started),
        Ok(Options::Cni) => cni::cni_face::serve(started),
        Ok(Options::Resident(options)) => resident::serve(&options),
        Ok(Options::Probe(path)) => resident::probe::serve(&path, started),
        Ok(Options::Version) => say(&format!("{}\n", wire::identity::SOFTWARE), started),
        Ok(Options::Help) => say(HELP, started),
        Err(problem) => {
            ground::output::note(&format!("levee-shim: {}", problem));
            2
        }
    };
    std::process::exit(exit_code);
}

fn say(text: &str, started: Instant) -> i32 {
    i32::from(ground::output::write_stdout(text.as_bytes(), started + ground::clock::ms(10_000)).is_err())
}
