//! Errors in Go's words.

use std::io;

use crate::sys;

/// "file exists": the words of the C library with a small first letter.
pub fn errno_words(error: &io::Error) -> String {
    let words = sys::errno_words(sys::errno_of(error));
    let mut letters = words.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            format!("{}{}", first.to_ascii_lowercase(), &words[first.len_utf8()..])
        }
        _ => words,
    }
}

/// "open /etc/x: permission denied".
pub fn path_error(operation: &str, path: &str, error: &io::Error) -> String {
    format!("{} {}: {}", operation, path, errno_words(error))
}

/// A link that is not there has words of its own.
pub fn link_words(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(sys::ENODEV) => "Link not found".to_string(),
        _ => errno_words(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_gos_words() {
        let of = |errno: i32| errno_words(&io::Error::from_raw_os_error(errno));
        assert_eq!(of(sys::EEXIST), "file exists");
        assert_eq!(of(34), "numerical result out of range");
        assert_eq!(of(95), "operation not supported");
        assert_eq!(link_words(&io::Error::from_raw_os_error(sys::ENODEV)), "Link not found");
        assert_eq!(path_error("open", "/x", &io::Error::from_raw_os_error(2)), "open /x: no such file or directory");
    }
}
