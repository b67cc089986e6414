//! What the CNI specification asks of a plugin: variables, configuration, versions, errors; and the plugin passthru.

pub mod cni_error;
pub mod conf;
pub mod conf_scan;
pub mod passthru;
pub mod request;
pub mod verb;
pub mod versions;
