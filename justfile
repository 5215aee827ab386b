# Commands for people who work on Mnemic; `just --list` shows them.

# Starts a server over ./mnemic-data
serve:
    cargo run --profile demo --bin mnemic -- serve

# Shows it at work
demo:
    cargo run --profile demo --bin mnemic -- demo

# Formats and checks as the gate does
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Tests one crate, or all of them: `just test gateway`
test crate='':
    cargo test {{ if crate == '' { '--workspace' } else { '-p ' + crate } }}

# Derives the clients from the OpenAPI document
client:
    clients/python/generate
    cd clients/typescript && npm ci && npm run generate

# Builds the page at `/` from its sources, into explorer/dist
explorer:
    cd explorer && npm ci && npm run build

# Makes wheel, archive, SBOM and checksums in ./dist
release:
    cargo build --release --locked --bin mnemic
    packaging/release "${CARGO_TARGET_DIR:-target}/release/mnemic" dist

# Everything that a change must pass; about an hour
gate:
    .ci/run
