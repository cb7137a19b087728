//! The checksum at the end of a line: CRC-32C of the bytes before it, as the last key of the object.
//! It finds every flipped bit and every short run of damaged bytes, and costs less than writing the
//! line.

use crc32c::crc32c;

/// What a line has between its other keys and its eight digits.
const KEY: &[u8] = b",\"crc\":\"";
const DIGITS: usize = 8;
/// Key, digits, quote and brace.
const SUFFIX: usize = KEY.len() + DIGITS + 2;

/// Adds the checksum to an object that has at least one key and no line break; adds the line break
/// too. Returns the checksum.
pub(crate) fn seal(line: &mut Vec<u8>) -> u32 {
    debug_assert_eq!(line.last(), Some(&b'}'));
    line.pop();
    let crc = crc32c(line);
    line.extend_from_slice(KEY);
    line.extend_from_slice(format!("{crc:08x}\"}}\n").as_bytes());
    crc
}

/// What the end of a line says of the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seal {
    /// The line is as it was written.
    Intact(u32),
    Broken,
    /// Lines of older versions have no checksum.
    Absent,
}

/// Line breaks that a transfer added at the end do no harm.
pub(crate) fn check_seal(line: &[u8]) -> Seal {
    let line = line.trim_ascii_end();
    let Some(at) = line.len().checked_sub(SUFFIX) else {
        return Seal::Absent;
    };
    let (before, suffix) = line.split_at(at);
    let Some(rest) = suffix.strip_prefix(KEY) else {
        return Seal::Absent;
    };
    let digits = rest.strip_suffix(b"\"}").and_then(|digits| std::str::from_utf8(digits).ok());
    let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let digits = digits.filter(|digits| digits.chars().all(is_hex));
    match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
        Some(crc) if crc == crc32c(before) => Seal::Intact(crc),
        _ => Seal::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        // RFC 3720, appendix B.4.
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(&(0..32).collect::<Vec<u8>>()), 0x46dd_794e);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(b""), 0);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let mut line = b"{\"evalId\":\"a\",\"score\":1.0}".to_vec();
        let crc = seal(&mut line);
        let line = line.strip_suffix(b"\n").unwrap();
        assert_eq!(check_seal(line), Seal::Intact(crc));
        assert_eq!(check_seal(&[line, b"\r"].concat()), Seal::Intact(crc));
        for at in 0..line.len() {
            assert_ne!(check_seal(&line[..at]), Seal::Intact(crc), "{at}");
            for bit in 0..8 {
                let mut flipped = line.to_vec();
                flipped[at] ^= 1 << bit;
                assert!(!matches!(check_seal(&flipped), Seal::Intact(_)), "{at} {bit}");
            }
        }
    }

    #[test]
    fn a_line_without_a_checksum_is_told_apart_from_a_broken_one() {
        assert_eq!(check_seal(b"{\"a\":1}"), Seal::Absent);
        assert_eq!(check_seal(b""), Seal::Absent);
        assert_eq!(check_seal(b"{\"a\":1,\"crc\":\"00000000\"}"), Seal::Broken);
        assert_eq!(check_seal(b"{\"a\":1,\"crc\":\"0000000G\"}"), Seal::Broken);
    }
}
