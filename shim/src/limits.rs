//! How long each part of a call may take. The shim keeps these itself: the daemon may be away, the runtime may not care.

use std::time::{Duration, Instant};

use crate::clock::ms;
use crate::conf::Conf;
use crate::verb::Verb;

/// Kept back for undoing an ADD: two plugins at their usual pace, with room.
const UNDO_RESERVE_MS: u64 = 8_000;
/// The runtime holds a lock over STATUS: whoever cannot be reached by then is not asked.
const STATUS_REACH_MS: u64 = 2_000;
const STATUS_BUDGET_MS: u64 = 10_000;

pub struct Limits {
    /// The end of everything, undo included.
    pub whole: Instant,
    /// The end of waiting and working for the daemon.
    pub work: Instant,
    pub work_ms: u64,
    /// By then the daemon must have answered at all.
    pub welcome: Instant,
    /// How long an absent daemon is waited for.
    pub patience: Duration,
}

impl Limits {
    pub fn of(verb: Verb, conf: &Conf, started: Instant) -> Limits {
        let budget_ms = match verb {
            Verb::Add | Verb::Check | Verb::Gc => conf.add_budget_ms,
            Verb::Del => conf.del_budget_ms,
            Verb::Status => conf.add_budget_ms.min(STATUS_BUDGET_MS),
        };
        let reserve_ms = if verb == Verb::Add { UNDO_RESERVE_MS.min(budget_ms / 4) } else { 0 };
        let work_ms = budget_ms - reserve_ms;
        let work = started + ms(work_ms);
        Limits {
            whole: started + ms(budget_ms),
            work,
            work_ms,
            welcome: if verb == Verb::Status { work.min(started + ms(STATUS_REACH_MS)) } else { work },
            patience: if verb == Verb::Del { ms(conf.del_patience_ms) } else { ms(budget_ms) },
        }
    }

    /// Until when to look for a daemon that is away as of now.
    pub fn reach(&self) -> Instant {
        (Instant::now() + self.patience).min(self.welcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conf::read_conf;

    #[test]
    fn an_add_keeps_time_for_undo() {
        let started = Instant::now();
        let of = |verb: Verb, text: &str| Limits::of(verb, &read_conf(text.as_bytes(), Verb::Add).unwrap(), started);
        let add = of(Verb::Add, r#"{"name":"n"}"#);
        assert_eq!((add.work - started, add.whole - started), (ms(47_000), ms(55_000)));
        let short = of(Verb::Add, r#"{"name":"n","addBudgetMs":2000}"#);
        assert_eq!((short.work - started, short.whole - started), (ms(1_500), ms(2_000)));
        let del = of(Verb::Del, r#"{"name":"n"}"#);
        assert_eq!((del.work - started, del.patience), (ms(50_000), ms(2_000)));
        assert_eq!(of(Verb::Status, r#"{"name":"n"}"#).welcome - started, ms(2_000));
    }
}
