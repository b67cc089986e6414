//! The RUN order: one run of a plugin, from finding it to the facts about how it ended.

pub mod leaf;
pub mod memory_cgroup;
pub mod process;
pub mod progress;
pub mod run;
pub mod run_order;
pub mod scratch_run;
pub mod stream;
