//! The result of an ADD: read from `prevResult`, and printed in the bytes of the upstream programs.

use std::net::IpAddr;

use crate::builtin::go::address::Cidr;
use crate::builtin::go::members::Members;
use crate::builtin::go::print::Print;
use crate::builtin::go::tree::Json;
use crate::builtin::{Edition, Unsupported};

#[derive(Debug, Default, Clone, PartialEq)]
pub struct CniResult {
    pub interfaces: Vec<Interface>,
    pub ips: Vec<IpConfig>,
    pub routes: Vec<Route>,
    pub dns: Dns,
    /// Printed in the form of 1.0.0 with any version.
    pub is_always_new: bool,
}

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Interface {
    pub name: String,
    pub mac: String,
    pub sandbox: String,
    /// Since CNI 1.1.0.
    pub mtu: i64,
    pub socket_path: String,
    pub pci_id: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct IpConfig {
    pub interface: Option<i64>,
    pub address: Cidr,
    pub gateway: Option<IpAddr>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    pub dst: Cidr,
    pub gw: Option<IpAddr>,
    pub mtu: i64,
    pub adv_mss: i64,
    pub priority: i64,
    pub table: Option<i64>,
    pub scope: Option<i64>,
    /// The bridge plugin makes default routes whose mask looks odd in its errors.
    pub is_of_bridge: bool,
}

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Dns {
    pub nameservers: Vec<String>,
    pub domain: String,
    pub search: Vec<String>,
    pub options: Vec<String>,
}

impl Dns {
    /// None if no key sets anything. An empty list does.
    pub fn read(json: &Json, place: &str) -> Result<Option<Dns>, Unsupported> {
        let mut members = Members::of(json, place)?;
        let domain = members.text("domain")?.unwrap_or_default().to_string();
        let lists = [members.texts("nameservers")?, members.texts("search")?, members.texts("options")?];
        members.end()?;
        let is_set = !domain.is_empty() || lists.iter().any(Option::is_some);
        let [nameservers, search, options] = lists.map(Option::unwrap_or_default);
        Ok(is_set.then_some(Dns { nameservers, domain, search, options }))
    }

    fn print(&self) -> Print {
        let mut members = Vec::new();
        push_list(&mut members, "nameservers", &self.nameservers);
        push_text(&mut members, "domain", &self.domain);
        push_list(&mut members, "search", &self.search);
        push_list(&mut members, "options", &self.options);
        Print::Members(members)
    }
}

impl Route {
    pub fn to(dst: Cidr, gw: Option<IpAddr>) -> Route {
        Route { dst, gw, mtu: 0, adv_mss: 0, priority: 0, table: None, scope: None, is_of_bridge: false }
    }

    pub fn read(json: &Json, place: &str, edition: Edition) -> Result<Route, Unsupported> {
        let mut members = Members::of(json, place)?;
        let dst = members.cidr("dst")?.ok_or_else(|| members.wrong("dst", "missing"))?;
        let mut route = Route::to(dst, members.address("gw")?);
        // Older editions ignore these keys.
        if edition.is_new() {
            route.mtu = small(&mut members, "mtu")?.unwrap_or(0);
            route.adv_mss = small(&mut members, "advmss")?.unwrap_or(0);
            route.priority = small(&mut members, "priority")?.unwrap_or(0);
            route.table = small(&mut members, "table")?;
            route.scope = small(&mut members, "scope")?;
            if route.scope > Some(255) {
                return Err(members.wrong("scope", "out of range"));
            }
        }
        members.end()?;
        Ok(route)
    }

    /// The routes of a list, which may be missing.
    pub fn read_all(members: &mut Members, edition: Edition) -> Result<Vec<Route>, Unsupported> {
        let routes = members.list("routes")?.unwrap_or_default();
        routes.iter().map(|route| Route::read(route, "routes", edition)).collect()
    }

    fn print(&self) -> Print {
        let mut members = vec![("dst", Print::text(self.dst.to_string()))];
        push_ip(&mut members, "gw", self.gw);
        for (key, number) in [("mtu", self.mtu), ("advmss", self.adv_mss), ("priority", self.priority)] {
            push_number(&mut members, key, Some(number).filter(|number| *number != 0));
        }
        push_number(&mut members, "table", self.table);
        push_number(&mut members, "scope", self.scope);
        Print::Members(members)
    }
}

/// A number that every integer type of the kernel and of Go holds.
fn small(members: &mut Members, key: &str) -> Result<Option<i64>, Unsupported> {
    match members.number(key)? {
        Some(number) if !(0..=i64::from(i32::MAX)).contains(&number) => Err(members.wrong(key, "out of range")),
        number => Ok(number),
    }
}

impl Interface {
    fn read(json: &Json, version: &str, edition: Edition) -> Result<Interface, Unsupported> {
        let mut members = Members::of(json, "prevResult.interfaces")?;
        let mut text = |key: &str| members.text(key).map(|text| text.unwrap_or_default().to_string());
        let mut interface =
            Interface { name: text("name")?, mac: text("mac")?, sandbox: text("sandbox")?, ..Interface::default() };
        if edition.is_new() && version >= "1.0.0" {
            interface.socket_path = text("socketPath")?;
            interface.pci_id = text("pciID")?;
            interface.mtu = small(&mut members, "mtu")?.unwrap_or(0);
        }
        members.end()?;
        Ok(interface)
    }

    fn print(&self, is_new: bool) -> Print {
        let mut members = vec![("name", Print::text(self.name.as_str()))];
        push_text(&mut members, "mac", &self.mac);
        if is_new {
            push_number(&mut members, "mtu", Some(self.mtu).filter(|mtu| *mtu != 0));
        }
        push_text(&mut members, "sandbox", &self.sandbox);
        if is_new {
            push_text(&mut members, "socketPath", &self.socket_path);
            push_text(&mut members, "pciID", &self.pci_id);
        }
        Print::Members(members)
    }
}

impl IpConfig {
    fn read(json: &Json, version: &str) -> Result<IpConfig, Unsupported> {
        let mut members = Members::of(json, "prevResult.ips")?;
        if version < "1.0.0" {
            members.text("version")?;
        }
        let address = members.cidr("address")?.ok_or_else(|| members.wrong("address", "missing"))?;
        let config =
            IpConfig { interface: small(&mut members, "interface")?, address, gateway: members.address("gateway")? };
        members.end()?;
        Ok(config)
    }

    fn print(&self, is_new: bool) -> Print {
        let mut members = Vec::new();
        if !is_new {
            members.push(("version", Print::text(if self.address.ip.is_ipv4() { "4" } else { "6" })));
        }
        push_number(&mut members, "interface", self.interface);
        members.push(("address", Print::text(self.address.to_string())));
        push_ip(&mut members, "gateway", self.gateway);
        Print::Members(members)
    }
}

impl CniResult {
    pub fn read(json: &Json, version: &str, edition: Edition) -> Result<CniResult, Unsupported> {
        let mut members = Members::of(json, "prevResult")?;
        if members.text("cniVersion")?.map_or(false, |own| own != version) {
            return Err(members.wrong("cniVersion", "another than that of the configuration"));
        }
        let interfaces = members.list("interfaces")?.unwrap_or_default();
        let ips = members.list("ips")?.unwrap_or_default();
        let result = CniResult {
            interfaces: interfaces
                .iter()
                .map(|json| Interface::read(json, version, edition))
                .collect::<Result<_, _>>()?,
            ips: ips.iter().map(|json| IpConfig::read(json, version)).collect::<Result<_, _>>()?,
            routes: Route::read_all(&mut members, edition)?,
            dns: members.take("dns").map_or(Ok(None), |json| Dns::read(json, "prevResult.dns"))?.unwrap_or_default(),
            is_always_new: false,
        };
        members.end()?;
        Ok(result)
    }

    /// Version 1.0.0 dropped the field `version` of addresses. Newer editions sort the keys of new results.
    pub fn to_json(&self, version: &str, edition: Edition) -> String {
        let is_new = version >= "1.0.0" || self.is_always_new;
        let is_sorted = is_new && edition.is_new();
        let mut members = vec![("cniVersion", Print::text(version))];
        let mut push = |key: &'static str, items: Vec<Print>| {
            if !items.is_empty() {
                members.push((key, Print::List(items)));
            }
        };
        push("interfaces", self.interfaces.iter().map(|interface| interface.print(is_new)).collect());
        push("ips", self.ips.iter().map(|ip| ip.print(is_new)).collect());
        push("routes", self.routes.iter().map(Route::print).collect());
        let dns = self.dns.print();
        if !is_sorted || !matches!(&dns, Print::Members(members) if members.is_empty()) {
            members.push(("dns", dns));
        }
        let whole = Print::Members(members);
        if is_sorted { whole.sorted() } else { whole }.to_json()
    }
}

type Fields = Vec<(&'static str, Print)>;

fn push_text(members: &mut Fields, key: &'static str, text: &str) {
    if !text.is_empty() {
        members.push((key, Print::text(text)));
    }
}

fn push_list(members: &mut Fields, key: &'static str, texts: &[String]) {
    if !texts.is_empty() {
        members.push((key, Print::texts(texts)));
    }
}

fn push_number(members: &mut Fields, key: &'static str, number: Option<i64>) {
    if let Some(number) = number {
        members.push((key, Print::Number(number)));
    }
}

fn push_ip(members: &mut Fields, key: &'static str, ip: Option<IpAddr>) {
    if let Some(ip) = ip {
        members.push((key, Print::text(ip.to_string())));
    }
}

#[cfg(test)]
#[path = "result_test.rs"]
mod tests;
