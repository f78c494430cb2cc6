//! Prepares what the enabled features need.

#[cfg(feature = "smart")]
mod patterns;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    #[cfg(feature = "smart")]
    patterns::compile()?;
    println!("cargo::rerun-if-changed=build");
    Ok(())
}
