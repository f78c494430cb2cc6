//! One answer of a tool, bounded: its texts by the middleware, its `structuredContent` by its schema.

use crate::schema::Schema;
use crate::structured::{Marking, fit};
use offcut::json::{Edits, Node, quoted};
use offcut::results::{Decision, Middleware, ResultOutcome, Shape, ShapeChoice};
use offcut::store::Id;
use offcut::{Context, Kept, Limits, Preview, Rule, Shown};

/// The member of `_meta` that tells of a `structuredContent` that was cut.
const META: &str = "offcut.dev/structured";

/// The member that an object without a schema of its own gets when something of it is missing.
const MEMBER: &str = "offcut";

/// Bounds texts a little more where a `structuredContent` is over the limits, too: what is shown of a text may stand in
/// there once more, where line ends and quotes are written with two characters each.
pub(crate) fn with_room_for_structure(middleware: Middleware, context: &Context) -> Middleware {
    let Some(budget) = budget(&middleware, context) else { return middleware };
    let less = Limits { bytes: Some((budget / 5 * 4).max(512)), ..Limits::default() };
    middleware.decide(move |call| {
        let result = Node::parse(call.json).ok();
        let structure = result.and_then(|result| result.get("structuredContent"));
        match structure.is_some_and(|structure| structure.json().len() as u64 > budget) {
            true => Decision::BoundWith(Rule { limits: less, ..Rule::default() }),
            false => Decision::Bound,
        }
    })
}

/// How many bytes of JSON are shown.
fn budget(middleware: &Middleware, context: &Context) -> Option<u64> {
    let settings = middleware.truncator().settings(context);
    let limits = settings.limits;
    // A token is about four bytes; JSON has no lines worth counting.
    let bytes = [limits.bytes, limits.chars, limits.tokens.map(|tokens| tokens.saturating_mul(4))];
    bytes.into_iter().flatten().min().filter(|_| settings.enabled)
}

/// How one call's answer is bounded.
pub(crate) struct Bounds<'a> {
    pub(crate) middleware: &'a Middleware,
    pub(crate) context: &'a Context,
    /// The schema that the tool advertises for its `structuredContent`.
    pub(crate) schema: Option<&'a str>,
    /// The name of our own tool.
    pub(crate) read_tool: &'a str,
}

impl Bounds<'_> {
    /// The result with what is over the limits cut; nothing if it passes as it is.
    pub(crate) fn result(&self, result: Node<'_>) -> Option<String> {
        let choice = ShapeChoice::Is(Shape::Mcp);
        let bounded = self.middleware.bound_json(result.json(), choice, self.context).ok()?;
        let outcome = bounded.results.first().map(|judged| &judged.outcome);
        let cut = match outcome {
            Some(ResultOutcome::Truncated(preview)) => Some(&**preview),
            _ => None,
        };
        let is_whole = matches!(bounded.json, std::borrow::Cow::Borrowed(_));
        match self.structured(result, &bounded.json, cut) {
            Some(json) => Some(json),
            None if is_whole => None,
            None => Some(bounded.json.into_owned()),
        }
    }

    /// An error of the protocol, whose message a host shows to the model like any result.
    pub(crate) fn error(&self, error: Node<'_>) -> Option<String> {
        let mut edits = Edits::default();
        let cut = |text: &[u8]| match self.middleware.truncator().apply(text, self.context) {
            Shown::Cut(preview) => Some(preview),
            Shown::Whole(_) => None,
        };
        if let Some(message) = error.get("message")
            && let Some(preview) = message.text().and_then(|text| cut(&text))
        {
            edits.replace(message, quoted(&preview.content));
        }
        if let (Some(data), Some(budget)) = (error.get("data"), budget(self.middleware, self.context))
            && data.json().len() as u64 > budget
        {
            let shown = self.middleware.truncator().apply_json(data.json().as_bytes(), self.context);
            let id = shown.preview().and_then(kept);
            let id = id.as_ref().map(Id::as_str);
            edits.replace(data, fit(data, Schema::Open, budget, &Marking { id, repeated: None }));
        }
        (!edits.is_empty()).then(|| edits.apply_within(error))
    }

    /// The result, whose texts are bounded already, with its `structuredContent` bounded; nothing if that fits.
    fn structured(&self, original: Node<'_>, json: &str, texts: Option<&Preview>) -> Option<String> {
        let budget = budget(self.middleware, self.context)?;
        let result = Node::parse(json).ok()?;
        let value = result.get("structuredContent").filter(|value| value.json().len() as u64 > budget)?;
        let text = only_text(original);
        let repeats = text.as_ref().is_some_and(|text| repeats(text, value));
        // What the texts have whole is not stored again.
        let own = match texts {
            Some(_) if repeats => None,
            _ => match self.middleware.truncator().apply_json(value.json().as_bytes(), self.context) {
                Shown::Cut(preview) => Some(preview),
                Shown::Whole(_) => return None,
            },
        };
        let id = own.as_deref().or(texts).and_then(kept);
        let id = id.as_ref().map(Id::as_str);
        let schema_node = self.schema.and_then(|schema| Node::parse(schema).ok());
        let schema = schema_node.map_or(Schema::Open, Schema::new);
        let repeated = text.as_deref().zip(texts.map(|texts| texts.content.as_slice()));
        let total = value.json().len();
        let marked = schema.takes(value, MEMBER) && value.is_object();
        let note = id.map(|id| {
            format!("{{\"id\":\"{id}\",\"bytes\":{total},\"next\":{}}}", quoted(self.next(id).as_bytes()))
        });
        let note = note.unwrap_or_else(|| format!("{{\"id\":null,\"bytes\":{total}}}"));
        let room = budget.saturating_sub(if marked { note.len() as u64 + 12 } else { 0 });
        let mut small = fit(value, schema, room, &Marking { id, repeated });
        // Its schema lets nothing of it go: it is whole, and there is nothing to tell.
        if small == value.json() && self.schema.is_some() {
            return None;
        }
        // An object of a hundred thousand members has nothing to cut; only without a schema it may go.
        if self.schema.is_none() && small.len() as u64 > budget.saturating_mul(2) {
            small = "{}".to_owned();
        }
        if marked && let Ok(object) = Node::parse(&small) {
            let mut edits = Edits::default();
            edits.set(object, &[(MEMBER, note.clone())]);
            small = edits.apply(&small);
        }
        let mut edits = Edits::default();
        edits.replace(value, small);
        if own.is_some() {
            self.tell(result, id, total, &mut edits);
        }
        match result.get("_meta").filter(Node::is_object) {
            Some(meta) => edits.set(meta, &[(META, note)]),
            None => edits.set(result, &[("_meta", format!("{{\"{META}\":{note}}}"))]),
        }
        Some(edits.apply(json))
    }

    /// Says in a text of its own that the structured part is not whole.
    fn tell(&self, result: Node<'_>, id: Option<&str>, total: usize, edits: &mut Edits) {
        let notice = match id {
            Some(id) => {
                format!(
                    "[offcut {id}: structuredContent has {total} bytes and is shown in part; next: {}]",
                    self.next(id)
                )
            }
            None => format!(
                "[offcut: structuredContent has {total} bytes and is shown in part; the rest was not kept]"
            ),
        };
        let part = format!("{{\"type\":\"text\",\"text\":{}}}", quoted(notice.as_bytes()));
        let content = result.get("content").filter(Node::is_array);
        match (content, content.and_then(|content| content.elements().last().copied())) {
            (_, Some(last)) => edits.insert_after(last, &part),
            (Some(empty), None) => edits.replace(empty, format!("[{part}]")),
            (None, None) => edits.set(result, &[("content", format!("[{part}]"))]),
        }
    }

    fn next(&self, id: &str) -> String {
        format!("{} {{\"id\":\"{id}\"}}", self.read_tool)
    }
}

fn kept(preview: &Preview) -> Option<Id> {
    match &preview.kept {
        Kept::Whole(entry) | Kept::Open(entry) => Some(entry.id),
        Kept::NotWhole { .. } | Kept::Off => None,
    }
}

/// The text of a result that has one text.
fn only_text(result: Node<'_>) -> Option<Vec<u8>> {
    let texts: Vec<Node<'_>> =
        result.get("content")?.elements().iter().filter_map(|part| part.get("text")).collect();
    match texts[..] {
        [text] => text.text(),
        _ => None,
    }
}

/// Whether a value says nothing that the text does not: it is the text as JSON, or an object around the text.
fn repeats(text: &[u8], value: Node<'_>) -> bool {
    let members = value.members();
    let is_around = match &members[..] {
        [(_, only)] => only.text().is_some_and(|only| only == text),
        _ => false,
    };
    is_around || offcut::retrieve::readable(text) == offcut::retrieve::readable(value.json().as_bytes())
}
