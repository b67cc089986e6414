//! `levee-shim plugin NAME`: a built-in plugin as a program, for tests and for people who look for a difference. It has the
//! environment and the standard input of a CNI plugin.

use std::io::{self, Read};

use crate::base::output::write_stderr;
use crate::builtin::{run, Edition, PluginCall};

/// No upstream plugin uses this code. It means that nothing has been done.
pub const UNSUPPORTED_EXIT: i32 = 75;

/// The exit code of the program.
pub fn serve(plugin: &str, edition: Edition) -> i32 {
    let call = PluginCall::read(edition, |name| std::env::var(name).unwrap_or_default());
    let mut stdin = Vec::new();
    let outcome = io::stdin().read_to_end(&mut stdin).and_then(|_| run(plugin, &call, &stdin, &mut io::stdout()));
    match outcome {
        Ok(outcome) => {
            if let crate::builtin::Outcome::Unsupported(why) = &outcome {
                write_stderr(&format!("levee-shim: {}", why.0));
            }
            outcome.exit_code()
        }
        Err(error) => {
            write_stderr(&format!("levee-shim: {}", error));
            1
        }
    }
}
