//! Base64 of RFC 4648, for image data.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Decodes with or without padding, as authors write it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

pub(crate) fn to_base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Empty if the text is not base64: the caller has checked it, or the image cannot be displayed.
pub(crate) fn from_base64(text: &[u8]) -> Vec<u8> {
    BASE64.decode(text).unwrap_or_default()
}
