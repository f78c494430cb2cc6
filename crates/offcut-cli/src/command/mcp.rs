//! `offcut mcp proxy` and `offcut mcp serve`.

use crate::agents::{self, ToolKind};
use crate::arguments::{Cut, GlobalOptions, Mcp, Proxy, Serve};
use crate::diagnostic;
use crate::environment::Setup;
use crate::failure::{self, CommandResult, Failure};
use crate::housekeeping;
use crate::origin;
use offcut::results::Middleware;
use offcut::store::{Id, Store};
use offcut::{Context, Reach, Truncator};
use offcut_mcp::{Address, LARGEST_MESSAGE, Library, ProxyEnd, ResultKind, SessionOnly};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::Arc;
use std::time::SystemTime;

pub(crate) fn mcp(global: &GlobalOptions, mcp: &Mcp) -> u8 {
    match mcp {
        Mcp::Proxy(arguments) => match proxy(global, arguments) {
            Ok(code) => code,
            Err(failure) => failure::exit_code(Err(failure)),
        },
        Mcp::Serve(arguments) => failure::exit_code(serve(global, arguments)),
    }
}

fn proxy(global: &GlobalOptions, arguments: &Proxy) -> Result<u8, Failure> {
    crate::process::catch_file_size_signal();
    let setup = Setup::new(global)?;
    // Report invalid flags before the server starts.
    setup.truncator(&arguments.cut)?;
    housekeeping::start_if_due(&setup);
    let only_session = setup.configuration.text("mcp.readable") == Some("session");
    let session = match &arguments.cut.session {
        Some(session) => Some(session.clone()),
        // Without a given session, a generated one identifies the outputs of this proxy.
        None if only_session => {
            Some(format!("mcp-{}", Id::new(SystemTime::now(), std::process::id().into())))
        }
        None => None,
    };
    let store = setup.store().map_err(|failure| failure.reason().unwrap_or_default());
    let store = match &session {
        Some(session) if only_session => store.map(|store| of_session(store, session)),
        _ => store,
    };
    let cut = arguments.cut.clone();
    let library = with_ledger(Library::new(store), &setup);
    let context = origin::describe(Context { session, ..cut.context() }, agents::caller());
    let proxy = offcut_mcp::Proxy {
        make_middleware: Box::new(move |kind| Middleware::new(truncator(&setup, &cut, kind))),
        library,
        server_name: arguments.name.clone(),
        context,
        agent_of: |client| Some(agents::with_mcp_client(client)?.name),
        largest_message: usize::try_from(arguments.largest_message).unwrap_or(LARGEST_MESSAGE),
        say: |message| diagnostic::say(message),
    };
    let (input, output) = (std::io::stdin(), Box::new(std::io::stdout()));
    if let Some(url) = &arguments.url {
        offcut_mcp::proxy_http(proxy, address(url, arguments)?, input, output)?;
        return Ok(0);
    }
    let Some((program, rest)) = arguments.command.split_first() else {
        return Err(Failure::Usage(anyhow::anyhow!("no server given: name its command, or use --url")));
    };
    let mut command = Command::new(program);
    command.args(rest);
    match offcut_mcp::proxy(proxy, command, input, output) {
        Ok(ProxyEnd::ByClient) => Ok(0),
        Ok(ProxyEnd::ByServer(status)) => {
            diagnostic::say(format_args!("the MCP server ended: {status}"));
            let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
            Ok(u8::try_from(code).unwrap_or(1))
        }
        Err(error) => {
            diagnostic::say(format_args!("cannot start {}: {error}", program.display()));
            Ok(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 })
        }
    }
}

fn address(url: &str, arguments: &Proxy) -> Result<Address, Failure> {
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(Failure::Usage(anyhow::anyhow!(
            "invalid URL {url:?}: expected http://... or https://..."
        )));
    }
    let mut headers = Vec::new();
    for text in &arguments.header {
        match text.strip_prefix('@') {
            Some(path) => headers.extend(headers_in(path)?),
            // The error does not quote the header, which may be a token: hosts log it.
            None => headers.push(header(text).ok_or_else(|| {
                Failure::Usage(anyhow::anyhow!("invalid header: expected 'Name: value' or @FILE"))
            })?),
        }
    }
    let from_environment = arguments.header_env.iter().map(|text| header_from_environment(text));
    headers.extend(from_environment.collect::<Result<Vec<_>, _>>()?);
    Ok(Address { url: url.to_owned(), headers })
}

fn header(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once(':')?;
    Some((name.trim().to_owned(), value.trim().to_owned()))
}

/// The headers in a file, one per line. Errors do not quote the file, because its headers may be secret.
fn headers_in(path: &str) -> Result<Vec<(String, String)>, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::Usage(anyhow::anyhow!("cannot read the headers in {path:?}: {error}")))?;
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    lines
        .map(|(line, number)| {
            header(line).ok_or_else(|| {
                Failure::Usage(anyhow::anyhow!(
                    "invalid header in line {number} of {path:?}: expected 'Name: value'"
                ))
            })
        })
        .collect()
}

/// The header of `NAME=VARIABLE`.
fn header_from_environment(text: &str) -> Result<(String, String), Failure> {
    let (name, variable) = text
        .split_once('=')
        .ok_or_else(|| Failure::Usage(anyhow::anyhow!("invalid header {text:?}: expected NAME=VARIABLE")))?;
    let value = std::env::var(variable)
        .map_err(|error| Failure::Usage(anyhow::anyhow!("cannot use the variable {variable:?}: {error}")))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Creates the truncator for a kind of result, with the limits of the client. Falls back to general settings if those for the
/// tool are invalid.
fn truncator(setup: &Setup, cut: &Cut, kind: &ResultKind<'_>) -> Truncator {
    let agent = kind.client.and_then(agents::with_mcp_client);
    let limits = agent.and_then(|agent| agent.mcp_limits(kind.is_error, kind.has_data));
    let setup = setup.clone().with_limits(agent, ToolKind::Other, limits);
    let tool = kind.tool.map(str::to_owned).or_else(|| cut.tool.clone());
    let reach = Reach::Tool { name: kind.read_tool.to_owned() };
    setup
        .truncator(&Cut { tool, ..cut.clone() })
        .or_else(|_| setup.truncator(cut))
        .unwrap_or_else(|_| Truncator::new(setup.profile.clone()))
        .reach(reach)
}

/// The same library, with a record of what is read.
fn with_ledger(library: Library, setup: &Setup) -> Library {
    match setup.ledger() {
        Some(ledger) => library.sink(Arc::new(ledger)),
        None => library,
    }
}

fn of_session(store: Arc<dyn Store>, session: &str) -> Arc<dyn Store> {
    Arc::new(SessionOnly::new(store, session))
}

fn serve(global: &GlobalOptions, arguments: &Serve) -> CommandResult {
    let setup = Setup::new(global)?;
    let store = setup.store()?;
    let store = match &arguments.session {
        Some(session) => of_session(store, session),
        None if setup.configuration.text("mcp.readable") == Some("session") => {
            return Err(Failure::Usage(anyhow::anyhow!(
                "mcp.readable is \"session\": give a session with --session"
            )));
        }
        None => store,
    };
    let library = with_ledger(Library::new(Ok(store)), &setup);
    offcut_mcp::serve(&library, LARGEST_MESSAGE, std::io::stdin().lock(), Box::new(std::io::stdout()))?;
    Ok(())
}
