//! `levee-shim plugin NAME`: a built-in plugin as a program, for tests and for people who look for a difference. It has the
//! environment and the standard input of a CNI plugin.

use std::io::{self, Read};

use crate::base::output::write_stderr;
use crate::builtin::{prepare, Edition, PluginCall, Unsupported};

/// No upstream plugin uses this code. It means that nothing has been done.
const UNSUPPORTED_EXIT: i32 = 75;

/// The exit code of the program.
pub fn serve(plugin: &str, edition: Edition) -> i32 {
    let call = PluginCall::read(edition, |name| std::env::var(name).unwrap_or_default());
    let mut stdin = Vec::new();
    let served = io::stdin().read_to_end(&mut stdin).and_then(|_| match prepare(plugin, &call, &stdin) {
        Ok(prepared) => prepared.serve(&call, &mut io::stdout()).map(|outcome| outcome.exit_code()),
        Err(Unsupported(why)) => {
            write_stderr(&format!("levee-shim: {}", why));
            Ok(UNSUPPORTED_EXIT)
        }
    });
    served.unwrap_or_else(|error| {
        write_stderr(&format!("levee-shim: {}", error));
        1
    })
}
