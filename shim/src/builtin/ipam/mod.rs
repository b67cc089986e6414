//! The door to address management: the upstream plugins start a program for it, the built-in ones call it here.

mod host_local;
mod ranges;
mod static_addresses;
mod store;

use crate::builtin::conf::Conf;
use crate::builtin::go::address::Cidr;
use crate::builtin::go::members::Members;
use crate::builtin::result::CniResult;
use crate::builtin::{Failure, Plugin, PluginCall, Unsupported};
use crate::cni::verb::Verb;
use host_local::HostLocal;
use static_addresses::StaticAddresses;

pub enum Ipam {
    HostLocal(HostLocal),
    Static(Box<StaticAddresses>),
}

impl Ipam {
    /// None if the configuration names no plugin. Takes the keys of the IPAM plugin out of all parts of the configuration.
    pub fn read(mut ipam: Members, conf: &mut Conf, call: &PluginCall) -> Result<Option<Ipam>, Unsupported> {
        match ipam.text("type")? {
            None | Some("") => ipam.end().map(|()| None),
            Some("host-local") => HostLocal::read(ipam, conf, call).map(Ipam::HostLocal).map(Some),
            Some("static") => StaticAddresses::read(ipam, conf, call).map(Box::new).map(Ipam::Static).map(Some),
            Some(other) => Err(Unsupported(format!("no IPAM plugin {} is built in", other))),
        }
    }

    /// The addresses that are known before the ADD and have no gateway.
    pub fn without_gateway(&self) -> Vec<Cidr> {
        match self {
            Ipam::HostLocal(_) => Vec::new(),
            Ipam::Static(plugin) => {
                let ips = plugin.result().ips;
                ips.iter().filter(|config| config.gateway.is_none()).map(|config| config.address).collect()
            }
        }
    }

    /// The addresses, routes and DNS settings of a result.
    pub fn add(&self, call: &PluginCall) -> Result<CniResult, Failure> {
        match self {
            Ipam::HostLocal(plugin) => plugin.add(call),
            Ipam::Static(plugin) => Ok(plugin.result()),
        }
    }

    pub fn check(&self, call: &PluginCall) -> Result<(), Failure> {
        match self {
            Ipam::HostLocal(plugin) => plugin.check(call),
            Ipam::Static(plugin) => plugin.check(call),
        }
    }

    pub fn del(&self, call: &PluginCall) -> Result<(), Failure> {
        match self {
            Ipam::HostLocal(plugin) => plugin.del(call),
            // It has no state.
            Ipam::Static(_) => Ok(()),
        }
    }
}

/// An IPAM plugin that is called as a plugin itself.
pub struct Standalone(Ipam);

impl Standalone {
    pub fn read(plugin: &str, mut conf: Conf, call: &PluginCall) -> Result<Standalone, Unsupported> {
        let ipam = conf.ipam(call)?;
        conf.end()?;
        match (plugin, ipam) {
            ("host-local", Some(ipam @ Ipam::HostLocal(_))) | ("static", Some(ipam @ Ipam::Static(_))) => {
                Ok(Standalone(ipam))
            }
            _ => Err(Unsupported("ipam.type names another plugin".to_string())),
        }
    }
}

impl Plugin for Standalone {
    fn add(&self, call: &PluginCall) -> Result<CniResult, Failure> {
        self.0.add(call)
    }

    fn check(&self, call: &PluginCall) -> Result<(), Failure> {
        self.0.check(call)
    }

    fn del(&self, call: &PluginCall) -> Result<(), Failure> {
        self.0.del(call)
    }
}

/// The command is known to be valid where a configuration is read.
fn is_check(call: &PluginCall) -> bool {
    Verb::parse(&call.command) == Some(Verb::Check)
}
