//! The plugin `ipvlan`: a link with the MAC address of the link of the host below it.

use crate::builtin::attached;
use crate::builtin::conf::Conf;
use crate::builtin::ipam::Ipam;
use crate::builtin::kernel::child::{add_child, Child};
use crate::builtin::kernel::configure::configure;
use crate::builtin::kernel::links::Link;
use crate::builtin::kernel::master::{find_master, read_master};
use crate::builtin::kernel::namespaces::Namespace;
use crate::builtin::kernel::sysctl;
use crate::builtin::result::{CniResult, Dns};
use crate::builtin::{Edition, Failure, Plugin, PluginCall, Unsupported};

const IFLA_IPVLAN_MODE: u16 = 1;
const IFLA_IPVLAN_FLAGS: u16 = 2;
/// The first one counts if the configuration names none.
const MODES: [(&str, u16); 3] = [("l2", 0), ("l3", 1), ("l3s", 2)];

pub struct Ipvlan {
    edition: Edition,
    /// Empty for the link of the default route, or of the result before.
    master: String,
    mode: (&'static str, u16),
    /// 0 leaves it to the kernel.
    mtu: u32,
    /// None if the addresses are those of the result before.
    ipam: Option<Ipam>,
    dns: Dns,
    prev_result: Option<CniResult>,
}

impl Ipvlan {
    pub fn read(mut conf: Conf, call: &PluginCall) -> Result<Ipvlan, Unsupported> {
        let mode = conf.own.text("mode")?.filter(|mode| !mode.is_empty()).unwrap_or(MODES[0].0);
        let mode =
            MODES.into_iter().find(|(name, _)| *name == mode).ok_or_else(|| conf.own.wrong("mode", "unknown"))?;
        let mtu = conf.own.number("mtu")?.unwrap_or(0).max(0);
        let ipvlan = Ipvlan {
            edition: conf.edition,
            master: read_master(&mut conf)?,
            mode,
            mtu: u32::try_from(mtu).map_err(|_| conf.own.wrong("mtu", "out of range"))?,
            ipam: conf.ipam(call)?,
            dns: conf.dns.take().unwrap_or_default(),
            prev_result: conf.prev_result()?,
        };
        conf.end()?;
        if call.command == "ADD" {
            attached::check_name_is_free(call)?;
        }
        let has_addresses = ipvlan.prev_result.as_ref().map_or(false, |result| !result.ips.is_empty());
        match call.command == "ADD" && ipvlan.ipam.is_none() && !has_addresses {
            true => Err(Unsupported("ipam names no plugin, and no result before has addresses".to_string())),
            false => Ok(ipvlan),
        }
    }

    /// The name of the link below; empty for that of the default route.
    fn master_name(&self) -> Result<&str, String> {
        match &self.prev_result {
            Some(before) if self.master.is_empty() => match &before.interfaces[..] {
                [only] if !only.name.is_empty() => Ok(&only.name),
                _ => Err("chained master failure. PrevResult lacks a single named interface".to_string()),
            },
            _ => Ok(&self.master),
        }
    }

    fn add_link(&self, call: &PluginCall, host: &Namespace) -> Result<(Link, Namespace), String> {
        let name = self.master_name()?;
        // Upstream looks for the default route before it opens the namespace, and for the link after that.
        let default = if name.is_empty() { Some(find_master(&host.netlink, "")?) } else { None };
        let container = attached::open_container(call)?;
        let master = default.map_or_else(|| find_master(&host.netlink, name), Ok);
        let master = master.map_err(|why| format!("failed to lookup master \"{}\": {}", name, why))?;
        let mode = self.mode.1.to_ne_bytes();
        let data = [(IFLA_IPVLAN_MODE, &mode[..]), (IFLA_IPVLAN_FLAGS, &[0, 0][..])];
        let (ifname, mtu) = (&call.ifname, self.mtu);
        let child = Child { kind: "ipvlan", data: &data, name: ifname, master: master.index, mtu, mac: None };
        add_child(&child, host, &container, self.edition).map(|link| (link, container))
    }
}

impl Plugin for Ipvlan {
    /// An error leaves the link and the addresses for a DEL.
    fn add(&self, call: &PluginCall) -> Result<CniResult, Failure> {
        let (link, container) = self.add_link(call, &Namespace::own()?)?;
        let mut result = match (&self.ipam, &self.prev_result) {
            (Some(ipam), _) => attached::take_addresses(ipam, call, 0)?,
            (None, before) => before.clone().unwrap_or_default(),
        };
        result.ips.iter_mut().for_each(|config| config.interface = Some(0));
        result.interfaces = vec![attached::interface(call, &link)];
        sysctl::try_set(&format!("net/ipv4/conf/{}/arp_notify", call.ifname), "1");
        if self.edition.is_new() {
            sysctl::try_set(&format!("net/ipv6/conf/{}/ndisc_notify", call.ifname), "1");
        }
        configure(&container.netlink, &call.ifname, &result, self.edition)?;
        Ok(CniResult { dns: self.dns.clone(), ..result })
    }

    fn check(&self, call: &PluginCall) -> Result<(), Failure> {
        let host = Namespace::own()?;
        let container = attached::open_container(call)?;
        if let Some(ipam) = &self.ipam {
            ipam.check(call)?;
        }
        let result = attached::required(&self.prev_result, "")?;
        let interface = attached::interface_of(result, call)?;
        attached::check_master(&host.netlink, &self.master)?;
        let link = attached::find_link(&container.netlink, interface, "")?;
        attached::check_kind(&link, "ipvlan", "ipvlan")?;
        let mode =
            link.data_attribute(IFLA_IPVLAN_MODE).and_then(|value| Some(u16::from_ne_bytes(value.try_into().ok()?)));
        let mode = MODES.iter().find(|(_, number)| Some(*number) == mode).map_or("", |(name, _)| name);
        attached::check_mode(mode, self.mode.0, "IPVlan")?;
        attached::check_mac(&link, interface, "")?;
        Ok(attached::check_addresses(&container.netlink, call, result, self.edition)?)
    }

    fn del(&self, call: &PluginCall) -> Result<(), Failure> {
        if self.master_name()?.is_empty() {
            find_master(&Namespace::own()?.netlink, "")?;
        }
        if let Some(ipam) = &self.ipam {
            ipam.del(call)?;
        }
        Ok(attached::remove(call)?)
    }
}
