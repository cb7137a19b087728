//! The name of a record, made from the first user message (spec 13.2).

use std::sync::LazyLock;

use regex::Regex;

/// Longer slugs are cut, at a word boundary if there is one.
const LONGEST_SLUG: usize = 50;

const EMPTY_SLUG: &str = "default";

static GAPS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[^\p{L}\p{N}_]+").expect("the pattern is correct"));

/// Letters, digits and `_` of the lower-cased text; never empty, and never a path.
pub fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    let joined = GAPS.replace_all(&lower, "_");
    let whole = joined.trim_matches('_');
    let kept = match whole.char_indices().nth(LONGEST_SLUG) {
        None => whole,
        Some((end, _)) => {
            let cut = &whole[..end];
            cut.rfind('_').map_or(cut, |last| &cut[..last])
        }
    };
    match kept {
        "" => EMPTY_SLUG.to_owned(),
        kept => kept.to_owned(),
    }
}

/// The slug for number 1, then with `_2`, `_3`, ….
pub(super) fn numbered_name(slug: &str, number: u64) -> String {
    match number {
        1 => slug.to_owned(),
        number => format!("{slug}_{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_match_the_table_of_the_specification() {
        for (input, name) in [
            ("Say hello to Alice", "say_hello_to_alice"),
            ("Say hello, to: ALICE!", "say_hello_to_alice"),
            ("What is 25 x 4?", "what_is_25_x_4"),
            (
                "I have a CSV of monthly sales data. Find the top 3 months by revenue.",
                "i_have_a_csv_of_monthly_sales_data_find_the_top_3",
            ),
            ("写一个爬虫", "写一个爬虫"),
            ("Привет, мир!", "привет_мир"),
            ("帮我看一下这个 bug", "帮我看一下这个_bug"),
            ("../../etc/passwd", "etc_passwd"),
            ("!!!", "default"),
        ] {
            assert_eq!(slug(input), name, "{input}");
        }
        assert_eq!(slug(&"a".repeat(60)), "a".repeat(50));
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        assert_eq!(slug(&"写".repeat(60)), "写".repeat(50));
        assert_eq!(slug(&"é".repeat(50)), "é".repeat(50));
    }

    #[test]
    fn combining_marks_are_separators_and_text_is_not_normalized() {
        assert_eq!(slug("e\u{301}te\u{301}"), "e_te");
        assert_eq!(slug("Été"), "été");
        assert_eq!(slug("ΑΣ ²Ⅷ"), "ας_²ⅷ");
        assert_eq!(slug("a_ _b"), "a___b");
        assert_eq!(slug(""), "default");
        assert_eq!(slug("___"), "default");
    }

    #[test]
    fn taken_names_are_followed_by_numbers() {
        let tried = [1, 2, 3].map(|number| numbered_name("a", number));
        assert_eq!(tried, ["a", "a_2", "a_3"]);
    }
}
