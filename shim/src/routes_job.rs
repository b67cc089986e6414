//! ROUTES: a short-lived child enters the namespace and changes the routes there, so that the hand itself never leaves
//! its own.

use std::io;

use crate::forked_job::{About, ForkedJob, Found};
use crate::frame::Fields;
use crate::identity::Inode;
use crate::netlink::Netlink;
use crate::netns;
use crate::orders::RoutesOrder;
use crate::sys;

pub fn begin(order: &RoutesOrder, expected: Option<Inode>) -> io::Result<ForkedJob> {
    let about = About { step: order.step, failure: "routes", question: "whether the routes were changed" };
    ForkedJob::begin(about, || work(order, expected))
}

fn work(order: &RoutesOrder, expected: Option<Inode>) -> Found {
    netns::enter(&order.netns, expected)?;
    let netlink = Netlink::open().map_err(|error| {
        let message = format!("Cannot open a netlink socket in {}: {}", order.netns, sys::error_text(&error));
        (sys::errno_of(&error), message)
    })?;
    order.ops.iter().try_for_each(|op| op.apply(&netlink))?;
    Ok(Fields::new())
}
