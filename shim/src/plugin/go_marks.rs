//! What a Go program says of its own origin: the toolchain, the build ID, and the modules it was built from. The Go linker
//! writes them into two sections of the ELF file. A file without them, such as a script, says nothing.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const SECTION_BYTES: usize = 64;
const SECTIONS_MAX: usize = 256;
/// The names of all sections have a few hundred bytes.
const NAMES_BYTES_MAX: usize = 64 * 1024;
/// The modules of a large program have a line each, of 100 bytes.
const MARKS_BYTES_MAX: usize = 32 * 1024;

const BUILD_INFO: &str = ".go.buildinfo";
const BUILD_INFO_MAGIC: &[u8] = b"\xff Go buildinf:";
const BUILD_INFO_HEAD: usize = 32;
/// In the byte after the size of a pointer: the texts follow the head.
const FLAG_INLINE: u8 = 2;
/// The list of modules stands between two marks of this length.
const MODULES_MARK: usize = 16;

const BUILD_ID: &str = ".note.go.buildid";
/// Sizes of name and content, the kind, and the name "Go".
const NOTE_HEAD: usize = 16;

/// Lines of a key, a tab and a value: `go`, `id`, then the lines that `go version -m` shows. Empty where there are none.
pub fn read(program: &Path) -> String {
    File::open(program).and_then(|file| marks_in(&file)).unwrap_or_default()
}

fn marks_in(file: &File) -> io::Result<String> {
    let sections = Sections::read(file)?;
    let (toolchain, modules) = sections.content(file, BUILD_INFO)?.as_deref().and_then(build_info).unwrap_or_default();
    let id = sections.content(file, BUILD_ID)?.as_deref().and_then(build_id).unwrap_or_default();
    if toolchain.is_empty() && id.is_empty() {
        return Ok(String::new());
    }
    Ok(format!("go\t{}\nid\t{}\n{}", toolchain, id, modules))
}

struct Sections {
    headers: Vec<[u8; SECTION_BYTES]>,
    names: Vec<u8>,
}

impl Sections {
    /// Of an ELF file with 64 bits and little endian, as all programs of this node are.
    fn read(file: &File) -> io::Result<Sections> {
        let mut head = [0; 64];
        file.read_exact_at(&mut head, 0)?;
        let (count, names_at) = (u16_at(&head, 60), u16_at(&head, 62));
        let is_elf = head.starts_with(b"\x7fELF\x02\x01") && u16_at(&head, 58) == SECTION_BYTES;
        if !is_elf || count > SECTIONS_MAX || names_at >= count {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let first = u64_at(&head, 40);
        let headers = (0..count)
            .map(|index| {
                let mut header = [0; SECTION_BYTES];
                let at = first.checked_add((index * SECTION_BYTES) as u64).ok_or(io::ErrorKind::InvalidData)?;
                file.read_exact_at(&mut header, at).map(|()| header)
            })
            .collect::<io::Result<Vec<_>>>()?;
        let names = content_of(file, &headers[names_at], NAMES_BYTES_MAX)?;
        Ok(Sections { headers, names })
    }

    fn content(&self, file: &File, name: &str) -> io::Result<Option<Vec<u8>>> {
        let is_named = |header: &&[u8; SECTION_BYTES]| {
            let start = u32_at(*header, 0);
            self.names.get(start..).and_then(|rest| rest.split(|byte| *byte == 0).next()) == Some(name.as_bytes())
        };
        self.headers.iter().find(is_named).map(|header| content_of(file, header, MARKS_BYTES_MAX)).transpose()
    }
}

fn content_of(file: &File, header: &[u8; SECTION_BYTES], bytes_max: usize) -> io::Result<Vec<u8>> {
    let (at, size) = (u64_at(header, 24), u64_at(header, 32));
    if size > bytes_max as u64 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut content = vec![0; size as usize];
    file.read_exact_at(&mut content, at).map(|()| content)
}

/// The toolchain's version and the lines about modules. Go before 1.18 wrote pointers, which are not followed.
fn build_info(content: &[u8]) -> Option<(String, String)> {
    let head = content.get(..BUILD_INFO_HEAD)?;
    if !head.starts_with(BUILD_INFO_MAGIC) || head[15] & FLAG_INLINE == 0 {
        return None;
    }
    let (toolchain, rest) = text_in(&content[BUILD_INFO_HEAD..])?;
    let (modules, _) = text_in(rest)?;
    let inner = modules.get(MODULES_MARK..modules.len().saturating_sub(MODULES_MARK)).unwrap_or_default();
    Some((lossy(toolchain), lossy(inner)))
}

/// A text with its length in front, seven bits per byte, the lowest first.
fn text_in(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut length = 0usize;
    for (place, byte) in bytes.iter().enumerate().take(4) {
        length |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            let rest = &bytes[place + 1..];
            return (length <= rest.len()).then(|| rest.split_at(length));
        }
    }
    None
}

fn build_id(note: &[u8]) -> Option<String> {
    let head = note.get(..NOTE_HEAD)?;
    let is_go = u32_at(head, 0) == 4 && &head[12..16] == b"Go\0\0";
    let content = note.get(NOTE_HEAD..NOTE_HEAD.checked_add(u32_at(head, 4))?)?;
    is_go.then(|| lossy(content))
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    (u32_at(bytes, at) as u64) | (u32_at(bytes, at + 4) as u64) << 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn info(toolchain: &str, modules: &str) -> Vec<u8> {
        let mut bytes = [BUILD_INFO_MAGIC, &[8, FLAG_INLINE], &[0; 16]].concat();
        for text in [toolchain.to_string(), format!("{}{}{}", "<".repeat(16), modules, ">".repeat(16))] {
            assert!(text.len() < 0x4000);
            bytes.extend([text.len() as u8 | 0x80, (text.len() >> 7) as u8]);
            bytes.extend(text.as_bytes());
        }
        bytes
    }

    #[test]
    fn modules_stand_between_their_marks() {
        let made = build_info(&info("go1.26.8", "path\tx\nmod\ty\tv1\t\n"));
        assert_eq!(made, Some(("go1.26.8".to_string(), "path\tx\nmod\ty\tv1\t\n".to_string())));
        let whole = info("go1.26.8", "path\tx\n");
        for length in 0..whole.len() {
            assert_eq!(build_info(&whole[..length]), None, "{}", length);
        }
    }

    #[test]
    fn a_program_of_this_machine_is_read_and_a_cut_or_changed_one_does_no_harm() {
        let own = std::env::current_exe().unwrap();
        assert_eq!(read(&own), "", "a Rust program has no marks of Go");
        assert_eq!(read(Path::new("/no/such/file")), "");
        let bytes = fs::read(&own).unwrap();
        let cut = std::env::temp_dir().join(format!("levee-marks-{}", std::process::id()));
        for (at, value) in [(40, 0xff), (58, 1), (60, 0xff), (62, 0xff), (47, 0xff)] {
            let mut broken = bytes[..bytes.len().min(100_000)].to_vec();
            broken[at] = value;
            fs::write(&cut, &broken).unwrap();
            assert_eq!(read(&cut), "");
        }
        fs::write(&cut, "#!/bin/sh\n").unwrap();
        assert_eq!(read(&cut), "");
        fs::remove_file(&cut).unwrap();
    }
}
