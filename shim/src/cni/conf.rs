//! The settings that the shim takes from the configuration on stdin: where the daemon is, and how long a call may take.

use crate::cni::cni_error::{CniError, DECODING_FAILURE, INCOMPATIBLE_VERSION, INVALID_CONFIG};
use crate::cni::conf_scan::{top_level, Value};
use crate::cni::verb::Verb;
use crate::cni::versions::{NEWEST_VERSION, SUPPORTED_VERSIONS};

pub const DEFAULT_SOCKET_DIR: &str = "/run/levee";
const DEFAULT_STATE_DIR: &str = "/var/lib/levee";
/// Line 70 + look-up 5 + plugins 25 + undo 8 + closing 2 seconds. The kubelet waits two minutes.
const DEFAULT_ADD_BUDGET_MS: u64 = 110_000;
/// Enough for two plugins at their usual pace, with room; a quarter of a budget that is short.
const DEFAULT_ADD_UNDO_MS: u64 = 8_000;
/// containerd gives its clean-up 60 seconds.
const DEFAULT_DEL_BUDGET_MS: u64 = 50_000;
/// Long enough for a daemon to restart, short enough for a node that is being drained.
const DEFAULT_DEL_PATIENCE_MS: u64 = 2_000;
/// No runtime waits longer than ten minutes for a CNI call; a larger number is a typing error.
const BUDGET_MS_MAX: u64 = 600_000;

#[derive(Debug, PartialEq)]
pub struct Conf {
    pub cni_version: String,
    pub socket_dir: String,
    pub state_dir: String,
    pub add_budget_ms: u64,
    pub add_undo_ms: u64,
    pub del_budget_ms: u64,
    pub del_patience_ms: u64,
}

const KEYS: [&str; 8] =
    ["cniVersion", "name", "daemonSocketDir", "stateDir", "addBudgetMs", "delBudgetMs", "delPatienceMs", "addUndoMs"];

/// The error comes with the version to answer in: that of the configuration if it is readable, else the newest.
pub fn read_conf(text: &[u8], verb: Verb) -> Result<Conf, (String, CniError)> {
    let mut values = top_level(text, &KEYS)
        .map_err(|error| {
            let message = format!("Cannot read the network configuration at byte {}: {}", error.at, error.why);
            (NEWEST_VERSION.to_string(), CniError::new(DECODING_FAILURE, message))
        })?
        .into_iter();
    let mut next = || values.next().flatten();
    let version = match next() {
        None => "0.1.0".to_string(),
        Some(Value::Text(version)) if version.is_empty() => "0.1.0".to_string(),
        Some(Value::Text(version)) => version,
        Some(Value::Raw(raw)) => {
            let message = format!("Cannot read cniVersion: it must be a string, current value is {}", brief(&raw));
            return Err((NEWEST_VERSION.to_string(), CniError::new(DECODING_FAILURE, message)));
        }
    };
    let in_version = |error: CniError| (version.clone(), error);
    check_name(next()).map_err(in_version)?;
    check_version(&version, verb).map_err(in_version)?;
    let socket_dir = folder(KEYS[2], next(), DEFAULT_SOCKET_DIR).map_err(in_version)?;
    let state_dir = folder(KEYS[3], next(), DEFAULT_STATE_DIR).map_err(in_version)?;
    let add_budget_ms = milliseconds(KEYS[4], next(), DEFAULT_ADD_BUDGET_MS).map_err(in_version)?;
    let conf = Conf {
        socket_dir,
        state_dir,
        add_budget_ms,
        del_budget_ms: milliseconds(KEYS[5], next(), DEFAULT_DEL_BUDGET_MS).map_err(in_version)?,
        del_patience_ms: milliseconds(KEYS[6], next(), DEFAULT_DEL_PATIENCE_MS).map_err(in_version)?,
        add_undo_ms: milliseconds(KEYS[7], next(), DEFAULT_ADD_UNDO_MS.min(add_budget_ms / 4)).map_err(in_version)?,
        cni_version: version.clone(),
    };
    Ok(conf)
}

/// Letters, digits, `_`, `.` and `-`, beginning with a letter or digit. Container IDs and network names share the rule.
pub fn is_identifier(text: &str) -> bool {
    let first = text.bytes().next().map_or(false, |byte| byte.is_ascii_alphanumeric());
    first && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

fn check_name(value: Option<Value>) -> Result<(), CniError> {
    match value {
        Some(Value::Text(name)) if is_identifier(&name) => Ok(()),
        Some(Value::Text(name)) if !name.is_empty() => {
            Err(CniError::new(INVALID_CONFIG, "invalid characters found in network name").with_details(brief(&name)))
        }
        Some(Value::Raw(raw)) if raw != "null" => {
            let message = format!("Cannot use the network name: it must be a string, current value is {}", brief(&raw));
            Err(CniError::new(INVALID_CONFIG, message))
        }
        _ => Err(CniError::new(INVALID_CONFIG, "missing network name")),
    }
}

fn check_version(version: &str, verb: Verb) -> Result<(), CniError> {
    let place = |wanted: &str| SUPPORTED_VERSIONS.iter().position(|supported| *supported == wanted);
    let given = place(version).ok_or_else(|| {
        let details = format!("config is {:?}, plugin supports {:?}", brief(version), SUPPORTED_VERSIONS);
        CniError::new(INCOMPATIBLE_VERSION, "incompatible CNI versions").with_details(details)
    })?;
    if Some(given) < place(verb.since_version()) {
        let message = format!("config version does not allow {}", verb.name());
        let details = format!("{} needs cniVersion {}, config is {}", verb.name(), verb.since_version(), version);
        return Err(CniError::new(INCOMPATIBLE_VERSION, message).with_details(details));
    }
    Ok(())
}

fn folder(key: &str, value: Option<Value>, default: &str) -> Result<String, CniError> {
    let wrong = |seen: &str| {
        let message = format!("Cannot use {} as it must be an absolute path: current value is {}", key, brief(seen));
        Err(CniError::new(INVALID_CONFIG, message))
    };
    match value {
        None => Ok(default.to_string()),
        Some(Value::Text(path)) if path.is_empty() => Ok(default.to_string()),
        Some(Value::Text(path)) if path.starts_with('/') && !path.contains('\0') => Ok(path),
        Some(Value::Text(path)) => wrong(&path),
        Some(Value::Raw(raw)) => wrong(&raw),
    }
}

fn milliseconds(key: &str, value: Option<Value>, default: u64) -> Result<u64, CniError> {
    let seen = match value {
        None => return Ok(default),
        Some(Value::Text(text)) => format!("{:?}", text),
        Some(Value::Raw(raw)) => raw,
    };
    match seen.parse::<u64>() {
        Ok(count) if (1..=BUDGET_MS_MAX).contains(&count) => Ok(count),
        _ => {
            let message = format!(
                "Cannot use {} as it must be a whole number between 1 and {}: current value is {}",
                key,
                BUDGET_MS_MAX,
                brief(&seen)
            );
            Err(CniError::new(INVALID_CONFIG, message))
        }
    }
}

/// The start of a value, enough to recognise it: an error must not carry a whole configuration.
fn brief(text: &str) -> String {
    text.chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str, verb: Verb) -> u32 {
        read_conf(text.as_bytes(), verb).map(|_| 0).unwrap_or_else(|(_, error)| error.code)
    }

    #[test]
    fn defaults_apply() {
        let conf = read_conf(br#"{"cniVersion":"1.0.0","name":"n"}"#, Verb::Add).unwrap();
        assert_eq!(conf.socket_dir, "/run/levee");
        assert_eq!(conf.state_dir, "/var/lib/levee");
        assert_eq!((conf.add_budget_ms, conf.del_budget_ms, conf.del_patience_ms), (110_000, 50_000, 2_000));
    }

    #[test]
    fn settings_are_taken() {
        let text =
            br#"{"name":"n","daemonSocketDir":"/a","stateDir":"/b","addBudgetMs":1,"delBudgetMs":2,"delPatienceMs":3}"#;
        let conf = read_conf(text, Verb::Add).unwrap();
        assert_eq!((conf.socket_dir.as_str(), conf.state_dir.as_str()), ("/a", "/b"));
        assert_eq!((conf.add_budget_ms, conf.del_budget_ms, conf.del_patience_ms), (1, 2, 3));
        assert_eq!(conf.cni_version, "0.1.0");
    }

    #[test]
    fn each_problem_has_its_code() {
        assert_eq!(code("[]", Verb::Add), 6);
        assert_eq!(code(r#"{"cniVersion":1,"name":"n"}"#, Verb::Add), 6);
        assert_eq!(code("{}", Verb::Add), 7);
        assert_eq!(code(r#"{"name":""}"#, Verb::Add), 7);
        assert_eq!(code(r#"{"name":"a/b"}"#, Verb::Add), 7);
        assert_eq!(code(r#"{"name":7}"#, Verb::Add), 7);
        assert_eq!(code(r#"{"name":"n","daemonSocketDir":"run"}"#, Verb::Add), 7);
        assert_eq!(code(r#"{"name":"n","addBudgetMs":0}"#, Verb::Add), 7);
        assert_eq!(code(r#"{"name":"n","addBudgetMs":"5"}"#, Verb::Add), 7);
        assert_eq!(code(r#"{"name":"n","addBudgetMs":1e3}"#, Verb::Add), 7);
        assert_eq!(code(r#"{"name":"n","cniVersion":"9.0.0"}"#, Verb::Add), 1);
    }

    #[test]
    fn younger_verbs_need_younger_versions() {
        let conf = |version: &str| format!(r#"{{"name":"n","cniVersion":"{}"}}"#, version);
        assert_eq!(code(&conf("0.3.1"), Verb::Check), 1);
        assert_eq!(code(&conf("0.4.0"), Verb::Check), 0);
        assert_eq!(code(&conf("1.0.0"), Verb::Status), 1);
        assert_eq!(code(&conf("1.0.0"), Verb::Gc), 1);
        assert_eq!(code(&conf("1.1.0"), Verb::Gc), 0);
        assert_eq!(code(&conf("0.3.1"), Verb::Del), 0);
    }
}
