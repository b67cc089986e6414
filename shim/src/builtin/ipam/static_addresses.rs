//! The IPAM plugin `static`: the addresses are in the configuration.

use std::net::IpAddr;

use crate::builtin::args;
use crate::builtin::conf::Conf;
use crate::builtin::go::address::{parse_ip, Cidr};
use crate::builtin::go::members::Members;
use crate::builtin::ipam::is_check;
use crate::builtin::result::{CniResult, Dns, IpConfig, Route};
use crate::builtin::{Failure, PluginCall, Unsupported};

pub struct StaticAddresses {
    ips: Vec<IpConfig>,
    routes: Vec<Route>,
    dns: Dns,
    /// For CHECK only: the outer None means that the configuration has none.
    prev_result: Option<CniResult>,
}

impl StaticAddresses {
    /// The addresses of the runtime replace those of `args`, which replace all others.
    pub fn read(mut ipam: Members, conf: &mut Conf, call: &PluginCall) -> Result<StaticAddresses, Unsupported> {
        let mut ips = Vec::new();
        for item in ipam.list("addresses")?.unwrap_or_default() {
            let mut members = Members::of(item, "ipam.addresses")?;
            let address = members.cidr("address")?.ok_or_else(|| members.wrong("address", "missing"))?;
            ips.push(ip_config(address, members.address("gateway")?));
            members.end()?;
        }
        ips.extend(from_args(&call.args)?);
        for wished in [conf.args.texts("ips")?, conf.runtime.texts("ips")?].into_iter().flatten() {
            if !wished.is_empty() {
                ips = wished
                    .iter()
                    .map(|text| parse(text).map(|cidr| ip_config(cidr, None)))
                    .collect::<Result<_, _>>()?;
            }
        }
        let routes = Route::read_all(&mut ipam, conf.edition)?;
        let dns = ipam.take("dns").map_or(Ok(None), |json| Dns::read(json, "ipam.dns"))?.unwrap_or_default();
        ipam.end()?;
        let prev_result = if is_check(call) { conf.prev_result()? } else { None };
        Ok(StaticAddresses { ips, routes, dns, prev_result })
    }

    pub fn result(&self) -> CniResult {
        let (ips, routes, dns) = (self.ips.clone(), self.routes.clone(), self.dns.clone());
        CniResult { ips, routes, dns, ..CniResult::default() }
    }

    /// Compares gateways only: an address that the result does not have is not missed.
    pub fn check(&self, call: &PluginCall) -> Result<(), Failure> {
        let result = self.prev_result.as_ref().ok_or("Required prevResult missing")?;
        for wanted in &self.ips {
            let found = result.ips.iter().find(|found| found.address.ip == wanted.address.ip);
            if let Some(found) = found.filter(|found| wanted.gateway.is_some() && wanted.gateway != found.gateway) {
                let ip = found.address.ip;
                return Err(format!("static: Failed to match addr {} on interface {}", ip, call.ifname).into());
            }
        }
        Ok(())
    }
}

/// `IP` and `GATEWAY`, each a list. A gateway belongs to the addresses in whose network it is.
fn from_args(text: &str) -> Result<Vec<IpConfig>, Unsupported> {
    let values = args::read(text, &["IP", "GATEWAY"])?;
    let items = |at: usize| values[at].into_iter().filter(|text| !text.is_empty()).flat_map(|text| text.split(','));
    let mut ips = Vec::new();
    for item in items(0) {
        ips.push(ip_config(parse(item.trim())?, None));
    }
    for item in items(1) {
        let gateway = parse_ip(item.trim()).ok_or_else(|| Unsupported("GATEWAY is not an address".to_string()))?;
        for config in ips.iter_mut().filter(|config: &&mut IpConfig| config.address.contains(&gateway)) {
            config.gateway = Some(gateway);
        }
    }
    Ok(ips)
}

fn ip_config(address: Cidr, gateway: Option<IpAddr>) -> IpConfig {
    IpConfig { interface: None, address, gateway }
}

fn parse(text: &str) -> Result<Cidr, Unsupported> {
    Cidr::parse(text).ok_or_else(|| Unsupported("an address has no prefix length".to_string()))
}
