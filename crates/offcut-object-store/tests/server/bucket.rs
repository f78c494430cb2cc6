//! The objects of a test's place, as any S3 client sees them.

use crate::harness::{Place, variable};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use tokio::runtime::Runtime;

/// Objects under the prefix of a place.
pub(crate) struct Bucket {
    client: AmazonS3,
    runtime: Runtime,
    prefix: String,
}

impl Bucket {
    pub(crate) fn new(place: &Place) -> Bucket {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let bucket = place.location.bucket();
        let client = AmazonS3Builder::new()
            .with_endpoint(variable("AWS_ENDPOINT_URL"))
            .with_allow_http(true)
            .with_access_key_id(variable("AWS_ACCESS_KEY_ID"))
            .with_secret_access_key(variable("AWS_SECRET_ACCESS_KEY"))
            .with_region(variable("AWS_REGION"))
            .with_bucket_name(bucket);
        let prefix = place.location.to_string().replacen(&format!("s3://{bucket}/"), "", 1);
        Bucket { client: client.build().unwrap(), runtime: Runtime::new().unwrap(), prefix }
    }

    fn path(&self, key: &str) -> Path {
        Path::from(format!("{}/{key}", self.prefix))
    }

    pub(crate) fn put(&self, key: &str, bytes: Vec<u8>) {
        self.runtime.block_on(self.client.put(&self.path(key), bytes.into())).unwrap();
    }

    pub(crate) fn get(&self, key: &str) -> Vec<u8> {
        let read = async { self.client.get(&self.path(key)).await?.bytes().await };
        self.runtime.block_on(read).unwrap().to_vec()
    }

    /// Puts many objects, several at a time.
    pub(crate) fn put_all(&self, objects: impl Iterator<Item = (String, Vec<u8>)>) {
        let puts = objects.map(|(key, bytes)| async move {
            self.client.put(&self.path(&key), bytes.into()).await.unwrap();
        });
        self.runtime.block_on(stream::iter(puts).buffer_unordered(64).collect::<Vec<()>>());
    }

    pub(crate) fn remove(&self, key: &str) {
        self.runtime.block_on(self.client.delete(&self.path(key))).unwrap();
    }

    /// The only key that contains `part`, without the prefix of the place.
    pub(crate) fn key(&self, folder: &str, part: &str) -> String {
        let listing = self.client.list(Some(&self.path(folder)));
        let objects: Vec<_> = self.runtime.block_on(listing.try_collect()).unwrap();
        let mut keys = objects.iter().map(|object| object.location.as_ref()).filter(|key| key.contains(part));
        let key = keys.next().unwrap();
        assert_eq!(keys.next(), None);
        key[self.prefix.len() + 1..].to_owned()
    }
}
