//! The baseline of a run, beside what is planned.

use camino::Utf8PathBuf;
use evalrig_run::execute::SuiteJob;

use crate::args::Run;
use crate::command::baseline::{Baseline, OfSuite};
use crate::context::{Context, complain};
use crate::exit::Exit;

/// The baseline, and how many tests of this run were measured in it. A gate without any cannot be
/// passed, so nothing is called.
pub(super) fn baseline(
    context: &Context,
    args: &Run,
    suites: &[SuiteJob],
    own: &[Utf8PathBuf],
) -> Result<Option<(Baseline, usize)>, Exit> {
    let mut own = own.to_vec();
    own.extend(
        args.keeping
            .output
            .as_ref()
            .map(|path| context.absolute(path)),
    );
    let of_suite = |suite: &SuiteJob| OfSuite {
        root: suite.root.clone(),
        name: suite.suite.name.clone(),
    };
    let names: Vec<OfSuite> = suites.iter().map(of_suite).collect();
    let Some(mut baseline) = Baseline::read(context, &args.against, args.gate, &names, &own)?
    else {
        return Ok(None);
    };
    let common = baseline.plan(suites);
    if common == 0 {
        let name = baseline.name();
        complain(&format!(
            "--baseline: no test of this run was measured in `{name}`"
        ));
        if args.gate {
            return Err(Exit::NothingSelected);
        }
    } else if args.failed.is_some() {
        complain("--baseline: of what failed before, some will look better by chance alone");
    }
    Ok(Some((baseline, common)))
}
