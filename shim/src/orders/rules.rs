//! What a hand refuses, even if the daemon orders it.

use std::time::Duration;

use crate::base::clock::ms;

/// No order runs longer than this.
const TIMEOUT_MS_MAX: u64 = 600_000;

/// The kind of hand decides which namespaces it may touch and how many plugins it runs at once.
pub enum Rules {
    Call { container_id: String, netns: String },
    Resident,
}

impl Rules {
    pub fn runs_at_once(&self) -> usize {
        match self {
            Rules::Call { .. } => 1,
            Rules::Resident => 8,
        }
    }

    /// A call may run the pending DEL of another container, but never inside a namespace.
    pub fn check_container(&self, container_id: &str, netns: &str) -> Result<(), String> {
        match self {
            Rules::Call { container_id: own, .. } if !netns.is_empty() && container_id != own => Err(format!(
                "Cannot run a plugin in a network namespace for another container than {:?}: current value is {:?}",
                own, container_id
            )),
            _ => Ok(()),
        }
    }

    pub fn check_netns(&self, netns: &str) -> Result<(), String> {
        match self {
            Rules::Call { netns: own, .. } if !netns.is_empty() && netns != own => {
                Err(format!("Cannot work in another network namespace than {:?}: current value is {:?}", own, netns))
            }
            _ => Ok(()),
        }
    }

    pub fn check_scratch(&self, is_scratch: bool, netns: &str) -> Result<(), String> {
        match self {
            _ if !is_scratch => Ok(()),
            Rules::Call { .. } => {
                Err("Cannot make a scratch network namespace for a call: only the resident hand does".to_string())
            }
            Rules::Resident if netns.is_empty() => Ok(()),
            Rules::Resident => Err(format!("Cannot run both in a scratch network namespace and in {:?}", netns)),
        }
    }
}

/// Whether a path of the host is absolute and leads nowhere else than it says.
pub fn is_plain(path: &str) -> bool {
    path.starts_with('/') && !path.contains('\0') && path.split('/').all(|part| part != "..")
}

/// The time limit of an order, within our own bounds.
pub fn time_limit(timeout_ms: u64) -> Duration {
    ms(timeout_ms.clamp(1, TIMEOUT_MS_MAX))
}
