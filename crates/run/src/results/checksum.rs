//! The checksum at the end of a line: CRC-32C of the bytes before it, as the last key of the object.
//! It finds every flipped bit and every short run of damaged bytes, and costs less than writing the
//! line.

/// What a line has between its other keys and its eight digits.
const KEY: &[u8] = b",\"crc\":\"";
const DIGITS: usize = 8;
/// Key, digits, quote and brace.
const SUFFIX: usize = KEY.len() + DIGITS + 2;

/// CRC-32C (Castagnoli), reflected.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// Eight bytes are taken at a time, each with a table of its own.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ POLYNOMIAL } else { value >> 1 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before: u32 = tables[table - 1][byte];
            tables[table][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

pub(super) fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    let mut eights = bytes.chunks_exact(8);
    for eight in &mut eights {
        let low = crc ^ u32::from_le_bytes([eight[0], eight[1], eight[2], eight[3]]);
        let at = |table: usize, byte: u32| TABLES[table][(byte & 0xff) as usize];
        crc = at(7, low)
            ^ at(6, low >> 8)
            ^ at(5, low >> 16)
            ^ at(4, low >> 24)
            ^ at(3, u32::from(eight[4]))
            ^ at(2, u32::from(eight[5]))
            ^ at(1, u32::from(eight[6]))
            ^ at(0, u32::from(eight[7]));
    }
    for byte in eights.remainder() {
        crc = (crc >> 8) ^ TABLES[0][((crc ^ u32::from(*byte)) & 0xff) as usize];
    }
    !crc
}

/// Adds the checksum to an object that has at least one key and no line break; adds the line break
/// too. Returns the checksum.
pub(super) fn seal(line: &mut Vec<u8>) -> u32 {
    debug_assert_eq!(line.last(), Some(&b'}'));
    line.pop();
    let crc = crc32c(line);
    line.extend_from_slice(KEY);
    line.extend_from_slice(format!("{crc:08x}\"}}\n").as_bytes());
    crc
}

/// What the end of a line says of the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seal {
    /// The line is as it was written.
    Intact(u32),
    Broken,
    /// Lines of older versions have no checksum.
    Absent,
}

/// Line breaks that a transfer added at the end do no harm.
pub(super) fn check_seal(line: &[u8]) -> Seal {
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
