//! Single requests to the bucket.

use crate::errors::Failure;
use crate::layout::Layout;
use crate::local_index;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use object_store::aws::AmazonS3;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path as Key;
use object_store::{Error, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, Result};
use std::future::Future;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

/// The longest that one request of a reader may take, also if a server accepts it and never answers.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);

/// The bucket as this process sees it.
pub(crate) struct Remote {
    pub(crate) client: AmazonS3,
    pub(crate) layout: Layout,
    create_mode: OnceLock<CreateMode>,
    /// Where the create mode is remembered for the next process.
    create_mode_file: PathBuf,
}

/// How an object is created so that it never overwrites another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CreateMode {
    /// The server honours `If-None-Match: *`.
    Conditional,
    /// The server ignores it and overwrites, so the key is looked up first.
    CheckFirst,
}

async fn within<T>(request: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::time::timeout(REQUEST_LIMIT, request).await.unwrap_or_else(|_| Err(Failure::Timeout.into()))
}

/// Nothing instead of an error, if only the object is missing.
fn found<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Remote {
    pub(crate) fn new(client: AmazonS3, layout: Layout, create_mode_file: PathBuf) -> Remote {
        Remote { client, layout, create_mode: OnceLock::new(), create_mode_file }
    }

    /// Which create mode the server needs: tested once, by creating an object twice, and remembered on this machine.
    async fn create_mode(&self) -> Result<CreateMode> {
        if let Some(mode) = self.create_mode.get() {
            return Ok(*mode);
        }
        let mode = match std::fs::read_to_string(&self.create_mode_file).as_deref() {
            Ok("never") => CreateMode::Conditional,
            Ok("always") => CreateMode::CheckFirst,
            _ => {
                let mode = self.probe().await?;
                let overwrites = if mode == CreateMode::Conditional { "never" } else { "always" };
                let _ = local_index::write(&self.create_mode_file, overwrites);
                mode
            }
        };
        Ok(*self.create_mode.get_or_init(|| mode))
    }

    async fn probe(&self) -> Result<CreateMode> {
        for _ in 0..2 {
            match self.create(&self.layout.probe(), Bytes::from_static(b"offcut\n")).await {
                Ok(()) => {}
                Err(Error::AlreadyExists { .. }) => return Ok(CreateMode::Conditional),
                Err(Error::NotImplemented { .. }) => return Ok(CreateMode::CheckFirst),
                Err(error) => match Failure::of(&error) {
                    Failure::Status { status: 501, .. } => return Ok(CreateMode::CheckFirst),
                    _ => return Err(error),
                },
            }
        }
        Ok(CreateMode::CheckFirst)
    }

    async fn create(&self, key: &Key, bytes: Bytes) -> Result<()> {
        self.client.put_opts(key, bytes.into(), PutMode::Create.into()).await.map(drop)
    }

    /// Writes an object that does not exist yet. The same bytes under this key mean that an earlier answer was lost.
    pub(crate) async fn put_new(&self, key: &Key, bytes: Bytes) -> Result<()> {
        let created = match self.create_mode().await? {
            CreateMode::Conditional => self.create(key, bytes.clone()).await,
            CreateMode::CheckFirst if self.head(key).await?.is_some() => Err(Failure::Exists.into()),
            CreateMode::CheckFirst => self.put(key, bytes.clone()).await,
        };
        match created {
            Err(error) if Failure::of(&error) == Failure::Exists => {
                let stored = self.client.get(key).await?.bytes().await?;
                if stored == bytes { Ok(()) } else { Err(error) }
            }
            created => created,
        }
    }

    /// Writes an object, whether or not it exists.
    pub(crate) async fn put(&self, key: &Key, bytes: Bytes) -> Result<()> {
        self.client.put_opts(key, bytes.into(), PutOptions::default()).await.map(drop)
    }

    /// The metadata of an object, if it exists.
    pub(crate) async fn head(&self, key: &Key) -> Result<Option<ObjectMeta>> {
        match found(within(self.client.head(key)).await) {
            Err(error) => Err(self.reason(key.as_ref(), error).await),
            answer => answer,
        }
    }

    /// A more precise error for a refused request. The answer to a `HEAD` has no body, and some servers deny access to
    /// a bucket that does not exist; the answer to a listing has the reason.
    pub(crate) async fn reason(&self, prefix: &str, error: Error) -> Error {
        match Failure::of(&error) {
            Failure::Status { status: 401 | 403, .. } | Failure::Status { status: 300..500, code: None } => {
                self.first(prefix).await.err().unwrap_or(error)
            }
            _ => error,
        }
    }

    /// An object, or a part of it, if it exists.
    pub(crate) async fn get(&self, key: &Key, range: Option<Range<u64>>) -> Result<Option<Bytes>> {
        let options = GetOptions { range: range.map(Into::into), ..GetOptions::default() };
        match found(within(async { self.client.get_opts(key, options).await?.bytes().await }).await) {
            // The object ends before the range begins: it was replaced by a shorter one.
            Err(error) if matches!(Failure::of(&error), Failure::Status { status: 416, .. }) => {
                Ok(Some(Bytes::new()))
            }
            answer => answer,
        }
    }

    /// Calls `visit` with the objects below `prefix` and after `after`, in the order of their keys, while it returns
    /// true.
    pub(crate) async fn list(
        &self,
        prefix: &str,
        after: Option<String>,
        mut visit: impl FnMut(ObjectMeta) -> bool,
    ) -> Result<()> {
        let mut options = PaginatedListOptions { offset: after, ..PaginatedListOptions::default() };
        loop {
            let page = within(self.client.list_paginated(Some(prefix), options)).await?;
            if !page.result.objects.into_iter().all(&mut visit) || page.page_token.is_none() {
                return Ok(());
            }
            options = PaginatedListOptions { page_token: page.page_token, ..PaginatedListOptions::default() };
        }
    }

    /// The first key that starts with `prefix`.
    pub(crate) async fn first(&self, prefix: &str) -> Result<Option<Key>> {
        let options = PaginatedListOptions { max_keys: Some(1), ..PaginatedListOptions::default() };
        let page = within(self.client.list_paginated(Some(prefix), options)).await?;
        Ok(page.result.objects.into_iter().next().map(|object| object.location))
    }

    /// Deletes objects, a thousand at a time. Objects that another process has deleted are no error.
    pub(crate) async fn delete(&self, keys: Vec<Key>) -> Result<()> {
        let mut results = self.client.delete_stream(stream::iter(keys.into_iter().map(Ok)).boxed());
        while let Some(result) = results.next().await {
            found(result)?;
        }
        Ok(())
    }
}
