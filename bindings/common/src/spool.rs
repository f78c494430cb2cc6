//! A spool that owns its truncator.

use crate::engine::{Answer, Attempt, Engine, Reported};
use crate::fault::Fault;
use crate::options::CallOptions;
use offcut::{CommandEnd, Context, Outcome, Spool, Truncator};
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

    fn finish(&mut self, ending: CommandEnd) -> Option<Outcome<'static>> {
        self.with_dependent_mut(|_, spool| Some(spool.take()?.finish_with(ending)))
    }
}

/// Receives an output in chunks and bounds it.
pub struct OwnedSpool {
    engine: Arc<Engine>,
    context: Context,
    attempt: Attempt,
    cell: Cell,
    /// The whole output, if the caller's store or strategy must act: it is cut again afterwards.
    buffer: Option<Vec<u8>>,
}

impl OwnedSpool {
    /// A spool for one call.
    pub fn new(
        engine: &Arc<Engine>,
        context: Context,
        call: Option<&CallOptions>,
    ) -> Result<OwnedSpool, Fault> {
        let attempt = engine.attempt(&context, call)?;
        let cell = Cell::start(&attempt.truncator, &context);
        let buffer = attempt.needs_caller.then(Vec::new);
        Ok(OwnedSpool { engine: Arc::clone(engine), context, attempt, cell, buffer })
    }

    /// Receives the next chunk.
    pub fn observe(&mut self, chunk: &[u8]) {
        self.cell.observe(chunk);
        if let Some(buffer) = &mut self.buffer {
            buffer.extend_from_slice(chunk);
        }
    }

    /// Ends the output. An output that fits is returned.
    pub fn finish(
        &mut self,
        ending: CommandEnd,
        call: Option<&CallOptions>,
    ) -> Result<(Reported<Answer>, Option<Vec<u8>>), Fault> {
        if let (Some(call), Some(buffer)) = (call, &self.buffer) {
            self.attempt = self.engine.attempt(&self.context, Some(call))?;
            self.cell = Cell::start(&self.attempt.truncator, &self.context);
            self.cell.observe(buffer);
        }
        let shown = self
            .cell
            .finish(ending)
            .ok_or_else(|| Fault::Invalid("the output has already been finished".to_owned()))?;
        let whole = match &shown {
            Outcome::Passed(content) => Some(content.to_vec()),
            Outcome::Truncated(_) | Outcome::Described(_) | Outcome::StillRunning(_) => None,
        };
        Ok((self.attempt.answer(shown, &self.context), whole))
    }
}
