//! Finds a few top-level keys in a JSON object without building the rest of it.
//! The text is not trusted, because any user who may write network configurations writes it. One pass, no recursion.

/// Deeper than any real configuration. The scan remembers one byte for each level.
const DEPTH_MAX: usize = 128;

#[derive(Debug, PartialEq, Clone)]
pub enum Value {
    Text(String),
    /// The unchanged text of a number, literal, array or object.
    Raw(String),
}

/// The first byte that cannot be part of a JSON object, and why.
#[derive(Debug, PartialEq)]
pub struct ScanError {
    pub at: usize,
    pub why: &'static str,
}

/// The values of the `wanted` keys, in the same order. As in Go, the case of letters does not matter, the last of several
/// keys wins, and null is no value.
pub fn top_level(text: &[u8], wanted: &[&str]) -> Result<Vec<Option<Value>>, ScanError> {
    let mut found = vec![None; wanted.len()];
    let mut scan = Scan { text, at: 0 };
    scan.space();
    scan.expect(b'{', "it is not an object")?;
    scan.space();
    if scan.peek() == Some(b'}') {
        scan.at += 1;
    } else {
        loop {
            let key = scan.key()?;
            let place = wanted.iter().position(|name| is_same_key(name, &key));
            let value = scan.value_if(place.is_some())?;
            if let (Some(place), Some(value)) = (place, value) {
                if value != Value::Raw("null".to_string()) {
                    found[place] = Some(value);
                }
            }
            if !scan.more(b'}')? {
                break;
            }
        }
    }
    scan.space();
    if scan.at < text.len() {
        return scan.error("there is more text after the object");
    }
    Ok(found)
}

/// Unicode's simple case folding. The wanted names are ASCII, so beside capitals only the long s and the Kelvin sign can
/// stand for one of their letters.
fn is_same_key(name: &str, key: &str) -> bool {
    let fold = |letter: char| match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    };
    name.chars().map(fold).eq(key.chars().map(fold))
}

/// The place in a text up to which it has been read.
pub struct Scan<'a> {
    pub text: &'a [u8],
    pub at: usize,
}

impl<'a> Scan<'a> {
    pub fn error<T>(&self, why: &'static str) -> Result<T, ScanError> {
        Err(ScanError { at: self.at, why })
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    pub fn expect(&mut self, byte: u8, why: &'static str) -> Result<(), ScanError> {
        if self.peek() != Some(byte) {
            return self.error(why);
        }
        self.at += 1;
        Ok(())
    }

    /// After a member: true when a comma follows, false when the object or array ends here.
    pub fn more(&mut self, closer: u8) -> Result<bool, ScanError> {
        self.space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == closer => {
                self.at += 1;
                Ok(false)
            }
            _ => self.error("a comma or the end of the object or array is missing"),
        }
    }

    pub fn key(&mut self) -> Result<String, ScanError> {
        self.space();
        let key = self.string()?;
        self.space();
        self.expect(b':', "a colon is missing after a key")?;
        Ok(key)
    }

    fn value_if(&mut self, wanted: bool) -> Result<Option<Value>, ScanError> {
        self.space();
        if wanted && self.peek() == Some(b'"') {
            return self.string().map(|text| Some(Value::Text(text)));
        }
        let start = self.at;
        self.skip_value()?;
        if !wanted {
            return Ok(None);
        }
        let raw = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
        Ok(Some(Value::Raw(raw)))
    }

    /// Skips one value of any kind. `open` holds the expected closers, so hostile text cannot cause recursion.
    fn skip_value(&mut self) -> Result<(), ScanError> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            self.space();
            let closer = match self.peek() {
                Some(b'{') => Some(b'}'),
                Some(b'[') => Some(b']'),
                _ => None,
            };
            match closer {
                None => self.scalar()?,
                Some(closer) => {
                    if open.len() == DEPTH_MAX {
                        return self.error("it is nested too deeply");
                    }
                    self.at += 1;
                    self.space();
                    if self.peek() == Some(closer) {
                        self.at += 1;
                    } else {
                        open.push(closer);
                        self.member_start(closer)?;
                        continue;
                    }
                }
            }
            if !self.close_finished(&mut open)? {
                return Ok(());
            }
        }
    }

    /// After a value: closes every object and array that ends here. False when the outermost value is complete.
    fn close_finished(&mut self, open: &mut Vec<u8>) -> Result<bool, ScanError> {
        while let Some(&closer) = open.last() {
            if self.more(closer)? {
                self.member_start(closer)?;
                return Ok(true);
            }
            open.pop();
        }
        Ok(false)
    }

    fn member_start(&mut self, closer: u8) -> Result<(), ScanError> {
        if closer == b'}' {
            self.key()?;
        }
        Ok(())
    }

    fn scalar(&mut self) -> Result<(), ScanError> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal(b"true"),
            Some(b'f') => self.literal(b"false"),
            Some(b'n') => self.literal(b"null"),
            None => self.error("it ends too early"),
            Some(_) => self.error("a value is missing"),
        }
    }

    pub fn literal(&mut self, word: &[u8]) -> Result<(), ScanError> {
        if !self.text[self.at..].starts_with(word) {
            return self.error("a value is missing");
        }
        self.at += word.len();
        Ok(())
    }

    pub fn number(&mut self) -> Result<(), ScanError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return self.error("a number has no digits");
        }
        Ok(())
    }

    pub fn string(&mut self) -> Result<String, ScanError> {
        self.expect(b'"', "a string is missing")?;
        let mut bytes = Vec::new();
        loop {
            match self.peek() {
                None => return self.error("a string does not end"),
                Some(b'"') => break,
                Some(b'\\') => {
                    self.at += 1;
                    let character = self.escape()?;
                    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Some(byte) if byte < 0x20 => return self.error("a string holds a control character"),
                Some(byte) => {
                    bytes.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        String::from_utf8(bytes).or_else(|_| self.error("a string is not UTF-8"))
    }

    fn escape(&mut self) -> Result<char, ScanError> {
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return self.error("an escape is unknown"),
        };
        self.at += 1;
        Ok(plain)
    }

    /// `\uXXXX`, beginning at the u. Half of a surrogate pair becomes U+FFFD, as in Go.
    fn unicode_escape(&mut self) -> Result<char, ScanError> {
        let first = self.four_hex()?;
        if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with(b"\\u") {
            let back = self.at;
            self.at += 1;
            let second = self.four_hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let joined = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = back;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn four_hex(&mut self) -> Result<u32, ScanError> {
        self.at += 1;
        let digits = self.text.get(self.at..self.at + 4).unwrap_or(&[]);
        let mut number = 0;
        for digit in digits {
            match (*digit as char).to_digit(16) {
                Some(value) => number = number * 16 + value,
                None => return self.error("an escape has no four hexadecimal digits"),
            }
        }
        if digits.len() < 4 {
            return self.error("a string does not end");
        }
        self.at += 4;
        Ok(number)
    }
}

#[cfg(test)]
#[path = "conf_scan_test.rs"]
mod tests;
