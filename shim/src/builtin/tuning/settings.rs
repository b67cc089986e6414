//! The settings of an interface.

use std::io;

use crate::builtin::attached;
use crate::builtin::conf::Conf;
use crate::builtin::go::address::{mac_text, parse_mac};
use crate::builtin::go::members::Members;
use crate::builtin::go::tree::Json;
use crate::builtin::kernel::links::{set_link, set_mac, set_mtu, set_promiscuous, Link, IFF_ALLMULTI, IFLA_TXQLEN};
use crate::builtin::{Edition, PluginCall, Unsupported};
use crate::net::netlink::Netlink;

/// What is not set stays as it is.
#[derive(Debug, Default, PartialEq)]
pub struct Settings {
    pub mac: Option<Mac>,
    pub is_promiscuous: Option<bool>,
    pub mtu: Option<u32>,
    pub all_multicast: Option<bool>,
    pub queue: Option<u32>,
}

#[derive(Debug, PartialEq)]
pub struct Mac {
    /// As the configuration has it. The result has it in the same form.
    pub text: String,
    pub bytes: Vec<u8>,
}

impl Settings {
    pub fn read(conf: &mut Conf, call: &PluginCall) -> Result<Settings, Unsupported> {
        let mac = attached::read_mac(conf, call)?;
        let own = &mut conf.own;
        let mut settings = Settings {
            mac: mac.map(|text| Mac::read(text, own)).transpose()?,
            // Without it the mode stays as it is.
            is_promiscuous: own.flag("promisc")?.then_some(true),
            mtu: whole_number(own, "mtu")?.filter(|mtu| *mtu != 0),
            all_multicast: optional_flag(own, "allmulti")?,
            queue: None,
        };
        // Older editions do not know this key.
        if conf.edition.is_new() {
            settings.queue = whole_number(own, "txQLen")?;
        }
        Ok(settings)
    }

    /// The settings that a file of an ADD has kept.
    pub fn read_kept(mut kept: Members) -> Result<Settings, Unsupported> {
        let mac = kept.text("mac")?.filter(|mac| !mac.is_empty());
        let settings = Settings {
            mac: mac.map(|text| Mac::read(text.to_string(), &kept)).transpose()?,
            is_promiscuous: optional_flag(&mut kept, "promisc")?,
            mtu: whole_number(&mut kept, "mtu")?.filter(|mtu| *mtu != 0),
            all_multicast: optional_flag(&mut kept, "allmulti")?,
            queue: whole_number(&mut kept, "txQLen")?,
        };
        kept.end()?;
        Ok(settings)
    }

    pub fn is_empty(&self) -> bool {
        *self == Settings::default()
    }

    /// The same settings with the values that the interface has.
    pub fn before(&self, link: &Link, edition: Edition) -> Settings {
        Settings {
            mac: self.mac.as_ref().map(|_| Mac { text: mac_text(&link.mac), bytes: link.mac.clone() }),
            is_promiscuous: self.is_promiscuous.map(|_| link.promiscuity_by(edition) != 0),
            mtu: self.mtu.map(|_| link.mtu),
            all_multicast: self.all_multicast.map(|_| link.flags & IFF_ALLMULTI != 0),
            queue: self.queue.map(|_| link.queue),
        }
    }

    pub fn apply(&self, netlink: &Netlink, link: &Link) -> io::Result<()> {
        if let Some(mac) = &self.mac {
            set_mac(netlink, link.index, &mac.bytes)?;
        }
        if let Some(is_on) = self.is_promiscuous {
            set_promiscuous(netlink, link.index, is_on)?;
        }
        if let Some(mtu) = self.mtu {
            set_mtu(netlink, link.index, mtu)?;
        }
        self.apply_rest(netlink, link)
    }

    fn apply_rest(&self, netlink: &Netlink, link: &Link) -> io::Result<()> {
        if let Some(is_on) = self.all_multicast {
            set_link(netlink, link.index, (if is_on { IFF_ALLMULTI } else { 0 }, IFF_ALLMULTI), &[])?;
        }
        if let Some(queue) = self.queue {
            set_link(netlink, link.index, (0, 0), &[(IFLA_TXQLEN, &queue.to_ne_bytes())])?;
        }
        Ok(())
    }

    /// Sets back all that can be set back. The first error is returned.
    pub fn restore(&self, netlink: &Netlink, link: &Link) -> io::Result<()> {
        let mtu = self.mtu.map_or(Ok(()), |mtu| set_mtu(netlink, link.index, mtu));
        let mac = self.mac.as_ref().map_or(Ok(()), |mac| set_mac(netlink, link.index, &mac.bytes));
        let mode = self.is_promiscuous.map_or(Ok(()), |is_on| set_promiscuous(netlink, link.index, is_on));
        let multicast = Settings { all_multicast: self.all_multicast, ..Settings::default() }.apply_rest(netlink, link);
        let queue = Settings { queue: self.queue, ..Settings::default() }.apply_rest(netlink, link);
        mtu.and(mac).and(mode).and(multicast).and(queue)
    }

    pub fn check(&self, link: &Link, edition: Edition) -> Result<(), String> {
        let mac = mac_text(&link.mac);
        if let Some(wanted) = self.mac.as_ref().filter(|wanted| wanted.text != mac) {
            return other("Ethernet", link, &wanted.text, &mac);
        }
        let is_promiscuous = self.is_promiscuous.unwrap_or(false);
        let promiscuity = link.promiscuity_by(edition);
        if is_promiscuous != (promiscuity != 0) {
            return Err(format!(
                "Error: Tuning link {} configured promisc is {}, current value is {}",
                link.name, is_promiscuous, promiscuity
            ));
        }
        if let Some(mtu) = self.mtu.filter(|mtu| *mtu != link.mtu) {
            return other("MTU", link, &mtu.to_string(), &link.mtu.to_string());
        }
        // Go prints the place of the configured value in memory. The value itself stands here for it.
        let is_on = link.flags & IFF_ALLMULTI != 0;
        if let Some(wanted) = self.all_multicast.filter(|wanted| *wanted != is_on) {
            return other("all-multicast mode", link, &wanted.to_string(), &is_on.to_string());
        }
        if let Some(queue) = self.queue.filter(|queue| *queue != link.queue) {
            return other("Transmit Queue Length", link, &queue.to_string(), &link.queue.to_string());
        }
        Ok(())
    }
}

fn other(setting: &str, link: &Link, wanted: &str, found: &str) -> Result<(), String> {
    Err(format!("Error: Tuning configured {} of {} is {}, current value is {}", setting, link.name, wanted, found))
}

impl Mac {
    fn read(text: String, members: &Members) -> Result<Mac, Unsupported> {
        let bytes = parse_mac(&text).ok_or_else(|| members.wrong("mac", "not plain"))?.to_vec();
        Ok(Mac { text, bytes })
    }
}

fn optional_flag(members: &mut Members, key: &str) -> Result<Option<bool>, Unsupported> {
    match members.take(key) {
        None => Ok(None),
        Some(Json::Flag(flag)) => Ok(Some(*flag)),
        Some(_) => Err(members.wrong(key, "not true or false")),
    }
}

fn whole_number(members: &mut Members, key: &str) -> Result<Option<u32>, Unsupported> {
    let number = members.number(key)?;
    number.map(u32::try_from).transpose().map_err(|_| members.wrong(key, "out of range"))
}
