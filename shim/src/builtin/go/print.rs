//! JSON as Go prints it with an indent of four spaces.

/// A value to print. `Members` keep their order: Go prints the fields of a struct in theirs, and the keys of a map sorted.
pub enum Print {
    Text(String),
    Number(i64),
    List(Vec<Print>),
    Members(Vec<(&'static str, Print)>),
}

impl Print {
    pub fn text(text: impl Into<String>) -> Print {
        Print::Text(text.into())
    }

    pub fn texts(texts: &[String]) -> Print {
        Print::List(texts.iter().map(|text| Print::text(text.as_str())).collect())
    }

    /// The same with the members of every object sorted, as they are after a detour through a map.
    pub fn sorted(self) -> Print {
        match self {
            Print::List(items) => Print::List(items.into_iter().map(Print::sorted).collect()),
            Print::Members(members) => {
                let mut members: Vec<_> = members.into_iter().map(|(key, value)| (key, value.sorted())).collect();
                members.sort_by_key(|(key, _)| *key);
                Print::Members(members)
            }
            other => other,
        }
    }

    pub fn to_json(&self) -> String {
        let mut json = String::new();
        self.write(&mut json, 0);
        json
    }

    fn write(&self, json: &mut String, depth: usize) {
        match self {
            Print::Text(text) => quote(text, json),
            Print::Number(number) => json.push_str(&number.to_string()),
            Print::List(items) => block(json, depth, "[]", items, |item, json| item.write(json, depth + 1)),
            Print::Members(members) => block(json, depth, "{}", members, |(key, value), json| {
                quote(key, json);
                json.push_str(": ");
                value.write(json, depth + 1);
            }),
        }
    }
}

fn block<T>(json: &mut String, depth: usize, frame: &str, items: &[T], each: impl Fn(&T, &mut String)) {
    if items.is_empty() {
        return json.push_str(frame);
    }
    json.push_str(&frame[..1]);
    for (at, item) in items.iter().enumerate() {
        json.push_str(if at == 0 { "\n" } else { ",\n" });
        json.push_str(&"    ".repeat(depth + 1));
        each(item, json);
    }
    json.push('\n');
    json.push_str(&"    ".repeat(depth));
    json.push_str(&frame[1..]);
}

/// Go escapes what HTML could misread.
fn quote(text: &str, json: &mut String) {
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => json.push_str(&format!("\\u{:04x}", character as u32)),
            control if control < ' ' => json.push_str(&format!("\\u{:04x}", control as u32)),
            other => json.push(other),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_lists_and_texts_look_as_in_go() {
        let print = Print::Members(vec![
            ("b", Print::List(vec![Print::Number(1), Print::text("a<&>\"\\\n\u{1}\u{2028}é")])),
            ("a", Print::Members(vec![])),
            ("c", Print::List(vec![])),
        ]);
        let text = r#""a\u003c\u0026\u003e\"\\\n\u0001\u2028é""#;
        let list = format!("[\n        1,\n        {}\n    ]", text);
        assert_eq!(print.to_json(), format!("{{\n    \"b\": {},\n    \"a\": {{}},\n    \"c\": []\n}}", list));
        assert!(print.sorted().to_json().starts_with("{\n    \"a\": {},\n    \"b\": ["));
    }
}
