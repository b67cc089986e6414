//! How long each part of a call may take. The shim enforces these limits itself, because the daemon may be away.

use std::time::{Duration, Instant};

use crate::base::clock::ms;
use crate::cni::conf::Conf;
use crate::cni::verb::Verb;

/// How long an ADD waits for a daemon that is away. Nobody shortens this wait when the runtime is in a hurry, because a
/// conf changed and its lock is wanted.
const ADD_REACH_MS: u64 = 47_000;
/// All plugins of one ADD together have this long by default.
const LOST_RUN_MS: u64 = 25_000;
/// How long a call waits for a daemon that is away when the runtime stands still meanwhile and can ask again: it holds a
/// lock during STATUS, and CRI-O serves nobody before it has asked for GC and for CHECK of pod after pod. So it could not
/// start the daemon either.
const SHORT_REACH_MS: u64 = 2_000;
const STATUS_BUDGET_MS: u64 = 10_000;

pub struct Limits {
    /// The end of the call, including undo.
    pub whole: Instant,
    /// The end of waiting for the daemon and working for it.
    pub work: Instant,
    pub work_ms: u64,
    /// The daemon must send WELCOME before this.
    pub welcome: Instant,
    /// How long the shim waits for an absent daemon.
    pub patience: Duration,
}

impl Limits {
    pub fn of(verb: Verb, conf: &Conf, started: Instant) -> Limits {
        let budget_ms = match verb {
            Verb::Add | Verb::Check | Verb::Gc => conf.add_budget_ms,
            Verb::Del => conf.del_budget_ms,
            Verb::Status => conf.add_budget_ms.min(STATUS_BUDGET_MS),
        };
        // Time for undo is of no use to a call that has none for work.
        let reserve_ms = if verb == Verb::Add { conf.add_undo_ms.min(budget_ms / 2) } else { 0 };
        let work_ms = budget_ms - reserve_ms;
        let work = started + ms(work_ms);
        Limits {
            whole: started + ms(budget_ms),
            work,
            work_ms,
            welcome: if verb == Verb::Status { work.min(started + ms(SHORT_REACH_MS)) } else { work },
            patience: ms(match verb {
                Verb::Add => budget_ms.min(ADD_REACH_MS),
                Verb::Del => conf.del_patience_ms,
                Verb::Check | Verb::Gc | Verb::Status => budget_ms.min(SHORT_REACH_MS),
            }),
        }
    }

    /// The end of a run whose daemon is lost. On a slow node its own limit is what is left of the call, because the
    /// daemon ends a plugin that hangs; now nobody would.
    pub fn lost_run(&self) -> Instant {
        (Instant::now() + ms(LOST_RUN_MS.min(self.work_ms / 2))).min(self.work)
    }

    /// The end of the search for a daemon that is away now.
    pub fn reach(&self) -> Instant {
        (Instant::now() + self.patience).min(self.welcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cni::conf::read_conf;

    #[test]
    fn an_add_keeps_time_for_undo() {
        let started = Instant::now();
        let of = |verb: Verb, text: &str| Limits::of(verb, &read_conf(text.as_bytes(), Verb::Add).unwrap(), started);
        let add = of(Verb::Add, r#"{"name":"n"}"#);
        assert_eq!((add.work - started, add.whole - started), (ms(102_000), ms(110_000)));
        assert_eq!(add.patience, ms(47_000));
        let careful = of(Verb::Add, r#"{"name":"n","addUndoMs":30000}"#);
        assert_eq!((careful.work - started, careful.whole - started), (ms(80_000), ms(110_000)));
        let short = of(Verb::Add, r#"{"name":"n","addBudgetMs":2000}"#);
        assert_eq!((short.work - started, short.whole - started), (ms(1_500), ms(2_000)));
        let del = of(Verb::Del, r#"{"name":"n"}"#);
        assert_eq!((del.work - started, del.patience), (ms(50_000), ms(2_000)));
        assert_eq!(of(Verb::Status, r#"{"name":"n"}"#).welcome - started, ms(2_000));
        for verb in [Verb::Check, Verb::Gc] {
            let asked = of(verb, r#"{"name":"n"}"#);
            assert_eq!((asked.work - started, asked.patience), (ms(110_000), ms(2_000)));
        }
    }
}
