//! Time that never goes back, and the jitter that keeps a herd of retrying shims apart.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, Instant};

pub fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Whole milliseconds until then, rounded up so that a wait never ends just before its deadline.
pub fn ms_until(then: Instant) -> u64 {
    let left = then.saturating_duration_since(Instant::now());
    (left.as_micros() as u64 + 999) / 1000
}

pub fn micros_since(then: Instant) -> u64 {
    then.elapsed().as_micros() as u64
}

/// Decorrelated jitter: each pause lies between `least` and three times the one before, up to `most`.
pub struct Jitter {
    least_ms: u64,
    most_ms: u64,
    last_ms: u64,
}

impl Jitter {
    pub fn between(least_ms: u64, most_ms: u64) -> Jitter {
        Jitter { least_ms, most_ms, last_ms: least_ms }
    }

    pub fn next_pause(&mut self) -> Duration {
        let ceiling = (self.last_ms * 3).max(self.least_ms + 1);
        self.last_ms = (self.least_ms + random() % (ceiling - self.least_ms)).min(self.most_ms);
        ms(self.last_ms)
    }
}

/// std seeds its hash keys from the kernel and varies them; that is random enough to spread retries.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_stay_in_range_and_differ() {
        let mut jitter = Jitter::between(100, 2000);
        let pauses: Vec<Duration> = (0..200).map(|_| jitter.next_pause()).collect();
        assert!(pauses.iter().all(|pause| *pause >= ms(100) && *pause <= ms(2000)));
        assert!(pauses.windows(2).any(|pair| pair[0] != pair[1]));
        assert!(pauses.iter().any(|pause| *pause > ms(300)));
    }
}
