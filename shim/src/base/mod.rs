//! Ground that every room stands on: time, JSON text, checksums, output, and identities of processes and namespaces.

pub mod calendar;
pub mod clock;
pub mod crc32;
pub mod identity;
pub mod json;
pub mod output;
