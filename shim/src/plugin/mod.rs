//! The RUN order: one run of a plugin, from finding it to the facts about how it ended.

pub mod built_in;
pub mod go_marks;
pub mod leaf;
pub mod memory_cgroup;
pub mod process;
pub mod program;
pub mod progress;
pub mod run;
pub mod run_order;
pub mod scratch_run;
pub mod stand_in;
pub mod stream;
