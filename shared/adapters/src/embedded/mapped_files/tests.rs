use super::*;

fn folder_in(dir: &Path) -> FileFolder {
    FileFolder::next_to(&dir.join("database"), "files", "bin")
}

fn path_of(dir: &Path, number: i64) -> PathBuf {
    dir.join(format!("files/{number}.bin"))
}

/// Writes a file and maps it.
fn write_mapped(folder: &FileFolder, number: i64) -> Arc<MappedFile> {
    folder
        .write_file(FileNumber(number), 0, |out| out.write_all(b"old words"))
        .unwrap();
    folder.map_written(FileNumber(number)).unwrap()
}

#[test]
fn the_last_reader_does_not_wait_until_its_file_is_destroyed() {
    let dir = tempfile::tempdir().unwrap();
    let folder = folder_in(dir.path());
    let (first, second) = (write_mapped(&folder, 1), folder.map_written(FileNumber(1)).unwrap());
    folder.set_outdated(&[FileNumber(1)]);
    let turn = folder.files.lock_turn();
    drop(first);
    assert_eq!(second.bytes(), b"old words");
    drop(second);
    assert!(path_of(dir.path(), 1).exists(), "only handed over");
    drop(turn);
    drop(folder);
    assert!(!path_of(dir.path(), 1).exists());
}

#[test]
fn a_call_returns_after_files_that_were_handed_over_are_destroyed() {
    let dir = tempfile::tempdir().unwrap();
    let folder = folder_in(dir.path());
    for number in 1..=20 {
        let read = write_mapped(&folder, number);
        folder.set_outdated(&[FileNumber(number)]);
        let missing = folder.map_written(FileNumber(number)).map(drop).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound, "it is outdated");
        drop(read);
        folder.destroy_outdated().unwrap();
        assert!(!path_of(dir.path(), number).exists() && !folder.has_outdated());
    }
}

#[test]
fn a_file_that_is_dropped_after_its_folder_stays_until_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let folder = folder_in(dir.path());
    let (first, second) = (write_mapped(&folder, 1), write_mapped(&folder, 2));
    folder.set_outdated(&[FileNumber(1), FileNumber(2)]);
    folder.close();
    drop(first);
    folder.destroy_outdated().unwrap_err();
    drop(folder);
    drop(second);
    assert!(path_of(dir.path(), 1).exists() && path_of(dir.path(), 2).exists());

    folder_in(dir.path()).keep_only(&[]).unwrap();
    assert!(!path_of(dir.path(), 1).exists() && !path_of(dir.path(), 2).exists());
}

#[test]
fn a_file_that_cannot_be_destroyed_does_not_keep_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let folder = folder_in(dir.path());
    let numbers: Vec<FileNumber> = (1..=8).map(FileNumber).collect();
    numbers.iter().for_each(|it| drop(write_mapped(&folder, it.0)));
    // A folder in place of a file cannot be overwritten.
    let stuck = path_of(dir.path(), 3);
    fs::remove_file(&stuck).unwrap();
    fs::create_dir(&stuck).unwrap();
    folder.set_outdated(&numbers);
    folder.destroy_outdated().unwrap_err();
    let left: Vec<i64> = (1..=8).filter(|it| path_of(dir.path(), *it).exists()).collect();
    assert_eq!((left, folder.has_outdated()), (vec![3], true));

    fs::remove_dir(&stuck).unwrap();
    folder.destroy_outdated().unwrap();
    assert!(!folder.has_outdated());
}

#[test]
fn a_file_without_room_on_the_disk_is_not_begun() {
    let dir = tempfile::tempdir().unwrap();
    let folder = folder_in(dir.path());
    folder.check_room(1).unwrap();
    let full = folder.check_room(u64::MAX).unwrap_err();
    assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    let full = folder.write_file(FileNumber(1), u64::MAX, |_| Ok(())).unwrap_err();
    assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
