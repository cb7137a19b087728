//! Rows as they come from the server, where anything may have been put.

use crate::results::{Row, read_row};

use super::names::RunName;

/// A row that a worker has made for this run and published where it belongs.
pub(super) fn row_of_message(bytes: &[u8], subject: &str, run: &RunName) -> Result<Row, String> {
    let row = read_row(bytes)?;
    if run.row_subject(&row.key()) != subject {
        return Err("its subject is that of another case".to_owned());
    }
    if row.run.as_deref() != Some(run.as_str()) {
        return Err("it is a row of another run".to_owned());
    }
    if row.worker.as_deref().is_none_or(str::is_empty) {
        return Err("it names no worker".to_owned());
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Change<'a> = &'a dyn Fn(&mut Row);

    fn read(change: Change<'_>) -> Result<Row, String> {
        let run = RunName::parse("r").unwrap();
        let mut row = crate::results::testing::row("a", 1);
        row.run = Some("r".to_owned());
        row.worker = Some("one".to_owned());
        let subject = run.row_subject(&row.key());
        change(&mut row);
        row_of_message(&serde_json::to_vec(&row).unwrap(), &subject, &run)
    }

    #[test]
    fn only_rows_of_the_run_are_read() {
        assert!(read(&|_| {}).is_ok());
        let forged: [(Change<'_>, &str); 5] = [
            (&|row| row.run = Some("other".to_owned()), "another run"),
            (&|row| row.run = None, "another run"),
            (&|row| row.worker = None, "no worker"),
            (&|row| row.worker = Some(String::new()), "no worker"),
            (&|row| row.eval_id = "b".to_owned(), "another case"),
        ];
        for (change, reason) in forged {
            let error = read(change).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
