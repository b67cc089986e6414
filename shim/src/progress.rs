//! How a running plugin moves: the CPU time of its process group and of everything below that, looked at once a second.

use std::fs;
use std::time::Instant;

use crate::clock::ms;
use crate::identity::process_stat;

/// Most plugins have ended by then, and nothing was looked at. The first look is only what later ones are compared with.
const FIRST_LOOK_MS: u64 = 250;
const LOOK_EVERY_MS: u64 = 1_000;
/// A plugin with more processes than this is not told about: half a count would call it idle while the rest works.
const PROCESSES_MAX: usize = 64;

/// Knows since when one run has used no CPU.
pub struct Watch {
    next_look: Instant,
    seen: Option<Usage>,
    moved_at: Instant,
    untold: Option<u64>,
}

/// What a run's processes have used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Usage {
    ticks: u64,
    /// One of them could go on and waits for a CPU: the node is busy, the plugin does not hang.
    is_runnable: bool,
}

impl Watch {
    pub fn new(started: Instant) -> Watch {
        Watch { next_look: started + ms(FIRST_LOOK_MS), seen: None, moved_at: started, untold: None }
    }

    pub fn next_look(&self) -> Instant {
        self.next_look
    }

    pub fn look(&mut self, group: i32, now: Instant) {
        if now >= self.next_look {
            self.next_look = now + ms(LOOK_EVERY_MS);
            self.compare(usage_of(group), now);
        }
    }

    /// Milliseconds without CPU use, if there was a look since the last time.
    pub fn take(&mut self) -> Option<u64> {
        self.untold.take()
    }

    fn compare(&mut self, now_seen: Option<Usage>, now: Instant) {
        let before = std::mem::replace(&mut self.seen, now_seen);
        // A sum that fell is a process that ended: that is movement as well.
        let moved = now_seen.map_or(true, |usage| usage.is_runnable || before.map_or(true, |b| b.ticks != usage.ticks));
        if moved {
            self.moved_at = now;
        }
        let is_known = before.is_some() && now_seen.is_some();
        self.untold = is_known.then(|| (now - self.moved_at).as_millis() as u64);
    }
}

/// None when it cannot be told: the kernel does not list children, or this /proc is that of another PID namespace.
fn usage_of(group: i32) -> Option<Usage> {
    // Orphans of the plugin are children of ours by now, and still in its group.
    let own = children_in("/proc/thread-self/children")?;
    let mut queue: Vec<i32> = own.into_iter().filter(|pid| is_in_group(*pid, group)).collect();
    let mut usage = None;
    let mut processes = 0;
    while let Some(pid) = queue.pop() {
        processes += 1;
        if processes > PROCESSES_MAX {
            return None;
        }
        if let Some(stat) = process_stat(&pid.to_string()) {
            let sum: &mut Usage = usage.get_or_insert_with(Usage::default);
            sum.ticks += stat.cpu_ticks;
            sum.is_runnable |= stat.state == 'R';
            queue.extend(children_of(pid));
        }
    }
    usage
}

fn is_in_group(pid: i32, group: i32) -> bool {
    process_stat(&pid.to_string()).map_or(false, |stat| stat.group == group)
}

/// The kernel lists children by the thread that made them.
fn children_of(pid: i32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{}/task", pid)).into_iter().flatten().flatten();
    threads.filter_map(|thread| children_in(&format!("{}/children", thread.path().display()))).flatten().collect()
}

fn children_in(file: &str) -> Option<Vec<i32>> {
    let text = fs::read_to_string(file).ok()?;
    Some(text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(ticks: u64) -> Option<Usage> {
        Some(Usage { ticks, is_runnable: false })
    }

    fn told(looks: &[Option<Usage>]) -> Vec<Option<u64>> {
        let start = Instant::now();
        let mut watch = Watch::new(start);
        let after = |count: usize| start + ms(count as u64 * 1_000);
        let mut look = |(count, seen): (usize, &Option<Usage>)| {
            watch.compare(*seen, after(count));
            watch.take()
        };
        looks.iter().enumerate().map(&mut look).collect()
    }

    #[test]
    fn idle_time_grows_from_the_last_look_that_saw_movement() {
        let looks = [used(1), used(1), used(1), used(2), used(2), used(0)];
        assert_eq!(told(&looks), [None, Some(1000), Some(2000), Some(0), Some(1000), Some(0)]);
    }

    #[test]
    fn one_that_waits_for_a_cpu_moves() {
        let starved = Some(Usage { ticks: 1, is_runnable: true });
        assert_eq!(told(&[used(1), starved, starved, used(1)]), [None, Some(0), Some(0), Some(1000)]);
    }

    #[test]
    fn what_cannot_be_seen_is_not_told() {
        assert_eq!(told(&[used(1), None, used(1), used(1)]), [None, None, None, Some(1000)]);
    }

    #[test]
    fn a_group_that_is_not_ours_has_no_usage() {
        assert_eq!(usage_of(1), None);
    }
}
