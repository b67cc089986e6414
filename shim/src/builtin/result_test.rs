use super::*;
use crate::builtin::go::tree::parse;

fn sample() -> CniResult {
    let interface = |name: &str, sandbox: &str| Interface {
        name: name.to_string(),
        mac: "02:00:00:00:00:01".to_string(),
        sandbox: sandbox.to_string(),
        ..Interface::default()
    };
    CniResult {
        interfaces: vec![interface("cni0", ""), interface("eth0", "/run/netns/a")],
        ips: vec![IpConfig {
            interface: Some(1),
            address: Cidr::parse("10.1.0.2/24").unwrap(),
            gateway: Some("10.1.0.1".parse().unwrap()),
        }],
        routes: vec![Route { priority: 7, table: Some(0), ..Route::to(Cidr::parse("0.0.0.0/0").unwrap(), None) }],
        dns: Dns { nameservers: vec!["1.1.1.1".to_string()], ..Dns::default() },
        is_always_new: false,
    }
}

#[test]
fn old_results_keep_the_order_of_the_struct() {
    let json = sample().to_json("0.4.0", Edition::V1_9_1);
    let keys: Vec<&str> = json.split('"').filter(|part| part.starts_with(char::is_lowercase)).collect();
    let start = ["cniVersion", "interfaces", "name", "cni0", "mac", "name", "eth0", "mac", "sandbox"];
    let end = ["ips", "version", "interface", "address", "gateway", "routes", "dst", "priority", "table", "dns"];
    assert_eq!(keys[..9], start);
    assert_eq!(keys[9..19], end);
    assert!(CniResult::default().to_json("0.3.1", Edition::V1_9_1).ends_with(",\n    \"dns\": {}\n}"));
}

#[test]
fn new_results_are_sorted_only_in_new_editions() {
    let json = sample().to_json("1.0.0", Edition::V1_9_1);
    assert!(
        json.find("\"dns\"") < json.find("\"interfaces\"") && json.find("\"mac\"") < json.find("\"name\""),
        "{}",
        json
    );
    let json = sample().to_json("1.0.0", Edition::V1_1_1);
    assert!(
        json.find("\"dns\"") > json.find("\"interfaces\"") && json.find("\"mac\"") > json.find("\"name\""),
        "{}",
        json
    );
    assert_eq!(CniResult::default().to_json("1.1.0", Edition::V1_9_1), "{\n    \"cniVersion\": \"1.1.0\"\n}");
    let empty = CniResult::default().to_json("1.0.0", Edition::V1_1_1);
    assert_eq!(empty, "{\n    \"cniVersion\": \"1.0.0\",\n    \"dns\": {}\n}");
}

#[test]
fn a_printed_result_is_read_again() {
    for (version, edition) in [("0.3.1", Edition::V1_9_1), ("1.0.0", Edition::V1_9_1), ("1.1.0", Edition::V1_9_1)] {
        let tree = parse(sample().to_json(version, edition).as_bytes()).unwrap();
        assert_eq!(CniResult::read(&tree, version, edition), Ok(sample()));
        assert!(CniResult::read(&tree, "0.4.0", edition).is_err());
    }
    let tree = parse(br#"{"ips":[{"address":"10.0.0.1"}]}"#).unwrap();
    assert!(CniResult::read(&tree, "1.0.0", Edition::V1_9_1).is_err());
}
