//! One CNI call, from the request of the runtime to its exit code.

pub mod deliver;
pub mod frames;
pub mod limits;
pub mod make_call;
pub mod offline;
pub mod serve;
pub mod undo;
