//! An error as the CNI specification wants it on stdout.

use crate::json::quote;

pub const INCOMPATIBLE_VERSION: u32 = 1;
pub const INVALID_ENVIRONMENT: u32 = 4;
pub const IO_FAILURE: u32 = 5;
pub const DECODING_FAILURE: u32 = 6;
pub const INVALID_CONFIG: u32 = 7;
pub const INVALID_NETNS: u32 = 8;
pub const TRY_LATER: u32 = 11;
/// `protocol-violated` of the catalogue.
pub const PROTOCOL_VIOLATED: u32 = 112;
/// `daemon-unreachable` of the catalogue: here for a socket that must not be trusted, which waiting does not mend.
pub const DAEMON_UNREACHABLE: u32 = 115;

#[derive(Debug, PartialEq)]
pub struct CniError {
    pub code: u32,
    pub message: String,
    pub details: String,
}

impl CniError {
    pub fn new(code: u32, message: impl Into<String>) -> CniError {
        CniError { code, message: message.into(), details: String::new() }
    }

    pub fn with_details(mut self, details: impl Into<String>) -> CniError {
        self.details = details.into();
        self
    }

    /// Indented by four spaces and without a last newline, as skel prints it.
    pub fn to_json(&self, cni_version: &str) -> String {
        let mut lines = vec![
            format!("    \"cniVersion\": {}", quote(cni_version)),
            format!("    \"code\": {}", self.code),
            format!("    \"msg\": {}", quote(&self.message)),
        ];
        if !self.details.is_empty() {
            lines.push(format!("    \"details\": {}", quote(&self.details)));
        }
        format!("{{\n{}\n}}", lines.join(",\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_left_out_when_empty() {
        let error = CniError::new(7, "no \"name\"");
        assert_eq!(
            error.to_json("0.4.0"),
            "{\n    \"cniVersion\": \"0.4.0\",\n    \"code\": 7,\n    \"msg\": \"no \\\"name\\\"\"\n}"
        );
        assert!(error.with_details("x").to_json("1.0.0").ends_with(",\n    \"details\": \"x\"\n}"));
    }
}
