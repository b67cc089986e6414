//! The plugin `bridge`: a pair of links from the container to a bridge on the host.

mod add;
mod check;
mod gateways;
mod port;

use crate::builtin::attached;
use crate::builtin::call::is_interface_name;
use crate::builtin::conf::Conf;
use crate::builtin::go::address::{has_next, parse_mac};
use crate::builtin::ipam::Ipam;
use crate::builtin::result::{CniResult, Dns};
use crate::builtin::{args, Edition, Failure, Plugin, PluginCall, Unsupported};

const DEFAULT_NAME: &str = "cni0";

pub struct Bridge {
    edition: Edition,
    name: String,
    is_gateway: bool,
    is_default_gateway: bool,
    forces_address: bool,
    /// 0 leaves it to the kernel.
    mtu: u32,
    is_hairpin: bool,
    is_promiscuous: bool,
    finds_duplicates: bool,
    has_container_interface: bool,
    is_isolated: bool,
    mac: Option<[u8; 6]>,
    dns: Option<Dns>,
    ipam: Option<Ipam>,
    prev_result: Option<CniResult>,
}

impl Bridge {
    pub fn read(mut conf: Conf, call: &PluginCall) -> Result<Bridge, Unsupported> {
        let own = &mut conf.own;
        let name = own.text("bridge")?.unwrap_or(DEFAULT_NAME);
        if !is_interface_name(name) {
            return Err(own.wrong("bridge", "not a plain name"));
        }
        let is_default_gateway = own.flag("isDefaultGateway")?;
        let mtu = own.number("mtu")?.unwrap_or(0).max(0);
        let mut bridge = Bridge {
            edition: conf.edition,
            name: name.to_string(),
            is_gateway: own.flag("isGateway")? || is_default_gateway,
            is_default_gateway,
            forces_address: own.flag("forceAddress")?,
            mtu: u32::try_from(mtu).map_err(|_| own.wrong("mtu", "out of range"))?,
            is_hairpin: own.flag("hairpinMode")?,
            is_promiscuous: own.flag("promiscMode")?,
            finds_duplicates: own.flag("enabledad")?,
            has_container_interface: !own.flag("disableContainerInterface")?,
            is_isolated: own.flag("portIsolation")?,
            mac: None,
            dns: conf.dns.take(),
            ipam: None,
            prev_result: None,
        };
        for key in ["ipMasq", "macspoofchk"] {
            if own.flag(key)? {
                return Err(own.wrong(key, "not built in"));
            }
        }
        if own.number("vlan")?.unwrap_or(0) != 0 {
            return Err(own.wrong("vlan", "not built in"));
        }
        // Without a VLAN it changes nothing.
        own.flag("preserveDefaultVlan")?;
        bridge.mac = read_mac(&mut conf, call)?;
        bridge.ipam = conf.ipam(call)?;
        bridge.prev_result = if call.command == "CHECK" { conf.prev_result()? } else { None };
        conf.end()?;
        bridge.check_combination().map(|()| bridge)
    }

    fn check_combination(&self) -> Result<(), Unsupported> {
        let refuse = |why: &str| Err(Unsupported(why.to_string()));
        if self.is_hairpin && self.is_promiscuous {
            return refuse("hairpinMode and promiscMode exclude each other");
        }
        if self.ipam.is_some() && !self.has_container_interface {
            return refuse("an interface that is not set up has no addresses");
        }
        // Version 1.1.1 does not know these two, and waits otherwise for the third.
        if !self.edition.is_new() && (!self.has_container_interface || self.is_isolated || self.finds_duplicates) {
            return refuse("a key is not built in for version 1.1.1");
        }
        // The first address of the network becomes the gateway.
        let open = self.ipam.as_ref().filter(|_| self.is_gateway).map_or(Vec::new(), Ipam::without_gateway);
        if !open.iter().all(|address| has_next(&address.network(), self.edition)) {
            return refuse("an address has a gateway that the program miscounts");
        }
        Ok(())
    }
}

impl Plugin for Bridge {
    fn add(&self, call: &PluginCall) -> Result<CniResult, Failure> {
        add::add(self, call)
    }

    fn check(&self, call: &PluginCall) -> Result<(), Failure> {
        check::check(self, call)
    }

    /// The host's end goes with the container's. The addresses are given back last, so that none has two owners.
    fn del(&self, call: &PluginCall) -> Result<(), Failure> {
        attached::remove(call)?;
        self.ipam.as_ref().map_or(Ok(()), |ipam| ipam.del(call))
    }
}

/// The MAC address that the call asks for. The runtime's counts before that of `args`, and that before `CNI_ARGS`.
fn read_mac(conf: &mut Conf, call: &PluginCall) -> Result<Option<[u8; 6]>, Unsupported> {
    let wished = [conf.runtime.text("mac")?, conf.args.text("mac")?, args::read(&call.args, &["MAC"])?[0]];
    match wished.into_iter().flatten().find(|mac| !mac.is_empty()) {
        None => Ok(None),
        Some(mac) => parse_mac(mac).map(Some).ok_or_else(|| Unsupported("a MAC address is not plain".to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::prepare;

    #[test]
    fn gateways_that_the_program_miscounts_are_left_to_it() {
        let is_served = |address: &str, edition| {
            let values = [("CNI_COMMAND", "ADD"), ("CNI_CONTAINERID", "c"), ("CNI_NETNS", "/n"), ("CNI_IFNAME", "e")];
            let value = |name: &str| values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
            let call = PluginCall::read(edition, |name| value(name).to_string());
            let ipam = format!(r#"{{"type":"static","addresses":[{{"address":{}}}]}}"#, address);
            let conf = format!(r#"{{"cniVersion":"1.0.0","name":"n","isGateway":true,"ipam":{}}}"#, ipam);
            prepare("bridge", &call, conf.as_bytes()).is_ok()
        };
        assert!(!is_served(r#""64:ff9b::5/96""#, Edition::V1_1_1) && is_served(r#""64:ff9b::5/96""#, Edition::V1_9_1));
        assert!(is_served(r#""64:ff9b::5/96","gateway":"64:ff9b::1""#, Edition::V1_1_1));
        assert!(is_served(r#""10.0.0.5/24""#, Edition::V1_1_1));
        assert!(!is_served(r#""255.255.255.255/32""#, Edition::V1_9_1));
    }
}
