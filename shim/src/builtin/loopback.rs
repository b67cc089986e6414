//! The plugin `loopback`: sets the container's `lo` up.

use std::net::IpAddr;

use crate::builtin::conf::Conf;
use crate::builtin::go::words::{errno_words, link_words};
use crate::builtin::kernel::addresses::{addresses, Address, AF_INET, AF_INET6};
use crate::builtin::kernel::links::{link_by_name, set_down, set_up, Link};
use crate::builtin::kernel::namespaces::{Namespace, NoNamespace};
use crate::builtin::result::{CniResult, Interface, IpConfig};
use crate::builtin::{Failure, Plugin, PluginCall, Unsupported};
use crate::cni::verb::Verb;

const NAME: &str = "lo";

pub struct Loopback;

impl Loopback {
    pub fn read(conf: Conf, verb: Verb) -> Result<Loopback, Unsupported> {
        // An ADD passes the result of the plugin before it on.
        if verb == Verb::Add && conf.prev_result()?.is_some() {
            return Err(Unsupported("prevResult is not built in here".to_string()));
        }
        conf.end().map(|()| Loopback)
    }
}

impl Plugin for Loopback {
    fn add(&self, call: &PluginCall) -> Result<CniResult, Failure> {
        let (container, link) = enter(call)?;
        set_up(&container.netlink, link.index).map_err(|error| errno_words(&error))?;
        let mut ips = Vec::new();
        for family in [AF_INET, AF_INET6] {
            let found = addresses(&container.netlink, link.index, family).map_err(|error| errno_words(&error))?;
            if let Some(other) = found.iter().find(|address| !is_loopback(address)) {
                let ip = other.cidr.ip;
                return Err(format!("loopback interface found with non-loopback address \"{}\"", ip).into());
            }
            ips.extend(found.first().map(|address| IpConfig {
                interface: Some(0),
                address: address.cidr,
                gateway: None,
            }));
        }
        let interface = Interface {
            name: NAME.to_string(),
            mac: "00:00:00:00:00:00".to_string(),
            sandbox: call.netns.clone(),
            ..Interface::default()
        };
        // Upstream gives its result the version of the configuration from the start, so it is never converted.
        Ok(CniResult { interfaces: vec![interface], ips, is_always_new: true, ..CniResult::default() })
    }

    fn check(&self, call: &PluginCall) -> Result<(), Failure> {
        match enter(call)?.1.is_up() {
            true => Ok(()),
            false => Err("loopback interface is down".into()),
        }
    }

    fn del(&self, call: &PluginCall) -> Result<(), Failure> {
        if call.netns.is_empty() {
            return Ok(());
        }
        let container = match Namespace::open(&call.netns) {
            Err(NoNamespace::Gone(_)) => return Ok(()),
            other => other.map_err(NoNamespace::message)?,
        };
        let link = link_by_name(&container.netlink, NAME).map_err(|error| link_words(&error))?;
        set_down(&container.netlink, link.index).map_err(|error| errno_words(&error))?;
        Ok(())
    }
}

fn enter(call: &PluginCall) -> Result<(Namespace, Link), Failure> {
    let container = Namespace::open(&call.netns).map_err(NoNamespace::message)?;
    let link = link_by_name(&container.netlink, NAME).map_err(|error| link_words(&error))?;
    Ok((container, link))
}

fn is_loopback(address: &Address) -> bool {
    match address.cidr.ip {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => ip.is_loopback(),
    }
}
