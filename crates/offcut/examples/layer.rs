//! A tower service whose responses are bounded: `cargo run -p offcut --example layer --features layer`

use offcut::results::Middleware;
use offcut::results::layer::BoundLayer;
use offcut::{Profile, Truncator};
use std::convert::Infallible;
use tower::{ServiceBuilder, ServiceExt, service_fn};

#[tokio::main]
async fn main() -> Result<(), Infallible> {
    let middleware = Middleware::new(Truncator::new(Profile::native()));
    let service = ServiceBuilder::new().layer(BoundLayer::new(middleware)).service(service_fn(
        |lines: u32| async move {
            Ok::<String, Infallible>((1..=lines).map(|line| format!("line {line}\n")).collect())
        },
    ));
    for lines in [2, 100_000] {
        let answer = service.clone().oneshot(lines).await?;
        println!("asked for {lines} lines, got {} bytes:\n{answer}", answer.len());
    }
    Ok(())
}
