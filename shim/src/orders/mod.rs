//! The daemon's orders, and the hand that carries them out.

pub mod conversation;
pub mod forked_job;
pub mod hand;
pub mod job;
pub mod kept_netns;
pub mod links;
pub mod list;
pub mod outcome;
pub mod reap;
pub mod remove;
pub mod routes;
pub mod rules;
pub mod scratch_netns;
pub mod session;
pub mod stat;
