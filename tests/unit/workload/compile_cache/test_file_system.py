"""Which file system a folder is on."""

from pathlib import Path

from tests.support.compile_cache import CacheNode
from workload.compile_cache.file_system import file_system


def test_the_file_system_is_that_of_the_nearest_mount(tmp_path: Path) -> None:
    node = CacheNode(tmp_path)
    node.mount("lustre")

    assert file_system(node.proc, node.cache.root / "x") == "lustre"
    assert file_system(node.proc, node.cache.root.parent) == "ext4"
    assert file_system(node.proc / "nowhere", node.cache.root) == ""


def test_of_two_mounts_on_one_place_the_last_is_seen(tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "self/mounts").write_text("a / ext4 rw 0 0\nb /a\\040b nfs4 rw 0 0\nc /a\\040b xfs rw 0 0\nbroken\n")

    assert file_system(tmp_path, Path("/a b/cache")) == "xfs"
