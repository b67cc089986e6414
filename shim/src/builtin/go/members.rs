//! Reads an object member by member. Each one that is read is taken out, so the keys that nobody knows are left at the
//! end, and these stop a built-in plugin before it does anything.

use std::net::IpAddr;

use crate::builtin::go::address::{self, Cidr};
use crate::builtin::go::tree::Json;
use crate::builtin::Unsupported;

#[derive(Debug, Default)]
pub struct Members<'a> {
    /// Where the object is, for messages: "" or "ipam.".
    place: String,
    rest: Vec<(&'a str, &'a Json)>,
}

impl<'a> Members<'a> {
    /// `place` is the path of the object, for example `ipam`; empty for the whole configuration.
    pub fn of(json: &'a Json, place: &str) -> Result<Members<'a>, Unsupported> {
        let place = if place.is_empty() { String::new() } else { format!("{}.", place) };
        match json {
            Json::Object(members) => {
                Ok(Members { place, rest: members.iter().map(|(key, value)| (key.as_str(), value)).collect() })
            }
            _ => Err(Unsupported(format!("{} is not an object", place.trim_end_matches('.')))),
        }
    }

    /// The value of a key. Go treats null as if the key were missing, in most places; here it is refused.
    pub fn take(&mut self, key: &str) -> Option<&'a Json> {
        let at = self.rest.iter().position(|(known, _)| *known == key)?;
        Some(self.rest.swap_remove(at).1)
    }

    pub fn text(&mut self, key: &str) -> Result<Option<&'a str>, Unsupported> {
        match self.take(key) {
            None => Ok(None),
            Some(Json::Text(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(key, "not a string")),
        }
    }

    /// False if the key is missing.
    pub fn flag(&mut self, key: &str) -> Result<bool, Unsupported> {
        match self.take(key) {
            None => Ok(false),
            Some(Json::Flag(flag)) => Ok(*flag),
            Some(_) => Err(self.wrong(key, "not true or false")),
        }
    }

    pub fn number(&mut self, key: &str) -> Result<Option<i64>, Unsupported> {
        match self.take(key) {
            None => Ok(None),
            Some(Json::Number(digits)) => {
                digits.parse().map(Some).map_err(|_| self.wrong(key, "not a whole number in range"))
            }
            Some(_) => Err(self.wrong(key, "not a number")),
        }
    }

    pub fn list(&mut self, key: &str) -> Result<Option<&'a [Json]>, Unsupported> {
        match self.take(key) {
            None => Ok(None),
            Some(Json::List(items)) => Ok(Some(items)),
            Some(_) => Err(self.wrong(key, "not a list")),
        }
    }

    pub fn texts(&mut self, key: &str) -> Result<Option<Vec<String>>, Unsupported> {
        let items = match self.list(key)? {
            None => return Ok(None),
            Some(items) => items,
        };
        let texts = items.iter().map(|item| match item {
            Json::Text(text) => Ok(text.clone()),
            _ => Err(self.wrong(key, "not a list of strings")),
        });
        texts.collect::<Result<Vec<_>, _>>().map(Some)
    }

    /// Without members if the key is missing.
    pub fn object(&mut self, key: &str) -> Result<Members<'a>, Unsupported> {
        match self.take(key) {
            None => Ok(Members::default()),
            Some(json) => Members::of(json, &format!("{}{}", self.place, key)),
        }
    }

    pub fn address(&mut self, key: &str) -> Result<Option<IpAddr>, Unsupported> {
        let text = match self.text(key)? {
            None => return Ok(None),
            Some(text) => text,
        };
        address::parse_ip(text).map(Some).ok_or_else(|| self.wrong(key, "not an address"))
    }

    pub fn cidr(&mut self, key: &str) -> Result<Option<Cidr>, Unsupported> {
        let text = match self.text(key)? {
            None => return Ok(None),
            Some(text) => text,
        };
        Cidr::parse(text).map(Some).ok_or_else(|| self.wrong(key, "not an address with a prefix length"))
    }

    /// Refuses a key that was not taken if Go may read it as one of these: it does not mind the case, and some letters
    /// outside ASCII are another case of those within.
    pub fn end_but_for_others(self, names: &[&str]) -> Result<(), Unsupported> {
        let may_be = |key: &str| !key.is_ascii() || names.iter().any(|name| name.eq_ignore_ascii_case(key));
        match self.rest.iter().find(|(key, _)| may_be(key)) {
            None => Ok(()),
            Some((key, _)) => Err(Unsupported(format!("the key {}{} is not built in", self.place, key))),
        }
    }

    /// Refuses the keys that were not taken.
    pub fn end(self) -> Result<(), Unsupported> {
        match self.rest.first() {
            None => Ok(()),
            Some((key, _)) => Err(Unsupported(format!("the key {}{} is not built in", self.place, key))),
        }
    }

    pub fn wrong(&self, key: &str, why: &str) -> Unsupported {
        Unsupported(format!("{}{} is {}", self.place, key, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::go::tree::parse;

    #[test]
    fn members_are_taken_and_the_rest_is_refused() {
        let tree = parse(br#"{"a":"x","b":true,"c":7,"d":["p"],"e":{"f":1},"g":"10.0.0.1/8"}"#).unwrap();
        let mut members = Members::of(&tree, "").unwrap();
        assert_eq!(members.text("a").unwrap(), Some("x"));
        assert!(members.flag("b").unwrap() && !members.flag("no").unwrap());
        assert_eq!(members.number("c").unwrap(), Some(7));
        assert_eq!(members.texts("d").unwrap(), Some(vec!["p".to_string()]));
        assert_eq!(members.cidr("g").unwrap().unwrap().to_string(), "10.0.0.1/8");
        assert_eq!(members.object("e").unwrap().end().unwrap_err().0, "the key e.f is not built in");
        assert_eq!(members.end(), Ok(()));
    }

    #[test]
    fn values_of_another_kind_are_refused() {
        let tree = parse(br#"{"a":null,"b":1.0,"c":"7","d":99999999999999999999,"e":"010.0.0.1"}"#).unwrap();
        let fresh = || Members::of(&tree, "").unwrap();
        assert!(fresh().text("a").is_err() && fresh().flag("a").is_err() && fresh().object("a").is_err());
        assert!(fresh().number("b").is_err() && fresh().number("c").is_err() && fresh().number("d").is_err());
        assert_eq!(fresh().address("e").unwrap_err().0, "e is not an address");
    }
}
