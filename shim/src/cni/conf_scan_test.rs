//! Mostly hostile text: anyone who may write a network configuration reaches this scanner, which runs as root.

use super::*;

const SAMPLE: &str = r#" {"cniVersion":"1.0.0", "name":"a\u00e9\ud83d\ude00\n", "x":{"name":"inner","l":[1,-2.5e+3,[],{}]},
    "addBudgetMs": 1500, "ok":true, "none":null, "s":"\ud800x" } "#;

fn text(value: &str) -> Option<Value> {
    Some(Value::Text(value.to_string()))
}

#[test]
fn only_top_level_keys_are_found() {
    let found = top_level(SAMPLE.as_bytes(), &["cniVersion", "name", "addBudgetMs", "absent", "s", "none"]).unwrap();
    assert_eq!(found[0], text("1.0.0"));
    assert_eq!(found[1], text("aé😀\n"));
    assert_eq!(found[2], Some(Value::Raw("1500".to_string())));
    assert_eq!(found[3], None);
    assert_eq!(found[4], text("\u{fffd}x"));
    assert_eq!(found[5], None);
}

#[test]
fn the_last_duplicate_wins_in_any_letters() {
    let name = |conf: &str| top_level(conf.as_bytes(), &["name"]).unwrap().remove(0);
    assert_eq!(name(r#"{"name":"a","name":"b"}"#), text("b"));
    assert_eq!(name(r#"{"name":"a","NaMe":"b"}"#), text("b"));
    assert_eq!(name(r#"{"Name":"b","name":"a"}"#), text("a"));
    assert_eq!(name(r#"{"name":"a","Name":null}"#), text("a"));
    assert_eq!(name(r#"{"names":"a","nam":"b","\u0130name":"c"}"#), None);
}

#[test]
fn the_letters_that_go_folds_are_folded_and_no_others() {
    let conf = r#"{"cniVer\u017fion":"1.0.0","addre\u00df":"x","\u212aey":"k","\u0131ps":"y"}"#;
    let found = top_level(conf.as_bytes(), &["cniVersion", "address", "key", "ips"]).unwrap();
    assert_eq!(found, [text("1.0.0"), None, text("k"), None]);
}

#[test]
fn text_that_is_not_an_object_is_refused() {
    for broken in [
        "",
        " ",
        "[]",
        "null",
        "\"x\"",
        "{",
        "{]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":1} x",
        "{\"a\":01}",
        "{a:1}",
        "{\"a\":\"\u{1}\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":\"\\u12g4\"}",
        "{\"a\":tru}",
        "{\"a\":-}",
        "{\"a\":1.}",
        "{\"a\":[1,]}",
        "{\"a\":[1}",
        "{\"a\":{\"b\":1]}",
        "\u{feff}{}",
    ] {
        assert!(top_level(broken.as_bytes(), &["name"]).is_err(), "{}", broken);
    }
    assert!(top_level(b"{\"name\":\"\xff\"}", &["name"]).is_err());
}

#[test]
fn depth_is_bounded_and_needs_no_stack() {
    let deep = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    assert!(top_level(deep(DEPTH_MAX).as_bytes(), &[]).is_ok());
    assert_eq!(top_level(deep(DEPTH_MAX + 1).as_bytes(), &[]).unwrap_err().why, "it is nested too deeply");
    let bomb = format!("{{\"a\":{}", "[{\"b\":".repeat(40_000));
    assert!(top_level(bomb.as_bytes(), &[]).is_err());
}

#[test]
fn no_truncation_or_changed_byte_makes_it_panic() {
    let sample = SAMPLE.as_bytes();
    for end in 0..sample.len() {
        let _any_answer = top_level(&sample[..end], &["name", "s"]);
    }
    for at in 0..sample.len() {
        for value in 0..=255 {
            let mut changed = sample.to_vec();
            changed[at] = value;
            let _any_answer = top_level(&changed, &["name", "s"]);
        }
    }
}
