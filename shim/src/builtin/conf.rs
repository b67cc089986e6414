//! The parts of a network configuration that all plugins share. Each plugin takes its own keys out of the rest.

use crate::builtin::go::members::Members;
use crate::builtin::go::tree::Json;
use crate::builtin::ipam::Ipam;
use crate::builtin::result::{CniResult, Dns};
use crate::builtin::{Edition, PluginCall, Unsupported};
use crate::cni::conf::is_identifier;

/// Results of older versions have another form.
pub const VERSIONS: [&str; 5] = ["0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"];

pub struct Conf<'a> {
    pub version: &'static str,
    pub edition: Edition,
    pub name: &'a str,
    /// The keys of the plugin itself.
    pub own: Members<'a>,
    /// `args.cni`.
    pub args: Members<'a>,
    /// `runtimeConfig`.
    pub runtime: Members<'a>,
    /// None if the configuration does not set it.
    pub dns: Option<Dns>,
    ipam: Option<&'a Json>,
    prev_result: Option<&'a Json>,
}

impl<'a> Conf<'a> {
    pub fn read(tree: &'a Json, edition: Edition) -> Result<Conf<'a>, Unsupported> {
        let mut own = Members::of(tree, "")?;
        let (version, name) = read_head(&mut own, edition)?;
        own.text("type")?;
        read_capabilities(&mut own)?;
        let mut args = own.object("args")?;
        let cni_args = args.object("cni")?;
        args.end()?;
        let dns = match own.take("dns") {
            None => None,
            Some(json) => Dns::read(json, "dns")?,
        };
        let runtime = own.object("runtimeConfig")?;
        let prev_result = own.take("prevResult");
        if !matches!(prev_result, None | Some(Json::Object(_))) {
            return Err(Unsupported("prevResult is not an object".to_string()));
        }
        let ipam = own.take("ipam");
        Ok(Conf { version, edition, name, own, args: cni_args, runtime, dns, ipam, prev_result })
    }

    /// The IPAM plugin of the configuration. Takes its keys out of all parts. None if there is none.
    pub fn ipam(&mut self, call: &PluginCall) -> Result<Option<Ipam>, Unsupported> {
        let ipam = match self.ipam.take() {
            None => return Ok(None),
            Some(json) => Members::of(json, "ipam")?,
        };
        Ipam::read(ipam, self, call)
    }

    /// The IPAM plugin's name, which a configuration that is not read may lack.
    pub fn ipam_type(&self) -> Option<String> {
        let mut ipam = Members::of(self.ipam?, "ipam").ok()?;
        ipam.text("type").ok()?.filter(|name| !name.is_empty()).map(str::to_string)
    }

    /// The result of the plugin before in the chain, or of the ADD before this call.
    pub fn prev_result(&self) -> Result<Option<CniResult>, Unsupported> {
        self.prev_result.map(|json| CniResult::read(json, self.version, self.edition)).transpose()
    }

    /// Refuses the keys that nobody has taken.
    pub fn end(self) -> Result<(), Unsupported> {
        if self.ipam.is_some() {
            return Err(Unsupported("ipam is not built in here".to_string()));
        }
        self.own.end()?;
        self.args.end()?;
        self.runtime.end()
    }
}

/// Version and name of the network: what upstream's plugins read where they have no function for the command.
pub fn read_head<'a>(own: &mut Members<'a>, edition: Edition) -> Result<(&'static str, &'a str), Unsupported> {
    let version = own.text("cniVersion")?.unwrap_or_default();
    let version = VERSIONS.into_iter().find(|known| *known == version);
    let version = version.filter(|version| edition.takes(version));
    let version = version.ok_or_else(|| Unsupported("the cniVersion is not built in".to_string()))?;
    let name = own.text("name")?.filter(|name| is_identifier(name));
    let name = name.ok_or_else(|| Unsupported("the name of the network is not valid".to_string()))?;
    Ok((version, name))
}

/// The runtime reads them. A plugin only wants them to be flags.
fn read_capabilities(own: &mut Members) -> Result<(), Unsupported> {
    match own.take("capabilities") {
        None => Ok(()),
        Some(Json::Object(members)) if members.iter().all(|(_, value)| matches!(value, Json::Flag(_))) => Ok(()),
        Some(_) => Err(own.wrong("capabilities", "not an object of flags")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::go::tree::parse;

    #[test]
    fn the_ipam_is_named() {
        let of = |ipam: &str| {
            let tree = parse(format!(r#"{{"cniVersion":"1.0.0","name":"n"{}}}"#, ipam).as_bytes()).unwrap();
            let conf = Conf::read(&tree, Edition::V1_9_1).unwrap();
            conf.ipam_type()
        };
        assert_eq!(of(r#","ipam":{"ranges":[],"type":"host-local"}"#), Some("host-local".to_string()));
        for none in ["", r#","ipam":{}"#, r#","ipam":{"type":""}"#, r#","ipam":{"type":1}"#, r#","ipam":[]"#] {
            assert_eq!(of(none), None, "{}", none);
        }
    }

    fn why(text: &str, edition: Edition) -> String {
        let tree = parse(text.as_bytes()).unwrap();
        Conf::read(&tree, edition).and_then(Conf::end).map_err(|why| why.0).err().unwrap_or_default()
    }

    #[test]
    fn shared_keys_are_known_and_others_are_refused() {
        let whole = r#"{"cniVersion":"1.1.0","name":"n","type":"t","capabilities":{"mac":true},
            "args":{"cni":{}},"runtimeConfig":{},"dns":{"domain":"a"},"prevResult":{"x":1}}"#;
        assert_eq!(why(whole, Edition::V1_9_1), "");
        assert_eq!(why(whole, Edition::V1_1_1), "the cniVersion is not built in");
        let one = |more: &str| why(&format!(r#"{{"cniVersion":"1.0.0","name":"n"{}}}"#, more), Edition::V1_9_1);
        assert_eq!(one(""), "");
        assert_eq!(one(r#","Name":"n""#), "the key Name is not built in");
        assert_eq!(one(r#","mtu":1"#), "the key mtu is not built in");
        assert_eq!(one(r#","runtimeConfig":{"ips":[]}"#), "the key runtimeConfig.ips is not built in");
        assert_eq!(one(r#","args":{"cni":{"a":1}}"#), "the key args.cni.a is not built in");
        assert_eq!(one(r#","args":{"b":1}"#), "the key args.b is not built in");
        assert_eq!(one(r#","ipam":{}"#), "ipam is not built in here");
        assert_eq!(one(r#","prevResult":null"#), "prevResult is not an object");
        assert_eq!(
            why(r#"{"cniVersion":"1.0.0","name":"a/b"}"#, Edition::V1_9_1),
            "the name of the network is not valid"
        );
        assert_eq!(why(r#"{"name":"n"}"#, Edition::V1_9_1), "the cniVersion is not built in");
    }
}
