use super::*;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("levee-store-{}-{}", name, std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn store(&self) -> Locked {
        Store::open(&self.0.join("a/net").to_string_lossy(), Edition::V1_9_1).unwrap().lock()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join("a/net").join(name)).unwrap_or_default()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn call(id: &str, ifname: &str) -> PluginCall {
    PluginCall {
        edition: Edition::V1_9_1,
        command: "ADD".to_string(),
        container_id: id.to_string(),
        netns: String::new(),
        ifname: ifname.to_string(),
        args: String::new(),
    }
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn leases_have_the_programs_form_and_are_released() {
    let folder = Folder::new("form");
    let store = folder.store();
    let (one, other) = (call("c1", "eth0"), call("c1", "net1"));
    assert_eq!(store.reserve(&one, &ip("10.0.0.2"), 0), Ok(true));
    assert_eq!(store.reserve(&other, &ip("10.0.0.2"), 0), Ok(false));
    assert_eq!(store.reserve(&other, &ip("fd00::5"), 1), Ok(true));
    assert_eq!(folder.read("10.0.0.2"), "c1\r\neth0");
    assert_eq!(
        (folder.read("last_reserved_ip.0"), folder.read("last_reserved_ip.1")),
        ("10.0.0.2".into(), "fd00::5".into())
    );
    assert_eq!((store.last_given(0), store.last_given(7)), (Some(ip("10.0.0.2")), None));
    assert_eq!((store.taken_by(&one), store.taken_by(&other)), (vec![ip("10.0.0.2")], vec![ip("fd00::5")]));
    store.release(&one);
    assert!(!store.has(&one) && store.has(&other));
    assert_eq!(folder.read("10.0.0.2"), "");
    assert_eq!(fs::read_dir(folder.0.join("a/net")).unwrap().count(), 4);
}

#[test]
fn a_last_address_is_written_over_a_longer_and_a_shorter_one() {
    let folder = Folder::new("last");
    let store = folder.store();
    let last = folder.0.join("a/net/last_reserved_ip.0");
    fs::write(&last, "10.0.0.255\nand what nobody wrote").unwrap();
    for (text, id) in [("10.0.1.2", "c1"), ("10.0.1.200", "c2"), ("10.0.2.0", "c3")] {
        assert_eq!(store.reserve(&call(id, "eth0"), &ip(text), 0), Ok(true));
        assert_eq!((folder.read("last_reserved_ip.0"), store.last_given(0)), (text.to_string(), Some(ip(text))));
    }
}

#[test]
fn leases_of_old_versions_know_the_container_only() {
    let folder = Folder::new("old");
    let store = folder.store();
    fs::write(folder.0.join("a/net/10.0.0.9"), "c1\n").unwrap();
    let one = call("c1", "eth0");
    assert!(store.has(&one) && !store.has(&call("c2", "eth0")));
    assert_eq!(store.taken_by(&one), vec![ip("10.0.0.9")]);
    store.release(&one);
    assert!(!store.has(&one));
}

#[test]
fn what_a_killed_process_left_is_released_with_its_container() {
    let folder = Folder::new("killed");
    let store = folder.store();
    fs::write(folder.0.join("a/net").join(NEW_LEASE), "c1\r\neth0").unwrap();
    assert!(store.taken_by(&call("c1", "eth0")).is_empty());
    store.release(&call("c1", "eth0"));
    assert!(!folder.0.join("a/net").join(NEW_LEASE).exists());
}

#[test]
fn a_lease_with_two_names_of_a_killed_process_is_not_written_to() {
    let folder = Folder::new("two-names");
    let store = folder.store();
    let inside = folder.0.join("a/net");
    fs::write(inside.join(NEW_LEASE), "c1\r\neth0").unwrap();
    fs::hard_link(inside.join(NEW_LEASE), inside.join("10.0.0.2")).unwrap();
    assert_eq!(store.reserve(&call("c2", "eth0"), &ip("10.0.0.3"), 0), Ok(true));
    assert_eq!((folder.read("10.0.0.2"), folder.read("10.0.0.3")), ("c1\r\neth0".into(), "c2\r\neth0".into()));
    assert!(!inside.join(NEW_LEASE).exists());
}

#[test]
fn garbage_is_no_lease() {
    let folder = Folder::new("garbage");
    let store = folder.store();
    let inside = folder.0.join("a/net");
    fs::write(inside.join("10.0.0.3"), [0xff; 2_000]).unwrap();
    fs::write(inside.join("last_reserved_ip.0"), "not an address").unwrap();
    fs::create_dir(inside.join("10.0.0.4")).unwrap();
    assert_eq!(store.last_given(0), None);
    assert_eq!(store.reserve(&call("c1", "eth0"), &ip("10.0.0.3"), 0), Ok(false));
    assert_eq!(store.reserve(&call("c1", "eth0"), &ip("10.0.0.4"), 0), Ok(false));
    assert!(!store.has(&call("c1", "eth0")));
}

#[test]
fn folders_that_cannot_be_made_have_gos_words() {
    let folder = Folder::new("words");
    fs::write(folder.0.join("file"), "").unwrap();
    let path = folder.0.join("file/net");
    let why = Store::open(&path.to_string_lossy(), Edition::V1_9_1).err().unwrap();
    assert_eq!(why, format!("mkdir {}: not a directory", folder.0.join("file").to_string_lossy()));
    let link = folder.0.join("link");
    std::os::unix::fs::symlink("no-such-folder", &link).unwrap();
    for (path, link) in [(link.join("n"), &link), (link.clone(), &link)] {
        let why = make_folders(&path).unwrap_err();
        assert_eq!(why, format!("mkdir {}: file exists", link.to_string_lossy()));
    }
}

#[test]
fn a_full_disk_is_told_as_a_write() {
    let folder = Folder::new("full-disk");
    let (store, last) = (folder.store(), folder.0.join("a/net/last_reserved_ip.0"));
    std::os::unix::fs::symlink("/dev/full", &last).unwrap();
    let why = store.reserve(&call("c1", "eth0"), &ip("10.1.0.2"), 0).unwrap_err();
    assert_eq!(why, format!("write {}: no space left on device", last.to_string_lossy()));
}

#[test]
fn a_lease_is_found_again_with_the_longest_id_that_is_served() {
    let (folder, interface) = (Folder::new("long-id"), "a-name-of-15-by");
    let longest = call(&"c".repeat(LEASE_BYTES_MAX - 1 - 2 - interface.len()), interface);
    let longer = call(&format!("{}c", longest.container_id), interface);
    assert!(is_lease_of_call_found(&longest) && !is_lease_of_call_found(&longer));
    let store = folder.store();
    store.reserve(&longest, &ip("10.1.0.2"), 0).unwrap();
    assert!(store.has(&longest));
    store.release(&longest);
    assert!(!store.has(&longest));
}
