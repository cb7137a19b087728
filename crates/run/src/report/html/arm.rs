//! The arms of a run, as the page shows them.

use serde_json::{Value, json};

use super::super::arms::{self, ArmFinding, SkillMatrix};
use super::cut_text;
use super::rate::Rate;

const NAME: usize = 300;

/// Null without arms.
pub fn document(found: &[ArmFinding]) -> Value {
    if found.is_empty() {
        return Value::Null;
    }
    found.iter().map(|arm| one(arm, found)).collect()
}

fn one(arm: &ArmFinding, all: &[ArmFinding]) -> Value {
    json!({
        "name": cut_text::text(&arm.name, NAME),
        "baseline": arm.is_baseline,
        "rate": Rate::of_interval(&arm.counts, arm.interval).document(),
        "tests": arms::counts(arm),
        "used": arms::usage(arm),
        "contracts": arms::contracts(arm),
        "verdict": arm.contrast.as_ref().and_then(|found| found.suite.as_ref()).map(|suite| suite.judged.verdict.word()),
        "contrast": arms::contrast_in_table(arm, all),
        "skills": arm.skills.is_shown().then(|| matrix(&arm.skills)),
    })
}

fn matrix(skills: &SkillMatrix) -> Value {
    let name = |name: &Option<&str>| name.map(|name| cut_text::text(name, NAME));
    let columns = skills.columns();
    let row = |(wanted, cases): &(Option<&str>, u64)| {
        let cell = |used: &Option<&str>| {
            let cell = skills.cell(*wanted, *used);
            json!({"text": cell.text(), "other": cell.count > 0 && wanted != used})
        };
        let cells: Vec<Value> = columns.iter().map(cell).collect();
        json!({"wanted": name(wanted), "cases": cases, "cells": cells})
    };
    json!({
        "columns": columns.iter().map(name).collect::<Vec<_>>(),
        "rows": skills.rows().iter().map(row).collect::<Vec<_>>(),
        "lines": arms::skill_lines(skills).iter().map(|line| cut_text::text(line, 500)).collect::<Vec<_>>(),
    })
}
