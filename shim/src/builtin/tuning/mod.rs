//! The plugin `tuning`: sysctls of the container's namespace, and settings of its interface.

mod backup;
mod settings;
mod sysctls;

use crate::builtin::attached;
use crate::builtin::conf::Conf;
use crate::builtin::go::words::{errno_words, link_words};
use crate::builtin::kernel::links::link_by_name;
use crate::builtin::kernel::namespaces::{Namespace, NoNamespace};
use crate::builtin::result::CniResult;
use crate::builtin::{Edition, Failure, Plugin, PluginCall, Unsupported};
use backup::{Backup, Found};
use settings::Settings;
use sysctls::Sysctls;

pub struct Tuning {
    edition: Edition,
    sysctls: Sysctls,
    settings: Settings,
    backup: Backup,
    prev_result: Option<CniResult>,
}

impl Tuning {
    pub fn read(mut conf: Conf, call: &PluginCall) -> Result<Tuning, Unsupported> {
        let tuning = Tuning {
            edition: conf.edition,
            sysctls: Sysctls::read(&mut conf, call)?,
            settings: Settings::read(&mut conf, call)?,
            backup: Backup::read(&mut conf, call)?,
            prev_result: if call.command == "DEL" { None } else { conf.prev_result()? },
        };
        conf.end()?;
        Ok(tuning)
    }
}

impl Plugin for Tuning {
    /// Nothing is undone after an error. A DEL sets the interface back.
    fn add(&self, call: &PluginCall) -> Result<CniResult, Failure> {
        let mut result = attached::required(&self.prev_result, "")?.clone();
        let container = Namespace::open(&call.netns).map_err(NoNamespace::message)?;
        self.sysctls.set(&call.ifname, self.edition)?;
        if self.settings.is_empty() {
            return Ok(result);
        }
        let link = link_by_name(&container.netlink, &call.ifname)
            .map_err(|error| format!("failed to get \"{}\": {}", call.ifname, link_words(&error)))?;
        self.backup.save(&self.settings.before(&link, self.edition), &call.ifname)?;
        self.settings.apply(&container.netlink, &link).map_err(|error| errno_words(&error))?;
        if let Some(mac) = &self.settings.mac {
            let own = result.interfaces.iter_mut().filter(|interface| interface.name == call.ifname);
            own.for_each(|interface| interface.mac = mac.text.clone());
        }
        Ok(result)
    }

    fn check(&self, call: &PluginCall) -> Result<(), Failure> {
        attached::required(&self.prev_result, "")?;
        let container = Namespace::open(&call.netns).map_err(NoNamespace::message)?;
        self.sysctls.check(&call.ifname, self.edition)?;
        let link = link_by_name(&container.netlink, &call.ifname)
            .map_err(|_| format!("Cannot find container link {}", call.ifname))?;
        Ok(self.settings.check(&link, self.edition)?)
    }

    /// Never fails: without the namespace or the interface there is nothing to set back. The file stays then.
    fn del(&self, call: &PluginCall) -> Result<(), Failure> {
        let is_over = match &self.backup.found {
            Found::Nothing => false,
            Found::CutOff => true,
            Found::Kept(before) => restore(before, call).is_ok(),
        };
        if is_over {
            self.backup.remove();
        }
        Ok(())
    }
}

fn restore(before: &Settings, call: &PluginCall) -> Result<(), String> {
    let container = Namespace::open(&call.netns).map_err(NoNamespace::message)?;
    let link = link_by_name(&container.netlink, &call.ifname).map_err(|error| errno_words(&error))?;
    before.restore(&container.netlink, &link).map_err(|error| errno_words(&error))
}
