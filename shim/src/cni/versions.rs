//! The CNI versions that the shim speaks.

pub const SUPPORTED_VERSIONS: [&str; 7] = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"];
pub const NEWEST_VERSION: &str = "1.1.0";

/// The answer to VERSION.
pub fn version_answer(supported: &[&str]) -> String {
    let list: Vec<String> = supported.iter().map(|version| format!("\"{}\"", version)).collect();
    format!("{{\"cniVersion\":\"{}\",\"supportedVersions\":[{}]}}\n", NEWEST_VERSION, list.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_to_version_has_the_form_of_the_specification() {
        assert_eq!(
            version_answer(&SUPPORTED_VERSIONS),
            "{\"cniVersion\":\"1.1.0\",\"supportedVersions\":[\"0.1.0\",\"0.2.0\",\"0.3.0\",\"0.3.1\",\"0.4.0\",\"1.0.0\",\"1.1.0\"]}\n"
        );
    }
}
