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

# Compares with mem0's library and a plain hybrid search: `just compare --sizes 1000,10000`
compare *options:
    cargo build --release --locked --bin mnemic
    tests/bench/compare "${CARGO_TARGET_DIR:-target}/release/mnemic" {{ options }}

# Puts a server under load: `just load --minutes 10`
load *options:
    cargo build --release --locked --bin mnemic
    tests/bench/load "${CARGO_TARGET_DIR:-target}/release/mnemic" {{ options }}

# Derives the clients from the OpenAPI document
client:
    clients/python/generate
    cd clients/typescript && npm ci && npm run generate

# Builds the page at `/` from its sources, into explorer/dist
explorer:
    cd explorer && npm ci && npm run build

# Makes wheel, archive, SBOM and checksums in ./dist
release:
    cargo build --profile dist --locked -p cli --bin mnemic --features https
    packaging/release "${CARGO_TARGET_DIR:-target}/dist/mnemic" dist

# Everything that a change must pass; about an hour
gate:
    .ci/run
