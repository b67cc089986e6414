//! The plugin `macvlan`: a link with a MAC address of its own on top of a link of the host.

use crate::builtin::attached;
use crate::builtin::conf::Conf;
use crate::builtin::go::address::parse_mac;
use crate::builtin::go::words::errno_words;
use crate::builtin::ipam::Ipam;
use crate::builtin::kernel::child::{add_child, Child};
use crate::builtin::kernel::configure::configure;
use crate::builtin::kernel::links::{delete_link, set_up, Link};
use crate::builtin::kernel::master::{find_master_for, read_master};
use crate::builtin::kernel::namespaces::Namespace;
use crate::builtin::kernel::sysctl;
use crate::builtin::result::{CniResult, Dns, Interface};
use crate::builtin::{Edition, Failure, Plugin, PluginCall, Unsupported};
use crate::net::netlink::{as_u32, Attribute};

const IFLA_MACVLAN_MODE: u16 = 1;
const IFLA_MACVLAN_BC_QUEUE_LEN: u16 = 7;
/// The first one counts if the configuration names none.
const MODES: [(&str, u32); 4] = [("bridge", 4), ("private", 1), ("vepa", 2), ("passthru", 8)];

pub struct Macvlan {
    edition: Edition,
    /// Empty for the link of the default route.
    master: String,
    mode: (&'static str, u32),
    mtu: i64,
    mac: Option<[u8; 6]>,
    /// 0 leaves it to the kernel.
    broadcast_queue: u32,
    ipam: Option<Ipam>,
    dns: Dns,
    prev_result: Option<CniResult>,
}

impl Macvlan {
    pub fn read(mut conf: Conf, call: &PluginCall) -> Result<Macvlan, Unsupported> {
        let mode = conf.own.text("mode")?.filter(|mode| !mode.is_empty()).unwrap_or(MODES[0].0);
        let mode =
            MODES.into_iter().find(|(name, _)| *name == mode).ok_or_else(|| conf.own.wrong("mode", "unknown"))?;
        // Older editions do not know this key.
        let queue = if conf.edition.is_new() { conf.own.number("bcqueuelen")? } else { None };
        let broadcast_queue =
            u32::try_from(queue.unwrap_or(0)).map_err(|_| conf.own.wrong("bcqueuelen", "out of range"))?;
        let mac = match attached::read_mac(&mut conf, call)? {
            None => None,
            Some(mac) => Some(parse_mac(&mac).ok_or_else(|| conf.own.wrong("mac", "not plain"))?),
        };
        let macvlan = Macvlan {
            edition: conf.edition,
            master: read_master(&mut conf)?,
            mode,
            mtu: conf.own.number("mtu")?.unwrap_or(0),
            mac,
            broadcast_queue,
            ipam: conf.ipam(call)?,
            dns: conf.dns.take().unwrap_or_default(),
            prev_result: if call.command == "CHECK" { conf.prev_result()? } else { None },
        };
        conf.end()?;
        Ok(macvlan)
    }

    fn add_link(&self, call: &PluginCall, host: &Namespace) -> Result<(Link, Namespace), String> {
        let (master, mtu) = find_master_for(&host.netlink, &self.master, self.mtu)?;
        // Upstream prints the namespace that it could not open instead of its path.
        let container = Namespace::open(&call.netns)
            .map_err(|why| format!("failed to open netns %!q(<nil>): {}", why.message()))?;
        let (mode, queue) = (self.mode.1.to_ne_bytes(), self.broadcast_queue.to_ne_bytes());
        let mut data: Vec<Attribute> = vec![(IFLA_MACVLAN_MODE, &mode)];
        if self.broadcast_queue > 0 {
            data.push((IFLA_MACVLAN_BC_QUEUE_LEN, &queue));
        }
        let child =
            Child { kind: "macvlan", data: &data, name: &call.ifname, master: master.index, mtu, mac: self.mac };
        add_child(&child, host, &container, self.edition).map(|link| (link, container))
    }

    fn check_link(&self, interface: &Interface, container: &Namespace) -> Result<(), String> {
        let link = attached::find_link(&container.netlink, interface, "")?;
        attached::check_kind(&link, "macvlan", "macvlan")?;
        let mode = link.data_attribute(IFLA_MACVLAN_MODE).and_then(as_u32);
        let mode = MODES.iter().find(|(_, number)| Some(*number) == mode).map_or("", |(name, _)| name);
        attached::check_mode(mode, self.mode.0, "macvlan")?;
        attached::check_mac(&link, interface, "")
    }
}

impl Plugin for Macvlan {
    /// A link without addresses is removed if it cannot be set up. Any other error leaves it for a DEL.
    fn add(&self, call: &PluginCall) -> Result<CniResult, Failure> {
        let (link, container) = self.add_link(call, &Namespace::own()?)?;
        let mut result = CniResult::default();
        if let Some(ipam) = &self.ipam {
            result = attached::take_addresses(ipam, call, 0)?;
            result.interfaces = vec![attached::interface(call, &link)];
            sysctl::try_set(&format!("net/ipv4/conf/{}/arp_notify", call.ifname), "1");
            if self.edition.is_new() {
                sysctl::try_set(&format!("net/ipv6/conf/{}/ndisc_notify", call.ifname), "1");
            }
            configure(&container.netlink, &call.ifname, &result, self.edition)
                .map_err(|why| attached::give_back(ipam, call, why))?;
        } else {
            result.interfaces = vec![attached::interface(call, &link)];
            set_up(&container.netlink, link.index).map_err(|error| {
                let _the_error_before_counts = delete_link(&container.netlink, &call.ifname);
                format!("failed to set \"{}\" UP: {}", call.ifname, errno_words(&error))
            })?;
        }
        Ok(CniResult { dns: self.dns.clone(), ..result })
    }

    fn check(&self, call: &PluginCall) -> Result<(), Failure> {
        find_master_for(&Namespace::own()?.netlink, &self.master, self.mtu)?;
        let container = attached::open_container(call)?;
        if let Some(ipam) = &self.ipam {
            ipam.check(call)?;
        }
        let words = |message: String| if self.edition.is_new() { uncapitalized(&message) } else { message };
        let result = attached::required(&self.prev_result, "").map_err(words)?;
        let interface = attached::interface_of(result, call).map_err(words)?;
        self.check_link(interface, &container).map_err(words)?;
        Ok(attached::check_addresses(&container.netlink, call, result, self.edition)?)
    }

    fn del(&self, call: &PluginCall) -> Result<(), Failure> {
        // Older editions refuse a DEL when the link below is gone.
        if !self.edition.is_new() {
            find_master_for(&Namespace::own()?.netlink, &self.master, self.mtu)?;
        }
        if let Some(ipam) = &self.ipam {
            ipam.del(call)?;
        }
        Ok(attached::remove(call)?)
    }
}

fn uncapitalized(message: &str) -> String {
    format!("{}{}", message[..1].to_ascii_lowercase(), &message[1..])
}
