//! The HTTP client below `object_store`: it keeps the status and the S3 error code of each failed response.
//!
//! `object_store` wraps failures in private types, so a caller cannot get at the status or the body of a response.
//! This layer turns a failed response into a [`Failure`], which stays reachable as a cause of the final error.
//! The responses that `object_store` has its own variants for (not found, already exists) pass through.

use crate::errors::{Failure, s3_code};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use object_store::ClientOptions;
use object_store::client::{
    DnsFuture, DnsResolver, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpService, ReqwestConnector,
};
use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs};
use std::time::SystemTime;

/// Makes HTTP clients that report each failure as a [`Failure`].
#[derive(Debug)]
pub(crate) struct Connector {
    /// Whether `object_store` has to see that the metadata service denies a token, to try without one.
    pub(crate) uses_imdsv1: bool,
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Service { client, uses_imdsv1: self.uses_imdsv1 }))
    }
}

#[derive(Debug)]
struct Service {
    client: HttpClient,
    uses_imdsv1: bool,
}

impl HttpService for Service {
    fn call<'a: 'c, 'c>(&'a self, request: HttpRequest) -> BoxFuture<'c, Result<HttpResponse, HttpError>> {
        Box::pin(async move {
            let is_post = request.method().as_str() == "POST";
            // The services that lend credentials to a machine or a container have link-local addresses.
            let host = request.uri().host().and_then(|host| host.parse::<Ipv4Addr>().ok());
            let is_credential_service = host.is_some_and(|address| address.is_link_local());
            let response = match self.client.execute(request).await {
                Err(error) if is_credential_service => {
                    return Err(HttpError::new(error.kind(), Failure::NoCredentials));
                }
                response => response?,
            };
            let status = response.status().as_u16();
            // S3 reports some failures of POST requests (complete an upload, delete objects) in a successful response.
            if matches!(status, 304 | 409 | 412)
                || (response.status().is_success() && !is_post)
                || (status == 403 && is_credential_service && self.uses_imdsv1)
            {
                return Ok(response);
            }
            let (parts, body) = response.into_parts();
            let body: Bytes = body.bytes().await?;
            let code = s3_code(&body);
            let is_failure = match (status, code.as_deref()) {
                (200..300, code) => code.is_some_and(|code| code != "NoSuchKey"),
                (404, code) => matches!(code, Some("NoSuchBucket" | "NoSuchUpload")),
                _ => true,
            };
            if !is_failure {
                return Ok(HttpResponse::from_parts(parts, body.into()));
            }
            let is_temporary = matches!(status, 408 | 429 | 500 | 502..=599)
                || matches!(code.as_deref(), Some("InternalError" | "SlowDown"));
            // `object_store` tries a request of the first kind again.
            let kind = if is_temporary { HttpErrorKind::Request } else { HttpErrorKind::Unknown };
            let failure = match is_credential_service {
                true => Failure::NoCredentials,
                false => Failure::Status { status, code },
            };
            Err(HttpError::new(kind, failure))
        })
    }
}

/// Resolves names by the system's resolver, and reports an unknown name as [`Failure::UnknownHost`].
#[derive(Debug)]
pub(crate) struct Resolver;

impl DnsResolver for Resolver {
    fn resolve(&self, host: &str) -> DnsFuture {
        let host = host.to_owned();
        Box::pin(async move {
            let lookup = tokio::task::spawn_blocking(move || (host.as_str(), 0).to_socket_addrs());
            let addresses = lookup.await?.map_err(|_| Failure::UnknownHost)?;
            let mut addresses: Vec<IpAddr> = addresses.map(|address| address.ip()).collect();
            // Spreads the load over the addresses of a large service.
            if let (Ok(time), count @ 1..) = (SystemTime::UNIX_EPOCH.elapsed(), addresses.len()) {
                addresses.rotate_left(time.subsec_nanos() as usize % count);
            }
            Ok(addresses)
        })
    }
}
