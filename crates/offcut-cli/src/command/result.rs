//! `offcut result`: bounds a tool result, whatever its shape.

use crate::arguments::{Everywhere, ToolResult};
use crate::environment::Setup;
use crate::failure::{Failure, Outcome};
use crate::housekeeping;
use offcut::middleware::{Bounded, Middleware, ShapeChoice, Verdict, panel};
use offcut::{Kept, Preview};
use std::io::{IsTerminal, Read};

pub(crate) fn result(everywhere: &Everywhere, result: &ToolResult) -> Outcome {
    crate::process::survive_large_files();
    let setup = Setup::new(everywhere)?;
    let mut middleware = Middleware::new(setup.truncator(&result.cut)?).skip_tools(result.skip_tool.clone());
    if let Some(total) = result.total {
        middleware = middleware.total(total);
    }
    let mut input = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut input);
    let shape = result.shape.map_or(ShapeChoice::Auto, ShapeChoice::Is);
    let bounded = std::str::from_utf8(&input)
        .map_err(|error| anyhow::anyhow!("the result is not JSON: it is not UTF-8: {error}"))
        .and_then(|json| Ok(middleware.result(json, shape, &result.cut.context())?));
    let Bounded { json, results } = match bounded {
        Ok(bounded) => bounded,
        // Whoever pipes through us still gets the result; what was wrong with it is an error all the same.
        Err(error) => {
            super::print(&input)?;
            return Err(Failure::Usage(error.context("passed on unchanged")));
        }
    };
    super::print(json.as_bytes())?;
    if results.is_empty() {
        eprintln!(
            "offcut: warning: no tool result was recognised; passed on unchanged (see `offcut result --help`)"
        );
    }
    let mut cut = false;
    for judged in &results {
        if let Verdict::Cut(preview) = &judged.verdict {
            cut = true;
            if result.panel || std::io::stderr().is_terminal() {
                eprint!("{}", panel(&judged.context, preview));
            } else if let Preview { kept: Kept::NotWhole { error, .. }, .. } = &**preview {
                eprintln!("offcut: the output was not kept whole: {error}");
            }
        }
    }
    if cut && let Some(directory) = setup.directory() {
        housekeeping::start_if_due(directory);
    }
    read.map(drop).map_err(|error| {
        Failure::Usage(anyhow::Error::new(error).context("could not read all of standard input"))
    })
}
