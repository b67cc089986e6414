//! Paths that Go would not clean before it uses them.

/// An absolute path without a slash at its end. None if it would need more cleaning than that.
pub fn plain_path(path: &str) -> Option<&str> {
    let inner = path.strip_prefix('/').map(|inner| inner.strip_suffix('/').unwrap_or(inner))?;
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
    inner.split('/').all(is_plain).then_some(&path[..inner.len() + 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_need_no_cleaning_are_taken() {
        assert_eq!(plain_path("/var/lib/cni"), Some("/var/lib/cni"));
        assert_eq!(plain_path("/run/x/"), Some("/run/x"));
        for wrong in ["", "/", "run", "/a//b", "/a/../b", "/./a"] {
            assert_eq!(plain_path(wrong), None, "{}", wrong);
        }
    }
}
