//! Frame types of docs/protocol.md. 1-63 come from the shim or the CLI, 64-127 from the daemon.

pub const CALL: u8 = 1;
pub const CONFIG: u8 = 2;
pub const OUTCOME: u8 = 3;
pub const ACK: u8 = 4;
pub const RESUME: u8 = 5;
pub const RESIDENT: u8 = 6;
pub const PROGRESS: u8 = 8;
pub const WELCOME: u8 = 64;
pub const GO: u8 = 65;
pub const HEARTBEAT: u8 = 66;
pub const RUN: u8 = 67;
pub const ROUTES: u8 = 68;
pub const STAT: u8 = 69;
pub const REAP: u8 = 70;
pub const KILL: u8 = 71;
pub const FINISH: u8 = 72;
pub const BYE: u8 = 73;
pub const REFUSE: u8 = 74;
pub const LINKS: u8 = 76;
pub const LIST: u8 = 77;
pub const REMOVE: u8 = 78;
pub const SCRATCH: u8 = 79;
