//! `CNI_ARGS`, as the upstream plugins read it.

use crate::builtin::Unsupported;

/// The values of the known keys, in the same order. A text that a plugin would refuse is left to it.
pub fn read<'a>(args: &'a str, known: &[&str]) -> Result<Vec<Option<&'a str>>, Unsupported> {
    let mut values = vec![None; known.len()];
    let mut ignores_unknown = false;
    let mut unknown = None;
    for pair in args.split(';').filter(|_| !args.is_empty()) {
        let (key, value) = pair
            .split_once('=')
            .filter(|(_, value)| !value.contains('='))
            .ok_or_else(|| Unsupported("CNI_ARGS is not a list of pairs".to_string()))?;
        match known.iter().position(|name| *name == key) {
            Some(at) if values[at].is_none() => values[at] = Some(value),
            Some(_) => return Err(Unsupported(format!("CNI_ARGS has {} twice", key))),
            None if key == "IgnoreUnknown" => ignores_unknown = is_true(value)?,
            // The upstream structs have this field, and cannot read it.
            None if key == "CommonArgs" => return Err(Unsupported("CNI_ARGS has CommonArgs".to_string())),
            None => unknown = Some(key),
        }
    }
    match unknown {
        Some(key) if !ignores_unknown => Err(Unsupported(format!("CNI_ARGS has the unknown key {:?}", key))),
        _ => Ok(values),
    }
}

fn is_true(value: &str) -> Result<bool, Unsupported> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(Unsupported("IgnoreUnknown in CNI_ARGS is not true or false".to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_keys_are_found_among_ignored_ones() {
        let pod = "IgnoreUnknown=1;K8S_POD_NAME=a;MAC=02:00:00:00:00:01";
        assert_eq!(read(pod, &["MAC", "IP"]).unwrap(), vec![Some("02:00:00:00:00:01"), None]);
        assert_eq!(read("", &["MAC"]).unwrap(), vec![None]);
        for wrong in ["K8S_POD_NAME=a", "IgnoreUnknown=yes", "MAC", "MAC=a=b", "MAC=a;MAC=b", "IgnoreUnknown=1;", ";"] {
            assert!(read(wrong, &["MAC"]).is_err(), "{}", wrong);
        }
    }
}
