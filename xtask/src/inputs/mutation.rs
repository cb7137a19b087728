//! Changes of inputs: what truncation, bad disks, careless programs and attackers do to a file.

/// Texts that have broken parsers before.
const TOKENS: &[&[u8]] = &[
    b"18446744073709551615",
    b"-9223372036854775809",
    b"1e308",
    b"1e999",
    b"-0.0",
    b"NaN",
    b".inf",
    b"null",
    b"0x7fffffffffffffff",
    b"[",
    b"{",
    b"]}",
    b"\"",
    b"'",
    b"\\u0000",
    b"\\ud800",
    b"&a [*a, *a]",
    b"<<: *a",
    b"!!binary x",
    b"---\n",
    b"...\n",
    b"? ",
    b"|+\n",
    b"${{ ",
    b"{{ x }}",
    b"}}",
    b"../../etc/passwd",
    b"\r\n",
    b"\r",
    b"\t",
    b"\0",
    b"\x1b[2J",
    b"\xc2\x9b",
    b"\xe2\x80\xae",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xf0\x9f",
    b"\xed\xa0\x80",
    b"::stop-commands::x\n",
    b"##[error]",
];

/// Inputs do not grow beyond this.
const LONGEST: usize = 1 << 20;

/// Makes inputs of seeds; the same number gives the same inputs.
#[derive(Debug)]
pub struct Mutator {
    state: u64,
}

impl Mutator {
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`, which may be 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// One to six changes of a seed. `others` are spliced in.
    pub fn mutate(&mut self, seed: &[u8], others: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seed.to_vec();
        for _ in 0..=self.below(6) {
            self.change(&mut bytes, others);
            bytes.truncate(LONGEST);
        }
        bytes
    }

    fn range(&mut self, bytes: &[u8], longest: usize) -> std::ops::Range<usize> {
        let start = self.below(bytes.len() + 1);
        let length = self.below(longest.min(bytes.len() - start) + 1);
        start..start + length
    }

    fn change(&mut self, bytes: &mut Vec<u8>, others: &[Vec<u8>]) {
        let at = self.below(bytes.len() + 1);
        match self.below(14) {
            0 => bytes.truncate(at),
            1 => self.flip_bits(bytes),
            2 if !others.is_empty() => {
                let other = &others[self.below(others.len())];
                let part = other[self.range(other, 400)].to_vec();
                bytes.splice(at..at, part);
            }
            3 => {
                let part = bytes[self.range(bytes, 200)].to_vec();
                bytes.splice(at..at, part);
            }
            4 => {
                let range = self.range(bytes, 40);
                bytes.drain(range);
            }
            5 | 6 => {
                let token = TOKENS[self.below(TOKENS.len())];
                bytes.splice(at..at, token.iter().copied());
            }
            7 => self.replace_number(bytes),
            8 => self.nest(bytes, at),
            9 => {
                let byte = self.below(256) as u8;
                bytes.splice(at..at, [byte]);
            }
            10 => self.lengthen(bytes, at),
            11 => self.repeat_lines(bytes),
            12 => self.swap_lines(bytes),
            _ => self.change_case(bytes),
        }
    }

    fn flip_bits(&mut self, bytes: &mut [u8]) {
        for _ in 0..=self.below(4) {
            let (at, bit) = (self.below(bytes.len()), self.below(8));
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << bit;
            }
        }
    }

    fn replace_number(&mut self, bytes: &mut Vec<u8>) {
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let starts: Vec<usize> = (0..bytes.len())
            .filter(|at| is_digit(*at) && (*at == 0 || !is_digit(at - 1)))
            .collect();
        if starts.is_empty() {
            return;
        }
        let start = starts[self.below(starts.len())];
        let end = (start..=bytes.len()).find(|at| !is_digit(*at)).unwrap_or(bytes.len());
        let token = TOKENS[self.below(9)];
        bytes.splice(start..end, token.iter().copied());
    }

    /// Rarely very deep: readers refuse that early.
    fn nest(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let depth = if self.below(20) == 0 { 5_000 } else { self.below(80) };
        let opening: &[u8] = [&b"["[..], b"{\"a\":", b"- ", b"{a: ", b"(", b"? "][self.below(6)];
        bytes.splice(at..at, opening.repeat(depth));
    }

    fn lengthen(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let length = if self.below(50) == 0 { 300_000 } else { self.below(3_000) };
        let byte = [b'a', b' ', b'9', b'-', b'#', 0xc3][self.below(6)];
        bytes.splice(at..at, std::iter::repeat_n(byte, length));
    }

    fn repeat_lines(&mut self, bytes: &mut Vec<u8>) {
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        if lines.is_empty() {
            return;
        }
        let at = self.below(lines.len());
        let times = if self.below(50) == 0 { 2_000 } else { self.below(30) };
        let repeated = [&lines[..at].concat()[..], &lines[at].repeat(times), &lines[at..].concat()];
        *bytes = repeated.concat();
    }

    fn swap_lines(&mut self, bytes: &mut Vec<u8>) {
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let (one, other) = (self.below(lines.len()), self.below(lines.len()));
        if !lines.is_empty() {
            lines.swap(one, other);
        }
        *bytes = lines.concat();
    }

    fn change_case(&mut self, bytes: &mut [u8]) {
        let range = self.range(bytes, 20);
        bytes[range].make_ascii_uppercase();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_number_gives_the_same_inputs() {
        let others = [b"other: [1, 2]\n".to_vec()];
        let inputs = |seed: u64| -> Vec<Vec<u8>> {
            let mut mutator = Mutator::new(seed);
            (0..200).map(|_| mutator.mutate(b"name: a\nruns: 12\n", &others)).collect()
        };
        assert_eq!(inputs(7), inputs(7));
        assert_ne!(inputs(7), inputs(8));
        assert!(Mutator::new(1).mutate(b"", &[]).len() <= LONGEST);
    }
}
