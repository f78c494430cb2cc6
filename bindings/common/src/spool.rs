//! A spool that owns its truncator.

use crate::engine::{Answer, Engine, Round, Told};
use crate::fault::Fault;
use crate::options::CallOptions;
use offcut::{Context, Ending, Shown, Spool, Truncator};
use self_cell::self_cell;
use std::sync::Arc;

type Open<'a> = Option<Spool<'a>>;

self_cell!(
    struct Cell {
        owner: Arc<Truncator>,
        #[not_covariant]
        dependent: Open,
    }
);

impl Cell {
    fn start(truncator: &Arc<Truncator>, context: &Context) -> Cell {
        Cell::new(Arc::clone(truncator), |truncator| Some(truncator.spool(context.clone())))
    }

    fn observe(&mut self, chunk: &[u8]) {
        self.with_dependent_mut(|_, spool| {
            if let Some(spool) = spool {
                spool.observe(chunk);
            }
        });
    }

    fn finish(&mut self, ending: Ending) -> Option<Shown<'static>> {
        self.with_dependent_mut(|_, spool| Some(spool.take()?.finish_with(ending)))
    }
}

/// Takes an output in chunks and bounds it.
pub struct OwnedSpool {
    engine: Arc<Engine>,
    context: Context,
    round: Round,
    cell: Cell,
    /// What a foreign store is being asked to save; the cut is made from it.
    held: Option<Vec<u8>>,
}

impl OwnedSpool {
    /// A spool for one call.
    pub fn new(
        engine: &Arc<Engine>,
        context: Context,
        call: Option<&CallOptions>,
    ) -> Result<OwnedSpool, Fault> {
        let round = engine.round(&context, call)?;
        let cell = Cell::start(&round.truncator, &context);
        // A strategy that is asked must be given the text again, and nothing else holds it.
        let held = round.probes.then(Vec::new);
        Ok(OwnedSpool { engine: Arc::clone(engine), context, round, cell, held })
    }

    /// Takes in the next chunk.
    pub fn observe(&mut self, chunk: &[u8]) {
        self.cell.observe(chunk);
        if let Some(held) = &mut self.held {
            held.extend_from_slice(chunk);
        }
    }

    /// The end of the output. A whole one is returned.
    pub fn finish(
        &mut self,
        ending: Ending,
        call: Option<&CallOptions>,
    ) -> Result<(Told<Answer>, Option<Vec<u8>>), Fault> {
        if let (Some(call), Some(held)) = (call, &self.held) {
            self.round = self.engine.round(&self.context, Some(call))?;
            self.cell = Cell::start(&self.round.truncator, &self.context);
            self.cell.observe(held);
        }
        let shown = self
            .cell
            .finish(ending)
            .ok_or_else(|| Fault::Invalid("the output has already been finished".to_owned()))?;
        let whole = match &shown {
            Shown::Whole(content) => Some(content.to_vec()),
            Shown::Cut(_) => None,
        };
        Ok((self.round.answer(shown, &self.context), whole))
    }
}
