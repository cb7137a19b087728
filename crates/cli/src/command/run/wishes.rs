//! From what was typed to what is wanted.

use evalrig_core::model::Judging;
use evalrig_core::plan::{Filter, Selection, Shard};
use evalrig_run::prepare::Wishes;

use crate::args::{Grading, Run};
use crate::context::{Context, complain};
use crate::exit::Exit;

pub(in super::super) fn judging(grading: &Grading) -> Judging {
    if grading.skip_judges {
        Judging::Skip
    } else {
        Judging::Ask
    }
}

/// Without `--failed`, which needs files.
pub(super) fn wishes(_: &Context, args: &Run) -> Result<Wishes, Exit> {
    let filters = args.filter.iter().map(|text| Filter::parse(text));
    let filters = filters.collect::<Result<_, _>>().map_err(|bad| {
        complain(&format!("--filter: `{}` is not a pattern", bad.0));
        Exit::CouldNotStart
    })?;
    let shard = args.shard.as_deref().map(Shard::parse).transpose();
    let shard = shard.map_err(|_| {
        complain("--shard: write I/N with I from 1 to N, such as 2/4");
        Exit::CouldNotStart
    })?;
    let mut targets: Vec<String> = Vec::new();
    for name in &args.target {
        if !targets.contains(name) {
            targets.push(name.clone());
        }
    }
    Ok(Wishes {
        targets,
        judge: args.grading.judge.clone(),
        selection: Selection {
            filters,
            tags: args.tag.clone(),
            ids: None,
            sample: args.sample,
            seed: args.seed,
            shard,
        },
        trials: args.trials,
        judging: judging(&args.grading),
        pass: args.grading.pass,
        borderline: args.grading.borderline,
        only: None,
    })
}
