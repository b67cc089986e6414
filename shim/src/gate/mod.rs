//! `levee-shim gate check`: may this node be rebooted now? For kured's sentinel command, and for scripts.

pub mod check;
mod ticket;
