//! The IPAM plugin `host-local`: addresses from ranges, with one file for each address that is taken.

use std::net::IpAddr;

use crate::builtin::args;
use crate::builtin::conf::Conf;
use crate::builtin::go::address::{parse_ip, Cidr};
use crate::builtin::go::members::Members;
use crate::builtin::go::path::plain_path;
use crate::builtin::ipam::ranges::{Range, RangeSet};
use crate::builtin::ipam::store::{is_lease_of_call_found, Locked, Store};
use crate::builtin::result::{CniResult, IpConfig, Route};
use crate::builtin::{Edition, Failure, PluginCall, Unsupported};

const DEFAULT_DATA_DIR: &str = "/var/lib/cni/networks";

pub struct HostLocal {
    /// The folder of the network's files.
    folder: String,
    edition: Edition,
    sets: Vec<RangeSet>,
    routes: Vec<Route>,
    wished: Vec<IpAddr>,
}

impl HostLocal {
    pub fn read(mut ipam: Members, conf: &mut Conf, call: &PluginCall) -> Result<HostLocal, Unsupported> {
        if !is_lease_of_call_found(call) {
            return Err(Unsupported("the container ID is too long for a lease".to_string()));
        }
        let data_dir = ipam.text("dataDir")?.filter(|folder| !folder.is_empty()).unwrap_or(DEFAULT_DATA_DIR);
        let folder = format!(
            "{}/{}",
            plain_path(data_dir).ok_or_else(|| ipam.wrong("dataDir", "not a plain absolute path"))?,
            conf.name
        );
        let mut sets =
            RangeSet::read_all(conf.runtime.list("ipRanges")?.unwrap_or_default(), "runtimeConfig.ipRanges")?;
        sets.extend(Range::read(&mut ipam)?.map(RangeSet::one));
        sets.extend(RangeSet::read_all(ipam.list("ranges")?.unwrap_or_default(), "ipam.ranges")?);
        let overlap = (0..sets.len()).any(|at| sets[at + 1..].iter().any(|other| sets[at].overlaps(other)));
        if sets.is_empty() || overlap {
            return Err(Unsupported("ipam has no ranges, or ranges that overlap".to_string()));
        }
        if !sets.iter().all(|set| set.is_counted_by(conf.edition)) {
            return Err(Unsupported("a range has addresses that version 1.1.1 miscounts".to_string()));
        }
        let routes = Route::read_all(&mut ipam, conf.edition)?;
        let wished = read_wished(conf, call, &sets)?;
        ipam.end()?;
        Ok(HostLocal { folder, edition: conf.edition, sets, routes, wished })
    }

    pub fn add(&self, call: &PluginCall) -> Result<CniResult, Failure> {
        let store = Store::open(&self.folder, self.edition)?.lock();
        let mut ips = Vec::new();
        let mut unused = self.wished.clone();
        for (number, set) in self.sets.iter().enumerate() {
            let wish = unused.iter().position(|ip| set.range_of(ip).is_some()).map(|at| unused.remove(at));
            let given = match wish {
                Some(ip) => take_wished(&store, set, number, ip, call),
                None => take_next(&store, set, number, call),
            };
            match given {
                Ok(config) => ips.push(config),
                Err(why) => {
                    release_each(&store, ips.len(), call);
                    return Err(format!("failed to allocate for range {}: {}", number, why).into());
                }
            }
        }
        if let Some(ip) = unused.first() {
            release_each(&store, ips.len(), call);
            return Err(format!("failed to allocate all requested IPs: {}", ip).into());
        }
        Ok(CniResult { ips, routes: self.routes.clone(), ..CniResult::default() })
    }

    pub fn check(&self, call: &PluginCall) -> Result<(), Failure> {
        match Store::open(&self.folder, self.edition)?.lock().has(call) {
            true => Ok(()),
            false => Err(format!("host-local: Failed to find address added by container {}", call.container_id).into()),
        }
    }

    pub fn del(&self, call: &PluginCall) -> Result<(), Failure> {
        release_each(&Store::open(&self.folder, self.edition)?.lock(), self.sets.len(), call);
        Ok(())
    }
}

/// Upstream releases once for each set of ranges. The first time takes all files of the attachment, and so the second time
/// those of old versions, which know the container only.
fn release_each(store: &Locked, sets: usize, call: &PluginCall) {
    (0..sets).for_each(|_| store.release(call));
}

fn take_wished(
    store: &Locked,
    set: &RangeSet,
    number: usize,
    ip: IpAddr,
    call: &PluginCall,
) -> Result<IpConfig, String> {
    let range = set.range_of(&ip).ok_or_else(|| format!("{} not in range set {}", ip, set))?;
    if ip == range.gateway {
        return Err(format!("requested ip {} is subnet's gateway", ip));
    }
    match store.reserve(call, &ip, number)? {
        true => Ok(config_of(ip, range)),
        false => Err(format!("requested IP address {} is not available in range set {}", ip, set)),
    }
}

fn take_next(store: &Locked, set: &RangeSet, number: usize, call: &PluginCall) -> Result<IpConfig, String> {
    if let Some(ip) = store.taken_by(call).into_iter().find(|ip| set.range_of(ip).is_some()) {
        return Err(format!("{} has been allocated to {}, duplicate allocation is not allowed", ip, call.container_id));
    }
    for (ip, range) in set.from(store.last_given(number)) {
        if store.reserve(call, &ip, number)? {
            return Ok(config_of(ip, range));
        }
    }
    Err(format!("no IP addresses available in range set: {}", set))
}

fn config_of(ip: IpAddr, range: &Range) -> IpConfig {
    IpConfig { interface: None, address: Cidr { ip, prefix: range.subnet.prefix }, gateway: Some(range.gateway) }
}

/// The addresses that the call asks for: in `CNI_ARGS`, in `args` and by the runtime. Where upstream picks one of several
/// by chance, the call is left to it.
fn read_wished(conf: &mut Conf, call: &PluginCall, sets: &[RangeSet]) -> Result<Vec<IpAddr>, Unsupported> {
    let mut texts: Vec<String> =
        args::read(&call.args, &["IP"])?[0].filter(|ip| !ip.is_empty()).map(String::from).into_iter().collect();
    texts.extend(conf.args.texts("ips")?.unwrap_or_default());
    texts.extend(conf.runtime.texts("ips")?.unwrap_or_default());
    let mut wished: Vec<IpAddr> = Vec::new();
    for text in texts {
        let ip = Cidr::parse(&text).map(|cidr| cidr.ip).or_else(|| parse_ip(&text));
        let ip = ip.ok_or_else(|| Unsupported("a requested address is none".to_string()))?;
        if !wished.contains(&ip) {
            wished.push(ip);
        }
    }
    let count = |set: &RangeSet| wished.iter().filter(|ip| set.range_of(ip).is_some()).count();
    let in_none = wished.iter().filter(|ip| sets.iter().all(|set| set.range_of(ip).is_none())).count();
    match in_none > 1 || sets.iter().any(|set| count(set) > 1) {
        true => Err(Unsupported("several requested addresses have the same range".to_string())),
        false => Ok(wished),
    }
}
