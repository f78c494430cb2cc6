//! Why a call fails.

use offcut::limits::LimitError;
use offcut::profile::ProfileError;
use offcut::results::InvalidJson;
use offcut::retrieve::RetrieveError;
use offcut::store::StoreError;

/// Why a call fails; the message is for people.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Invalid options, ranges or patterns.
    #[error("{0}")]
    Invalid(String),
    /// No such entry.
    #[error("{0}")]
    NotFound(String),
    /// The store failed.
    #[error("{0}")]
    Store(String),
}

impl From<LimitError> for Fault {
    fn from(error: LimitError) -> Fault {
        Fault::Invalid(error.to_string())
    }
}

impl From<ProfileError> for Fault {
    fn from(error: ProfileError) -> Fault {
        Fault::Invalid(error.to_string())
    }
}

impl From<InvalidJson> for Fault {
    fn from(error: InvalidJson) -> Fault {
        Fault::Invalid(error.to_string())
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Fault {
        // The position is in JSON that the package wrote itself: it does not help the caller.
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or_default();
        Fault::Invalid(message.to_owned())
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        match error {
            StoreError::NotFound { .. } => Fault::NotFound(error.to_string()),
            _ => Fault::Store(error.to_string()),
        }
    }
}

impl From<RetrieveError> for Fault {
    fn from(error: RetrieveError) -> Fault {
        match error {
            RetrieveError::Store(error) => error.into(),
            RetrieveError::Unknown { .. } => Fault::NotFound(error.to_string()),
            _ => Fault::Invalid(error.to_string()),
        }
    }
}
