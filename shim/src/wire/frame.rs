//! Frames as bytes: writing them, reading them, and cutting them out of a stream. The numbers are in `frame_type` and
//! `tag`.

use crate::wire::tag;

/// The newest version of docs/protocol.md that this build speaks.
pub const PROTOCOL_VERSION: u64 = 6;
/// The oldest version: a node's daemon can be upgraded after its shim, or rolled back.
pub const PROTOCOL_VERSION_MIN: u64 = 1;

/// The first version with PROGRESS; an older daemon would close the connection.
pub const PROGRESS_VERSION: u64 = 3;

/// The first version whose `found` says which namespace it is; an older daemon would close the connection.
pub const BIRTH_VERSION: u64 = 4;

/// The shim never holds more than this for one frame, even if the frame claims a greater length.
pub const FRAME_BYTES_MAX: usize = 1_048_576;

const LENGTH_BYTES: usize = 4;
const FIELD_HEADER_BYTES: usize = 5;

/// Encoded fields. An outcome is kept in this form, so that OUTCOME and RESUME carry the same bytes.
#[derive(Clone, Default)]
pub struct Fields(Vec<u8>);

impl Fields {
    pub fn new() -> Fields {
        Fields(Vec::new())
    }

    pub fn bytes(mut self, tag: u8, value: &[u8]) -> Fields {
        self.0.push(tag);
        self.0.extend_from_slice(&(value.len() as u32).to_le_bytes());
        self.0.extend_from_slice(value);
        self
    }

    pub fn text(self, tag: u8, value: &str) -> Fields {
        self.bytes(tag, value.as_bytes())
    }

    pub fn number(self, tag: u8, value: u64) -> Fields {
        self.bytes(tag, &value.to_le_bytes())
    }

    pub fn flag(self, tag: u8, value: bool) -> Fields {
        self.number(tag, value as u64)
    }

    pub fn optional_number(self, tag: u8, value: Option<u64>) -> Fields {
        match value {
            Some(value) => self.number(tag, value),
            None => self,
        }
    }

    /// The protocol leaves out empty variables of a call.
    pub fn optional_text(self, tag: u8, value: &str) -> Fields {
        if value.is_empty() {
            self
        } else {
            self.text(tag, value)
        }
    }

    pub fn and(mut self, more: &Fields) -> Fields {
        self.0.extend_from_slice(&more.0);
        self
    }

    /// Fields that are already encoded.
    pub fn of_bytes(bytes: &[u8]) -> Fields {
        Fields(bytes.to_vec())
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub fn into_frame(self, kind: u8) -> Vec<u8> {
        let mut frame = Vec::with_capacity(LENGTH_BYTES + 1 + self.0.len());
        frame.extend_from_slice(&(self.0.len() as u32 + 1).to_le_bytes());
        frame.push(kind);
        frame.extend_from_slice(&self.0);
        frame
    }
}

/// One received frame. An error about a field means that the peer broke the protocol.
#[derive(Debug)]
pub struct Frame {
    pub kind: u8,
    fields: Vec<(u8, Vec<u8>)>,
}

impl Frame {
    fn decode(payload: &[u8]) -> Result<Frame, String> {
        let kind = *payload.first().ok_or("Cannot read an empty frame")?;
        let mut fields = Vec::new();
        let mut rest = &payload[1..];
        while !rest.is_empty() {
            let past_end = || format!("Cannot read a frame of type {}: a field runs past its end", kind);
            let length = rest.get(1..FIELD_HEADER_BYTES).map(read_u32).ok_or_else(past_end)?;
            let value = rest.get(FIELD_HEADER_BYTES..FIELD_HEADER_BYTES + length).ok_or_else(past_end)?;
            fields.push((rest[0], value.to_vec()));
            rest = &rest[FIELD_HEADER_BYTES + length..];
        }
        Ok(Frame { kind, fields })
    }

    pub fn all(&self, tag: u8) -> impl Iterator<Item = &[u8]> {
        self.fields.iter().filter(move |field| field.0 == tag).map(|field| field.1.as_slice())
    }

    pub fn bytes(&self, tag: u8) -> Option<&[u8]> {
        self.all(tag).next()
    }

    pub fn required_bytes(&self, tag: u8) -> Result<&[u8], String> {
        self.bytes(tag).ok_or_else(|| format!("Cannot use a frame of type {} without its field {}", self.kind, tag))
    }

    pub fn text(&self, tag: u8) -> Result<Option<String>, String> {
        self.bytes(tag).map(|value| self.utf8(tag, value)).transpose()
    }

    pub fn required_text(&self, tag: u8) -> Result<String, String> {
        self.utf8(tag, self.required_bytes(tag)?)
    }

    pub fn texts(&self, tag: u8) -> Result<Vec<String>, String> {
        self.all(tag).map(|value| self.utf8(tag, value)).collect()
    }

    pub fn required_number(&self, tag: u8) -> Result<u64, String> {
        self.u64(tag, self.required_bytes(tag)?)
    }

    /// An absent flag is false.
    pub fn flag(&self, tag: u8) -> Result<bool, String> {
        self.bytes(tag).map_or(Ok(false), |value| self.u64(tag, value).map(|number| number != 0))
    }

    pub fn step(&self) -> Result<u64, String> {
        self.required_number(tag::STEP)
    }

    fn utf8(&self, tag: u8, value: &[u8]) -> Result<String, String> {
        String::from_utf8(value.to_vec())
            .map_err(|_| format!("Cannot read field {} of a frame of type {}: it is not UTF-8", tag, self.kind))
    }

    fn u64(&self, tag: u8, value: &[u8]) -> Result<u64, String> {
        let mut number = [0; 8];
        if value.len() != number.len() {
            return Err(format!(
                "Cannot read field {} of a frame of type {}: a number has 8 bytes, this one {}",
                tag,
                self.kind,
                value.len()
            ));
        }
        number.copy_from_slice(value);
        Ok(u64::from_le_bytes(number))
    }
}

/// Cuts a byte stream into frames. Refuses an oversized frame as soon as its length is known.
#[derive(Default)]
pub struct FrameReader {
    held: Vec<u8>,
}

impl FrameReader {
    pub fn push(&mut self, received: &[u8]) {
        self.held.extend_from_slice(received);
    }

    pub fn next_frame(&mut self) -> Result<Option<Frame>, String> {
        let length = match self.held.get(..LENGTH_BYTES) {
            Some(bytes) => read_u32(bytes),
            None => return Ok(None),
        };
        if length == 0 || length > FRAME_BYTES_MAX {
            return Err(format!(
                "Cannot read a frame as its length must be between 1 and {}: current value is {}",
                FRAME_BYTES_MAX, length
            ));
        }
        let frame = match self.held.get(LENGTH_BYTES..LENGTH_BYTES + length) {
            Some(payload) => Frame::decode(payload)?,
            None => return Ok(None),
        };
        self.held.drain(..LENGTH_BYTES + length);
        if self.held.is_empty() {
            // Release the memory of a large frame while the call waits.
            self.held = Vec::new();
        }
        Ok(Some(frame))
    }
}

fn read_u32(bytes: &[u8]) -> usize {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[..4]);
    u32::from_le_bytes(number) as usize
}

#[cfg(test)]
pub fn decode_for_test(frame: &[u8]) -> Frame {
    Frame::decode(&frame[LENGTH_BYTES..]).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        Fields::new().number(tag::STEP, 7).text(tag::ENV, "CNI_A=1").text(tag::ENV, "CNI_B=2").into_frame(67)
    }

    fn read(bytes: &[u8]) -> Result<Option<Frame>, String> {
        let mut reader = FrameReader::default();
        reader.push(bytes);
        reader.next_frame()
    }

    #[test]
    fn a_frame_has_the_bytes_of_the_protocol() {
        let bytes = Fields::new().number(tag::STEP, 258).into_frame(3);
        assert_eq!(bytes, [14, 0, 0, 0, 3, 21, 8, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn frames_come_back_whatever_the_chunks() {
        let twice = [sample(), sample()].concat();
        for size in 1..twice.len() {
            let mut reader = FrameReader::default();
            let mut count = 0;
            for chunk in twice.chunks(size) {
                reader.push(chunk);
                while let Some(frame) = reader.next_frame().unwrap() {
                    assert_eq!(frame.step(), Ok(7));
                    assert_eq!(frame.texts(tag::ENV), Ok(vec!["CNI_A=1".to_string(), "CNI_B=2".to_string()]));
                    count += 1;
                }
            }
            assert_eq!(count, 2);
        }
    }

    #[test]
    fn unknown_tags_are_kept_out_of_the_way() {
        let bytes = Fields::new().text(250, "newer").number(tag::STEP, 1).into_frame(67);
        assert_eq!(read(&bytes).unwrap().unwrap().step(), Ok(1));
    }

    #[test]
    fn broken_frames_are_errors_not_panics() {
        assert!(read(&[0, 0, 0, 0]).is_err());
        assert!(read(&[1, 0, 16, 0]).is_err());
        assert!(read(&[3, 0, 0, 0, 67, 21, 8]).is_err());
        assert!(read(&[7, 0, 0, 0, 67, 21, 255, 255, 255, 255, 0]).is_err());
        let short_number = Fields::new().text(tag::STEP, "abc").into_frame(67);
        assert!(read(&short_number).unwrap().unwrap().step().is_err());
        assert!(read(&Fields::new().into_frame(67)).unwrap().unwrap().step().is_err());
    }

    #[test]
    fn no_changed_byte_makes_it_panic() {
        let bytes = sample();
        for at in 0..bytes.len() {
            for value in 0..=255 {
                let mut changed = bytes.clone();
                changed[at] = value;
                if let Ok(Some(frame)) = read(&changed) {
                    let _any_answer = (frame.step(), frame.texts(tag::ENV));
                }
            }
        }
    }
}
