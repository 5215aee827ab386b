//! Spaces that were deleted while the server was away.

use adapters::servers::qdrant::Options;
use domain::port::{Index, UnfinishedErasure};
use qdrant_client::qdrant::{Condition, CountPointsBuilder, Filter};

use super::{at, connect_driver, on_server, open_embedded, open_index, sample_point, space};

/// Returns the name of the collection of an index.
pub(super) async fn collection_name(options: &Options) -> String {
    let aliases = connect_driver(options).list_aliases().await.unwrap().aliases;
    let ours = aliases
        .into_iter()
        .find(|it| it.alias_name.starts_with(&options.prefix));
    ours.unwrap().collection_name
}

/// Returns the number of points of a space in the collection, including its marker.
pub(super) async fn count_points(options: &Options, name: &str) -> u64 {
    let of = Filter::must([Condition::matches("space", name.to_owned())]);
    let count = CountPointsBuilder::new(collection_name(options).await)
        .filter(of)
        .exact(true);
    let counted = connect_driver(options).count(count).await.unwrap();
    counted.result.unwrap().count
}

/// The points of a deleted space, including those of rebuilds, are removed from the server. It does not matter whether
/// its name is unused since, belongs to an empty space, or belongs to a space with points. Another space keeps its
/// points.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn points_of_a_deleted_space_are_removed_from_the_server() {
    on_server(async |options| {
        let dir = tempfile::tempdir().unwrap();
        let embedded = open_embedded(dir.path()).await;
        let (index, records) = (open_index(&options, &embedded).await, &embedded.records);
        for (name, again, left) in [("gone", false, 0), ("empty", true, 0), ("filled", true, 2)] {
            let it = space(name);
            records.create_space(&it, at(10)).await.unwrap();
            records.create_space(&space("neighbour"), at(10)).await.unwrap();
            index
                .put(&space("neighbour"), &[sample_point(1, 128)], &[])
                .await
                .unwrap();
            index
                .put(&it, &[sample_point(1, 128), sample_point(2, 128)], &[])
                .await
                .unwrap();
            index.begin_generation(&it).await.unwrap();
            index.put(&it, &[sample_point(3, 128)], &[]).await.unwrap();
            // There are five points and a marker; the index did not learn about the deletion.
            assert_eq!(count_points(&options, name).await, 5);
            assert!(records.delete_space(&it).await.unwrap());
            if again {
                records.create_space(&it, at(20)).await.unwrap();
            }
            if left > 0 {
                index.put(&it, &[sample_point(4, 128)], &[]).await.unwrap();
            }
            let erasure = UnfinishedErasure {
                space: it.clone(),
                created_at: at(10),
            };
            for _ in 0..2 {
                index.erase_deleted(&erasure).await.unwrap();
                assert_eq!(count_points(&options, name).await, left, "{name}");
            }
            assert_eq!(index.count(&it).await.unwrap(), left.saturating_sub(1), "{name}");
            assert_eq!(count_points(&options, "neighbour").await, 2);
        }
    })
    .await;
}
