//! Base64 of RFC 4648, for image data.

pub(crate) fn to_base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= chunk.len() {
                char::from(letter)
            } else {
                '='
            });
        }
    }
    out
}

/// What is no digit counts as zero: whoever asks has checked, or gets an image that cannot be seen.
pub(crate) fn from_base64(text: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        _ => 0,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for four in text.chunks_exact(4) {
        let bits = four.iter().fold(0, |bits, byte| bits << 6 | digit(*byte));
        let padding = four.iter().rev().take_while(|byte| **byte == b'=').count();
        let three = [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8];
        bytes.extend(&three[..3 - padding.min(2)]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(to_base64(bytes.as_bytes()), text);
            assert_eq!(from_base64(text.as_bytes()), bytes.as_bytes());
        }
        assert_eq!(to_base64(&[0xff, 0xfe, 0xfd]), "//79");
        assert_eq!(from_base64(b"//79"), [0xff, 0xfe, 0xfd]);
    }
}
