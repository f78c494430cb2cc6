//! Everything that can be wrong with a call.

use offcut::results::InvalidJson;
use offcut::retrieve::RetrieveError;
use offcut::store::StoreError;
use offcut::{LimitError, ProfileError};

/// Something that cannot be done; the message is for people.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Options, ranges or patterns that mean nothing.
    #[error("{0}")]
    Invalid(String),
    /// There is no such entry.
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
        // Where in the text that we made ourselves it stands helps nobody.
        let text = error.to_string();
        let told = text.split(" at line ").next().unwrap_or_default();
        Fault::Invalid(told.to_owned())
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
