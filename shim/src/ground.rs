//! What every room stands on: time, text, checksums, and the calls of the kernel.

pub mod calendar;
pub mod clock;
pub mod crc;
pub mod json;
pub mod output;
pub mod sys;
