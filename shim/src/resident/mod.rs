//! The node's resident hand, and the probes that ask whether it works.

pub mod place;
pub mod plugin_cgroup;
pub mod probe;
pub mod probe_door;
pub mod serve;
