//! The plugin `host-device`: moves a link of the host into the container, and back. The link keeps the host's name for it
//! as its alias.
//!
//! Upstream moves, renames and labels in several steps, newer editions through a namespace in between, and steps back when
//! one fails. Here one request does all of it, so a link is never on the way when the process is killed. A call in which a
//! step would fail is left to the program.

use std::io;

use crate::builtin::attached;
use crate::builtin::call::is_interface_name;
use crate::builtin::conf::Conf;
use crate::builtin::go::address::parse_mac;
use crate::builtin::go::words::{errno_words, link_words};
use crate::builtin::ipam::Ipam;
use crate::builtin::kernel::configure::configure;
use crate::builtin::kernel::links::{
    link_by_name, links, name_bytes, set_link, set_up, Link, IFLA_IFALIAS, IFLA_IFNAME, IFLA_NET_NS_FD,
};
use crate::builtin::kernel::namespaces::Namespace;
use crate::builtin::result::{CniResult, Dns};
use crate::builtin::{Edition, Failure, Plugin, PluginCall, Unsupported};
use crate::net::netlink::{Attribute, Netlink};

pub struct HostDevice {
    edition: Edition,
    device: Device,
    ipam: Option<Ipam>,
    dns: Dns,
    prev_result: Option<CniResult>,
}

enum Device {
    Name(String),
    Mac([u8; 6]),
}

impl HostDevice {
    pub fn read(mut conf: Conf, call: &PluginCall) -> Result<HostDevice, Unsupported> {
        let plugin = HostDevice {
            edition: conf.edition,
            device: Device::read(&mut conf)?,
            ipam: conf.ipam(call)?,
            dns: conf.dns.take().unwrap_or_default(),
            prev_result: if call.command == "CHECK" { conf.prev_result()? } else { None },
        };
        conf.end()?;
        match call.command.as_str() {
            "ADD" => plugin.check_way_in(call)?,
            "DEL" => plugin.check_way_out(call)?,
            _ => {}
        }
        Ok(plugin)
    }

    /// Whether the container has no interface of that name. Without the device there is no way at all.
    fn check_way_in(&self, call: &PluginCall) -> Result<(), Unsupported> {
        if Netlink::open().map_or(false, |host| self.device.find(&host).is_err()) {
            return Ok(());
        }
        attached::check_name_is_free(call)
    }

    /// Whether the host has no interface of the name that the link gets back.
    fn check_way_out(&self, call: &PluginCall) -> Result<(), Unsupported> {
        let link = match attached::look_inside(call, |netlink| link_by_name(netlink, &call.ifname)) {
            Some(Ok(link)) => link,
            _ => return Ok(()),
        };
        // Newer editions refuse this themselves.
        if link.alias.is_empty() && self.edition.is_new() {
            return Ok(());
        }
        if !is_interface_name(&link.alias) {
            return Err(Unsupported(format!("the alias of {} is no plain name of an interface", call.ifname)));
        }
        let is_taken = |netlink: &Netlink| link_by_name(netlink, &link.alias).is_ok();
        // Older editions rename the link before they move it.
        let is_renamed_inside = !self.edition.is_new() && link.alias != link.name;
        let is_taken_inside = is_renamed_inside && attached::look_inside(call, is_taken).unwrap_or(false);
        match is_taken_inside || Netlink::open().map_or(false, |host| is_taken(&host)) {
            true => Err(Unsupported(format!("there is another interface {}", link.alias))),
            false => Ok(()),
        }
    }

    fn move_in(&self, call: &PluginCall, host: &Namespace, container: &Namespace) -> Result<Link, String> {
        let device = self.device.find(&host.netlink).map_err(|why| format!("failed to find host device: {}", why))?;
        // Older editions rename the link only in the container. The kernel refuses that here as it does there.
        let is_free = self.edition.is_new() || link_by_name(&container.netlink, &device.name).is_err();
        let name = if is_free { &call.ifname } else { &device.name };
        let moved = move_to(&host.netlink, &device, container, name, Some(&device.name));
        moved.map_err(|error| match self.edition.is_new() {
            true => {
                format!("failed to move link failed to move \"{}\" to tempNS: {}", device.name, errno_words(&error))
            }
            false => format!("failed to move link {}", errno_words(&error)),
        })?;
        let link = link_by_name(&container.netlink, &call.ifname).map_err(|error| {
            format!("failed to move link failed to find \"{}\": {}", call.ifname, link_words(&error))
        })?;
        match set_up(&container.netlink, link.index) {
            Ok(()) => Ok(link),
            Err(error) => {
                if self.edition.is_new() {
                    self.step_back(host, container, &link, &device);
                }
                Err(format!("failed to move link failed to set \"{}\" up: {}", call.ifname, errno_words(&error)))
            }
        }
    }

    /// Gives the host its link back as it was. The error that led here says more than one of this.
    fn step_back(&self, host: &Namespace, container: &Namespace, link: &Link, device: &Link) {
        let _also_failed = move_to(&container.netlink, link, host, &device.name, Some(""));
        if device.is_up() {
            let _also_failed =
                link_by_name(&host.netlink, &device.name).and_then(|link| set_up(&host.netlink, link.index));
        }
    }

    fn move_out(&self, call: &PluginCall, host: &Namespace, container: &Namespace) -> Result<(), String> {
        let place = if self.edition.is_new() { " in containerNS" } else { "" };
        let link = link_by_name(&container.netlink, &call.ifname)
            .map_err(|error| format!("failed to find \"{}\"{}: {}", call.ifname, place, link_words(&error)))?;
        if link.alias.is_empty() {
            return Err(format!("failed to find original ifname for \"{}\" (alias is not set)", call.ifname));
        }
        // Older editions leave the alias.
        let alias = if self.edition.is_new() { Some("") } else { None };
        move_to(&container.netlink, &link, host, &link.alias, alias).map_err(|error| match self.edition.is_new() {
            true => format!("failed to move \"{}\" to tempNS: {}", call.ifname, errno_words(&error)),
            false => format!("failed to move \"{}\" to host netns: {}", link.alias, errno_words(&error)),
        })
    }
}

impl Device {
    fn read(conf: &mut Conf) -> Result<Device, Unsupported> {
        let name = conf.own.text("device")?.filter(|name| !name.is_empty());
        let mac = conf.own.text("hwaddr")?.filter(|mac| !mac.is_empty());
        match (name, mac) {
            (Some(name), _) if is_interface_name(name) => Ok(Device::Name(name.to_string())),
            (None, Some(mac)) => parse_mac(mac).map(Device::Mac).ok_or_else(|| conf.own.wrong("hwaddr", "not plain")),
            _ => Err(conf.own.wrong("device", "no plain name of an interface")),
        }
    }

    fn find(&self, host: &Netlink) -> Result<Link, String> {
        match self {
            Device::Name(name) => link_by_name(host, name).map_err(|error| link_words(&error)),
            Device::Mac(mac) => {
                let known =
                    links(host).map_err(|error| format!("failed to list node links: {}", errno_words(&error)))?;
                let found = known.into_iter().find(|link| link.mac == mac);
                found.ok_or_else(|| "failed to find physical interface".to_string())
            }
        }
    }
}

/// Moves a link and renames it on the way. An alias that is None stays.
fn move_to(netlink: &Netlink, link: &Link, target: &Namespace, name: &str, alias: Option<&str>) -> io::Result<()> {
    let (descriptor, name) = (target.descriptor().to_ne_bytes(), name_bytes(name));
    let mut changed: Vec<Attribute> = vec![(IFLA_NET_NS_FD, &descriptor), (IFLA_IFNAME, &name)];
    changed.extend(alias.map(|alias| (IFLA_IFALIAS, alias.as_bytes())));
    set_link(netlink, link.index, (0, 0), &changed)
}

impl Plugin for HostDevice {
    /// An error after the move leaves the link for a DEL.
    fn add(&self, call: &PluginCall) -> Result<CniResult, Failure> {
        let host = Namespace::own()?;
        let container = attached::open_container(call)?;
        let link = self.move_in(call, &host, &container)?;
        let interfaces = vec![attached::interface(call, &link)];
        let ipam = match &self.ipam {
            // Upstream forgets the DNS settings here.
            None => return Ok(CniResult { interfaces, ..CniResult::default() }),
            Some(ipam) => ipam,
        };
        let given = attached::take_addresses(ipam, call, 0)?;
        let result = CniResult { interfaces, dns: self.dns.clone(), ..given };
        configure(&container.netlink, &call.ifname, &result, self.edition)
            .map_err(|why| attached::give_back(ipam, call, why))?;
        Ok(result)
    }

    fn check(&self, call: &PluginCall) -> Result<(), Failure> {
        let container = attached::open_container(call)?;
        if let Some(ipam) = &self.ipam {
            ipam.check(call)?;
        }
        let result = attached::required(&self.prev_result, "")?;
        let interface = attached::interface_of(result, call)?;
        let link = attached::find_link(&container.netlink, interface, "")?;
        attached::check_mac(&link, interface, "")?;
        Ok(attached::check_addresses(&container.netlink, call, result, self.edition)?)
    }

    /// A namespace that is gone is an error: the link may have gone with it.
    fn del(&self, call: &PluginCall) -> Result<(), Failure> {
        if call.netns.is_empty() {
            return Ok(());
        }
        let host = Namespace::own()?;
        let container = attached::open_container(call)?;
        if let Some(ipam) = &self.ipam {
            ipam.del(call)?;
        }
        Ok(self.move_out(call, &host, &container)?)
    }
}
