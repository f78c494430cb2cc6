//! A spool for one call of the packages.

use crate::engine::{Answer, Attempt, Engine, Reported};
use crate::fault::Fault;
use crate::options::CallOptions;
use offcut::{CommandEnd, Context, Outcome, Spool};
use std::sync::Arc;

/// Receives an output in chunks and bounds it.
pub struct OwnedSpool {
    engine: Arc<Engine>,
    context: Context,
    attempt: Attempt,
    /// `None` after the end.
    spool: Option<Spool<'static>>,
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
        let spool = Some(Arc::clone(&attempt.truncator).into_spool(context.clone()));
        let buffer = attempt.needs_caller.then(Vec::new);
        Ok(OwnedSpool { engine: Arc::clone(engine), context, attempt, spool, buffer })
    }

    /// Receives the next chunk.
    pub fn observe(&mut self, chunk: &[u8]) {
        if let Some(spool) = &mut self.spool {
            spool.observe(chunk);
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.extend_from_slice(chunk);
        }
    }

    /// Ends the output. An output that fits is returned. If the caller's store or strategy must act first, this is called again
    /// with their results.
    pub fn finish(
        &mut self,
        ending: CommandEnd,
        call: Option<&CallOptions>,
    ) -> Result<(Reported<Answer>, Option<Vec<u8>>), Fault> {
        if let (None, Some(buffer)) = (&self.spool, &self.buffer) {
            self.attempt = self.engine.attempt(&self.context, call)?;
            let mut spool = Arc::clone(&self.attempt.truncator).into_spool(self.context.clone());
            spool.observe(buffer);
            self.spool = Some(spool);
        }
        let finished = || Fault::Invalid("the output has already been finished".to_owned());
        let shown = self.spool.take().ok_or_else(finished)?.finish_with(ending);
        let whole = match &shown {
            Outcome::Passed(content) => Some(content.to_vec()),
            Outcome::Truncated(_) | Outcome::Described(_) | Outcome::StillRunning(_) => None,
        };
        Ok((self.attempt.answer(shown), whole))
    }
}
