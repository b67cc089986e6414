//! The common CNI plugins, built in: they do what the upstream programs do, without starting one. Equal, or not at all: a
//! plugin reads its whole configuration before it does anything, and refuses what it does not know. The caller then runs
//! the program.
//!
//! A plugin changes the network namespace of its process, so a process of its own runs it.

mod args;
mod attached;
mod bridge;
mod call;
pub mod command;
mod conf;
mod go;
mod host_device;
mod ipam;
mod ipvlan;
mod kernel;
mod loopback;
mod macvlan;
mod ptp;
mod result;
mod tuning;
mod vlan;

use std::io::{self, Write};

pub use call::{Edition, PluginCall};
use conf::Conf;
use go::members::Members;
use go::print::Print;
use go::tree::Json;
use result::CniResult;

use crate::cni::verb::Verb;
use crate::net::netlink::Netlink;

/// The code of an error for which CNI has none, as in the upstream programs.
const INTERNAL: u32 = 999;

/// The addresses of a link, as `bridge` sees them: also of one without carrier.
pub fn addresses_of(link: &str) -> io::Result<Vec<String>> {
    let netlink = Netlink::open()?;
    let index = kernel::links::link_by_name(&netlink, link)?.index;
    let found = kernel::addresses::addresses(&netlink, index, 0)?;
    Ok(found.iter().map(|address| address.cidr.to_string()).collect())
}

/// Why a built-in plugin leaves a call to the program.
#[derive(Debug, PartialEq)]
pub struct Unsupported(pub String);

/// An error of a plugin, in the upstream program's words.
#[derive(Debug, PartialEq)]
pub struct Failure {
    pub code: u32,
    pub message: String,
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure { code: INTERNAL, message }
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Failure {
        Failure::from(message.to_string())
    }
}

impl Failure {
    fn to_json(&self) -> String {
        let code = ("code", Print::Number(i64::from(self.code)));
        Print::Members(vec![code, ("msg", Print::text(self.message.as_str()))]).to_json()
    }
}

/// One plugin with the configuration that it has read. From here on it acts.
trait Plugin {
    fn add(&self, call: &PluginCall) -> Result<CniResult, Failure>;
    fn check(&self, call: &PluginCall) -> Result<(), Failure>;
    fn del(&self, call: &PluginCall) -> Result<(), Failure>;
}

/// How a call ended. The answer has been written.
pub enum Outcome {
    Done,
    Failed,
}

impl Outcome {
    /// The exit code of the upstream program.
    pub fn exit_code(&self) -> i32 {
        match self {
            Outcome::Done => 0,
            Outcome::Failed => 1,
        }
    }
}

/// A call that can be served: the plugin has read its whole configuration, and nothing has been done yet.
pub struct Prepared {
    verb: Verb,
    version: &'static str,
    /// None if there is nothing to do.
    plugin: Option<Box<dyn Plugin>>,
    /// The IPAM plugin that the configuration names.
    pub ipam: Option<String>,
}

impl Prepared {
    /// Serves the call as the upstream program does. Changes the network namespace of this process.
    pub fn serve(&self, call: &PluginCall, out: &mut dyn Write) -> io::Result<Outcome> {
        let answer = match (&self.plugin, self.verb) {
            (Some(plugin), Verb::Add) => plugin.add(call).map(|result| result.to_json(self.version, call.edition)),
            (Some(plugin), Verb::Check) => plugin.check(call).map(|()| String::new()),
            (Some(plugin), Verb::Del) => plugin.del(call).map(|()| String::new()),
            // For STATUS the upstream plugins ask their IPAM plugin, and those that are built in do nothing.
            _ => Ok(String::new()),
        };
        match answer {
            Ok(json) => out.write_all(json.as_bytes()).map(|()| Outcome::Done),
            Err(failure) => out.write_all(failure.to_json().as_bytes()).map(|()| Outcome::Failed),
        }
    }
}

/// The plugins that `prepare` knows.
pub const PLUGINS: [&str; 10] =
    ["bridge", "host-device", "host-local", "ipvlan", "loopback", "macvlan", "ptp", "static", "tuning", "vlan"];

/// Those of them that others call for addresses.
pub const IPAMS: [&str; 2] = ["host-local", "static"];

/// The answer to VERSION where no program is there to ask.
pub fn versions(edition: Edition) -> String {
    let known = conf::VERSIONS.iter().filter(|version| edition.takes(version)).map(|version| Print::text(*version));
    let newest = if edition.is_new() { "1.1.0" } else { "1.0.0" };
    let supported = ("supportedVersions", Print::List(known.collect()));
    Print::Members(vec![("cniVersion", Print::text(newest)), supported]).to_json()
}

/// Reads the whole call, and changes nothing.
pub fn prepare(plugin: &str, call: &PluginCall, stdin: &[u8]) -> Result<Prepared, Unsupported> {
    let tree =
        go::tree::parse(stdin).map_err(|why| Unsupported(format!("the configuration is not plain JSON: {}", why)))?;
    if call.command == Verb::Gc.name() && PLUGINS.contains(&plugin) {
        return prepare_gc(call, &tree);
    }
    let conf = Conf::read(&tree, call.edition)?;
    let verb = call.verb(conf.version)?;
    let (version, ipam) = (conf.version, conf.ipam_type());
    let plugin: Box<dyn Plugin> = match plugin {
        "bridge" => Box::new(bridge::Bridge::read(conf, call)?),
        "host-device" => Box::new(host_device::HostDevice::read(conf, call)?),
        "host-local" | "static" => Box::new(ipam::Standalone::read(plugin, conf, call)?),
        "ipvlan" => Box::new(ipvlan::Ipvlan::read(conf, call)?),
        "loopback" => Box::new(loopback::Loopback::read(conf, verb)?),
        "macvlan" => Box::new(macvlan::Macvlan::read(conf, call)?),
        "ptp" => Box::new(ptp::Ptp::read(conf, call)?),
        "tuning" => Box::new(tuning::Tuning::read(conf, call)?),
        "vlan" => Box::new(vlan::Vlan::read(conf, call)?),
        _ => return Err(Unsupported(format!("no plugin {} is built in", plugin))),
    };
    Ok(Prepared { verb, version, plugin: Some(plugin), ipam })
}

/// The upstream plugins have no function for GC: they read version and name of the network, call no IPAM plugin, and
/// collect nothing.
fn prepare_gc(call: &PluginCall, tree: &Json) -> Result<Prepared, Unsupported> {
    let mut own = Members::of(tree, "")?;
    let (version, _) = conf::read_head(&mut own, call.edition)?;
    own.end_but_for_others(&["cniVersion", "name"])?;
    Ok(Prepared { verb: call.verb(version)?, version, plugin: None, ipam: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_plugins_is_the_one_that_is_served() {
        let names = "bridge host-device host-local ipvlan loopback macvlan portmap ptp static tuning vlan vrf";
        for (name, command) in names.split(' ').flat_map(|name| [(name, "STATUS"), (name, "GC")]) {
            let call = call_of_network(command, Edition::V1_9_1);
            let why = prepare(name, &call, br#"{"cniVersion":"1.1.0","name":"n"}"#).err().map(|why| why.0);
            let is_known = !why.unwrap_or_default().contains(&format!("plugin {} is built in", name));
            assert_eq!(PLUGINS.contains(&name), is_known, "{} {}", command, name);
        }
        assert!(IPAMS.iter().all(|name| PLUGINS.contains(name)));
    }

    fn call_of_network(command: &str, edition: Edition) -> PluginCall {
        PluginCall::read(edition, |name| if name == "CNI_COMMAND" { command.to_string() } else { String::new() })
    }

    #[test]
    fn gc_wants_a_version_that_has_it_and_a_name_and_does_nothing() {
        let prepared = |conf: &str, edition| prepare("bridge", &call_of_network("GC", edition), conf.as_bytes());
        let whole = r#"{"cniVersion":"1.1.0","name":"n","ipMasqBackend":"x","ipam":{"type":"dhcp"},
            "cni.dev/valid-attachments":[{"containerID":"c1","ifname":"eth0"}]}"#;
        let call = call_of_network("GC", Edition::V1_9_1);
        let (gc, mut out) = (prepared(whole, Edition::V1_9_1).unwrap_or_else(|why| panic!("{}", why.0)), Vec::new());
        assert!(matches!(gc.serve(&call, &mut out), Ok(Outcome::Done)));
        assert_eq!((out.len(), gc.ipam), (0, None));
        assert!(prepared(whole, Edition::V1_1_1).is_err());
        for (old, new) in
            [("1.1.0", "1.0.0"), (r#""n""#, r#""a/b""#), ("ipam\"", "NAME\""), ("ipam\"", "cniVer\u{17f}ion\"")]
        {
            assert!(prepared(&whole.replacen(old, new, 1), Edition::V1_9_1).is_err(), "{}", new);
        }
    }

    #[test]
    fn versions_are_those_of_the_release() {
        let whole = r#"{"cniVersion":"1.1.0","supportedVersions":["0.3.0","0.3.1","0.4.0","1.0.0","1.1.0"]}"#;
        let plain = |text: String| text.split_whitespace().collect::<String>();
        assert_eq!(plain(versions(Edition::V1_9_1)), whole);
        assert!(!versions(Edition::V1_1_1).contains("1.1.0"));
    }
}
