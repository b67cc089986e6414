//! What Go's libraries do in the upstream plugins, as far as it shows: how they read and print JSON, addresses and errors.

pub mod address;
pub mod members;
pub mod path;
pub mod print;
pub mod tree;
pub mod words;
