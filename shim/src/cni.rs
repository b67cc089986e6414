//! The CNI side: what the runtime gives the shim, and what it gets back.

pub mod cni_error;
pub mod cni_face;
pub mod conf;
pub mod conf_scan;
pub mod passthru;
pub mod request;
pub mod verb;
