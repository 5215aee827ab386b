//! The files in `infra/` match the needs of the adapters and the metrics of the services.

use std::path::{Path, PathBuf};

use adapters::servers::nats::{Options, Role, permissions_of_role};
use serde_json::Value;

fn path_in_infra(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../infra").join(name)
}

/// Returns the configuration of nats-server, with a user for each service and the permissions of the user.
fn read_nats_config() -> String {
    let options = Options::default();
    let mut text = "# Written by a test of tests/system from the permissions the adapter needs; see ../README.md.\n\
         listen: 0.0.0.0:4222\nhttp: 0.0.0.0:8222\nmax_payload: 8MB\n\
         jetstream { store_dir: /data, sync_interval: always, max_file_store: 64GB }\nauthorization {\n  users: [\n"
        .to_owned();
    for role in Role::ALL {
        let name = role.name();
        text += &format!(
            "    {{\n      user: {name}\n      password: $NATS_{}_PASSWORD\n",
            name.to_uppercase()
        );
        for line in permissions_of_role(role, &options).to_string().lines() {
            text += &format!("      {line}\n");
        }
        text += "    }\n";
    }
    text + "  ]\n}\n"
}

#[test]
fn the_users_of_nats_have_the_permissions_the_adapter_needs() {
    let path = path_in_infra("nats/nats.conf");
    if std::env::var_os("MNEMIC_WRITE_INFRA").is_some() {
        std::fs::write(&path, read_nats_config()).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == read_nats_config(),
        "{} is not up to date, see infra/README.md",
        path.display()
    );
}

#[tokio::test]
async fn the_dashboard_uses_only_existing_metrics() {
    let text = std::fs::read_to_string(path_in_infra("grafana/dashboards/mnemic.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let metrics = path_in_infra("../shared/host/src/metrics");
    let files = std::fs::read_dir(&metrics).unwrap().map(|it| it.unwrap().path());
    let files = files.chain([metrics.with_extension("rs")]);
    let source: String = files.map(|it| std::fs::read_to_string(it).unwrap()).collect();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    for target in panels.flat_map(|it| it["targets"].as_array().unwrap()) {
        let query = target["expr"].as_str().unwrap();
        let mut names = query
            .split(|it: char| !it.is_ascii_alphanumeric() && it != '_')
            .filter(|it| {
                ["http_", "mnemic_", "memory_"]
                    .iter()
                    .any(|prefix| it.starts_with(prefix))
            });
        let known = |name: &str| {
            let bare = ["_bucket", "_sum", "_count", "_total"]
                .iter()
                .find_map(|it| name.strip_suffix(it))
                .unwrap_or(name);
            source.contains(&format!("\"{bare}\"")) || source.contains(&format!("\"{name}\""))
        };
        assert!(names.all(known), "{query}");
    }
}
