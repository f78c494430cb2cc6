//! Prepares what the enabled features need.

#[cfg(feature = "smart")]
mod literals;
#[cfg(feature = "smart")]
mod rules;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    #[cfg(feature = "smart")]
    rules::compile()?;
    println!("cargo::rerun-if-changed=build");
    Ok(())
}
