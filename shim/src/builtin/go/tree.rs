//! A JSON text as a tree. It takes only text about which all readers agree: a key twice in one object, for example, is
//! refused, because Go would take the last one, or merge them.

use std::collections::HashSet;

use crate::cni::conf_scan::Scan;

/// Deeper than any real configuration.
const DEPTH_MAX: usize = 32;
/// Of one object or list, as ranges are compared each with each. More than a GC names on any node.
const ITEMS_MAX: usize = 10_000;

#[derive(Debug, PartialEq)]
pub enum Json {
    Null,
    Flag(bool),
    /// As it is written.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// The error says why the text is refused.
pub fn parse(text: &[u8]) -> Result<Json, String> {
    let mut scan = Scan { text, at: 0 };
    let tree = value(&mut scan, 0)?;
    scan.space();
    match scan.at {
        at if at == text.len() => Ok(tree),
        at => Err(format!("there is more text after byte {}", at)),
    }
}

fn value(scan: &mut Scan, depth: usize) -> Result<Json, String> {
    if depth == DEPTH_MAX {
        return Err("it is nested too deeply".to_string());
    }
    scan.space();
    match scan.peek() {
        Some(b'{') => object(scan, depth),
        Some(b'[') => list(scan, depth),
        Some(b'"') => text(scan).map(Json::Text),
        Some(b't') => word(scan, b"true", Json::Flag(true)),
        Some(b'f') => word(scan, b"false", Json::Flag(false)),
        Some(b'n') => word(scan, b"null", Json::Null),
        _ => {
            let start = scan.at;
            scan.number().map_err(|error| error.why.to_string())?;
            Ok(Json::Number(String::from_utf8_lossy(&scan.text[start..scan.at]).into_owned()))
        }
    }
}

fn word(scan: &mut Scan, word: &[u8], json: Json) -> Result<Json, String> {
    scan.literal(word).map(|()| json).map_err(|error| error.why.to_string())
}

/// Versions of Go print control characters differently.
fn text(scan: &mut Scan) -> Result<String, String> {
    let text = scan.string().map_err(|error| error.why.to_string())?;
    match text.chars().any(|character| character < ' ') {
        true => Err("a string holds a control character".to_string()),
        false => Ok(text),
    }
}

fn object(scan: &mut Scan, depth: usize) -> Result<Json, String> {
    let (mut members, mut known) = (Vec::new(), HashSet::new());
    if is_empty(scan, b'}') {
        return Ok(Json::Object(members));
    }
    loop {
        let key = scan.key().map_err(|error| error.why.to_string())?;
        if !known.insert(key.clone()) {
            return Err(format!("the key {:?} is there twice", key));
        }
        members.push((key, value(scan, depth + 1)?));
        check_count(members.len())?;
        if !scan.more(b'}').map_err(|error| error.why.to_string())? {
            return Ok(Json::Object(members));
        }
    }
}

fn list(scan: &mut Scan, depth: usize) -> Result<Json, String> {
    let mut items = Vec::new();
    if is_empty(scan, b']') {
        return Ok(Json::List(items));
    }
    loop {
        items.push(value(scan, depth + 1)?);
        check_count(items.len())?;
        if !scan.more(b']').map_err(|error| error.why.to_string())? {
            return Ok(Json::List(items));
        }
    }
}

fn check_count(count: usize) -> Result<(), String> {
    match count > ITEMS_MAX {
        true => Err(format!("an object or a list has more than {} items", ITEMS_MAX)),
        false => Ok(()),
    }
}

/// Steps over the opener, and over the closer if it follows.
fn is_empty(scan: &mut Scan, closer: u8) -> bool {
    scan.at += 1;
    scan.space();
    let is_empty = scan.peek() == Some(closer);
    scan.at += usize::from(is_empty);
    is_empty
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_are_read() {
        let tree =
            parse(br#" {"a": [1, -2.5e3, true, false, null], "b": {"c": "d\u00e9"}, "e": {}, "f": []} "#).unwrap();
        let number = |text: &str| Json::Number(text.to_string());
        let expected = Json::Object(vec![
            (
                "a".to_string(),
                Json::List(vec![number("1"), number("-2.5e3"), Json::Flag(true), Json::Flag(false), Json::Null]),
            ),
            ("b".to_string(), Json::Object(vec![("c".to_string(), Json::Text("dé".to_string()))])),
            ("e".to_string(), Json::Object(vec![])),
            ("f".to_string(), Json::List(vec![])),
        ]);
        assert_eq!(tree, expected);
    }

    #[test]
    fn doubtful_text_is_refused() {
        let deep = "[".repeat(40);
        for wrong in ["", "{", "{}x", r#"{"a":1,"a":2}"#, r#"{"a":"\u0001"}"#, "[1,]", "nul", "{\"a\"}", "01", &deep] {
            assert!(parse(wrong.as_bytes()).is_err(), "{}", wrong);
        }
        assert!(parse(b"\"\xff\"").is_err());
    }

    #[test]
    fn more_items_than_any_real_configuration_has_are_refused_at_once() {
        let keys = |count: usize| (0..count).map(|at| format!("\"k{}\":1", at)).collect::<Vec<_>>().join(",");
        let parsed = |text: String| parse(text.as_bytes());
        assert!(parsed(format!("{{{}}}", keys(ITEMS_MAX))).is_ok());
        let why = Err("an object or a list has more than 10000 items".to_string());
        assert_eq!(parsed(format!("{{{}}}", keys(200_000))), why);
        assert_eq!(parsed(format!("[{}1]", "1,".repeat(ITEMS_MAX))), why);
    }
}
