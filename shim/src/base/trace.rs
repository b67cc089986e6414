//! The trace that a call belongs to, as the runtime gives it by W3C's variables. A value of a wrong form is dropped as if
//! it were not there: a trace must never fail a call, nor carry text of strangers into a plugin's log.

use std::env;

/// The only length in version 00.
const PARENT_BYTES: usize = 55;
/// A later version may add to it.
const PARENT_BYTES_MAX: usize = 128;
/// W3C: nobody has to pass on more.
const STATE_BYTES_MAX: usize = 512;
const BAGGAGE_BYTES_MAX: usize = 8_192;

#[derive(Default)]
pub struct Trace {
    pub parent: Option<String>,
    /// Means something only with `parent`.
    pub state: Option<String>,
    pub baggage: Option<String>,
}

impl Trace {
    pub fn from_env() -> Trace {
        let given = |name: &str| env::var(name).ok();
        Trace::of(given("TRACEPARENT"), given("TRACESTATE"), given("BAGGAGE"))
    }

    fn of(parent: Option<String>, state: Option<String>, baggage: Option<String>) -> Trace {
        let parent = parent.filter(|text| is_trace_parent(text));
        let state = state.filter(|text| parent.is_some() && is_list(text, STATE_BYTES_MAX));
        Trace { parent, state, baggage: baggage.filter(|text| is_list(text, BAGGAGE_BYTES_MAX)) }
    }

    /// The variables for a plugin. `own` is the plugin's own span, where the daemon traces it.
    pub fn variables(&self, own: Option<&String>) -> Vec<String> {
        let named = [
            ("TRACEPARENT", own.or(self.parent.as_ref())),
            ("TRACESTATE", self.state.as_ref()),
            ("BAGGAGE", self.baggage.as_ref()),
        ];
        named.iter().filter_map(|(name, value)| value.map(|value| format!("{}={}", name, value))).collect()
    }
}

/// `00-<32 hex>-<16 hex>-<2 hex>`, neither ID all zero; a later version may go on after another `-`.
pub fn is_trace_parent(text: &str) -> bool {
    let bytes = text.as_bytes();
    let part = |from: usize, to: usize| bytes.get(from..to).filter(|part| part.iter().all(is_lower_hex));
    let is_id = |from, to| part(from, to).map_or(false, |id| id.iter().any(|digit| *digit != b'0'));
    let version = match part(0, 2) {
        Some(version) if version != b"ff" => version,
        _ => return false,
    };
    let is_length_right = match version {
        b"00" => bytes.len() == PARENT_BYTES,
        _ => bytes.len() <= PARENT_BYTES_MAX && bytes.get(PARENT_BYTES).map_or(true, |byte| *byte == b'-'),
    };
    is_length_right
        && [2, 35, 52].iter().all(|at| bytes.get(*at) == Some(&b'-'))
        && is_id(3, 35)
        && is_id(36, 52)
        && part(53, PARENT_BYTES).is_some()
        && bytes.iter().all(is_printable)
}

/// A list of `key=value` in one printable line.
fn is_list(text: &str, bytes_max: usize) -> bool {
    text.len() <= bytes_max && text.contains('=') && text.as_bytes().iter().all(is_printable)
}

fn is_lower_hex(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn is_printable(byte: &u8) -> bool {
    matches!(byte, b' '..=b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn given(parent: &str, state: &str, baggage: &str) -> Vec<String> {
        let some = |text: &str| Some(text.to_string());
        Trace::of(some(parent), some(state), some(baggage)).variables(None)
    }

    #[test]
    fn a_context_of_the_right_form_is_passed_on() {
        let whole = ["TRACEPARENT=".to_string() + PARENT, "TRACESTATE=a=1,b=2".into(), "BAGGAGE=user=x;p=1".into()];
        assert_eq!(given(PARENT, "a=1,b=2", "user=x;p=1"), whole);
        assert!(is_trace_parent("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more"));
        assert!(is_trace_parent("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"));
    }

    #[test]
    fn a_parent_of_a_wrong_form_is_dropped_with_its_state() {
        for wrong in [
            "",
            "00-1",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01more",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-a\nb",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333g-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
            "00-0af7651916cd43dd8448eb211c8031é-b7ad6b7169203331-01",
        ] {
            assert!(!is_trace_parent(wrong), "{:?}", wrong);
            assert_eq!(given(wrong, "a=1", "b=2"), ["BAGGAGE=b=2"], "{:?}", wrong);
        }
        assert!(!is_trace_parent(&format!("01-{}-{}", &PARENT[3..], "x".repeat(PARENT_BYTES_MAX))));
    }

    #[test]
    fn lists_that_are_too_long_or_not_printable_are_dropped() {
        for (state, baggage) in [
            ("a=\n1".to_string(), "b=\u{1b}[2J".to_string()),
            ("a".to_string(), String::new()),
            ("a=é".to_string(), "\t=".to_string()),
            (format!("a={}", "x".repeat(STATE_BYTES_MAX)), format!("b={}", "x".repeat(BAGGAGE_BYTES_MAX))),
        ] {
            assert_eq!(given(PARENT, &state, &baggage).len(), 1, "{:?} {:?}", state, baggage);
        }
    }

    #[test]
    fn a_plugins_own_span_replaces_the_parent_only() {
        let own = PARENT.replace("b7ad", "1111");
        let trace = Trace { parent: Some(PARENT.into()), state: Some("a=1".into()), baggage: None };
        assert_eq!(trace.variables(Some(&own)), [format!("TRACEPARENT={}", own), "TRACESTATE=a=1".into()]);
        assert_eq!(Trace::default().variables(Some(&own)).len(), 1);
    }
}
