//! A plugin that is built in, as the body of a process: it has its order in memory instead of its standard input and its
//! environment, and behaves as the program does.

use std::io::Write;
use std::os::unix::io::{AsRawFd, OwnedFd};

use crate::base::output::{write_all_stdout, write_stderr};
use crate::builtin::{self, Edition, PluginCall, Prepared, Unsupported};
use crate::plugin::process::{Body, Trouble};
use crate::plugin::run_order::RunOrder;
use crate::plugin::stand_in::StandIns;
use crate::sys;

pub struct BuiltIn<'a> {
    pub order: &'a RunOrder,
    /// The version of the program that it stands in for.
    pub version: &'a str,
    pub stand_ins: &'a StandIns,
    /// Whether its own children end first, as the run's cgroup can be removed only after them.
    pub waits_for_children: bool,
}

impl Body for BuiltIn<'_> {
    fn serve(&self, trouble: &mut Option<OwnedFd>) -> Trouble {
        if let Some(end) = trouble {
            // Otherwise another plugin of this hand would not see the end of its stdin.
            sys::close_all_but(end.as_raw_fd());
        }
        let work = match self.prepare() {
            Ok(work) => work,
            Err(Unsupported(why)) => return Trouble::Unsupported(why),
        };
        // From here on this is the plugin.
        *trouble = None;
        let code = self.carry_out(&work);
        while self.waits_for_children && sys::next_exit(0).is_some() {}
        sys::exit_now(code)
    }
}

enum Work {
    Call(PluginCall, Prepared),
    Versions(Edition),
}

impl BuiltIn<'_> {
    /// Changes nothing.
    fn prepare(&self) -> Result<Work, Unsupported> {
        let plugin = self.order.plugin.as_str();
        let edition = Edition::parse(self.version)
            .ok_or_else(|| Unsupported(format!("version {} of {} is not built in", self.version, plugin)))?;
        let call = PluginCall::read(edition, |name| self.order.variable(name).to_string());
        if call.command == "VERSION" && builtin::PLUGINS.contains(&plugin) {
            return Ok(Work::Versions(edition));
        }
        // A list of the setting may name plugins whose programs are a site's own, and collect.
        if call.command == "GC" && self.stand_ins.has_program {
            return Err(Unsupported("the command GC is not built in where a program is".to_string()));
        }
        let prepared = builtin::prepare(plugin, &call, &self.order.stdin)?;
        match &prepared.ipam {
            // The program would call the IPAM's program, which may be a site's own or of another version.
            Some(ipam) if self.stand_ins.version(ipam) != Some(self.version) => {
                Err(Unsupported(format!("its IPAM plugin {} is a program, or another version", ipam)))
            }
            _ => Ok(Work::Call(call, prepared)),
        }
    }

    /// The exit code of the program. Its output goes out in one piece, because the hand wakes up for each.
    fn carry_out(&self, work: &Work) -> i32 {
        let mut out = Vec::new();
        let served = match work {
            Work::Versions(edition) => out.write_all(builtin::versions(*edition).as_bytes()).map(|()| 0),
            Work::Call(call, prepared) => prepared.serve(call, &mut out).map(|outcome| outcome.exit_code()),
        };
        match served.and_then(|code| write_all_stdout(&out).map(|()| code)) {
            Ok(code) => code,
            Err(error) => {
                write_stderr(&format!("levee-shim: {}", sys::error_text(&error)));
                1
            }
        }
    }
}
