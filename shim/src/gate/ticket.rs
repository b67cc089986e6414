//! The ticket in which the daemon leaves the verdict about this node: lines of a word and a value, the last with a
//! checksum of the others. src/state/gate-ticket.ts writes it.

use crate::base::crc32::crc32;

/// No ticket stands for longer, whatever it says. The guard's verdicts expire after ten minutes at most.
const STANDS_MS_MAX: u64 = 600_000;
const WORDS: [&str; 8] =
    ["levee-gate", "verdict", "boot", "written", "expires", "uptime-written", "uptime-expires", "reason"];

/// The reader's own clocks and boot.
pub struct Now<'a> {
    pub boot: &'a str,
    pub wall_ms: u64,
    /// Since the boot, with the time asleep. Nobody can set this clock.
    pub uptime_ms: u64,
}

/// The reason for Allow, or for Deny. Only a whole, fresh ticket of this boot can allow.
pub fn judge(text: &str, now: &Now) -> Result<String, String> {
    let ticket = parse(text).ok_or("the ticket is damaged, or of another version of Levee")?;
    if ticket.boot != now.boot {
        return Err("the ticket is of another boot".to_string());
    }
    stands("clock", &ticket.wall, now.wall_ms)?;
    stands("uptime", &ticket.uptime, now.uptime_ms)?;
    if ticket.is_allowed {
        Ok(ticket.reason.to_string())
    } else {
        Err(ticket.reason.to_string())
    }
}

struct Ticket<'a> {
    is_allowed: bool,
    boot: &'a str,
    wall: Span,
    uptime: Span,
    reason: &'a str,
}

struct Span {
    written_ms: u64,
    expires_ms: u64,
}

/// A clock that was set back shows a ticket of the future; one that was set ahead, an old one.
fn stands(clock: &str, span: &Span, now_ms: u64) -> Result<(), String> {
    if now_ms < span.written_ms {
        return Err(format!("by the {} the ticket is from {} ms ahead", clock, span.written_ms - now_ms));
    }
    let end_ms = span.expires_ms.min(span.written_ms.saturating_add(STANDS_MS_MAX));
    if now_ms >= end_ms {
        return Err(format!("by the {} the ticket expired {} ms ago: does the daemon run?", clock, now_ms - end_ms));
    }
    Ok(())
}

fn parse(text: &str) -> Option<Ticket<'_>> {
    let (body, sum) = text.strip_suffix('\n')?.rsplit_once("\ncrc ")?;
    let body = &text[..body.len() + 1];
    if sum.len() != 8 || u32::from_str_radix(sum, 16).ok()? != crc32(body.as_bytes()) {
        return None;
    }
    let mut values = [""; WORDS.len()];
    let mut lines = body.lines();
    for (value, word) in values.iter_mut().zip(WORDS) {
        *value = lines.next()?.strip_prefix(word)?.strip_prefix(' ')?;
    }
    let [version, verdict, boot, written, expires, uptime_written, uptime_expires, reason] = values;
    if version != "1" || lines.next().is_some() || !matches!(verdict, "Allow" | "Deny") {
        return None;
    }
    Some(Ticket {
        is_allowed: verdict == "Allow",
        boot,
        wall: span(written, expires)?,
        uptime: span(uptime_written, uptime_expires)?,
        reason,
    })
}

fn span(written: &str, expires: &str) -> Option<Span> {
    Some(Span { written_ms: written.parse().ok()?, expires_ms: expires.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Now = Now { boot: "b1", wall_ms: 1_000_000, uptime_ms: 50_000 };

    fn ticket(verdict: &str, times: [u64; 4]) -> String {
        let [written, expires, uptime, uptime_expires] = times;
        sealed(&format!(
            "levee-gate 1\nverdict {}\nboot b1\nwritten {}\nexpires {}\nuptime-written {}\nuptime-expires {}\nreason why\n",
            verdict, written, expires, uptime, uptime_expires
        ))
    }

    fn sealed(body: &str) -> String {
        format!("{}crc {:08x}\n", body, crc32(body.as_bytes()))
    }

    const FRESH: [u64; 4] = [1_000_000, 1_000_001, 50_000, 50_001];

    #[test]
    fn a_fresh_ticket_says_what_it_says() {
        assert_eq!(judge(&ticket("Allow", FRESH), &NOW), Ok("why".to_string()));
        assert_eq!(judge(&ticket("Deny", FRESH), &NOW), Err("why".to_string()));
    }

    #[test]
    fn no_other_ticket_allows() {
        for (times, words) in [
            ([1_000_001, 1_100_000, 50_000, 60_000], "by the clock the ticket is from 1 ms ahead"),
            ([900_000, 1_000_000, 50_000, 60_000], "by the clock the ticket expired 0 ms ago: does the daemon run?"),
            ([399_999, 9_000_000, 50_000, 60_000], "by the clock the ticket expired 1 ms ago: does the daemon run?"),
            ([1_000_000, 1_100_000, 50_007, 60_000], "by the uptime the ticket is from 7 ms ahead"),
            (
                [1_000_000, 1_100_000, 40_000, 49_000],
                "by the uptime the ticket expired 1000 ms ago: does the daemon run?",
            ),
        ] {
            assert_eq!(judge(&ticket("Allow", times), &NOW), Err(words.to_string()));
        }
        let other_boot = Now { boot: "b2", ..NOW };
        assert_eq!(judge(&ticket("Allow", FRESH), &other_boot), Err("the ticket is of another boot".to_string()));
    }

    #[test]
    fn a_ticket_with_any_byte_changed_or_cut_off_is_denied() {
        let whole = ticket("Allow", FRESH);
        for index in 0..whole.len() {
            let mut bytes = whole.clone().into_bytes();
            bytes[index] ^= 1;
            if let Ok(changed) = String::from_utf8(bytes) {
                // The letters of the checksum may be written in either case.
                assert!(judge(&changed, &NOW).is_err(), "{}", changed);
            }
            assert!(judge(&whole[..index], &NOW).is_err());
        }
        assert!(judge(&format!("{}\n", whole), &NOW).is_err());
        assert!(judge("", &NOW).is_err());
    }

    #[test]
    fn words_out_of_order_twice_or_of_another_version_are_denied() {
        let body = |change: &dyn Fn(String) -> String| {
            let whole = ticket("Allow", FRESH);
            sealed(&change(whole[..whole.rfind("crc ").unwrap()].to_string()))
        };
        assert!(judge(&body(&|text| text), &NOW).is_ok());
        for change in [
            &|text: String| text.replace("levee-gate 1", "levee-gate 2"),
            &|text: String| text.replace("Allow", "allow"),
            &|text: String| text.replace("Allow", "Unknown"),
            &|text: String| text.replace("verdict Allow\nboot b1\n", "boot b1\nverdict Allow\n"),
            &|text: String| text.replace("verdict Allow\n", "verdict Allow\nverdict Allow\n"),
            &|text: String| text.replace("1000001", "-1"),
            &|text: String| text.replace("reason why\n", ""),
            &|text: String| text.replace("reason why\n", "reason why\nmore x\n"),
        ] as [&dyn Fn(String) -> String; 8]
        {
            assert!(judge(&body(change), &NOW).is_err(), "{}", body(change));
        }
    }
}
