//! The host's end of the pair as a port of the bridge.

use std::io;

use crate::builtin::bridge::Bridge;
use crate::builtin::go::words::errno_words;
use crate::builtin::kernel::links::{
    link_header, set_link, set_up, Link, AF_BRIDGE, IFF_UP, IFLA_MASTER, IFLA_PROTINFO, NLA_F_NESTED,
};
use crate::builtin::kernel::sysctl;
use crate::net::netlink::{message, nested, Netlink, NLM_F_ACK, NLM_F_REQUEST, RTM_SETLINK};

const BRPORT_MODE: u16 = 4;
const BRPORT_ISOLATED: u16 = 33;

/// Sets the port up, connects it, and gives it its settings. A new port has none of them, so only those that differ from
/// that are sent.
pub fn connect(netlink: &Netlink, port: &Link, master: &Link, bridge: &Bridge) -> Result<(), String> {
    join(netlink, port, master)?;
    // The bridge decides about routes.
    sysctl::try_set(&format!("net/ipv6/conf/{}/accept_ra", port.name), "0");
    if bridge.is_hairpin {
        set(netlink, port, BRPORT_MODE)
            .map_err(|error| format!("failed to setup hairpin mode for {}: {}", port.name, errno_words(&error)))?;
    }
    if bridge.is_isolated {
        set(netlink, port, BRPORT_ISOLATED)
            .map_err(|error| format!("failed to set isolated on for {}: {}", port.name, errno_words(&error)))?;
    }
    Ok(())
}

/// Up and connected in one request, because each waits for the kernel's lock on all links.
fn join(netlink: &Netlink, port: &Link, master: &Link) -> Result<(), String> {
    let index = master.index.to_ne_bytes();
    if set_link(netlink, port.index, (IFF_UP, IFF_UP), &[(IFLA_MASTER, &index)]).is_ok() {
        return Ok(());
    }
    // Two requests show which part is refused, and leave what the program would leave.
    set_up(netlink, port.index)
        .map_err(|error| format!("failed to set \"{}\" up: {}", port.name, errno_words(&error)))?;
    set_link(netlink, port.index, (0, 0), &[(IFLA_MASTER, &index)]).map_err(|error| {
        format!("failed to connect \"{}\" to bridge {}: {}", port.name, master.name, errno_words(&error))
    })
}

fn set(netlink: &Netlink, port: &Link, number: u16) -> io::Result<()> {
    let settings = nested(&[(number, &[1])]);
    let header = link_header(AF_BRIDGE, port.index, 0, 0);
    let wanted = [(IFLA_PROTINFO | NLA_F_NESTED, &settings[..])];
    netlink.change(&message(RTM_SETLINK, NLM_F_REQUEST | NLM_F_ACK, &header, &wanted))
}
