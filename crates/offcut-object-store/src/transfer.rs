//! Uploads the bytes of a file, also while the file still grows.
//!
//! A small output is one request, made when it has ended. A large one is uploaded in parts, several at once, each read
//! from the file when its turn comes: the parts in progress bound the memory, and the writer of the file never waits
//! for the network.

use crate::errors::Failure;
use crate::line_index::LineIndex;
use crate::local_index;
use crate::remote::Remote;
use bytes::Bytes;
use futures_util::future::{self, Either, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path as Key;
use object_store::{PutPayload, Result};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The largest output that is uploaded by one request, and the size of a part of a larger one. Some servers require
/// that all parts but the last have the same size.
pub(crate) const PART_SIZE: u64 = 8 << 20;

/// Parts in progress at once. With [`PART_SIZE`] this bounds the memory of an upload.
const PARALLEL_PARTS: usize = 4;

/// How often, and how far apart, a part is tried again while the output still grows.
const MAX_TRIES: u32 = 300;
const PAUSE: Duration = Duration::from_secs(1);

/// The most parts that S3 allows in one upload.
const MAX_PARTS: u64 = 10_000;

/// How far the file has grown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) written: u64,
    /// Whether the file is complete.
    pub(crate) is_complete: bool,
}

/// What is uploaded, and to where.
pub(crate) struct Source {
    pub(crate) file: Arc<File>,
    pub(crate) progress: watch::Receiver<Progress>,
    pub(crate) key: Key,
    /// Records the id of an upload in parts while it is in progress, so that it can be aborted later.
    pub(crate) record: PathBuf,
    pub(crate) part_size: u64,
}

/// Uploads everything, and returns the line index of what was uploaded.
pub(crate) async fn upload(remote: &Remote, mut source: Source) -> Result<LineIndex> {
    let is_large = |progress: &Progress| progress.written > PART_SIZE;
    let first = source.progress.wait_for(|progress| progress.is_complete || is_large(progress)).await;
    let first = first.map(|progress| *progress).map_err(|_| abandoned())?;
    if is_large(&first) {
        return upload_in_parts(remote, source).await;
    }
    let bytes = read(&source.file, 0, first.written).await?;
    let mut lines = LineIndex::default();
    lines.observe(&bytes);
    remote.put_new(&source.key, bytes).await?;
    Ok(lines)
}

async fn upload_in_parts(remote: &Remote, source: Source) -> Result<LineIndex> {
    // An upload in parts cannot be conditional, so the key is looked up first. Ids are random: it is never found.
    if remote.head(&source.key).await?.is_some() && !source.progress.borrow().is_complete {
        return Err(Failure::Exists.into());
    }
    let upload = remote.client.create_multipart(&source.key).await?;
    // Without the record, a lifecycle rule of the bucket has to remove the parts after a crash.
    let _ = local_index::write(&source.record, &upload);
    let (key, record) = (source.key.clone(), source.record.clone());
    let result = send_parts(remote, source, &upload).await;
    if result.is_err() {
        let _ = remote.client.abort_multipart(&key, &upload).await;
    }
    let _ = std::fs::remove_file(&record);
    result
}

async fn send_parts(remote: &Remote, source: Source, upload: &String) -> Result<LineIndex> {
    let Source { file, mut progress, key, part_size, .. } = source;
    let growth = progress.clone();
    let mut lines = LineIndex::default();
    let mut parts: Vec<Option<PartId>> = Vec::new();
    let mut in_progress = FuturesUnordered::new();
    let mut offset = 0;
    loop {
        let Progress { written, is_complete } = *progress.borrow_and_update();
        let length = (written - offset).min(part_size);
        let is_ready = length == part_size || (is_complete && length > 0);
        if is_ready && in_progress.len() < PARALLEL_PARTS {
            if parts.len() as u64 == MAX_PARTS {
                return Err(Failure::Other("the output is too large for one upload".to_owned()).into());
            }
            let bytes = read(&file, offset, length).await?;
            lines.observe(&bytes);
            offset += length;
            in_progress.push(send_part(remote, &key, upload, parts.len(), bytes, &growth));
            parts.push(None);
            continue;
        }
        let done = match (is_complete || is_ready, in_progress.is_empty()) {
            (true, true) => break,
            (true, false) => in_progress.next().await,
            (false, is_empty) => {
                let part =
                    async { if is_empty { future::pending().await } else { in_progress.next().await } };
                match select(pin!(part), pin!(progress.changed())).await {
                    Either::Left((done, _)) => done,
                    Either::Right((changed, _)) => changed.map(|()| None).map_err(|_| abandoned())?,
                }
            }
        };
        if let Some((number, part)) = done.transpose()? {
            parts[number] = Some(part);
        }
    }
    remote.client.complete_multipart(&key, upload, parts.into_iter().flatten().collect()).await?;
    // The checksum of each part was verified by the server; the size shows that no part is missing.
    let size = remote.head(&key).await?.map_or(0, |stored| stored.size);
    match size == offset {
        true => Ok(lines),
        false => Err(Failure::Other(format!("{offset} bytes were sent, {size} arrived")).into()),
    }
}

/// Sends one part. While the output grows nobody waits for the upload, so a longer outage is sat out.
async fn send_part(
    remote: &Remote,
    key: &Key,
    upload: &String,
    number: usize,
    bytes: Bytes,
    growth: &watch::Receiver<Progress>,
) -> Result<(usize, PartId)> {
    let payload = PutPayload::from_bytes(bytes);
    for _ in 0..MAX_TRIES {
        match remote.client.put_part(key, upload, number, payload.clone()).await {
            Err(_) if !growth.borrow().is_complete => tokio::time::sleep(PAUSE).await,
            sent => return sent.map(|part| (number, part)),
        }
    }
    remote.client.put_part(key, upload, number, payload).await.map(|part| (number, part))
}

async fn read(file: &Arc<File>, offset: u64, length: u64) -> Result<Bytes> {
    let file = Arc::clone(file);
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut bytes, offset).map(|()| Bytes::from(bytes))
    });
    read.await?.map_err(|error| Failure::Other(format!("cannot read the local file: {error}")).into())
}

/// The writer of the file was dropped before the output ended.
fn abandoned() -> object_store::Error {
    Failure::Other("the output was abandoned".to_owned()).into()
}
