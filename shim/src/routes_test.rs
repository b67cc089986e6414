//! The messages as bytes; what they do to a real namespace is tested with the whole binary.

use super::*;

fn listed(table: u8, extra: &[Attribute]) -> Vec<u8> {
    let fixed = [AF_INET, 0, 0, 0, table, PROTOCOL_BOOT, 0, TYPE_UNICAST, 0, 0, 0, 0];
    message(RTM_NEWROUTE, 0, &fixed, extra)[16..].to_vec()
}

fn hop(index: u32, gateway: &[u8]) -> Vec<u8> {
    let attribute = message(0, 0, &[], &[(RTA_GATEWAY, gateway)])[16..].to_vec();
    let length = (8 + attribute.len()) as u16;
    [&length.to_ne_bytes()[..], &[0, 0], &index.to_ne_bytes()[..], &attribute].concat()
}

#[test]
fn an_add_has_the_bytes_ip_route_sends() {
    let bytes = addition(Family::V4, 2, &[10, 0, 0, 1]);
    let expected = [
        44, 0, 0, 0, 24, 0, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, // header: RTM_NEWROUTE, request+ack+create+excl
        2, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0, // IPv4, default, main table, boot, universe, unicast
        8, 0, 5, 0, 10, 0, 0, 1, // via 10.0.0.1
        8, 0, 4, 0, 2, 0, 0, 0, // dev 2
    ];
    assert_eq!(bytes, expected);
}

#[test]
fn only_default_routes_of_the_main_table_are_seen() {
    let oif = (RTA_OIF, &7u32.to_ne_bytes()[..]);
    assert!(Route::read(&listed(TABLE_MAIN, &[oif])).unwrap().leads_through(7));
    assert!(!Route::read(&listed(TABLE_MAIN, &[oif])).unwrap().leads_through(8));
    assert_eq!(Route::read(&listed(255, &[oif])), None);
    assert_eq!(Route::read(&listed(TABLE_MAIN, &[oif, (RTA_TABLE, &100u32.to_ne_bytes()[..])])), None);
    let mut with_prefix = listed(TABLE_MAIN, &[oif]);
    with_prefix[1] = 8;
    assert_eq!(Route::read(&with_prefix), None);
    assert_eq!(Route::read(&[2, 0]), None);
}

#[test]
fn a_delete_names_interface_and_metric() {
    let payload = listed(TABLE_MAIN, &[(RTA_OIF, &7u32.to_ne_bytes()[..]), (RTA_PRIORITY, &100u32.to_ne_bytes()[..])]);
    let bytes = removal(Family::V4, 7, &Route::read(&payload).unwrap());
    let expected = [
        44, 0, 0, 0, 25, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, // header: RTM_DELROUTE, request+ack
        2, 0, 0, 0, 254, 0, 255, 0, 0, 0, 0, 0, // any protocol, scope and type
        8, 0, 6, 0, 100, 0, 0, 0, // metric 100
        8, 0, 4, 0, 7, 0, 0, 0, // dev 7
    ];
    assert_eq!(bytes, expected);
}

#[test]
fn a_shared_multipath_route_keeps_the_other_hops() {
    let hops = [hop(7, &[10, 0, 0, 1]), hop(9, &[10, 1, 0, 1])].concat();
    let route = Route::read(&listed(TABLE_MAIN, &[(RTA_MULTIPATH, &hops)])).unwrap();
    assert!(route.leads_through(7) && route.leads_through(9));
    let bytes = removal(Family::V4, 7, &route);
    assert_eq!(u16::from_ne_bytes([bytes[4], bytes[5]]), RTM_NEWROUTE);
    assert_eq!(attributes(&bytes[28..]), vec![(RTA_MULTIPATH, hop(9, &[10, 1, 0, 1]).as_slice())]);
    let alone = Route::read(&listed(TABLE_MAIN, &[(RTA_MULTIPATH, &hop(7, &[10, 0, 0, 1]))])).unwrap();
    let bytes = removal(Family::V4, 7, &alone);
    assert_eq!(u16::from_ne_bytes([bytes[4], bytes[5]]), RTM_DELROUTE);
}

#[test]
fn orders_of_another_shape_are_errors() {
    assert_eq!(
        RouteOp::read(&[1, 4, 4, b'e', b't', b'h', b'0']),
        Ok(RouteOp { is_add: false, family: Family::V4, ifname: "eth0".to_string(), gateway: vec![] })
    );
    assert!(RouteOp::read(&[2, 4, 1, b'a', 10, 0, 0, 1]).is_ok());
    for wrong in [
        &[][..],
        &[1, 4],
        &[1, 4, 9, b'a'],
        &[3, 4, 1, b'a'],
        &[1, 5, 1, b'a'],
        &[1, 4, 0],
        &[1, 4, 1, 0],
        &[1, 4, 1, 255],
        &[2, 6, 1, b'a', 10, 0, 0, 1],
        &[1, 4, 1, b'a', 1],
    ] {
        assert!(RouteOp::read(wrong).is_err(), "{:?}", wrong);
    }
}
