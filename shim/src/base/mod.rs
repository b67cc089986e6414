//! What every other room uses: time, JSON text, checksums, output, traces, and the identity of processes and namespaces.

pub mod calendar;
pub mod clock;
pub mod crc32;
pub mod identity;
pub mod json;
pub mod output;
pub mod trace;
