//! Errors of commands, and their exit codes.

use offcut::limits::LimitError;
use offcut::profile::ProfileError;
use offcut::retrieve::RetrieveError;
use offcut::store::StoreError;
use std::io;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line, the configuration or a limit is invalid.
    Usage(anyhow::Error),
    /// No such output.
    NotFound(anyhow::Error),
    /// The store failed.
    Store(anyhow::Error),
    /// Nothing matched.
    NoMatch,
    /// A check failed, and its result has been printed.
    Problems,
    /// The reader of the output closed it, as `| head` does.
    Closed,
}

/// The result of a command.
pub(crate) type CommandResult = Result<(), Failure>;

/// Prints the message of a failure, and returns the exit code.
pub(crate) fn exit_code(outcome: CommandResult) -> u8 {
    let Err(failure) = outcome else { return 0 };
    if let Some(reason) = failure.reason() {
        crate::diagnostic::say(reason);
    }
    failure.code()
}

impl Failure {
    pub(crate) fn code(&self) -> u8 {
        match self {
            Failure::Closed => 0,
            Failure::NoMatch | Failure::Problems => 1,
            Failure::Usage(_) => 2,
            Failure::NotFound(_) => 3,
            Failure::Store(_) => 4,
        }
    }

    /// The message for the user, if there is one.
    pub(crate) fn reason(&self) -> Option<String> {
        match self {
            Failure::Closed | Failure::NoMatch | Failure::Problems => None,
            Failure::Usage(error) | Failure::NotFound(error) | Failure::Store(error) => {
                Some(format!("{error:#}"))
            }
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::Store(anyhow::Error::new(error).context("cannot write to standard output")),
        }
    }
}

impl From<LimitError> for Failure {
    fn from(error: LimitError) -> Self {
        Failure::Usage(error.into())
    }
}

impl From<ProfileError> for Failure {
    fn from(error: ProfileError) -> Self {
        Failure::Usage(error.into())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { .. } => not_found(&error),
            _ => Failure::Store(error.into()),
        }
    }
}

impl From<RetrieveError> for Failure {
    fn from(error: RetrieveError) -> Self {
        match error {
            RetrieveError::Store(error) => error.into(),
            RetrieveError::Mismatch(_) | RetrieveError::Damaged { .. } => Failure::Store(error.into()),
            RetrieveError::Unknown { .. } => not_found(&error),
            RetrieveError::PastTheEnd { .. } => Failure::NotFound(error.into()),
            _ => Failure::Usage(error.into()),
        }
    }
}

fn not_found(error: &dyn std::error::Error) -> Failure {
    Failure::NotFound(anyhow::anyhow!("{error}; run `offcut ls` to list stored outputs"))
}
