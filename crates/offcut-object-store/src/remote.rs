//! Single requests, and what they mean here.

use crate::engine::{Answer, Client};
use bytes::Bytes;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{Error, GetOptions, ObjectMeta, ObjectStore, PutMode, PutOptions, PutPayload};
use std::future::Future;
use std::ops::Range;
use std::time::Duration;

/// No single request of a reader takes longer, also if a server accepts it and then says nothing.
const LONGEST: Duration = Duration::from_secs(30);

/// Ends a request that takes too long.
pub(crate) async fn within<T>(request: impl Future<Output = Answer<T>>) -> Answer<T> {
    match tokio::time::timeout(LONGEST, request).await {
        Ok(answer) => answer,
        Err(_) => Err(Error::Generic { store: "S3", source: "operation timed out".into() }),
    }
}

/// Who keeps an object from being overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// The server, when it is asked to.
    Server,
    /// Ourselves, by looking first: the server ignores the wish and overwrites.
    Look,
}

/// Finds out which, by creating the same object twice.
pub(crate) async fn probe(client: &Client, path: &Path) -> Answer<Guard> {
    for _ in 0..2 {
        match create(client, path, Bytes::from_static(b"offcut\n")).await {
            Ok(()) => {}
            Err(Error::AlreadyExists { .. }) => return Ok(Guard::Server),
            Err(Error::NotImplemented { .. }) => return Ok(Guard::Look),
            Err(error) if error.to_string().contains("NotImplemented") => return Ok(Guard::Look),
            Err(error) => return Err(error),
        }
    }
    Ok(Guard::Look)
}

async fn create(client: &Client, path: &Path, bytes: Bytes) -> Answer<()> {
    let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
    client.put_opts(path, PutPayload::from_bytes(bytes), options).await.map(drop)
}

/// Writes an object that is not there yet. One that is there with the same bytes is ours: an answer was lost.
pub(crate) async fn put_new(client: &Client, path: &Path, bytes: Bytes, guard: Guard) -> Answer<()> {
    let written = match guard {
        Guard::Server => create(client, path, bytes.clone()).await,
        Guard::Look => match head(client, path).await? {
            None => client
                .put_opts(path, PutPayload::from_bytes(bytes.clone()), PutOptions::default())
                .await
                .map(drop),
            Some(_) => Err(Error::AlreadyExists { path: path.to_string(), source: "it is there".into() }),
        },
    };
    match written {
        Err(Error::AlreadyExists { path: name, source }) => {
            let found = client.get_opts(path, GetOptions::default()).await?.bytes().await?;
            if found == bytes { Ok(()) } else { Err(Error::AlreadyExists { path: name, source }) }
        }
        written => written,
    }
}

/// Writes an object, whether or not it is there.
pub(crate) async fn put(client: &Client, path: &Path, bytes: Bytes) -> Answer<()> {
    client.put_opts(path, PutPayload::from_bytes(bytes), PutOptions::default()).await.map(drop)
}

/// What is known of an object; nothing if it is not there.
pub(crate) async fn head(client: &Client, path: &Path) -> Answer<Option<ObjectMeta>> {
    let options = GetOptions { head: true, ..GetOptions::default() };
    match found(within(client.get_opts(path, options)).await.map(|result| result.meta)) {
        Err(error) => Err(reason(client, path.as_ref(), error).await),
        looked => looked,
    }
}

/// Why something was denied: a `HEAD` is denied without a word, and some servers deny the access to a bucket that is not
/// there; a listing is told the reason.
pub(crate) async fn reason(client: &Client, prefix: &str, error: Error) -> Error {
    match error {
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            first(client, prefix).await.err().unwrap_or(error)
        }
        error => error,
    }
}

/// A small object; nothing if it is not there.
pub(crate) async fn get(client: &Client, path: &Path) -> Answer<Option<Bytes>> {
    found(within(async { client.get_opts(path, GetOptions::default()).await?.bytes().await }).await)
}

/// A part of an object; nothing if it is not there.
pub(crate) async fn get_range(client: &Client, path: &Path, range: Range<u64>) -> Answer<Option<Bytes>> {
    let options = GetOptions { range: Some(range.into()), ..GetOptions::default() };
    found(within(async { client.get_opts(path, options).await?.bytes().await }).await)
}

/// Nothing instead of an error, if it is only the object that is missing.
fn found<T>(answer: Answer<T>) -> Answer<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(error @ Error::NotFound { .. }) if error.to_string().contains("NoSuchBucket") => Err(error),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The names that begin with `prefix` and come after `after`, in order, a page at a time, while `wanted` says to go on.
pub(crate) async fn list(
    client: &Client,
    prefix: &str,
    after: Option<String>,
    mut wanted: impl FnMut(ObjectMeta) -> bool,
) -> Answer<()> {
    let mut page_token = None;
    loop {
        let offset = if page_token.is_none() { after.clone() } else { None };
        let options = PaginatedListOptions { offset, page_token, ..PaginatedListOptions::default() };
        let page = within(client.list_paginated(Some(prefix), options)).await?;
        for object in page.result.objects {
            if !wanted(object) {
                return Ok(());
            }
        }
        page_token = page.page_token;
        if page_token.is_none() {
            return Ok(());
        }
    }
}

/// The first name that begins with `prefix`, if there is one.
pub(crate) async fn first(client: &Client, prefix: &str) -> Answer<Option<Path>> {
    let options = PaginatedListOptions { max_keys: Some(1), ..PaginatedListOptions::default() };
    let page = within(client.list_paginated(Some(prefix), options)).await?;
    Ok(page.result.objects.into_iter().next().map(|object| object.location))
}
