//! The network of one namespace: entering it, and its default routes by rtnetlink.

pub mod default_routes;
pub mod netlink;
pub mod netns;
