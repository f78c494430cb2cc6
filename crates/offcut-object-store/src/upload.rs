//! Brings the bytes of a file to the store, also while the file still grows.
//!
//! A small output is one request when it has ended. A large one goes up in parts, several at once, each read from the
//! file when its turn comes: what is in memory is bounded by the parts under way, and whoever writes the file never
//! waits for the network.

use crate::engine::{Answer, Client};
use crate::landmarks::Landmarks;
use crate::notes;
use crate::remote::{self, Guard};
use bytes::Bytes;
use futures_util::future::{Either, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{Error, PutPayload};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Up to here one request does; and the size of a part. Some servers want all parts but the last to be alike.
pub(crate) const PART: u64 = 8 << 20;

/// Parts under way at once. With [`PART`] this bounds the memory of an upload.
const PARALLEL: usize = 4;

/// How often, and how far apart, a part is tried again while nobody waits for it.
const MOST_TRIES: u32 = 300;
const PAUSE: Duration = Duration::from_secs(1);

/// The most parts that S3 allows in one upload.
const MOST_PARTS: u64 = 10_000;

/// How far the file has grown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) written: u64,
    pub(crate) end: End,
}

/// Whether the file will grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum End {
    #[default]
    NotYet,
    Reached,
}

/// What is uploaded, and to where.
pub(crate) struct Source {
    pub(crate) file: Arc<File>,
    pub(crate) progress: watch::Receiver<Progress>,
    pub(crate) key: Path,
    /// Where the name of an upload in parts is written down while it is under way, so that it can be aborted later.
    pub(crate) record: PathBuf,
    pub(crate) guard: Guard,
    /// The size of a part.
    pub(crate) part: u64,
}

/// Uploads everything. What is returned tells where the lines are.
pub(crate) async fn upload(client: Client, mut source: Source) -> Answer<Landmarks> {
    let is_large = |progress: &Progress| progress.written > PART;
    let first = source
        .progress
        .wait_for(|progress| progress.end == End::Reached || is_large(progress))
        .await
        .map(|progress| *progress)
        .map_err(|_| given_up())?;
    if is_large(&first) {
        return in_parts(client, source).await;
    }
    let mut landmarks = Landmarks::default();
    let bytes = read(&source.file, 0, first.written).await?;
    landmarks.observe(&bytes);
    remote::put_new(&client, &source.key, bytes, source.guard).await?;
    Ok(landmarks)
}

async fn in_parts(client: Client, source: Source) -> Answer<Landmarks> {
    // Parts cannot be told not to overwrite, so somebody has to look. Ids are random, so nothing is ever found.
    if let Some(found) = remote::head(&client, &source.key).await?
        && source.progress.borrow().end == End::NotYet
    {
        return Err(Error::AlreadyExists { path: found.location.to_string(), source: "it is there".into() });
    }
    let upload = client.create_multipart(&source.key).await?;
    // Without the record a lifecycle rule of the bucket has to clear up after a crash.
    let _ = notes::write(&source.record, &upload);
    let (key, record) = (source.key.clone(), source.record.clone());
    let result = send_parts(&client, source, &upload).await;
    if result.is_err() {
        let _ = client.abort_multipart(&key, &upload).await;
    }
    let _ = std::fs::remove_file(&record);
    result
}

async fn send_parts(client: &Client, mut source: Source, upload: &String) -> Answer<Landmarks> {
    let mut landmarks = Landmarks::default();
    let mut parts: Vec<Option<PartId>> = Vec::new();
    let mut under_way = FuturesUnordered::new();
    let mut offset = 0;
    loop {
        let Progress { written, end } = *source.progress.borrow_and_update();
        let ready = match end {
            End::Reached => (written - offset).min(source.part),
            End::NotYet if written - offset >= source.part => source.part,
            End::NotYet => 0,
        };
        if ready > 0 && under_way.len() < PARALLEL {
            if parts.len() as u64 == MOST_PARTS {
                return Err(Error::Generic { store: "S3", source: "too many parts for one object".into() });
            }
            let bytes = read(&source.file, offset, ready).await?;
            landmarks.observe(&bytes);
            offset += ready;
            let (number, key) = (parts.len(), &source.key);
            parts.push(None);
            let progress = source.progress.clone();
            under_way.push(async move {
                let payload = PutPayload::from_bytes(bytes);
                let mut tries = 0;
                loop {
                    match client.put_part(key, upload, number, payload.clone()).await {
                        Ok(part) => return Ok::<_, Error>((number, part)),
                        // While more of the output comes nobody waits for us, so a longer outage can be sat out.
                        Err(_) if tries < MOST_TRIES && progress.borrow().end == End::NotYet => {}
                        Err(error) => return Err(error),
                    }
                    tries += 1;
                    tokio::time::sleep(PAUSE).await;
                }
            });
            continue;
        }
        let done = match (end, under_way.is_empty()) {
            (End::Reached, true) => break,
            (End::Reached, false) => under_way.next().await,
            (End::NotYet, true) => {
                source.progress.changed().await.map_err(|_| given_up())?;
                None
            }
            (End::NotYet, false) if ready > 0 => under_way.next().await,
            (End::NotYet, false) => match select(under_way.next(), pin!(source.progress.changed())).await {
                Either::Left((done, _)) => done,
                Either::Right((changed, _)) => {
                    changed.map_err(|_| given_up())?;
                    None
                }
            },
        };
        if let Some((number, part)) = done.transpose()? {
            parts[number] = Some(part);
        }
    }
    client.complete_multipart(&source.key, upload, parts.into_iter().flatten().collect()).await?;
    // Each part was checked by its checksum; that none is missing is seen by the size.
    match remote::head(client, &source.key).await? {
        Some(found) if found.size == offset => Ok(landmarks),
        found => Err(Error::Generic {
            store: "S3",
            source: format!("{offset} bytes were sent, {} arrived", found.map_or(0, |found| found.size))
                .into(),
        }),
    }
}

async fn read(file: &Arc<File>, offset: u64, length: u64) -> Answer<Bytes> {
    let file = Arc::clone(file);
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut bytes, offset).map(|()| Bytes::from(bytes))
    });
    read.await?.map_err(|error| Error::Generic { store: "local file", source: error.into() })
}

/// Whoever wrote the file has gone.
fn given_up() -> Error {
    Error::Generic { store: "S3", source: "the output was given up".into() }
}
