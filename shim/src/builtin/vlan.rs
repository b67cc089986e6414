//! The plugin `vlan`: a VLAN of a link of the host.

use crate::builtin::attached;
use crate::builtin::conf::Conf;
use crate::builtin::ipam::Ipam;
use crate::builtin::kernel::child::{add_child, Child};
use crate::builtin::kernel::configure::configure;
use crate::builtin::kernel::links::Link;
use crate::builtin::kernel::master::{find_master_for, read_master};
use crate::builtin::kernel::namespaces::Namespace;
use crate::builtin::result::{CniResult, Dns};
use crate::builtin::{Edition, Failure, Plugin, PluginCall, Unsupported};
use crate::net::netlink::Attribute;

/// Begins some of the plugin's messages.
const VLAN: &str = "vlan: ";
const IFLA_VLAN_ID: u16 = 1;
const ID_MAX: i64 = 4_094;

pub struct Vlan {
    edition: Edition,
    master: String,
    id: u16,
    mtu: i64,
    ipam: Ipam,
    dns: Dns,
    prev_result: Option<CniResult>,
}

impl Vlan {
    pub fn read(mut conf: Conf, call: &PluginCall) -> Result<Vlan, Unsupported> {
        let master = read_master(&mut conf)?;
        let id = conf.own.number("vlanId")?.unwrap_or(0);
        if master.is_empty() || !(0..=ID_MAX).contains(&id) {
            return Err(Unsupported("master is missing, or vlanId is out of range".to_string()));
        }
        let vlan = Vlan {
            edition: conf.edition,
            master,
            id: id as u16,
            mtu: conf.own.number("mtu")?.unwrap_or(0),
            ipam: conf.ipam(call)?.ok_or_else(|| Unsupported("ipam names no plugin".to_string()))?,
            dns: conf.dns.take().unwrap_or_default(),
            prev_result: if call.command == "CHECK" { conf.prev_result()? } else { None },
        };
        conf.end()?;
        if call.command == "ADD" {
            attached::check_name_is_free(call)?;
        }
        Ok(vlan)
    }

    fn add_link(&self, call: &PluginCall, host: &Namespace) -> Result<(Link, Namespace), String> {
        let (master, mtu) = find_master_for(&host.netlink, &self.master, self.mtu)?;
        let container = attached::open_container(call)?;
        let id = self.id.to_ne_bytes();
        let data: [Attribute; 1] = [(IFLA_VLAN_ID, &id)];
        let child = Child { kind: "vlan", data: &data, name: &call.ifname, master: master.index, mtu, mac: None };
        add_child(&child, host, &container, self.edition).map(|link| (link, container))
    }

    fn check_id(&self, link: &Link) -> Result<(), String> {
        let id = link.data_attribute(IFLA_VLAN_ID).and_then(|value| Some(u16::from_ne_bytes(value.try_into().ok()?)));
        // Upstream has the words of another plugin here.
        if id != Some(self.id) {
            return Err(format!(
                "Error: Tuning link {} configured promisc is {}, current value is {}",
                link.name,
                self.id,
                id.unwrap_or(0)
            ));
        }
        match self.mtu == 0 || self.mtu == i64::from(link.mtu) {
            true => Ok(()),
            false => Err(format!(
                "Error: Tuning configured MTU of {} is {}, current value is {}",
                link.name, self.mtu, link.mtu
            )),
        }
    }
}

impl Plugin for Vlan {
    /// An error leaves the link for a DEL, and no address.
    fn add(&self, call: &PluginCall) -> Result<CniResult, Failure> {
        let (link, container) = self.add_link(call, &Namespace::own()?)?;
        let given = self.ipam.add(call);
        let given = given.map_err(|failure| format!("failed to execute IPAM delegate: {}", failure.message))?;
        let given = attached::placed(given, 0)?;
        let result = CniResult { interfaces: vec![attached::interface(call, &link)], dns: self.dns.clone(), ..given };
        configure(&container.netlink, &call.ifname, &result, self.edition)
            .map_err(|why| attached::give_back(&self.ipam, call, why))?;
        Ok(result)
    }

    fn check(&self, call: &PluginCall) -> Result<(), Failure> {
        let host = Namespace::own()?;
        let container = attached::open_container(call)?;
        self.ipam.check(call)?;
        let result = attached::required(&self.prev_result, VLAN)?;
        let interface = attached::interface_of(result, call)?;
        attached::check_master(&host.netlink, &self.master)?;
        let link = attached::find_link(&container.netlink, interface, VLAN)?;
        attached::check_kind(&link, "vlan", "vlan")?;
        attached::check_mac(&link, interface, VLAN)?;
        self.check_id(&link)?;
        Ok(attached::check_addresses(&container.netlink, call, result, self.edition)?)
    }

    fn del(&self, call: &PluginCall) -> Result<(), Failure> {
        find_master_for(&Namespace::own()?.netlink, &self.master, self.mtu)?;
        self.ipam.del(call)?;
        Ok(attached::remove(call)?)
    }
}
