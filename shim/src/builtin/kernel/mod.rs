//! The kernel's side of a plugin: namespaces, links, addresses, routes and sysctls.

pub mod addresses;
pub mod child;
pub mod configure;
pub mod links;
pub mod master;
pub mod namespaces;
pub mod removal;
pub mod routes;
pub mod sysctl;
pub mod validate;
pub mod veth;
