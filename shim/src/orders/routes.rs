//! ROUTES: changes the default routes of a namespace, in a child process, so that the hand stays in its own namespace.

use std::io;

use crate::base::identity::NetnsIdentity;
use crate::net::default_routes::RouteOp;
use crate::net::netlink::Netlink;
use crate::net::netns;
use crate::orders::forked_job::{About, ForkedJob, Found};
use crate::orders::rules::Rules;
use crate::sys;
use crate::wire::frame::{Fields, Frame};
use crate::wire::tag;

pub struct RoutesOrder {
    pub step: u64,
    pub netns: String,
    pub ops: Vec<RouteOp>,
}

impl RoutesOrder {
    pub fn read(frame: &Frame) -> Result<RoutesOrder, String> {
        Ok(RoutesOrder {
            step: frame.step()?,
            netns: frame.required_text(tag::NETNS)?,
            ops: frame.all(tag::ROUTE_OP).map(RouteOp::read).collect::<Result<_, _>>()?,
        })
    }

    /// An empty path would mean the host's namespace, whose routes a hand must not change.
    pub fn refusal(&self, rules: &Rules) -> Option<String> {
        if self.netns.is_empty() || self.netns.contains('\0') {
            return Some("Cannot change routes without a network namespace to change them in".to_string());
        }
        rules.check_netns(&self.netns).err()
    }
}

pub fn begin(order: &RoutesOrder, expected: Option<NetnsIdentity>) -> io::Result<ForkedJob> {
    let about = About { step: order.step, failure: "routes", question: "whether the routes were changed" };
    ForkedJob::begin(about, || work(order, expected))
}

fn work(order: &RoutesOrder, expected: Option<NetnsIdentity>) -> Found {
    netns::enter(&order.netns, expected)?;
    let netlink = Netlink::open().map_err(|error| {
        let message = format!("Cannot open a netlink socket in {}: {}", order.netns, sys::error_text(&error));
        (sys::errno_of(&error), message)
    })?;
    order.ops.iter().try_for_each(|op| op.apply(&netlink))?;
    Ok(Fields::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_of_the_host_are_refused() {
        let call = &Rules::Call { container_id: "c1".to_string(), netns: "/run/netns/a".to_string() };
        let routes = |netns: &str| RoutesOrder { step: 1, netns: netns.to_string(), ops: vec![] };
        assert!(routes("").refusal(&Rules::Resident).is_some());
        assert!(routes("/run/netns/b").refusal(call).is_some());
        assert!(routes("/run/netns/a").refusal(call).is_none());
    }
}
