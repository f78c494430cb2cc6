//! Values that have to match a schema, such as what a typed tool returns.

use crate::engine::{BoundedResult, Engine, Reported};
use crate::fault::Fault;
use crate::options::CallOptions;
use crate::report::Report;
use offcut::json::{Edits, Node, quoted};
use offcut::notice::{Access, Count, Message, Notice, Tag};
use offcut::results::structured::{Gap, Marking, Schema, fit};
use offcut::{Context, Limits};
use serde_json::json;

/// The member that is added to a shortened object, if its schema allows it.
const MEMBER: &str = "offcut";

/// The room for the mark of a shortened value, without its path.
const NOTICE: u64 = 500;

/// The most gaps that a mark lists.
const GAPS: usize = 8;

impl Engine {
    /// Shortens a value over the limits so that it still matches its JSON schema; without a schema, so that its form stays.
    pub fn value(
        &self,
        json: &str,
        schema: Option<&str>,
        context: &Context,
        call: &CallOptions,
    ) -> Result<Reported<BoundedResult>, Fault> {
        let attempt = self.attempt(context, Some(call))?;
        let (node, schema) = (Node::parse(json)?, schema.map(Node::parse).transpose()?);
        let schema = schema.map_or(Schema::Open, Schema::new);
        let Limits { bytes, chars, tokens, .. } = attempt.truncator.settings(context).limits;
        // A token is about four bytes. Line limits do not apply: how many lines JSON has is up to its writer.
        let budget =
            [bytes, chars, tokens.map(|tokens| tokens.saturating_mul(4))].into_iter().flatten().min();
        let outcome = attempt.truncator.apply_json(json.as_bytes(), context);
        let (Some(preview), Some(budget)) = (outcome.preview(), budget) else {
            return Ok(Reported { answer: BoundedResult::Same, report: Report::whole(attempt.events()) });
        };
        if attempt.needs_caller {
            return Ok(Reported { answer: BoundedResult::Ask(attempt.request()), report: attempt.wanted() });
        }
        let (bytes, place) = (json.len() as u64, preview.entry().map(|entry| entry.location()));
        let id = preview.entry().map(|entry| entry.id.to_string());
        let room = budget.saturating_sub(NOTICE + 2 * place.as_ref().map_or(0, String::len) as u64);
        let fitted = fit(node, schema, room, &Marking { id: id.as_deref(), repeated: None });
        let (not_shown, short) = (fitted.not_shown(), fitted.json);
        let marked = Node::parse(&short)?;
        let mut edits = Edits::default();
        if marked.is_object() && schema.takes(node, MEMBER) {
            let gaps: Vec<String> = fitted.gaps.iter().take(GAPS).map(Gap::to_string).collect();
            let mark = json!({"id": id, "path": place, "bytes": bytes, "not_shown": not_shown, "gaps": gaps});
            edits.set(marked, &[(MEMBER, mark.to_string())]);
        } else if let (Some(last), (Some(_), each)) = (marked.elements().last(), schema.elements(node))
            && last.is_text()
            && each.least_text(*last).is_some()
        {
            let access = match place {
                Some(place) => Access::By(format!("all of it: {place}")),
                None => Access::NotStored { reason: String::new() },
            };
            let count = Count::Bytes(bytes - short.len() as u64);
            let message = Message::Rest { count, detail: not_shown, access };
            let notice = Notice { tag: id.map_or(Tag::Plain, Tag::Entry), message };
            edits.insert_after(*last, &quoted(notice.to_string().as_bytes()));
        }
        if short == json {
            return Ok(Reported { answer: BoundedResult::Same, report: Report::whole(attempt.events()) });
        }
        let report = Report { events: attempt.events(), ..Report::new(preview) };
        Ok(Reported { answer: BoundedResult::Changed(edits.apply(&short)), report })
    }
}
